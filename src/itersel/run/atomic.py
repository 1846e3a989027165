"""Outputs that appear whole or not at all, and temporary files left behind by killed processes."""

from __future__ import annotations

import contextlib
import errno
import filecmp
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from itersel.errors import FilePath, InputError

# A temporary file or folder: host, process, random part, and the end of the output's name, whose suffix tells
# libraries the format.
_TEMPORARY = re.compile(
    r"\.tmp\.(?P<host>[A-Za-z0-9-]+)\.(?P<process>[1-9][0-9]{0,8})\.[0-9a-f]{8}\..+", re.DOTALL
)
# Bytes that a temporary name takes from the output's name. With a host of 64 letters, that is the most which
# fits into 143 bytes, the shortest names that common file systems have (eCryptfs).
_KEPT = 54
# Set by the executor arrays in the environment of the jobs of a cluster.
TOKEN_VARIABLE = "ARRAYS_TOKEN"
# Files of a folder that are flushed at the same time.
FLUSHING = 16


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
    temporary = folder / _temporary_name(Path(path).name)

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary

        if is_special:
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            temporary.unlink()
            return
        _appear(temporary, target, durable)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary), temporary):
            raise named(error, path) from None
        raise


@contextlib.contextmanager
def new_folder(path: FilePath) -> Iterator[Path]:
    """Yield an empty folder with a temporary name; rename it to `path` on success, remove it on failure.

    `path` may be an empty folder. The temporary name is unique to the process, as in `atomic_path`. If
    another attempt at the same output has finished in the meantime, its folder stays as it is: this is an
    InputError unless both have the same contents. Files and folder are flushed to disk.
    """
    if os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise InputError("exists, and is not an empty folder; name another one", path)

    target = Path(os.path.realpath(path))
    temporary = target.with_name(_temporary_name(target.name))

    try:
        temporary.mkdir(parents=True)
        yield temporary

        try:
            _appear(temporary, target, durable=True)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            if not _are_equal(temporary, target):
                why = "was written by another process in the meantime, with other contents"
                raise InputError(
                    f"{why}; stop that process, delete the folder and run this again", path
                ) from None
            shutil.rmtree(temporary)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError):
            place = Path(temporary if error.filename is None else error.filename)
            if place.is_relative_to(temporary):
                raise named(error, Path(path, place.relative_to(temporary))) from None
        raise


def _appear(temporary: Path, target: Path, durable: bool) -> None:
    """Give a finished file or folder its name; this is where outputs become visible.

    If `durable`, they are on disk before, and the name afterwards. Only what was written is flushed: others
    may have much that waits for the disk.
    """
    if durable:
        _flush(temporary)
    if is_replaced():
        raise InputError("is not written: another attempt at this job has taken its place", target)
    os.replace(temporary, target)
    with contextlib.suppress(OSError):  # some file systems cannot flush a folder
        if durable:
            _flush_one(target.parent)


def is_replaced() -> bool:
    """Return whether this process belongs to an attempt at a job of a cluster that must not write any more.

    The scheduler has started the job again, perhaps because the node of this attempt was out of reach, or it
    was given up. The executor arrays names a file that exists until then (its README, "Attempts").
    """
    token = os.environ.get(TOKEN_VARIABLE)
    return bool(token) and not os.path.exists(str(token))


def _are_equal(one: Path, other: Path) -> bool:
    """Return whether two folders contain the same files with the same contents."""
    names = sorted(os.listdir(one))
    return names == sorted(os.listdir(other)) and all(
        _are_equal(one / name, other / name)
        if (one / name).is_dir()
        else filecmp.cmp(one / name, other / name, shallow=False)
        for name in names
    )


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


def _temporary_name(name: str) -> str:
    # cut between characters
    end = re.sub(rb"\A[\x80-\xbf]+", b"", os.fsencode(name)[-_KEPT:])
    return f".tmp.{_host()}.{os.getpid()}.{secrets.token_hex(4)}.{os.fsdecode(end)}"


def _flush(path: Path) -> None:
    """Wait until a file, or a folder and everything in it, is on disk."""
    if not path.is_dir():
        _flush_one(path)
        return
    files = [Path(parent, name) for parent, _, names in os.walk(path) for name in names]
    # One after another takes ten times as long: file systems write together what several threads wait for.
    with ThreadPoolExecutor(FLUSHING) as pool:
        list(pool.map(_flush_one, files))
    for parent, _, _ in os.walk(path):
        with contextlib.suppress(OSError):  # some file systems cannot flush a folder
            _flush_one(Path(parent))


def _flush_one(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: FilePath) -> list[Path]:
    """Remove temporary files and folders left in a folder tree by killed processes of this host.

    Those of other hosts are kept, because their processes may still be running. Links are not followed.
    Returns what was removed.
    """
    removed = []
    for parent, folders, names in os.walk(folder):
        for name in filter(_is_leftover, names):
            path = Path(parent, name)
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(path.lstat().st_mode):
                    path.unlink()
                    removed.append(path)

        for name in filter(_is_leftover, list(folders)):
            path = Path(parent, name)
            if not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
                removed.append(path)
                folders.remove(name)

    return removed


def _is_leftover(name: str) -> bool:
    match = _TEMPORARY.fullmatch(name)
    return match is not None and match["host"] == _host() and not _is_alive(int(match["process"]))


def _is_alive(process: int) -> bool:
    # psutil would not see other users' processes where /proc hides them
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return True
