"""The files of an array job: the commands of its tasks, and the markers with their exit statuses.

Each array has a folder, below a folder for the run of Snakemake:

====================  ===================================================================================
``../lock``           locked while the Snakemake that submitted the arrays is alive; names the scheduler, and
                      the user, the host and the time of the start
``identifier``        the scheduler's ID of the array
``jobs``              one command per line, in base64
``together``          the commands that run several lines, each in the first of these lines; others are empty
``task.sh``           the script of every task, which runs the task's lines of ``jobs``
``<line>.running``    the name of the node, once the job in this line has started
``<line>.status``     its exit status, written under another name and renamed, so never incomplete
``<line>.log``        what the job printed
``task-<n>.log``      what the scheduler printed about task n
``task-<n>.revoked``  task n must not start a job any more, and end the one that it runs (`revocation`)
====================  ===================================================================================
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shlex
import shutil
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TASK_SCRIPT = r"""#!/bin/bash
# One task of an array job: runs its lines of the file `jobs`, one after another. A command in the file
# `together` runs several lines and writes their markers; lines that it leaves without one are run one by one.
set -o pipefail
folder={folder}
jobs_per_task={jobs_per_task}
jobs={jobs}
task=${{SLURM_ARRAY_TASK_ID:-$SGE_TASK_ID}}
# for the processes that end when the task is revoked
export ARRAYS_TASK=$folder/task-$task ARRAYS_SHELL=$$

# Temporary files stay on the node, where the TMPDIR of the submit host may not exist.
scratch={scratch}
if ! TMPDIR=$(mktemp -d "$scratch/arrays.XXXXXXXX" 2> /dev/null); then
    TMPDIR=$(mktemp -d /tmp/arrays.XXXXXXXX) || exit 1
fi
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

end_if_revoked() {{
    if [ -e "$ARRAYS_TASK.revoked" ]; then
        echo "Snakemake has given up this task; it runs no more jobs" >&2
        exit 1
    fi
}}

command_in() {{  # FILE LINE
    sed -n "$2{{p;q}}" "$folder/$1" | base64 -d
}}

failed=0
first=$(( (task - 1) * jobs_per_task + 1 ))
last=$(( task * jobs_per_task < jobs ? task * jobs_per_task : jobs ))
# A scheduler may restart a task, for example after a node failure: finished jobs are not repeated, those that
# had only started are.
end_if_revoked
for (( line = first; line <= last; line++ )); do
    [ -e "$folder/$line.status" ] || rm -f "$folder/$line.running"
done
for (( line = first; line <= last; line++ )); do
    if [ -e "$folder/together" ] && command=$(command_in together $line) && [ -n "$command" ]; then
        /bin/bash -c "$command" > "$folder/$line.log" 2>&1 < /dev/null
        together=$?
    fi
    if [ -e "$folder/$line.status" ]; then
        [ "$(cat "$folder/$line.status")" = 0 ] || failed=1
        continue
    fi
    [ -e "$folder/$line.running" ] || end_if_revoked
    # The marker is written before the job runs, and only overwritten and renamed afterwards, so the result
    # is not lost if the disk fills up in the meantime.
    if ! echo 0 > "$folder/.$line.$$"; then
        echo "no marker can be written to $folder: is the disk full?" >&2
        exit 1
    fi
    if [ -e "$folder/$line.running" ]; then
        # the Snakemake that ran several jobs was killed during this one
        status=$(( together ? together : 1 ))
    else
        hostname > "$folder/$line.running"
        if ! command=$(command_in jobs $line) || [ -z "$command" ]; then
            # no marker, because an empty command would succeed
            echo "line $line of $folder/jobs cannot be read" >&2
            exit 1
        fi
        # keep what a Snakemake of several jobs printed before it gave up
        /bin/bash -c "$command" >> "$folder/$line.log" 2>&1 < /dev/null
        status=$?
    fi
    if [ "$status" != 0 ]; then
        failed=1
        # A scheduler that ends a task, perhaps to restart it on another node, signals its processes one by
        # one: wait for the signal to this shell or to sleep, and write no marker then.
        sleep {pause} || exit 1
    fi
    [ "$status" = 0 ] || echo "$status" 1<> "$folder/.$line.$$"
    mv "$folder/.$line.$$" "$folder/$line.status" || failed=1
