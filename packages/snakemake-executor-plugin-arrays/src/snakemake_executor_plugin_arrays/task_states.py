"""The state of the task of a submitted job: one value, which only the transitions below change.

A run of Snakemake concludes it from what the scheduler lists, from what it answers when asked for an array,
and from the job's token (`tokens`). The README of the package has the transitions in a table. Nothing here
runs a command or looks at the clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from snakemake_executor_plugin_arrays.schedulers import SURVIVED, Status

# The scheduler lists the task as not running now (or has not been asked since it was submitted), as running,
# not at all, or as ended. A task that has vanished or ended may have an exit status that is not visible yet.
WAITING = "waiting"
RUNNING = "running"
VANISHED = "vanished"
ENDED = "ended"
# This run has forbidden its job to go on: the scheduler no longer knows the task, or processes may be left.
REVOKED = "revoked"

# The job has an exit status; it has the one of jobs that would fail again.
FINISHED = "finished"
REFUSED = "refused"
# The task would never run; it left no exit status; it left none because a person cancelled it.
GIVEN_UP = "given up"
LOST = "lost"
REMOVED = "removed"

# What is reported to Snakemake, after which nothing changes, and what is not.
REPORTED = frozenset({FINISHED, REFUSED, GIVEN_UP, LOST, REMOVED})
OPEN = (WAITING, RUNNING, VANISHED, ENDED, REVOKED)


class ImpossibleTransitionError(Exception):
    """A task cannot get from its state to this one: a mistake in this package."""


@dataclass(frozen=True, slots=True)
class TaskState:
    """What is known of a task.

    The names of its transitions say what was observed or done; each returns the new state, and raises an
    ImpossibleTransitionError where it makes no sense.
    """

    word: str = WAITING
    # since when it is not listed as one that may still run; later if another command showed it
    missing_since: float | None = None
    # how the scheduler says that it ended
    status: Status | None = None
    # since when its job is forbidden to go on
    revoked_since: float | None = None
    # whether a person is deleting it, or has
    was_cancelled: bool = False

    # ---- what the list of the scheduler says

    def listed(self, status: Status) -> TaskState:
        """Return the state of a task that the scheduler lists as one that may still run."""
        word = WAITING if status.waiting else RUNNING
        if word == self.word and status.cancelled == self.was_cancelled:
            return self
        self._check(*OPEN, to=word)
        if self.word == REVOKED:
            # if it is being cancelled, then by this run
            return TaskState(REVOKED, revoked_since=self.revoked_since)
        return TaskState(word, was_cancelled=status.cancelled)

    def unlisted(self, status: Status | None, now: float) -> TaskState:
        """Return the state of a task that is not listed, or with the status with which it ended."""
        if self.missing_since is None or self.word in REPORTED:
            self._check(*OPEN, to=VANISHED)
            return self._missing(status, now)
        return self if status in (None, self.status) else self._missing(status, self.missing_since)

    def is_missing_for(self, seconds: float, now: float) -> bool:
        """Return whether it has been missing for so long that its exit status would be visible."""
        return self.missing_since is not None and now - self.missing_since >= seconds

    # ---- what the scheduler says when it is asked for the array

    def found_alive(self, now: float) -> TaskState:
        """Return the state of a missing task that another command shows, or may mean: ask later."""
        self._check_missing(VANISHED)
        return replace(self, missing_since=now)

    def found_ended(self, status: Status, now: float) -> TaskState:
        """Return the state of a missing task that, by another command, has ended: perhaps just now."""
        self._check_missing(ENDED)
        return self._missing(status, now)

    def judged(
        self,
        status: Status | None,
        now: float,
        notice_seconds: float,
        has_begun: Callable[[], bool],
        leaves_if_removed: bool,
    ) -> TaskState:
        """Return the state of a missing task that no command shows as one that may still run.

        It may be running all the same: only what the scheduler confirms has ended. Otherwise the job is
        revoked, and lost when it must have noticed that.

        Parameters
        ----------
        status
            How it ended according to the list, or to another command; `None` if nothing says so.
        now
            The time in seconds.
        notice_seconds
            After how many seconds a job must have noticed that it is revoked.
        has_begun
            Whether the task has ever run on a node. Called only if it matters, as it looks at files.
        leaves_if_removed
            Whether a task that leaves the queue before it has begun was removed by a person.
        """
        self._check_missing(LOST)
        if status is not None:
            if self.status is None and has_begun():
                return self.found_ended(status, now)
            if status.word not in SURVIVED or not has_begun():
                return self.lost(status)
        if self.revoked_since is None:
            return self.revoked(now, leaves_if_removed and not has_begun())
        return self if now - self.revoked_since < notice_seconds else self.lost(status)

    # ---- what this run does about it

    def revoked(self, now: float, was_removed: bool = False) -> TaskState:
        """Return the state of a missing task whose job this run forbids to go on.

        `was_removed`: it left the queue before it began, so a person removed it.
        """
        self._check(VANISHED, ENDED, to=REVOKED)
        return replace(self, word=REVOKED, revoked_since=now, was_cancelled=self.was_cancelled or was_removed)

    def not_revoked(self) -> TaskState:
        """Return the state of a task whose job could not be revoked; that is tried again."""
        self._check(REVOKED, to="not revoked")
        return replace(self, word=VANISHED if self.status is None else ENDED, revoked_since=None)

    # ---- how it is reported

    def finished(self) -> TaskState:
        """Return the state of a task whose job has an exit status."""
        return self._reported(FINISHED)

    def refused(self) -> TaskState:
        """Return the state of a task whose job says by its exit status that it would fail again."""
        return self._reported(REFUSED)

    def lost(self, status: Status | None) -> TaskState:
        """Return the state of a task that ended so, by the scheduler, and left no exit status of its job."""
        self._check(*OPEN, to=LOST)
        by_us = self.word == REVOKED and status is not None and status.cancelled
        return replace(self, word=LOST, status=None if by_us else status)

    def stopped(self) -> TaskState:
        """Return the state of a task whose job has noticed that it is revoked.

        If it was cancelled, then by this run, even if the job seemed not to be revoked.
        """
        by_us = self.status is not None and self.status.cancelled
        return self.lost(None if by_us else self.status)

    def removed(self) -> TaskState:
        """Return the state of a lost task that a person cancelled."""
        self._check(LOST, to=REMOVED)
        return replace(self, word=REMOVED)

    def given_up(self) -> TaskState:
        """Return the state of a task that is listed, but will never run."""
        if self.missing_since is not None:
            raise ImpossibleTransitionError(f"a task that is {self.word} and not listed cannot be {GIVEN_UP}")
        return self._reported(GIVEN_UP)

    def _missing(self, status: Status | None, since: float) -> TaskState:
        word = VANISHED if status is None else ENDED
        if self.word == REVOKED:
            word = REVOKED
        return replace(self, word=word, status=status, missing_since=since)

    def _reported(self, word: str) -> TaskState:
        self._check(*OPEN, to=word)
        return replace(self, word=word)

    def _check(self, *possible: str, to: str) -> None:
        if self.word not in possible:
            raise ImpossibleTransitionError(f"a task that is {self.word} cannot be {to}")

    def _check_missing(self, to: str) -> None:
        self._check(*OPEN, to=to)
        if self.missing_since is None:
            raise ImpossibleTransitionError(f"a task that is {self.word} and listed cannot be {to}")
