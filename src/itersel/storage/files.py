"""Reading and writing files: strict UTF-8, atomic output, transparent compression.

gzip, xz and Zstandard are recognised by suffix, in upper or lower case, as all formats are that the name of
a file determines. Their modules are imported only when needed, because some builds of Python lack `lzma`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

from itersel.errors import FilePath, InputError, opening
from itersel.run.atomic import atomic_path, named

# The limit for lines of all other text.
MAX_LINE_BYTES = 2**26
# Text is read in pieces of this size.
BLOCK_BYTES = 2**18
# A compressed file that is read whole may unpack to this size, or to this many times the size of the file if
# that is larger. Text compresses to a third or a tenth, but a gzip file can unpack to a thousand times its
# size.
UNPACKED_BYTES = 2**26
MAX_UNPACKING = 100

STANDARD_STREAM = "-"
HDF5_SUFFIX = ".h5"
# Level of gzip: 4 takes two fifths of the time of 6, and text takes 5 to 8 % more space.
LEVEL = 4


class Compression(NamedTuple):
    """A compression format."""

    name: str  # for messages
    module: str  # opens files like `gzip`
    missing: str  # message if there is no such module
    error: str  # name of the module's exception for damaged files
    # Wraps an open file, given the module. The output contains no file name or time, so equal content gives
    # equal bytes.
    compress: Callable[[Any, IO[bytes]], Any]

    def imported(self) -> Any:
        """Return the module."""
        try:
            return importlib.import_module(self.module)
        except ImportError:
            raise InputError(self.missing) from None

    def damages(self) -> tuple[type[Exception], ...]:
        """Return the exceptions raised by damaged files."""
        return EOFError, zlib.error, getattr(self.imported(), self.error)


def suffix_in(path: FilePath, suffixes: Iterable[str]) -> str | None:
    """Return which of some suffixes, in lower case, ends a file's name, in either case; None: none does."""
    name = os.fspath(path).lower()
    return next((suffix for suffix in suffixes if name.endswith(suffix)), None)


def is_hdf5_name(path: FilePath) -> bool:
    """Return whether a file that may be HDF5 or text, such as weights, is HDF5: its name ends in ``.h5``.

    Only the name decides, in upper or lower case, for files to read and to write. Files of other kinds are
    always HDF5, whatever their names.
    """
    return suffix_in(path, [HDF5_SUFFIX]) is not None


def compression_of(path: FilePath) -> Compression | None:
    """Return the compression of a file according to its name, or None."""
    return COMPRESSIONS.get(os.path.splitext(os.fspath(path))[1].lower())


def without_compression(path: FilePath) -> str:
    """Return the name of a file without the suffix of its compression: ``a.tmx`` for ``a.tmx.gz``."""
    return os.path.splitext(path)[0] if compression_of(path) else os.fspath(path)


def _compress_gzip(gzip: Any, raw: IO[bytes]) -> Any:
    return gzip.GzipFile(filename="", mode="wb", compresslevel=LEVEL, fileobj=raw, mtime=0)


def _compress_zstd(zstd: Any, raw: IO[bytes]) -> Any:
    # without a checksum, damage could go unnoticed
    return zstd.open(raw, "wb", options={zstd.CompressionParameter.checksum_flag: 1})


# Python's own module, or its backport for earlier versions
_ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
_NO_ZSTD = f".zst files need {_ZSTD}, which is missing; install it or unpack them"
_NO_LZMA = "this Python was built without lzma, which .xz files need; unpack them"
COMPRESSIONS = {
    ".gz": Compression("gzip", "gzip", "", "BadGzipFile", _compress_gzip),
    ".xz": Compression("xz", "lzma", _NO_LZMA, "LZMAError", lambda lzma, raw: lzma.open(raw, "wb")),
    ".zst": Compression("zstd", _ZSTD, _NO_ZSTD, "ZstdError", _compress_zstd),
}

