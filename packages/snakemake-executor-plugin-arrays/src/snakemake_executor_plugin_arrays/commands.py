"""Run the commands of a scheduler, with retries, without submitting an array twice."""

from __future__ import annotations

import contextlib
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

from snakemake_executor_plugin_arrays.schedulers import FULL, PASSING, Array, Request, Scheduler, Status, Task

Answer = TypeVar("Answer")

# Seconds after which a command of the scheduler is given up, and one that delays the results of other jobs.
TIMEOUT = 120
QUICK = 20
# Seconds after which a user is told what is being waited for.
TOLD_AFTER = 10
# What schedulers say of a job that they do not know.
UNKNOWN = re.compile(r"invalid job id|do(es)? not exist|job \S+ not found", re.I)

# Variables of an enclosing job or the user's shell that would change what is submitted, shown or cancelled.
# Those that say how to reach the scheduler are kept.
DISTURBING = re.compile(
    r"(SBATCH|SQUEUE|SCANCEL)_|SLURM_(?!CONF$|CLUSTERS$|JWT$)|SGE_TASK_|JOB_ID$|SNAKEMAKE_PROFILE$"
)


class SchedulerError(Exception):
    """A scheduler rejected a command or could not be reached; the message is for the user.

    `passing`: waiting may help. `uncertain`: the command may have taken effect nevertheless. `full`: the
    number of submitted jobs is at a limit. `unknown`: there is no such job. `answer`: what the command said.
    """

    def __init__(
        self,
        message: str,
        passing: bool = False,
        uncertain: bool = False,
        full: bool = False,
        unknown: bool = False,
        answer: str = "",
    ) -> None:
        super().__init__(message)
        self.answer = answer or message
        self.passing, self.uncertain, self.full, self.unknown = passing, uncertain, full, unknown


def run(
    command: Sequence[str],
    folder: Path | None = None,
    timeout: float = TIMEOUT,
    tell: Callable[[str], None] | None = None,
) -> str:
    """Run a command in a folder and return its output.

    Parameters
    ----------
    command
        The command and its arguments.
    folder
        Where to run it.
    timeout
        Seconds after which it is killed.
    tell
        Called once with the output so far if the command is slow: it may be retrying by itself.

    Raises
    ------
    SchedulerError
        If it fails; contains the command and its output.
    """
    environment = {name: value for name, value in os.environ.items() if not DISTURBING.match(name)}
    # scontrol does not shorten the numbers of tasks
    environment["SLURM_BITSTR_LEN"] = "0"
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=folder,
        )
    except OSError as error:
        raise SchedulerError(f"{error.strerror or error} ({shlex.join(command)})") from None
    with process:
        try:
            output, errors = _communicate(process, timeout, tell)
        except subprocess.TimeoutExpired as error:
            process.kill()
            said = _text(error.stderr, error.stdout)
            message = f"timed out after {timeout} s{f': {said}' if said else ''} ({shlex.join(command)})"
            raise SchedulerError(message, passing=True, answer=said) from None
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        said = _text(errors, output) or f"exit status {process.returncode}"
        # not in the command: a job may be called "timeout"
        passing, full, unknown = (bool(text.search(said)) for text in (PASSING, FULL, UNKNOWN))
        raise SchedulerError(
            f"{said} ({shlex.join(command)})", passing=passing, full=full, unknown=unknown, answer=said
        )
    # job names of other users need not be UTF-8
    return output.decode(errors="replace")


def _communicate(
    process: subprocess.Popen[bytes], timeout: float, tell: Callable[[str], None] | None
) -> tuple[bytes, bytes]:
    """Return the output and the errors of a process; raises a TimeoutExpired with what there is of both."""
    if tell is not None and timeout > TOLD_AFTER:
        try:
            return process.communicate(timeout=TOLD_AFTER)
        except subprocess.TimeoutExpired as error:
            tell(_text(error.stderr, error.stdout))
        timeout -= TOLD_AFTER
    return process.communicate(timeout=timeout)


def _text(*parts: bytes | None) -> str:
    """Return what a command printed as one line."""
    return " ".join(b" ".join(part or b"" for part in parts).decode(errors="replace").split())


def process_owner() -> str:
    """Return the user whom the scheduler sees; LOGNAME may name another."""
    return pwd.getpwuid(os.getuid()).pw_name