done
exit $failed
"""

# Seconds a scheduler may take between signals to the processes of a task that it ends.
PAUSE = 3
IDENTIFIER = "identifier"


@dataclass(frozen=True)
class Folder:
    """The folder of one array."""

    path: Path
    jobs_per_task: int

    @classmethod
    def make(
        cls,
        path: Path,
        commands: Sequence[str],
        jobs_per_task: int,
        scratch: str = "${TMPDIR:-/tmp}",
        together: Mapping[int, str] | None = None,
    ) -> Folder:
        """Write the files of an array that runs `commands`, `jobs_per_task` of them in one task.

        `scratch` is expanded by the shell on the node. `together` has the commands that run several lines, by
        the first of these lines, counted from 1.
        """
        path.mkdir(parents=True)
        (path / "jobs").write_text("".join(map(_encoded, commands)))
        if together:
            lines = range(1, len(commands) + 1)
            (path / "together").write_text("".join(_encoded(together.get(line, "")) for line in lines))
        quoted = '"' + scratch.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`") + '"'
        script = TASK_SCRIPT.format(
            folder=shlex.quote(str(path)),
            jobs_per_task=jobs_per_task,
            jobs=len(commands),
            scratch=quoted,
            pause=PAUSE,
        )
        (path / "task.sh").write_text(script)
        return cls(path, jobs_per_task)

    @classmethod
    def open(cls, path: Path) -> Folder:
        """Return the folder of an array of an earlier run."""
        found = re.search(r"^jobs_per_task=(\d+)$", (path / "task.sh").read_text(), re.M)
        # a disk that was full
        return cls(path, int(found.group(1)) if found else 1)

    @property
    def script(self) -> Path:
        """The script of all tasks."""
        return self.path / "task.sh"

    def task(self, line: int) -> int:
        """Return the number of the task that runs a line; both count from 1."""
        return (line - 1) // self.jobs_per_task + 1

    def log(self, line: int) -> Path:
        """Return the log of the job in a line."""
        return self.path / f"{line}.log"

    def task_log(self, line: int) -> Path:
        """Return the scheduler's log of the task of a line."""
        return self.path / f"task-{self.task(line)}.log"

    def revoke(self, task: int) -> None:
        """Forbid a task to run jobs, unless it is forbidden; it may take a while until it notices."""
        if not os.path.exists(path := self.path / f"task-{task}.revoked"):
            path.touch()

    def revoked_for(self, task: int) -> float:
        """Return for how many seconds a task has been revoked, by the clock of the file system."""
        look = self.path / ".look"
        look.touch()
        now = look.stat().st_mtime
        look.unlink()
        return now - (self.path / f"task-{task}.revoked").stat().st_mtime

    def finished(self) -> set[int]:
        """Return the lines that have markers.

        An NFS client may show an outdated directory for a minute; creating a file makes it read the directory
        again.
        """
        with contextlib.suppress(OSError):
            (self.path / ".look").touch()
            (self.path / ".look").unlink()
        return _lines(self.path, "status")

    def started(self) -> set[int]:
        """Return the lines whose jobs have started and left no exit status."""
        return _lines(self.path, "running") - self.finished()

    def status(self, line: int) -> int:
        """Return the exit status of a finished line."""
        return int((self.path / f"{line}.status").read_text())

    def node(self, line: int) -> str | None:
        """Return the node on which the job in a line was started; `None` if it was not."""
        with contextlib.suppress(OSError):
            return (self.path / f"{line}.running").read_text().strip()
        return None

    def remove_log(self, line: int) -> None:
        """Remove the log of a successful job; its marker stays, in case the task is restarted."""
        self.log(line).unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)


def _lines(path: Path, kind: str) -> set[int]:
    names = (name.partition(".") for name in os.listdir(path))
    return {int(number) for number, _, suffix in names if suffix == kind and number.isdigit()}


def _encoded(command: str) -> str:
    return base64.b64encode(command.encode()).decode() + "\n"


class Markers:
    """The markers of jobs of an array, written by a process that runs several of them."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder of the array."""
        self.folder = folder
        self._reserved: dict[int, Path] = {}

    def ended(self, line: int) -> bool:
        """Tell whether the job in a line has ended."""
        return (self.folder / f"{line}.status").exists()

    def reserve(self, lines: Iterable[int]) -> None:
        """Write the markers before the jobs run, so that no result is lost if the disk fills up."""
        for line in lines:
            self._reserved[line] = self.folder / f".{line}.{os.getpid()}"
            self._reserved[line].write_text("0\n")

    def start(self, line: int) -> Path:
        """Mark a job as started and return its log."""
        (self.folder / f"{line}.running").write_text(f"{socket.gethostname()}\n")
        return self.folder / f"{line}.log"

    def end(self, line: int, status: int) -> None:
        """Record the exit status of a job."""
        marker = self._reserved.pop(line)
        with marker.open("r+") as stream:
            stream.write(f"{status}\n")
        marker.rename(self.folder / f"{line}.status")

    def release(self) -> None:
        """Remove the markers of jobs that have not ended."""
        for marker in self._reserved.values():
            marker.unlink(missing_ok=True)