# How compressed files begin: their name, and the suffix if they can be read.
_SIGNATURES = {
    b"\x1f\x8b": ("gzip", ".gz"),
    b"\xfd7zXZ\x00": ("xz", ".xz"),
    b"\x28\xb5\x2f\xfd": ("zstd", ".zst"),
    b"BZh": ("bzip2", None),
    b"PK\x03\x04": ("zip", None),
}


def suffixes() -> str:
    """Return the suffixes of compressed files, for messages."""
    *others, last = COMPRESSIONS
    return f"{', '.join(others)} or {last}"


def packing_of(content: bytes | bytearray) -> str | None:
    """Return the error for compressed content in a file whose name does not say so; else None."""
    for signature, (name, suffix) in _SIGNATURES.items():
        if content.startswith(signature):
            advice = f"rename it to end in {suffix}" if suffix else f"unpack it, or use {suffixes()}"
            return f"is compressed with {name}; {advice}"
    return None


def read_bytes(path: FilePath, limit: int | None = None) -> bytes:
    """Return the content of a file, decompressed according to its name; ``-`` is standard input.

    More than `limit` bytes are an InputError, and so is a file that unpacks to an implausible size.
    """
    pieces = []
    size = 0
    for piece in byte_blocks(path, is_kept=limit is None):
        pieces.append(piece)
        size += len(piece)
        if limit is not None and size > limit:
            raise InputError(f"has more than {limit:,} bytes, the maximum for this kind of file", path)
    return b"".join(pieces)


def read_lines(path: FilePath) -> list[str]:
    """Return the lines of a text file without line ends; see `line_blocks`.

    Only a line feed ends a line, and a carriage return before it is dropped. Splitting at the other
    separators of Python's `str.splitlines` would misalign parallel files. A file that unpacks to an
    implausible size is an InputError.
    """
    return [line for block in line_blocks(path, is_kept=True) for line in block]


def read_manifest(path: FilePath) -> list[str]:
    """Return the file names in a manifest, a text file with one per line; see `line_blocks`."""
    names = read_lines(path)
    for number, name in enumerate(names, 1):
        if not name or "\0" in name:
            why = "a file name cannot contain U+0000" if name else "empty line; every line names a file"
            raise InputError(why, path, number)
    return names


def byte_blocks(path: FilePath, size: int = BLOCK_BYTES, is_kept: bool = False) -> Iterator[bytes]:
    """Yield the content of a file in pieces of at most `size` bytes, decompressed according to its name.

    If the caller keeps its content (`is_kept`), a file that unpacks to an implausible size is an InputError.
    """
    count = 0
    with _opened(path) as stream:
        while piece := stream.read(size):
            count += len(piece)
            if is_kept:
                _refuse_bomb(path, count)
            yield piece


def line_blocks(
    path: FilePath, limit: int = MAX_LINE_BYTES, advice: str = "", is_kept: bool = False
) -> Iterator[list[str]]:
    """Yield blocks of the lines of a text file, as `read_lines` returns them.

    A line of more than `limit` bytes is an InputError, which ends with `advice`; only a small multiple of the
    limit (or of `BLOCK_BYTES`) is kept in memory. If the caller keeps all lines (`is_kept`), so is a file
    that unpacks to an implausible size.
    """
    number, rest = 0, bytearray()  # lines before this block, and the beginning of a line
    # Only the first line of a block can exceed the limit: all others lie within one piece.
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


def _pieces(path: FilePath, size: int, is_kept: bool) -> Iterator[bytes]:
    """Yield the content of a text file in pieces of at most `size`, without a byte order mark.

    Data from a pipe is yielded as soon as it arrives.
    """
    pieces = byte_blocks(path, size, is_kept)
    begin = b""
    # the first line may be shorter than a mark, and the next one may take long to arrive
    while len(begin) < len(BOM_UTF8) and b"\n" not in begin and (piece := next(pieces, b"")):
        begin += piece
    if begin := begin.removeprefix(BOM_UTF8):
        yield begin
    yield from pieces


