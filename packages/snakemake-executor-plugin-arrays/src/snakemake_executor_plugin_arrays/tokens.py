"""The state of a job of an array: one file for each job, whose name says the state.

This file is the job's token. It is only ever renamed, and of two processes that rename a file at the same
time, one succeeds: so no two attempts at a job can both end it, and what has ended is never replaced.

===============================  =========================================================================
``<line>.waiting``               nobody has begun the job in this line
``<line>.taken.<attempt>``       an attempt at its task has begun, which will run it
``<line>.running.<attempt>``     the job runs
``<line>.ended.<n>.<attempt>``   it ended with exit status n
``<line>.revoked``               Snakemake has given it up before it ran: no attempt may run it
``<line>.revoked.<attempt>``     Snakemake has given it up while it ran
``<line>.stopped.<attempt>``     the attempt at a job that was given up has noticed it, and has stopped
===============================  =========================================================================

An attempt is a process of the script of the task, named ``<node>.<process>.<random>``. A scheduler that loses
contact to a node starts the task again elsewhere; that attempt takes the tokens of the earlier one, which may
still run, and which stops as soon as it looks for its token (`attempt`). It may also resume days later, when
the folder is gone: it has no token then, either.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

WAITING = "waiting"
TAKEN = "taken"
RUNNING = "running"
ENDED = "ended"
REVOKED = "revoked"
STOPPED = "stopped"

_NAME = re.compile(rf"(\d+)\.({WAITING}|{TAKEN}|{RUNNING}|{ENDED}|{REVOKED}|{STOPPED})(?:\.(.+))?")
# How often to look again for a token that an attempt renames meanwhile: at most to `running` and to `ended`.
_TRIES = 3


@dataclass(frozen=True)
class State:
    """The state of a job, read from the name of its token."""

    word: str
    # the attempt; before it, for a job that has ended, the exit status
    rest: str = ""

    @classmethod
    def of(cls, name: str) -> tuple[int, State] | None:
        """Return the line and the state that a file stands for; `None` if it is not a token."""
        found = _NAME.fullmatch(name)
        return (int(found[1]), cls(found[2], found[3] or "")) if found else None

    def name(self, line: int) -> str:
        """Return the name of the token of a job in this state."""
        return ".".join(filter(None, (str(line), self.word, self.rest)))

    @property
    def status(self) -> int | None:
        """The exit status of a job that has ended."""
        return int(self.rest.partition(".")[0]) if self.word == ENDED else None

    @property
    def node(self) -> str | None:
        """The node on which the job was started; `None` if it was not."""
        if self.word in (WAITING, TAKEN):
            return None
        attempt = self.rest.partition(".")[2] if self.word == ENDED else self.rest
        return node_of(attempt) or None

    @property
    def may_run(self) -> bool:
        """Whether the job runs as far as is known: nobody has said that it ended, or that it stopped."""
        return self.word == RUNNING or (self.word == REVOKED and self.rest != "")


def node_of(attempt: str) -> str:
    """Return the name of the node of an attempt."""
    return attempt.rsplit(".", 2)[0]


def create(folder: Path, jobs: int) -> None:
    """Write the tokens of the jobs of a new array."""
    for line in range(1, jobs + 1):
        (folder / State(WAITING).name(line)).touch()


def states(folder: Path) -> dict[int, State]:
    """Return the states of all jobs of an array.

    An NFS client may show an outdated directory for a minute; creating a file makes it read the directory
    again.
    """
    with contextlib.suppress(OSError):
        (folder / ".look").touch()
        (folder / ".look").unlink()
    return dict(filter(None, map(State.of, os.listdir(folder))))


def revoke(folder: Path, lines: Iterable[int]) -> None:
    """Forbid all attempts to run or to end these jobs; jobs that have ended stay as they are."""
    left = set(lines)
    for _ in range(_TRIES):
        found = states(folder)
        left = {line for line in left if line in found and found[line].word in (WAITING, TAKEN, RUNNING)}
        for line in left:
            state = found[line]
            new = State(REVOKED, state.rest if state.word == RUNNING else "").name(line)
            with contextlib.suppress(FileNotFoundError):
                (folder / state.name(line)).rename(folder / new)
                # when it was revoked, by the clock of the file system
                os.utime(folder / new)
        if not left:
            return


def seconds_since(folder: Path, lines: Iterable[int]) -> Iterator[float]:
    """Yield for how long jobs have been revoked, by the clock of the file system."""
    look = folder / ".look"
    look.touch()
    now = look.stat().st_mtime
    look.unlink()
    found = states(folder)
    for line in lines:
        if line in found and found[line].word == REVOKED:
            with contextlib.suppress(FileNotFoundError):
                yield now - (folder / found[line].name(line)).stat().st_mtime