class Client:
    """A scheduler, and how long to retry when it cannot be reached."""

    def __init__(self, scheduler: Scheduler, patience: float, warn: Callable[[str], None]) -> None:
        """Store the arguments; the scheduler is not contacted."""
        self.scheduler = scheduler
        self.patience = patience
        self.warn = warn
        # set when the run is interrupted
        self.is_interrupted = False
        self.user = process_owner()
        # the names of the submitted arrays, by the identifiers that were read from the answers
        self._answered: dict[str, str] = {}

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
                    output = run(command, array.workdir, tell=lambda said: self._say_it_waits(array, said))
                    break
                except SchedulerError as error:
                    if error.full or not error.passing:
                        raise
                    problem = error
            if time.monotonic() > end or self.is_interrupted:
                raise SchedulerError(str(problem), uncertain=True)
            self.warn(f"{self.scheduler.name} cannot take the array {array.name} now, will retry: {problem}")
            tried = True
            time.sleep(pause)
            if self.is_interrupted:
                raise SchedulerError(str(problem), uncertain=True)
            pause = min(2 * pause, 30)
        answers = self.scheduler.identifiers(output)
        if len(answers) != 1:
            # a site prints more than the answer
            with contextlib.suppress(SchedulerError):
                answers = sorted(self.find_all({array.name}))
        if len(answers) != 1:
            said = f"no job number in {output.strip()!r} ({shlex.join(command)})"
            raise SchedulerError(said, uncertain=True)
        self._answered[answers[0]] = array.name
        return answers[0]

    def _say_it_waits(self, array: Array, said: str) -> None:
        why = f": {said}" if said else ""
        self.warn(f"{self.scheduler.name} has not taken the array {array.name} for {TOLD_AFTER} s{why}")

    def find_all(self, names: set[str], everybody: bool = False) -> set[str]:
        """Return the identifiers of the arrays with these names that the scheduler still knows.

        `everybody`: also those of other users.

        Raises
        ------
        SchedulerError
            If it does not answer.
        """
        if not names:
            return set()
        return self._answer(
            self.scheduler.find(None if everybody else self.user),
            lambda output: {array for array, name in self.scheduler.names(output).items() if name in names},
        )

    @staticmethod
    def _answer(command: Sequence[str], read: Callable[[str], Answer], timeout: float = TIMEOUT) -> Answer:
        """Return the parsed output of a command; unreadable output is an error."""
        output = run(command, timeout=timeout)
        try:
            return read(output)
        except (ValueError, KeyError, ElementTree.ParseError) as error:
            raise SchedulerError(f"unexpected answer: {error} ({shlex.join(command)})") from None

    def statuses(self, everybody: bool = False, timeout: float = TIMEOUT) -> dict[Task, Status]:
        """Return the status of all tasks of this user, or of all users.

        Raises
        ------
        SchedulerError
            If it does not answer within `timeout` seconds.
        """
        command = self.scheduler.query(None if everybody else self.user)
        return self._answer(command, self.scheduler.statuses, timeout)

    def known(self, array: str, listed: bool) -> dict[int, Status] | None:
        """Ask for one array what the scheduler knows of its tasks; `None` if some are left, but not which.

        `listed`: the list of the user's tasks has others of this array, so it can be trusted where there is
        no better answer.

        Raises
        ------
        SchedulerError
            If it does not answer.
        """
        try:
            found = self._answer(
                self.scheduler.inquiry(array), lambda output: self.scheduler.known(array, output), QUICK
            )
        except SchedulerError as error:
            if not error.unknown:
                raise
            found = {}
        if found is None:
            return {} if listed else None
        if command := self.scheduler.accounting(array):
            with contextlib.suppress(SchedulerError):
                found = (
                    self._answer(command, lambda output: self.scheduler.recorded(array, output), QUICK)
                    | found
                )
        return found

    def sees_everybody(self) -> bool:
        """Return whether the scheduler shows the jobs of other users; if it does not say, it may not."""
        command = self.scheduler.privacy()
        try:
            return command is None or not self.scheduler.is_private(run(command))
        except SchedulerError:
            return False

    def reason(self, array: str) -> str | None:
        """Return why an array waits, where only this command of the scheduler says so, and a remedy."""
        command = self.scheduler.reason(array)
        with contextlib.suppress(SchedulerError):
            why = self.scheduler.explanation(run(command, timeout=QUICK)) if command else None
            return f"{why}{self.scheduler.remedy(why)}" if why else None
        return None

    def cancel(self, tasks: Iterable[Task] = (), arrays: Iterable[str] = ()) -> None:
        """Cancel tasks and arrays; it is no error if they have already ended."""
        tasks, arrays = list(tasks), list(arrays)
        others = self._not_ours({*arrays, *(array for array, _ in tasks)})
        if others:
            self.warn(f"{', '.join(sorted(others))}: not submitted by this run, so not cancelled")
        tasks = [task for task in tasks if task[0] not in others]
        arrays = [array for array in arrays if array not in others]
        for command in self.scheduler.cancellation(tasks, arrays):
            try:
                run(command)
            except SchedulerError as error:
                if error.passing:
                    self.warn(str(error))

    def _not_ours(self, arrays: set[str]) -> set[str]:
        """Return the arrays listed under a different name from the one submitted: the answer was misread."""
        if arrays.isdisjoint(self._answered):
            return set()
        try:
            names = self._answer(self.scheduler.find(self.user), self.scheduler.names)
        except SchedulerError:
            return set()
        return {
            array
            for array in arrays
            if array in names and names[array] != self._answered.get(array, names[array])
        }

    def living(self, arrays: set[str], everybody: bool = False) -> set[str]:
        """Return the arrays that have tasks which may still run."""
        if not arrays:
            return set()
        listed = self.statuses(everybody).items()
        return {task[0] for task, status in listed if status.alive and task[0] in arrays}

    def clear(self, arrays: set[str]) -> None:
        """Cancel arrays and wait until none of their tasks is running.

        Raises
        ------
        SchedulerError
            If tasks remain, or the scheduler does not answer, for `patience` seconds.
        """
        start = time.monotonic()
        end, is_told = start + self.patience, False
        while True:
            try:
                if not (left := self.living(arrays)):
                    return
                self.cancel(arrays=sorted(left))
                problem = f"arrays of an earlier run are still running: {', '.join(sorted(left))}"
                if time.monotonic() > start + TOLD_AFTER and not is_told:
                    is_told = True
                    self.warn(
                        f"waiting at most {self.patience:.0f} s for arrays to end: {', '.join(sorted(left))}"
                    )
            except SchedulerError as error:
                problem = str(error)
            if time.monotonic() > end or self.is_interrupted:
                raise SchedulerError(f"{problem}. Cancel them, then rerun Snakemake.")
            time.sleep(1)
