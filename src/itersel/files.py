"""Text in, files out: strict UTF-8, transparent gzip, and outputs that appear whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import secrets
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from itersel.errors import InputError

STANDARD_STREAM = "-"


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, remove it on failure.

    The temporary name is unique to the process, so that two attempts at one output (a retry beside a
    job that a scheduler believes to be dead) never write into each other's file.
    """
    target = Path(path)
    if not target.parent.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
    # The whole suffix is kept at the end: libraries choose the format by it.
    temporary = target.with_name(f".tmp.{os.getpid()}.{secrets.token_hex(4)}.{target.name}")
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


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
        yield sys.stdout
        sys.stdout.flush()
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
