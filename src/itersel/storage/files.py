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
from itersel.limits import (
    BLOCK_BYTES,
    MAX_LINE_BYTES,
    MAX_UNPACKING,
    UNPACKED_BYTES,
)

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


def read_bytes(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """Return the content of a file, decompressed when its name ends in ``.gz``; ``-`` is standard input.

    Raises
    ------
    InputError
        If the file cannot be read, has more than `limit` bytes, or unpacks to far more than any text does.
    """
    pieces, size = [], 0
    with _opened(path) as stream:
        while piece := stream.read(BLOCK_BYTES):
            pieces.append(piece)
            size += len(piece)
            if limit is not None and size > limit:
                raise InputError(f"has more than {limit:,} bytes; no such file is that large", path)
            _refuse_bomb(path, size)
    return b"".join(pieces)


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a text file without their line ends.

    Only a line feed ends a line (a carriage return before it is dropped): the other separators that Python's
    `str.splitlines` knows would put parallel files out of step.

    Raises
    ------
    InputError
        See `line_blocks`; also if the file unpacks to far more than any text does.
    """
    return [line for block in line_blocks(path, is_kept=True) for line in block]


def read_names(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of files in a text file, one a line.

    Raises
    ------
    InputError
        See `line_blocks`; also if a line cannot be the name of a file.
    """
    names = read_lines(path)
    for number, name in enumerate(names, 1):
        if not name or "\0" in name:
            why = "U+0000 is in no name of a file" if name else "empty line; every line names a file"
            raise InputError(why, path, number)
    return names


def line_blocks(
    path: str | os.PathLike[str], limit: int = MAX_LINE_BYTES, advice: str = "", is_kept: bool = False
) -> Iterator[list[str]]:
    """Yield the lines of a text file, as `read_lines` returns them, some at a time.

    Parameters
    ----------
    limit
        The most bytes of a line. No more than a small multiple of it (or of `BLOCK_BYTES`) is held in memory.
    advice
        What to do about longer lines, if there is something that can be done.
    is_kept
        All lines are kept: refuse a file that unpacks to far more than any text does.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8, or a line is too long; names the first bad line.
    """
    number, rest = 0, bytearray()  # lines before this block, and the begin of a line
    # All lines but the first of a block lie within one piece, so none of them can be longer than the limit.
    size = min(BLOCK_BYTES, limit)
    for piece in _pieces(path, size, is_kept):
        end = piece.rfind(b"\n") + 1
        first = piece.find(b"\n") if end else len(piece)
        if len(rest) + first > limit:
            message = f"is longer than {limit:,} bytes{advice}"
            raise InputError(message, path, number + 1)
        if not end:
            rest += piece
            continue
        yield (lines := _decode(rest + piece[:end], path, number))
        number += len(lines)
        rest = bytearray(piece[end:])
    if rest:
        yield _decode(rest, path, number)


def _pieces(path: str | os.PathLike[str], size: int, is_kept: bool) -> Iterator[bytes]:
    """Yield the content of a text file in pieces of `size`, without a byte order mark."""
    count = 0
    with _opened(path) as stream:
        mark = stream.read(3).removeprefix(b"\xef\xbb\xbf")
        if mark:
            yield mark
        while piece := stream.read(size):
            count += len(piece)
            if is_kept:
                _refuse_bomb(path, count)
            yield piece


def _decode(content: bytes | bytearray, path: str | os.PathLike[str], number: int) -> list[str]:
    """Return whole lines of text; `number` others stand before them."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + content.count(b"\n", 0, error.start) + 1
        raise InputError("not valid UTF-8; convert the file with iconv", path, line) from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed by name; whatever is wrong with it is an `InputError`."""
    if os.fspath(path) == STANDARD_STREAM:
        yield sys.stdin.buffer
        return
    if "\0" in os.fspath(path):
        raise InputError("no file can have a name with U+0000", path)
    try:
        is_packed = os.fspath(path).endswith(".gz")
        # for Python a file without a byte is a good one, but packing nothing gives twenty
        if is_packed and os.path.isfile(path) and os.path.getsize(path) == 0:
            raise EOFError("it is empty")
        with gzip.open(path, "rb") if is_packed else open(path, "rb") as stream:
            yield stream  # type: ignore[misc]
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("is a folder, a file was expected", path) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"damaged or truncated gzip file ({error}); recreate it", path) from None


def _refuse_bomb(path: str | os.PathLike[str], size: int) -> None:
    """Raise an `InputError` if a compressed file has unpacked to `size` bytes, and no text would."""
    if size <= UNPACKED_BYTES or not os.fspath(path).endswith(".gz"):
        return
    packed = os.path.getsize(path)
    if packed and size > MAX_UNPACKING * packed:  # a pipe has no size
        message = f"unpacks to more than {MAX_UNPACKING} times its size; if that is right, unpack it"
        raise InputError(message, path)


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
