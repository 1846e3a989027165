"""Arrays that wait, jobs that wait for a place in the queue, and how often to say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from snakemake_executor_plugin_arrays.schedulers import Request, Status, Task


class Waiting:
    """Finds arrays none of whose tasks has run for a while, after ever longer intervals."""

    def __init__(self, seconds: float) -> None:
        """Store the time after which an array is reported for the first time."""
        self.seconds = seconds
        # when an array began to wait, and after how many seconds it is reported next, by array
        self._since: dict[str, float] = {}
        self._next: dict[str, float] = {}

    def due(self, listed: Iterable[tuple[Task, Status]], now: float) -> Iterator[tuple[str, float, str]]:
        """Yield arrays to report, with the seconds for which they have waited, and why.

        Parameters
        ----------
        listed
            The tasks that are left of the run's arrays, with their statuses.
        now
            The time in seconds.
        """
        words: dict[str, Counter[str]] = {}
        running = set()
        for (array, _), status in listed:
            words.setdefault(array, Counter())[status.word] += 1
            if not status.waiting:
                running.add(array)
        for array in {*self._since} - {*words} | running:
            self._since.pop(array, None)
            self._next.pop(array, None)
        for array in words:
            if array in running:
                continue
            waited = now - self._since.setdefault(array, now)
            if waited >= self._next.setdefault(array, self.seconds):
                self._next[array] = 2 * waited
                counts = sorted(words[array].items(), key=lambda pair: (-pair[1], pair[0]))
                yield array, waited, ", ".join(f"{number} in state {word}" for word, number in counts)


class Reminders:
    """When to say something again that lasts: at once, then after ever longer intervals."""

    def __init__(self, seconds: float) -> None:
        """Store the first interval."""
        self.seconds = seconds
        # when to say it next, and after how many seconds once more
        self._next: dict[str, tuple[float, float]] = {}

    def due(self, what: str, now: float) -> bool:
        """Return whether to say it now."""
        at, interval = self._next.get(what, (now, self.seconds))
        if now < at:
            return False
        self._next[what] = now + interval, 2 * interval
        return True

    def forget(self, what: str) -> None:
        """Note that it is over."""
        self._next.pop(what, None)


@dataclass(eq=False)
class Batch:
    """Jobs of a rule that are not submitted yet, because the number of submitted jobs is limited."""

    name: str
    request: Request
    jobs: list[Any]
    per_task: int
    # how many jobs to try to submit at once
    size: int

    def next(self) -> list[Any]:
        """Return the jobs to try to submit."""
        return self.jobs[: self.size]

    def shrink(self) -> bool:
        """Try half as many tasks; returns false if it was one."""
        tasks = -(-len(self.next()) // self.per_task)
        self.size = max(1, tasks // 2) * self.per_task
        return tasks > 1

    def submitted(self) -> None:
        """Drop the jobs of `next`, and try twice as many of the others."""
        del self.jobs[: self.size]
        self.size *= 2


@dataclass(frozen=True)
class Drop:
    """Why jobs that wait for a place must not be submitted any more: all, or those of a name or request."""

    why: str
    name: str | None = None
    request: Request | None = None

    def concerns(self, batch: Batch) -> bool:
        """Return whether a batch is dropped."""
        return self.name in (None, batch.name) and self.request in (None, batch.request)
