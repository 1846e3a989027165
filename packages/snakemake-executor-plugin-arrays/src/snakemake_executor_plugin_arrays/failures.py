"""Messages about failed jobs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.schedulers import Request, Status, Task
from snakemake_executor_plugin_arrays.task_states import TaskState
from snakemake_executor_plugin_arrays.tokens import WAITING, State

# In the log of a job whose command was killed: by Snakemake, which started it, or by a shell in between.
KILLED = re.compile(r"died with <Signals\.SIG\w+: (\d+)>|non-zero exit status (\d+)")
# Bytes; the error is at the end of a log.
TAIL = 100_000
# The exit status of jobs that would fail again, because what they were started with is wrong (sysexits.h).
FINAL = os.EX_CONFIG


@dataclass
class Place:
    """Where a submitted job runs, and its state."""

    folder: Folder
    line: int
    array: str
    # what its array was made of
    name: str = ""
    request: Request = field(default_factory=Request)
    # what its token said when it was last seen
    token: State = field(default_factory=lambda: State(WAITING))
    # what has become of its task
    state: TaskState = field(default_factory=TaskState)

    @property
    def task(self) -> Task:
        """The task that runs the job."""
        return self.array, self.folder.task(self.line)

    def has_begun(self) -> bool:
        """Return whether the task has ever run on a node."""
        return os.path.exists(self.folder.task_log(self.line)) or self.token.node is not None

    @property
    def logs(self) -> list[Path]:
        """The existing logs of the job and its task."""
        paths = (self.folder.log(self.line), self.folder.task_log(self.line))
        # `Path.exists` raises some errors of file systems
        return [path for path in paths if os.path.exists(path)]


# What some states of Slurm mean.
MEANINGS = {
    "BOOT_FAIL": "its node did not start",
    "DEADLINE": "it did not end before its deadline",
    "NODE_FAIL": "its node failed",
    "OUT_OF_MEMORY": "it used more memory than it requests (`mem_mb`)",
    "PREEMPTED": "a job of higher priority took its place",
    "TIMEOUT": "it ran longer than it requests (`runtime`)",
}


def signal_name(number: int) -> str:
    """Return the name of a signal, such as ``SIGKILL`` for 9, or ``signal N`` if it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def how_ended(status: int, log: Path) -> str:
    """Describe how a job with an exit status ended, including the signal that killed it or its command."""
    said = f"ended with exit status {status}"
    if status > 128:
        return f"{said} (killed by {signal_name(status - 128)})"
    with contextlib.suppress(OSError):
        for found in KILLED.findall(_tail(log)):
            if name := _killer(*found):
                return f"{said} (its command was killed by {name})"
    return said


def _killer(number: str, status: str) -> str | None:
    """Return the name of a signal, given its number (Python) or an exit status (shell)."""
    found = int(number) if number else int(status) - 128
    return signal_name(found) if found > 0 else None


def how_lost(status: Status | None, started: bool) -> str:
    """Describe what happened to a job without an exit status."""
    before = "" if started else " before this job was started"
    why = "out of memory or time, or node failure"
    if status is None:
        return f"disappeared from the queue without an exit status{before}: killed, deleted, {why}"
    if status.word == "COMPLETED":
        return "ended, but the exit status of the job is missing: perhaps its node cannot write to the folder"
    if status.word == "FAILED":
        return f"failed{before}, without an exit status of the job: the log of the task may say why"
    meaning = MEANINGS.get(status.word, f"killed, {why}")
    return f"was ended by the scheduler ({status.word}){before}: {meaning}"


# How a task ended that a person cancelled; when the first one is noticed, others may still be ending.
CANCELLED = (
    "was cancelled by you or an administrator, not by Snakemake. The cancelled jobs of this array are"
    " submitted again by the next run, not by this one. To stop a run, press Ctrl-C, or send SIGINT to"
    " Snakemake"
)


def how_refused(log: Path) -> str:
    """Describe how a job ended that will fail as often as it is repeated, with the last line of its log."""
    said = f"ended with exit status {FINAL}, so it is not repeated"
    with contextlib.suppress(OSError):
        if lines := [line for line in map(str.strip, _tail(log).splitlines()) if line]:
            return f"{said}: {lines[-1].rstrip('.')}"
    return said


def _tail(log: Path) -> str:
    with log.open("rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL))
        return stream.read().decode(errors="replace")


def first_cause(message: str) -> str:
    """Return a sentence about why a job failed at first, which a later message would hide."""
    return f"Before that: {message}" if message else ""


def in_words(seconds: float) -> str:
    """Return a time in seconds or minutes."""
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


def job_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return the name of a job for messages."""
    text = ", ".join(f"{name} {value}" for name, value in wildcards.items())
    return f"{rule} ({text})" if text else rule


def others(jobs: Sequence[object]) -> str:
    """Return a sentence about the other jobs of an array that failed like the first one."""
    if len(jobs) == 1:
        return ""
    number = "one other job" if len(jobs) == 2 else f"{len(jobs) - 1} other jobs"
    return f" The same is true of {number} of this array (not listed)."
