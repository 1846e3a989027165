"""The state of a job of an array: one file for each job, whose name says the state.

This file is the job's token. It is only ever renamed, and of two processes that rename a file at the same
time, one succeeds: so no two attempts at a job can both end it, and what has ended is never replaced.

===============================  =========================================================================
``<line>.waiting``               nobody has begun the job in this line
``<line>.taken.<attempt>``       an attempt at its task has begun, which will run it
``<line>.running.<attempt>``     the job runs
``<line>.awaiting.<attempt>``    an attempt has taken the job from one that ran it, and waits until that
                                 one must have noticed
``<line>.ended.<n>.<attempt>``   it ended with exit status n
``<line>.revoked``               revoked before it ran: no attempt may run it
``<line>.revoked.<attempt>``     revoked while it ran
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
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

WAITING = "waiting"
TAKEN = "taken"
RUNNING = "running"
AWAITING = "awaiting"
ENDED = "ended"
REVOKED = "revoked"
STOPPED = "stopped"

_WORDS = (WAITING, TAKEN, RUNNING, AWAITING, ENDED, REVOKED, STOPPED)
_NAME = re.compile(rf"(\d+)\.({'|'.join(_WORDS)})(?:\.(.+))?")
_REVOCABLE = (WAITING, TAKEN, RUNNING, AWAITING)
# How often to look again for a token that an attempt renames meanwhile. That happens a few times at most, but
# a list of a folder may lack a file that is being renamed.
_TRIES = 20


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
        return self.word in (RUNNING, AWAITING) or (self.word == REVOKED and self.rest != "")


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


def revoke(folder: Path, lines: Iterable[int]) -> set[int]:
    """Forbid all attempts to run or to end these jobs; jobs that have ended stay as they are.

    Returns the jobs that could not be revoked, because their tokens were renamed each time.
    """
    left, unseen = set(lines), set[int]()
    for _ in range(_TRIES):
        found = states(folder)
        unseen = left - found.keys()
        left = {line for line in left if line in unseen or found[line].word in _REVOCABLE}
        for line in left - unseen:
            token = folder / found[line].name(line)
            with contextlib.suppress(FileNotFoundError):
                # when it was revoked, by the clock of the file system
                os.utime(token)
                token.rename(
                    folder / State(REVOKED, found[line].rest if found[line].may_run else "").name(line)
                )
        if not left:
            break
    # no attempt has what was never seen: its folder has been cleared
    return left - unseen


def may_run(folder: Path) -> set[int]:
    """Return the jobs that may run: not by one list of the folder, which may lack what is being renamed."""
    looks = [states(folder) for _ in range(3)]
    last: dict[int, State] = {}
    for look in looks:
        last |= look
    return {line for line, state in last.items() if state.may_run}


def seconds_since(folder: Path, lines: Collection[int]) -> Iterator[float]:
    """Yield for how long jobs have been revoked, by the clock of the file system."""
    look = folder / ".look"
    look.touch()
    now = look.stat().st_mtime
    look.unlink()
    for line, state in states(folder).items():
        if line in lines and state.word == REVOKED:
            with contextlib.suppress(FileNotFoundError):
                yield now - (folder / state.name(line)).stat().st_mtime
