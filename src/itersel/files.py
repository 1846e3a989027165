"""Text in, files out: strict UTF-8, transparent gzip, and outputs that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import re
import secrets
import shutil
import socket
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from itersel.errors import InputError

STANDARD_STREAM = "-"


# A temporary file: host, process, chance, and the name of the output, whose end tells libraries the format.
_TEMPORARY = re.compile(
    r"\.tmp\.(?P<host>[A-Za-z0-9-]+)\.(?P<process>[1-9][0-9]{0,9})\.[0-9a-f]{8}\..+", re.DOTALL
)


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, remove it on failure.

    The temporary name is unique to the process, so that two attempts at one output (a retry beside a
    job that a scheduler believes to be dead) never write into each other's file. File and folder are
    flushed to the disk: what is there after a power cut is whole. A link stays, and the file that it leads to
    is replaced; a pipe or a device stays too, and is sent everything at the end.

    Raises
    ------
    OSError
        Of the caller, or of the disk; it names `path` (a write to a full disk names no file).
    """
    target = Path(os.path.realpath(path))
    is_special = target.exists() and not target.is_file() and not target.is_dir()
    folder = Path(tempfile.gettempdir()) if is_special else target.parent
    temporary = folder / f".tmp.{_host()}.{os.getpid()}.{secrets.token_hex(4)}.{Path(path).name}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if is_special:
            with temporary.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            temporary.unlink()
            return
        _flush(temporary)
        os.replace(temporary, target)
        with contextlib.suppress(OSError):  # not every file system can flush a folder
            _flush(target.parent)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary), temporary):
            raise _named(error, path) from None
        raise


def _named(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """Return the same error, of the file `path`."""
    if error.errno is None:  # of a library, as text
        return OSError(errno.EIO, str(error) or type(error).__name__, os.fspath(path))
    return OSError(error.errno, error.strerror, os.fspath(path))


def _host() -> str:
    return re.sub("[^A-Za-z0-9-]", "", socket.gethostname())[:64] or "host"


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: str | os.PathLike[str]) -> list[Path]:
    """Remove the temporary files of `atomic_path` that killed processes of this host left below a folder.

    Those of other hosts stay, as nobody here knows whether their processes live. Links are not followed.

    Returns
    -------
    list of Path
        What was removed.
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


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, decompressed when its name ends in ``.gz``; ``-`` is standard input."""
    if os.fspath(path) == STANDARD_STREAM:
        return sys.stdin.buffer.read()
    try:
        if os.fspath(path).endswith(".gz"):
            with gzip.open(path, "rb") as stream:
                return stream.read()
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("is a folder, a file was expected", path) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"damaged or truncated gzip file ({error}); make it anew", path) from None


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a text file without their line ends.

    Only a line feed ends a line (a carriage return before it is dropped): the other separators that Python's
    `str.splitlines` knows would put parallel files out of step.

    Raises
    ------
    InputError
        If the file cannot be read or is not UTF-8; names the first bad line.
    """
    content = read_bytes(path)
    if content.startswith(b"\xef\xbb\xbf"):
        content = content[3:]
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("not valid UTF-8; convert the file with iconv", path, line) from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open a text file for writing, atomically; gzip by name, ``-`` is standard output.

    Compressed files hold no name and no time, so that equal content gives equal bytes.
    """
    if os.fspath(path) == STANDARD_STREAM:
        try:
            yield sys.stdout
            sys.stdout.flush()
        except OSError as error:
            if error.filename is None and not isinstance(error, BrokenPipeError):
                raise _named(error, "standard output") from None
            raise
        return
    with atomic_path(path) as temporary, temporary.open("wb") as raw:
        if os.fspath(path).endswith(".gz"):
            with (
                gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
                _text(packed) as stream,
            ):
                yield stream
        else:
            with _text(raw) as stream:
                yield stream


def _text(binary: IO[bytes] | gzip.GzipFile) -> IO[str]:
    return io.TextIOWrapper(binary, encoding="utf-8", newline="\n")


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write lines, each ended by a newline; see `open_output`."""
    with open_output(path) as stream:
        stream.writelines(line + "\n" for line in lines)
