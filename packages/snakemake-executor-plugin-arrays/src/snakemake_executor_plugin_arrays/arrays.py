"""The files of an array job: the commands of its tasks, and the states of its jobs.

Each array has a folder, below a folder for the run of Snakemake:

==================  =====================================================================================
``../lock``         locked while the Snakemake that submitted the arrays is alive; names the scheduler, and
                    the user, the host and the time of the start
``identifier``      the scheduler's ID of the array
``jobs``            one command per line, in base64
``together``        the commands that run several lines, each in the first of these lines; others are empty
``task.sh``         the script of every task, which runs the task's lines of ``jobs``
``<line>.<state>``  the token of the job in this line, whose name says its state (`tokens`)
``<line>.log``      what the job printed
``task-<n>.log``    what the scheduler printed about task n
==================  =====================================================================================
"""

from __future__ import annotations

import base64
import contextlib
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from snakemake_executor_plugin_arrays import tokens
from snakemake_executor_plugin_arrays.tokens import State

# Seconds a scheduler may take between signals to the processes of a task that it ends.
PAUSE = 3
# Bytes that must fit on the disk for it not to be called full.
PROBE = 4096
IDENTIFIER = "identifier"


@dataclass(frozen=True)
class Folder:
    """The folder of one array."""

    path: Path
    jobs: int
    jobs_per_task: int

    @classmethod
    def make(
        cls,
        path: Path,
        commands: Sequence[str],
        jobs_per_task: int,
        scratch: str = "${TMPDIR:-/tmp}",
        together: Mapping[int, str] | None = None,
        notice: float = 0,
    ) -> Folder:
        """Write the files of an array that runs `commands`, `jobs_per_task` of them in one task.

        `scratch` is expanded by the shell on the node. `together` has the commands that run several lines, by
        the first of these lines, counted from 1. `notice` is the number of seconds until an attempt has
        noticed that another one has taken its place.
        """
        path.mkdir(parents=True)
        (path / "jobs").write_text("".join(map(_encoded, commands)))
        if together:
            lines = range(1, len(commands) + 1)
            (path / "together").write_text("".join(_encoded(together.get(line, "")) for line in lines))
        tokens.create(path, len(commands))
        expanded_later = scratch.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
        variables = {
            "folder": shlex.quote(str(path)),
            "jobs_per_task": jobs_per_task,
            "jobs": len(commands),
            "scratch": f'"{expanded_later}"',
            "pause": PAUSE,
            "notice": notice,
        }
        settings = "".join(f"{name}={value}\n" for name, value in variables.items())
        script = resources.files(__package__).joinpath("task.sh").read_text(encoding="utf-8")
        (path / "task.sh").write_text(f"#!/bin/bash\n{settings}{script}")
        return cls(path, len(commands), jobs_per_task)

    @classmethod
    def open(cls, path: Path) -> Folder:
        """Return the folder of an array of an earlier run."""
        found = dict(re.findall(r"^(jobs|jobs_per_task)=(\d+)$", (path / "task.sh").read_text(), re.M))
        # nothing is found if the disk was full, and nothing was submitted then
        return cls(path, int(found.get("jobs", 0)), int(found.get("jobs_per_task", 1)))

    @property
    def script(self) -> Path:
        """The script of all tasks."""
        return self.path / "task.sh"

    def task(self, line: int) -> int:
        """Return the number of the task that runs a line; both count from 1."""
        return (line - 1) // self.jobs_per_task + 1

    def lines(self, task: int) -> range:
        """Return the lines that a task runs; the last task may have fewer."""
        return range((task - 1) * self.jobs_per_task + 1, min(task * self.jobs_per_task, self.jobs) + 1)

    def log(self, line: int) -> Path:
        """Return the log of the job in a line."""
        return self.path / f"{line}.log"

    def task_log(self, line: int) -> Path:
        """Return the scheduler's log of the task of a line."""
        return self.path / f"task-{self.task(line)}.log"

    def states(self) -> dict[int, State]:
        """Return the states of the jobs, by line."""
        return tokens.states(self.path)

    def may_run(self) -> set[int]:
        """Return the tasks with jobs that run, or did when their attempt was killed."""
        return {self.task(line) for line in tokens.may_run(self.path)}

    def revoke(self, *tasks: int) -> set[int]:
        """Forbid tasks to run jobs, and to end those that run; it may take a while until they notice.

        Returns the tasks for which that could not be done now.
        """
        return {self.task(line) for line in tokens.revoke(self.path, self._lines_of(tasks))}

    def revoked_for(self, *tasks: int) -> float:
        """Return for how many seconds no job of these tasks may run, by the clock of the file system."""
        return min(tokens.seconds_since(self.path, set(self._lines_of(tasks))), default=float("inf"))

    def _lines_of(self, tasks: Iterable[int]) -> list[int]:
        return [line for task in tasks for line in self.lines(task)]

    def cannot_write(self) -> str | None:
        """Return why nothing can be written to the folder now, such as a full disk; `None` if it can."""
        probe = self.path / ".probe"
        try:
            # a full disk may have room for the name of a file
            probe.write_bytes(b" " * PROBE)
        except OSError as error:
            return error.strerror
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()
        return None

    def remove_log(self, line: int) -> None:
        """Remove the log of a successful job."""
        self.log(line).unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


def _encoded(command: str) -> str:
    return base64.b64encode(command.encode()).decode() + "\n"
