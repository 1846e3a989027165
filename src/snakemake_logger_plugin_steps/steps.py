"""Which steps of a run are done, which are running, and how long the rest will take."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from itersel.run.progress import Clock, duration

# Minimum number of seconds between two lines, if something has changed and if nothing has.
CHANGED, UNCHANGED = 15.0, 60.0
# Minimum time between two lines as a fraction of the time so far: a run of one day writes about 140 lines.
PART = 1 / 20
# Maximum number of running steps named in a line.
NAMED = 4
# The docstring of rules that are not shown: they would hide the steps that take time.
NO_TIME = "takes no time"
# Width of a line, and indentation of the lines that continue it, in characters.
WIDTH, INDENT = 110, 8


class Job(NamedTuple):
    """A job that was planned or started."""

    title: str | None  # of its step; None if the step is not shown
    kind: tuple[str, str]  # the rule, and the experiment or split; jobs of a kind take about the same time


class _Running(NamedTuple):
    job: Job
    began: float
    logs: Sequence[str]


def make_job(rule: str, wildcards: Mapping[str, str], docstring: str | None) -> Job:
    """Return the job of a rule; jobs of any rules with the same docstring and wildcards are one step."""
    whose = wildcards.get("experiment", wildcards.get("split", ""))
    title = " ".join([rule, *wildcards.values()])
    if docstring == NO_TIME:
        return Job(None, (rule, whose))
    # the docstring of a user's own rule may be missing or empty, or have several lines or other braces
    with contextlib.suppress(KeyError, ValueError, IndexError, AttributeError, TypeError):
        title = (docstring or "").strip().splitlines()[0].format_map(wildcards)
    return Job(title, (rule, whose))


class Steps:
    """The steps of a run; the clock returns seconds since an arbitrary fixed time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start = clock()
        # the first line need not wait
        self._shown = self._start - CHANGED
        self._planned: Counter[str | None] = Counter()
        self._ended: Counter[str | None] = Counter()
        self._left: Counter[tuple[str, str]] = Counter()
        self._seconds: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self._running: dict[int, _Running] = {}
        # for each step: number of running jobs, since when there are any, and the earlier seconds with any
        self._active: Counter[str | None] = Counter()
        self._since: dict[str | None, float] = {}
        self._busy: defaultdict[str | None, float] = defaultdict(float)
        self._done: list[str] = []
        self._failed: set[int] = set()
        self._now: list[str] = []

    def plan(self, jobs: Iterable[Job]) -> None:
        """Record all jobs of the run."""
        for job in jobs:
            self._planned[job.title] += 1
            self._left[job.kind] += 1

    def begin(self, number: int, job: Job, logs: Sequence[str] = ()) -> None:
        """Record that a job has started, for the first time or again."""
        now = self._clock()
        self._running[number] = _Running(job, now, logs)
        self._failed.discard(number)
        if not self._active[job.title]:
            self._since[job.title] = now
        self._active[job.title] += 1

    def end(self, number: int) -> None:
        """Record that a job has succeeded."""
        if number not in self._running:
            return
        job, began, _ = self._stop(number)
        self._seconds[job.kind].append(self._clock() - began)
        self._left[job.kind] -= 1
        self._ended[job.title] += 1
        if job.title is not None and self._ended[job.title] == self._planned[job.title]:
            self._done.append(f"{job.title} ({duration(self._busy[job.title])})")

    def fail(self, number: int) -> None:
        """Record that a job has failed."""
        if number in self._running:
            self._stop(number)
        self._failed.add(number)

    def _stop(self, number: int) -> _Running:
        stopped = self._running.pop(number)
        title = stopped.job.title
        self._active[title] -= 1
        if not self._active[title]:
            self._busy[title] += self._clock() - self._since[title]
        return stopped

    def due(self) -> bool:
        """Return whether a line is due."""
        now = self._clock()
        wait = CHANGED if self._has_changed() else UNCHANGED
        return now - self._shown >= max(wait, (now - self._start) * PART) and self._has_news()

    def line(self) -> str | None:
        """Return a line with what has changed since the last one; None if nothing has ended or is running."""
        if not self._has_news():
            return None
        now = self._running_titles()
        named = [*map(self._with_count, now[:NAMED])]
        if len(now) > NAMED:
            named.append(f"{len(now) - NAMED} others")
        said = [] if self._has_changed() else self._last_words()
        parts = [("done: ", self._done), ("now: ", named), ("log: ", said)]
        self._done, self._now, self._shown = [], now, self._clock()
        return _arranged(self._head(), [(label, items) for label, items in parts if items])

    def stopped(self) -> str:
        """Return what is true after Ctrl-C."""
        jobs = f"{self._ended.total()} of {self._planned.total()} jobs done"
        failed = f", {len(self._failed)} failed before" if self._failed else ""
        return f"Stopped; {jobs}{failed}.\nRun the same command to continue."

    def _has_changed(self) -> bool:
        return bool(self._done) or self._running_titles() != self._now

    def _has_news(self) -> bool:
        return bool(self._done or self._running_titles())

    def _running_titles(self) -> list[str]:
        titles = (one.job.title for one in self._running.values())
        return list(dict.fromkeys(title for title in titles if title is not None))

    def _last_words(self) -> list[str]:
        """Return the last line in the log of the longest-running job, if it has one."""
        for log in next(iter(self._running.values())).logs:
            for line in filter(None, last_lines(log, 1)):
                return [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"]
        return []

    def _with_count(self, title: str) -> str:
        planned = self._planned[title]
        return f"{title} ({self._ended[title]} of {planned})" if planned > 1 else title

    def _head(self) -> str:
        minutes, seconds = divmod(round(self._clock() - self._start), 60)
        failed = f", {len(self._failed)} failed" if self._failed else ""
        jobs = f"{self._ended.total()} of {self._planned.total()} jobs{failed}"
        hours, minutes = divmod(minutes, 60)
        time = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        return f"{time:>6}  {jobs}{self._time_left()}"

    def _time_left(self) -> str:
        """Estimate the time left from the jobs that have ended; empty if they tell too little."""
        if self._failed:
            return ""  # jobs that depend on them will not run
        work = 0.0
        known = 0
        unknown = 0
        for kind, count in self._left.items():
            each = self._usual_seconds(kind)
            if each is None:
                unknown += count
            else:
                known += count
                work += count * each
        now = self._clock()
        spent = sum(map(sum, self._seconds.values()))
        # known for too few jobs: it would be a guess
        if known <= unknown or spent <= 0:
            return ""
        for one in self._running.values():
            work -= min(now - one.began, self._usual_seconds(one.job.kind) or 0.0)
            spent += now - one.began
        # assumes as many jobs at a time as so far
        left = work * (now - self._start) / spent
        if left < 1:
            return ""  # the last jobs take longer than usual, or wait in the queue of a cluster
        return f", {'at least' if unknown else 'about'} {duration(left)} left"

    def _usual_seconds(self, kind: tuple[str, str]) -> float | None:
        """Return the mean time of jobs of a kind, or else of its rule; None if none of them has ended."""
        seconds = self._seconds.get(kind) or [
            value for (rule, _), values in self._seconds.items() if rule == kind[0] for value in values
        ]
        return sum(seconds) / len(seconds) if seconds else None


def last_lines(path: str, count: int) -> list[str]:
    """Return up to `count` last lines of a log; none if the file does not exist."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return [line.rstrip() for line in deque(stream, count)]
    except OSError:
        return []


def _arranged(head: str, parts: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return a line, broken into further indented lines if it is too long."""
    lines = [head + " "]
    for label, items in parts:
        for number, item in enumerate(items):
            text = f" {label}{item}" if number == 0 else f" {item}"
            end = "," if number < len(items) - 1 else ";"
            if len(lines[-1] + text + end) > WIDTH:
                lines.append(" " * INDENT + text[1:])
            else:
                lines[-1] += text
            lines[-1] += end
    return "\n".join(lines).removesuffix(";")
