"""What is said of jobs that failed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.schedulers import Status, Task

# In the log of a job, when the command of its rule was killed: what Snakemake started, or a shell in between.
KILLED = re.compile(r"died with <Signals\.SIG\w+: (\d+)>|non-zero exit status (\d+)")
# The error stands at the end of a log.
TAIL = 100_000


@dataclass
class Place:
    """Where a submitted job runs, and since when the scheduler does not run it any more."""

    folder: Folder
    line: int
    array: str
    # a choice of several: Slurm gives the reason of any one of them
    several_queues: bool = False
    gone_since: float | None = None

    @property
    def task(self) -> Task:
        """The task that runs the job."""
        return self.array, self.folder.task(self.line)

    @property
    def logs(self) -> list[Path]:
        """The logs of the job and its task that there are."""
        paths = (self.folder.log(self.line), self.folder.task_log(self.line))
        return [path for path in paths if path.exists()]


def signal_name(number: int) -> str:
    """Return ``SIGKILL`` for 9; a number without a name as it is."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def how_ended(status: int, log: Path) -> str:
    """Return how a job ended that left an exit status; names the signal that killed it or its command."""
    said = f"ended with exit status {status}"
    if status > 128:
        return f"{said} (killed by {signal_name(status - 128)})"
    with contextlib.suppress(OSError), log.open("rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL))
        for found in KILLED.findall(stream.read().decode(errors="replace")):
            if name := _killer(*found):
                return f"{said} (its command was killed by {name})"
    return said


def _killer(number: str, status: str) -> str | None:
    """Return the name of a signal, of which Python gives the number and a shell an exit status."""
    found = int(number) if number else int(status) - 128
    return signal_name(found) if found > 0 else None


def how_lost(status: Status | None, started: bool) -> str:
    """Return what became of a job that left no exit status."""
    before = "" if started else " before this job was started"
    why = "killed, out of memory or time, or its node went down"
    if status is None:
        return f"disappeared from the queue without an exit status{before}: {why}"
    if status.word == "COMPLETED":
        return "has ended, and could not write its exit status: is the disk full, or a quota used up?"
    if status.word == "FAILED":
        return f"has failed{before}, without an exit status of the job: the log of the task may tell why"
    return f"was ended by the scheduler ({status.word}){before}: {why}"


def job_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return how a job is called in messages."""
    text = ", ".join(f"{name} {value}" for name, value in wildcards.items())
    return f"{rule} ({text})" if text else rule


def others(jobs: Sequence[object]) -> str:
    """Return what is said of the jobs of an array that share the fate of the first one."""
    if len(jobs) == 1:
        return ""
    number = "one other job" if len(jobs) == 2 else f"{len(jobs) - 1} other jobs"
    return f" The same is true of {number} of this array, not listed here."
