"""What `slurm` and `grid_engine` have in common: their interface, and the errors of both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

# identifier of the array job, and number of the task, from 1
Task = tuple[str, int]
# The number of a job that is not an array, and of all tasks of an array that were cancelled before they ran.
REST = 0
# Slurm states in which processes of a task may be left, if its shell was killed or its node cut off.
SURVIVED = ("FAILED", "NODE_FAIL")


@dataclass(frozen=True)
class Request:
    """The resources that a task requests.

    Memory is for the whole task, in MB; run time is in minutes. The queue is a partition in Slurm, the
    account a project in Grid Engine.
    """

    threads: int = 1
    memory: int | None = None
    runtime: int | None = None
    queue: str | None = None
    account: str | None = None
    extra: tuple[str, ...] = ()


@dataclass(frozen=True)
class Array:
    """An array job to submit; its tasks are numbered from 1."""

    name: str
    tasks: int
    script: Path
    workdir: Path
    # folder for the scheduler's own logs of the tasks
    logs: Path
    concurrent: int = 0


@dataclass(frozen=True)
class Status:
    """The status of a task: the scheduler's own word, and what it means."""

    word: str
    # it may still run
    alive: bool
    # it is not running now
    waiting: bool = False
    # it waits until somebody intervenes
    held: bool = False
    # it will never run as submitted
    hopeless: bool = False
    # a person ended it, or is ending it
    cancelled: bool = False


class Scheduler(Protocol):
    """The commands of a scheduler and the interpretation of their output."""

    # the name in settings and resources
    key: str
    name: str
    # names of the resources that override settings
    queue_resource: str
    account_resource: str
    extra_resource: str
    # whether the memory of a request is passed to the scheduler
    requests_memory: bool
    # whether a task that will never run as submitted may run if it is submitted again
    stuck_may_pass: bool
    # whether each task of an array counts where the number of submitted jobs is limited
    counts_tasks: bool
    # whether a task that leaves the queue before it has started was removed by a person
    leaves_if_removed: bool
    # what a user may do about what the scheduler says, if that does not tell
    remedies: tuple[tuple[re.Pattern[str], str], ...]

    def refusal(self, folder: str) -> str | None:
        """Return why no array can be submitted from a folder with this name; `None` if one can."""

    def submission(self, array: Array, request: Request) -> list[str]:
        """Return the command that submits an array; it must be run in `Array.workdir`."""

    def identifiers(self, output: str) -> list[str]:
        """Return what may be the identifier in the output of a submission; a site may print more."""

    def find(self, user: str | None) -> list[str]:
        """Return the command that lists the arrays of a user, or of all, by identifier and name."""

    def names(self, output: str) -> dict[str, str]:
        """Return the names of the arrays in the output of `find`, by identifier."""

    def query(self, user: str | None) -> list[str]:
        """Return the command that lists the tasks of a user, or of all."""

    def statuses(self, output: str) -> dict[Task, Status]:
        """Return the tasks in the output of `query`, without those that the scheduler has forgotten."""

    def inquiry(self, array: str) -> list[str]:
        """Return another command, which shows what the scheduler knows of an array; it fails for nothing."""

    def known(self, array: str, output: str) -> dict[int, Status] | None:
        """Return the tasks in the output of `inquiry`; `None` if some are left, but not which."""

    def accounting(self, array: str) -> list[str] | None:
        """Return the command that shows ended tasks of an array, where the site records them."""
        return None

    def recorded(self, array: str, output: str) -> dict[int, Status]:
        """Return the ended tasks in the output of `accounting`."""
        return {}

    def privacy(self) -> list[str] | None:
        """Return the command that shows whether users see the jobs of others; `None` if they always do."""
        return None

    def is_private(self, output: str) -> bool:
        """Tell from the output of `privacy` whether users see only their own jobs."""
        return False

    def reason(self, array: str) -> list[str] | None:
        """Return the command that shows why an array waits; `None` if its status says so."""
        return None

    def explanation(self, output: str) -> str | None:
        """Return the reason in the output of `reason`, if there is one."""
        return None

    def remedy(self, said: str) -> str:
        """Return what a user may do about something that the scheduler said, to be appended to it."""
        return next((f"; {remedy}" for text, remedy in self.remedies if text.search(said)), "")

    def cancellation(self, tasks: Iterable[Task] = (), arrays: Iterable[str] = ()) -> list[list[str]]:
        """Return the commands that cancel single tasks and whole arrays."""

    def advice(self, task: Task) -> str:
        """Return the command that shows a user what happened to a task."""


def numbers_in(ranges: str) -> Iterator[int]:
    """Yield the numbers of ``3``, ``1-8:1`` or ``1,4,7-9:2``; of nothing else."""
    for part in ranges.split(","):
        if found := re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part):
            first, last, step = (int(word) if word else None for word in found.groups())
            yield from range(first or 0, (last or first or 0) + 1, step or 1)


# Errors of schedulers that are unreachable or full for a while, the only ones where waiting helps.
PASSING = re.compile(
    r"unable to contact|unable to send message|unable to receive|timed? ?out|temporarily|try again"
    r"|unexpected message|connection (refused|reset)|communication (connection )?failure|commlib"
    r"|got no (valid )?response"
    r"|zero bytes were transmitted|can't connect|cannot connect|could not connect|got select error",
    re.I,
)

# Errors of a scheduler that limits how many jobs a user, account or everybody has at a time.
# Slurm's reason, because its text "(job submit limit, user's size and/or time limits)" is that of all limits.
FULL = re.compile(r"(QOS|Assoc)\w*Submit\w*|jobs are allowed per (user|cluster)", re.I)
# Limits that the jobs of others may fill.
SHARED = re.compile(r"(QOS|Assoc)Grp|PerAccount|per cluster", re.I)
