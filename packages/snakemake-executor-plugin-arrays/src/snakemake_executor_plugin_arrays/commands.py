"""Running the commands of a scheduler: again when it is out of reach, but no array is submitted twice."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from snakemake_executor_plugin_arrays.schedulers import PASSING, Array, Request, Scheduler, Status, Task

Answer = TypeVar("Answer")

# A command of a scheduler that takes longer than this gets no answer.
TIMEOUT = 120

# Variables with which an enclosing job or a user's shell would change what is submitted, shown or cancelled;
# those that say how to reach the scheduler stay.
DISTURBING = re.compile(
    r"(SBATCH|SQUEUE|SCANCEL)_|SLURM_(?!CONF$|CLUSTERS$|JWT$)|SGE_TASK_|JOB_ID$|SNAKEMAKE_PROFILE$"
)


class SchedulerError(Exception):
    """A scheduler refused, or could not be reached; the message is for the user.

    `passing`: waiting may help. `uncertain`: what was asked for may have been done nevertheless.
    """

    def __init__(self, message: str, passing: bool = False, uncertain: bool = False) -> None:
        super().__init__(message)
        self.passing, self.uncertain = passing, uncertain


def run(command: Sequence[str], folder: Path | None = None) -> str:
    """Return what a command prints, run in a folder.

    Raises
    ------
    SchedulerError
        With the command and all that it said.
    """
    environment = {name: value for name, value in os.environ.items() if not DISTURBING.match(name)}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",  # names of other people's jobs
            env=environment,
            cwd=folder,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SchedulerError(f"{shlex.join(command)}: timed out after {TIMEOUT} s", passing=True) from None
    except OSError as error:
        raise SchedulerError(f"{shlex.join(command)}: {error.strerror or error}") from None
    if done.returncode != 0:
        said = " ".join(f"{done.stderr} {done.stdout}".split()) or f"exit status {done.returncode}"
        # not in the command: a job may be called "timeout"
        raise SchedulerError(f"{shlex.join(command)}: {said}", passing=bool(PASSING.search(said)))
    return done.stdout


class Client:
    """A scheduler, and how long to go on asking it."""

    def __init__(self, scheduler: Scheduler, patience: float, warn: Callable[[str], None]) -> None:
        """Keep what is needed; nothing is asked."""
        self.scheduler = scheduler
        self.patience = patience
        self.warn = warn
        # not what LOGNAME says: the scheduler goes by the process
        self.user = pwd.getpwuid(os.getuid()).pw_name

    def submit(self, array: Array, request: Request) -> str:
        """Submit an array and return its identifier.

        Raises
        ------
        SchedulerError
            At once if the scheduler refuses, after `patience` seconds if it cannot be reached.
        """
        command = self.scheduler.submission(array, request)
        end, pause, tried = time.monotonic() + self.patience, 2.0, False
        while True:
            try:
                # The answer may have been lost, not the question: nothing is submitted again before the
                # scheduler has said that it does not know the array.
                if tried and (found := self.find_all({array.name})):
                    return found.pop()
            except SchedulerError as error:
                problem = error
            else:
                try:
                    output = run(command, array.workdir)
                    break
                except SchedulerError as error:
                    if not error.passing:
                        raise
                    problem = error
            if time.monotonic() > end:
                raise SchedulerError(str(problem), uncertain=True)
            self.warn(
                f"{self.scheduler.name} cannot take the array {array.name} now, trying again: {problem}"
            )
            tried = True
            time.sleep(pause)
            pause = min(2 * pause, 30)
        identifier = self.scheduler.identifier(output)
        if identifier is None:
            said = f"{shlex.join(command)}: no job number in {output.strip()!r}"
            raise SchedulerError(said, uncertain=True)
        return identifier

    def find_all(self, names: set[str]) -> set[str]:
        """Return the identifiers of the arrays of these names that the scheduler still knows.

        Raises
        ------
        SchedulerError
            If it does not answer.
        """
        if not names:
            return set()
        return self._answer(
            self.scheduler.find(self.user), lambda output: self.scheduler.named(output, names)
        )

    @staticmethod
    def _answer(command: Sequence[str], read: Callable[[str], Answer]) -> Answer:
        """Return what a command prints, read; what cannot be read is no answer."""
        output = run(command)
        try:
            return read(output)
        except (ValueError, KeyError, ElementTree.ParseError) as error:
            raise SchedulerError(f"{shlex.join(command)}: unexpected answer: {error}") from None

    def statuses(self) -> dict[Task, Status]:
        """Return what the scheduler says of all tasks of this user.

        Raises
        ------
        SchedulerError
            If it does not answer.
        """
        return self._answer(self.scheduler.query(self.user), self.scheduler.statuses)

    def cancel(self, tasks: Iterable[Task] = (), arrays: Iterable[str] = ()) -> None:
        """Cancel tasks and arrays; those that have ended already are no error."""
        for command in self.scheduler.cancellation(tasks, arrays):
            try:
                run(command)
            except SchedulerError as error:
                if error.passing:
                    self.warn(str(error))

    def living(self, arrays: set[str]) -> set[str]:
        """Return those of the arrays that have tasks which may still run."""
        if not arrays:
            return set()
        return {task[0] for task, status in self.statuses().items() if status.alive and task[0] in arrays}

    def clear(self, arrays: set[str]) -> None:
        """Cancel arrays and wait until none of their tasks runs any more.

        Raises
        ------
        SchedulerError
            If tasks remain, or the scheduler does not answer, for `patience` seconds.
        """
        end = time.monotonic() + self.patience
        while True:
            try:
                if not (left := self.living(arrays)):
                    return
                self.cancel(arrays=sorted(left))
                problem = f"arrays of an earlier run do not end: {', '.join(sorted(left))}"
            except SchedulerError as error:
                problem = str(error)
            if time.monotonic() > end:
                raise SchedulerError(f"{problem}. Cancel them, then start Snakemake again.")
            time.sleep(1)