def _decode(content: bytes | bytearray, path: FilePath, number: int) -> list[str]:
    """Return whole lines of text; `number` is the number of preceding lines."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        if number == 0 and (message := packing_of(content)):
            raise InputError(message, path) from None
        line = number + content.count(b"\n", 0, error.start) + 1
        raise InputError("not valid UTF-8; convert the file with iconv", path, line) from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


@contextlib.contextmanager
def _opened(path: FilePath) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed according to its name; all errors become `InputError`."""
    if os.fspath(path) == STANDARD_STREAM:
        # Unbuffered: `read` returns available data at once, and a thread waiting for input holds no lock.
        yield getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
        return

    if "\0" in os.fspath(path):
        raise InputError("a file name cannot contain U+0000", path)

    compression = compression_of(path)
    try:
        if compression is None:
            with opening(path), open(path, "rb", buffering=0) as stream:
                yield stream
            return

        # libraries accept an empty file, but compressing nothing still gives some bytes
        if os.path.isfile(path) and os.path.getsize(path) == 0:
            raise EOFError("it is empty")
        with opening(path), compression.imported().open(path, "rb") as stream:
            yield stream
    except Exception as error:
        if compression is None or not isinstance(error, compression.damages()):
            if isinstance(error, OSError) and error.filename is None:  # from a read, not from opening
                raise named(error, path) from None
            raise

        message = f"damaged or truncated {compression.name} file ({error}); recreate it"
        raise InputError(message, path) from None


def _refuse_bomb(path: FilePath, size: int) -> None:
    """Raise an `InputError` if `size` bytes are implausible as the content of a compressed file."""
    if size <= UNPACKED_BYTES or compression_of(path) is None:
        return
    packed = os.path.getsize(path)
    if packed and size > max_unpacked(packed):  # pipes have no size
        message = f"unpacks to more than {MAX_UNPACKING} times its size; if that is right, unpack it"
        raise InputError(message, path)


@contextlib.contextmanager
def open_output(path: FilePath, durable: bool = True) -> Iterator[IO[str]]:
    """Open a text file for atomic writing, compressed according to its name; ``-`` is standard output.

    Compressed files contain no file name or time, so equal content gives equal bytes. See `atomic_path` for
    `durable`.
    """
    if os.fspath(path) == STANDARD_STREAM:
        try:
            yield sys.stdout
            sys.stdout.flush()
        except OSError as error:
            if error.filename is None and not isinstance(error, BrokenPipeError):
                raise named(error, "standard output") from None
            raise
        return
    with atomic_path(path, durable) as temporary, temporary.open("wb") as raw, _text(raw, path) as stream:
        yield stream


@contextlib.contextmanager
def _text(raw: IO[bytes], path: FilePath) -> Iterator[IO[str]]:
    """Yield a stream of text to an open file, compressed according to its name."""
    with contextlib.ExitStack() as stack:
        if compression := compression_of(path):
            raw = stack.enter_context(compression.compress(compression.imported(), raw))
        yield stack.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline="\n"))


def append_lines(path: FilePath, lines: Iterable[str]) -> None:
    """Append lines to a file that is not finished, compressed on their own if its name says so."""
    with open(path, "ab") as raw, _text(raw, path) as stream:
        stream.writelines(line + "\n" for line in lines)


def write_lines(path: FilePath, lines: Iterable[str], durable: bool = True) -> None:
    """Write lines, each ended by a newline; see `open_output`."""
    with open_output(path, durable) as stream:
        stream.writelines(line + "\n" for line in lines)


def max_unpacked(packed: int) -> int:
    """Return the maximum number of bytes to which `packed` bytes may unpack."""
    return max(UNPACKED_BYTES, MAX_UNPACKING * packed)
