"""The runs of Snakemake in a working directory: each has a folder for its arrays, and holds a lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from snakemake_executor_plugin_arrays.commands import process_owner

# The lock identifies dead runs, because it is released when the process that holds it ends.
LOCK = "lock"
# Locked while a run is created or dead runs are cleaned up, so no run is found before it has its lock.
STARTING = "starting"


@dataclass(frozen=True)
class Owner:
    """Who started a run, and its folder: what its lock file says.

    Without that, a run can only be described by its files.
    """

    scheduler: str
    user: str
    host: str
    time: str
    folder: str = ""

    @classmethod
    def of(cls, run: Path) -> Owner:
        """Read the lock file of a run; what is missing is empty, but for the user, who owns the file."""
        lock, found = run / LOCK, ["", "", "", "", ""]
        with contextlib.suppress(OSError, ValueError):
            words = lock.read_text().rstrip("\n").split("\t")
            found[: len(words)] = words
        for path in (lock, run):
            with contextlib.suppress(OSError, KeyError):
                found[1] = found[1] or path.owner()
        return cls(*found[:5])

    def __str__(self) -> str:
        return "\t".join((self.scheduler, self.user, self.host, self.time, self.folder))


class Run:
    """The arrays of this run of Snakemake."""

    def __init__(self, parent: Path, scheduler: str, warn: Callable[[str], None]) -> None:
        """Create a folder for this run in `parent`, which all runs share, and lock it."""
        with starting(parent, warn):
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            self.path = parent / f"{re.sub('[-:]', '', now).replace(' ', '-')}-{uuid.uuid4().hex[:6]}"
            self.path.mkdir()
            self._lock = (self.path / LOCK).open("w")
            # without locks, the run cannot be found if it is killed
            with contextlib.suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            owner = Owner(scheduler, process_owner(), socket.gethostname(), now, os.path.abspath(self.path))
            self._lock.write(f"{owner}\n")
            self._lock.flush()

    def new_array(self, name: str) -> Path:
        """Return a path for a new array; its last part is a unique name."""
        return self.path / f"{name}-{uuid.uuid4().hex[:6]}"

    def close(self, tidy: bool = True) -> None:
        """Release the lock; if `tidy`, remove everything but the logs of failed jobs."""
        # on NFS, removing an open file leaves another one behind
        self._lock.close()
        if tidy:
            close_run(self.path)


@contextlib.contextmanager
def starting(parent: Path, warn: Callable[[str], None]) -> Iterator[None]:
    """Lock the folder of all runs; if another process holds the lock, warn and wait."""
    parent.mkdir(parents=True, exist_ok=True)
    try:
        file = (parent / STARTING).open("a")
    except PermissionError:  # another user's
        file = (parent / STARTING).open()
    with file as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            warn(f"waiting for another Snakemake that is cancelling the arrays of a killed run ({parent})")
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            pass  # the file system has no locks
        yield


def runs_folder(workdir: str | os.PathLike[str]) -> Path:
    """Return the folder of all runs in a working directory."""
    return Path(workdir, ".snakemake", "arrays")


def killed_runs(workdir: str | os.PathLike[str]) -> list[Path]:
    """Return the folders of killed runs, whose jobs may still be on the cluster.

    A workflow that is run without this executor can use this to refuse to start beside them. The executor
    itself cancels them before it submits anything.
    """
    parent = runs_folder(workdir)
    if not parent.exists():
        return []
    with starting(parent, print):
        return list(dead_runs(parent))


def dead_runs(parent: Path) -> Iterator[Path]:
    """Yield the folders of runs that ended without being closed: they have a lock file that nobody locks.

    Each folder is locked until the next one is requested. A lock file that cannot be read may belong to
    such a run. On a file system without locks, none is found. A copy of a folder that is still there, perhaps
    of a run that is alive, is left to those who start Snakemake in the original.
    """
    for path in sorted(parent.glob("*/")):
        try:
            with _locked(path / LOCK):
                if not _is_copy(path):
                    yield path
        except PermissionError:
            yield path
        except OSError:
            pass


def _is_copy(run: Path) -> bool:
    """Return whether the folder of a run was copied, with its project, and the original still exists."""
    original = Path(Owner.of(run).folder, LOCK)
    try:
        return original.is_absolute() and not original.samefile(run / LOCK)
    except OSError:  # there is none, or it cannot be seen
        return False


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock a lock file; raises an OSError if it is missing or locked.

    That of another user may be readable only, which is enough for a shared lock.
    """
    try:
        lock, kind = path.open("r+"), fcntl.LOCK_EX
    except PermissionError:
        lock, kind = path.open(), fcntl.LOCK_SH
    with lock:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
        yield


def describe(run: Path) -> str:
    """Return a clause about a killed run: its folder, and who started it where and when."""
    owner = Owner.of(run)
    where = f" on {owner.host}" if owner.host else ""
    when = f" at {owner.time}" if owner.time else ""
    return f"{run}: a run that {owner.user or 'another user'} started{where}{when} was killed"


def close_run(path: Path) -> None:
    """Remove the files of a run, except for logs that are not empty, and what belongs to another user.

    Without its token, no job runs: not even that of a node which has been out of reach.
    """
    for file in path.glob("*/*"):
        # a task that is being cancelled may still move its files
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if file.suffix != ".log" or file.stat().st_size == 0:
                file.unlink()
    with contextlib.suppress(PermissionError):
        (path / LOCK).unlink(missing_ok=True)
    for folder in (*path.glob("*/"), path):
        with contextlib.suppress(OSError):
            folder.rmdir()
