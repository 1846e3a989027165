"""Outputs that appear whole or not at all, and what killed processes leave of them."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from itersel.errors import FilePath, InputError

# A temporary file: host, process, random part, and the output's name, whose suffix tells libraries the
# format.
_TEMPORARY = re.compile(
    r"\.tmp\.(?P<host>[A-Za-z0-9-]+)\.(?P<process>[1-9][0-9]{0,8})\.[0-9a-f]{8}\..+", re.DOTALL
)


@contextlib.contextmanager
def atomic_path(path: FilePath, durable: bool = True) -> Iterator[Path]:
    """Yield a temporary name next to `path`; rename it to `path` on success, remove it on failure.

    The temporary name is unique to the process, so two attempts at the same output (such as a retry of a job
    that the scheduler wrongly believes dead) never write to the same file. If `durable`, file and folder
    are flushed to disk, so a power failure never leaves a partial file. If `path` is a link, its target is
    replaced; a pipe or device receives everything at the end. An OSError names `path` (errors on a full disk
    name no file).
    """
    target = Path(os.path.realpath(path))
    folder = temporary_folder(path)
    is_special = folder != target.parent
    temporary = folder / f".tmp.{_host()}.{os.getpid()}.{secrets.token_hex(4)}.{Path(path).name}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if is_special:
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            temporary.unlink()
            return
        if durable:
            _flush(temporary)
        os.replace(temporary, target)
        with contextlib.suppress(OSError):  # some file systems cannot flush a folder
            if durable:
                _flush(target.parent)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary), temporary):
            raise named(error, path) from None
        raise


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that becomes `path` on success; leftovers of a killed process are removed."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError("exists, and is not an empty folder; name another one", path)
    target = Path(os.path.realpath(path))
    unfinished = target.with_name(f".unfinished.{target.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        # Once for all files: waiting for the disk after each of thousands took nine tenths of the time.
        os.sync()
        unfinished.replace(target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def temporary_folder(path: FilePath) -> Path:
    """Return the folder for temporary files of an output: its own; for pipes and devices, the system's."""
    target = Path(os.path.realpath(path))
    is_special = target.exists() and not target.is_file() and not target.is_dir()
    return Path(tempfile.gettempdir()) if is_special else target.parent


def named(error: OSError, path: FilePath) -> OSError:
    """Return the same error with `path` as its file name."""
    if error.errno is None:  # raised by a library, with only a text
        return OSError(errno.EIO, str(error) or type(error).__name__, os.fspath(path))
    return OSError(error.errno, error.strerror, os.fspath(path))


def _host() -> str:
    return re.sub("[^A-Za-z0-9-]", "", socket.gethostname())[:64] or "host"


def _flush(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: FilePath) -> list[Path]:
    """Remove temporary files of `atomic_path` left in a folder tree by killed processes of this host.

    Files of other hosts are kept, because their processes may still be running. Links are not followed.
    Returns the removed files.
    """
    removed = []
    for parent, _, names in os.walk(folder):
        for name in names:
            match = _TEMPORARY.fullmatch(name)
            path = Path(parent, name)
            if match is None or match["host"] != _host() or _is_alive(int(match["process"])):
                continue
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(path.lstat().st_mode):
                    path.unlink()
                    removed.append(path)
    return removed


def remove_stale_lists(folder: FilePath, name: str = "files.txt") -> list[Path]:
    """Remove the lists of files in a folder tree that name a file which does not exist.

    Somebody may delete files to save space when a run has ended. As long as there is a list, a workflow whose
    jobs depend on it takes them for complete. Returns the removed lists.
    """
    # looked up once, because there may be tens of thousands
    present = {os.path.normpath(parent): set(names) for parent, _, names in os.walk(folder)}

    def exists(file: str) -> bool:
        parent, base = os.path.split(os.path.normpath(file))
        return base in present[parent] if parent in present else os.path.exists(file)

    removed = []
    for path in [Path(parent, name) for parent, names in present.items() if name in names]:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if not all(map(exists, path.read_text(encoding="utf-8").splitlines())):
                path.unlink()
                removed.append(path)
    return removed


def _is_alive(process: int) -> bool:
    # psutil would not see other users' processes where /proc hides them
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return True
