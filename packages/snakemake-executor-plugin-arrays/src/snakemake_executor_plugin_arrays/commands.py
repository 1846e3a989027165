"""Run the commands of a scheduler, with retries, without submitting an array twice."""

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

# Seconds after which a command of the scheduler is given up.
TIMEOUT = 120

# Variables of an enclosing job or the user's shell that would change what is submitted, shown or cancelled.
# Those that say how to reach the scheduler are kept.
DISTURBING = re.compile(
    r"(SBATCH|SQUEUE|SCANCEL)_|SLURM_(?!CONF$|CLUSTERS$|JWT$)|SGE_TASK_|JOB_ID$|SNAKEMAKE_PROFILE$"
)


class SchedulerError(Exception):
    """A scheduler rejected a command or could not be reached; the message is for the user.

    `passing`: waiting may help. `uncertain`: the command may have taken effect nevertheless.
    """

    def __init__(self, message: str, passing: bool = False, uncertain: bool = False) -> None:
        super().__init__(message)
        self.passing, self.uncertain = passing, uncertain


def run(command: Sequence[str], folder: Path | None = None) -> str:
    """Run a command in a folder and return its output.

    Raises
    ------
    SchedulerError
        If it fails; contains the command and its output.
    """
    environment = {name: value for name, value in os.environ.items() if not DISTURBING.match(name)}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",  # job names of other users
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
    """A scheduler, and how long to retry when it cannot be reached."""

    def __init__(self, scheduler: Scheduler, patience: float, warn: Callable[[str], None]) -> None:
        """Store the arguments; the scheduler is not contacted."""
        self.scheduler = scheduler
        self.patience = patience
        self.warn = warn
        # not LOGNAME: the scheduler uses the owner of the process
        self.user = pwd.getpwuid(os.getuid()).pw_name

    def submit(self, array: Array, request: Request) -> str:
        """Submit an array and return its identifier.

        Raises
        ------
        SchedulerError
            Immediately if the scheduler rejects the array, after `patience` seconds if it cannot be reached.
        """
        command = self.scheduler.submission(array, request)
        end, pause, tried = time.monotonic() + self.patience, 2.0, False
        while True:
            try:
                # Perhaps only the answer was lost: submit again only after the scheduler has said that it
                # does not know the array.
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
            self.warn(f"{self.scheduler.name} cannot take the array {array.name} now, will retry: {problem}")
            tried = True
            time.sleep(pause)
            pause = min(2 * pause, 30)
        identifier = self.scheduler.identifier(output)
        if identifier is None:
            said = f"{shlex.join(command)}: no job number in {output.strip()!r}"
            raise SchedulerError(said, uncertain=True)
        return identifier

    def find_all(self, names: set[str]) -> set[str]:
        """Return the identifiers of the arrays with these names that the scheduler still knows.

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
        """Return the parsed output of a command; unreadable output is an error."""
        output = run(command)
        try:
            return read(output)
        except (ValueError, KeyError, ElementTree.ParseError) as error:
            raise SchedulerError(f"{shlex.join(command)}: unexpected answer: {error}") from None

    def statuses(self) -> dict[Task, Status]:
        """Return the status of all tasks of this user.

        Raises
        ------
        SchedulerError
            If it does not answer.
        """
        return self._answer(self.scheduler.query(self.user), self.scheduler.statuses)

    def cancel(self, tasks: Iterable[Task] = (), arrays: Iterable[str] = ()) -> None:
        """Cancel tasks and arrays; it is no error if they have already ended."""
        for command in self.scheduler.cancellation(tasks, arrays):
            try:
                run(command)
            except SchedulerError as error:
                if error.passing:
                    self.warn(str(error))

    def living(self, arrays: set[str]) -> set[str]:
        """Return the arrays that have tasks which may still run."""
        if not arrays:
            return set()
        return {task[0] for task, status in self.statuses().items() if status.alive and task[0] in arrays}

    def clear(self, arrays: set[str]) -> None:
        """Cancel arrays and wait until none of their tasks is running.

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
                problem = f"arrays of an earlier run are still running: {', '.join(sorted(left))}"
            except SchedulerError as error:
                problem = str(error)
            if time.monotonic() > end:
                raise SchedulerError(f"{problem}. Cancel them, then rerun Snakemake.")
            time.sleep(1)
