"""Compressed files: gzip, xz and Zstandard, recognised by suffix, in upper or lower case.

Compression modules are imported only when needed, because some builds of Python lack `lzma`.
"""

from __future__ import annotations

import os
import sys
import types
import zlib
from collections.abc import Callable
from typing import IO, Any, NamedTuple, cast

from itersel.errors import InputError

# Of gzip: 4 takes two fifths of the time of 6, and text takes 5 to 8 % more space.
LEVEL = 4


class Compression(NamedTuple):
    """A compression format.

    Attributes
    ----------
    name
        Name for messages.
    module
        Imports its module, which opens files like `gzip`.
    error
        Name of the module's exception for damaged files.
    compress
        Wraps an open file, given the module. The output contains no file name or time, so equal content gives
        equal bytes.
    """

    name: str
    module: Callable[[], Any]
    error: str
    compress: Callable[[Any, IO[bytes]], IO[bytes]]

    def reader(self, path: str | os.PathLike[str]) -> IO[bytes]:
        """Open a file for reading."""
        return cast(IO[bytes], self.module().open(path, "rb"))

    def writer(self, raw: IO[bytes]) -> IO[bytes]:
        """Wrap an open file for writing."""
        return self.compress(self.module(), raw)

    def damages(self) -> tuple[type[Exception], ...]:
        """Return the exceptions raised by damaged files."""
        return EOFError, zlib.error, getattr(self.module(), self.error)


def compression_of(path: str | os.PathLike[str]) -> Compression | None:
    """Return the compression of a file according to its name, or None."""
    return COMPRESSIONS.get(os.path.splitext(os.fspath(path))[1].lower())


def without_compression(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without the suffix of its compression: ``a.tmx`` for ``a.tmx.gz``."""
    return os.path.splitext(path)[0] if compression_of(path) else os.fspath(path)


def _gzip() -> types.ModuleType:
    import gzip

    return gzip


def _lzma() -> Any:
    try:
        import lzma
    except ImportError:
        raise InputError("this Python was built without lzma, which .xz files need; unpack them") from None
    return lzma


def _zstd() -> types.ModuleType | Any:
    """Return Python's own module, or its backport for earlier versions."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError:
        package = "its module compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
        raise InputError(f".zst files need {package}, which is missing; install it or unpack them") from None
    return zstd


def _compress_gzip(gzip: Any, raw: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(filename="", mode="wb", compresslevel=LEVEL, fileobj=raw, mtime=0))


def _compress_xz(lzma: Any, raw: IO[bytes]) -> IO[bytes]:
    return cast(IO[bytes], lzma.open(raw, "wb"))


def _compress_zstd(zstd: Any, raw: IO[bytes]) -> IO[bytes]:
    # without a checksum, damage could go unnoticed
    options = {zstd.CompressionParameter.checksum_flag: 1}
    return cast(IO[bytes], zstd.open(raw, "wb", options=options))


COMPRESSIONS = {
    ".gz": Compression("gzip", _gzip, "BadGzipFile", _compress_gzip),
    ".xz": Compression("xz", _lzma, "LZMAError", _compress_xz),
    ".zst": Compression("zstd", _zstd, "ZstdError", _compress_zstd),
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
    """Return the message for a file whose name does not say that its content is compressed, else None."""
    for signature, (name, suffix) in _SIGNATURES.items():
        if content.startswith(signature):
            advice = f"rename it to end in {suffix}" if suffix else f"unpack it, or use {suffixes()}"
            return f"is compressed with {name}; {advice}"
    return None
