"""HDF5 files, in and out, so that a damaged file or a full disk ends in one line.

The HDF5 library does not survive a failed write: it crashes when the file is closed, or when the process
ends. So it never sees one. Small files are made in memory, and their bytes are written by us; large ones go
through a Python file that remembers the first error, and from then on pretends that all is well.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from typing import Any

import h5py

from itersel.errors import InputError
from itersel.files import atomic_path

SIGNATURE = b"\x89HDF\r\n\x1a\n"
# How much memory a file in memory takes at a time.
MEMORY_STEP = 1 << 20


def open_hdf5(path: str | os.PathLike[str]) -> h5py.File:
    """Open an HDF5 file for reading.

    Raises
    ------
    InputError
        If it is missing, a folder, truncated, or something else.
    OSError
        If it cannot be read for a reason that making it anew would not mend.
    """
    try:
        with open(path, "rb") as stream:
            signature = stream.read(len(SIGNATURE))
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except IsADirectoryError:
        raise InputError("is a folder, a file was expected", path) from None
    if signature != SIGNATURE:
        raise InputError("damaged or truncated HDF5 file, or another kind of file; make it anew", path)
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"damaged or truncated HDF5 file ({one_line(error)}); make it anew", path) from None


def one_line(error: Exception) -> str:
    """Return the message of an error of the HDF5 library in one line."""
    return " ".join(str(error).split())


@contextlib.contextmanager
def write_hdf5(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """Yield an HDF5 file in memory; write it to `path` when all is there. For files of up to some 100 MB."""
    with h5py.File("memory", "w", driver="core", backing_store=False, block_size=MEMORY_STEP) as stream:
        yield stream
        stream.flush()
        image = stream.id.get_file_image()
    with atomic_path(path) as temporary:
        temporary.write_bytes(image)


@contextlib.contextmanager
def stream_hdf5(path: str | os.PathLike[str]) -> Iterator[tuple[h5py.File, Callable[[], None]]]:
    """Yield an HDF5 file that goes to the disk as it grows, and a function that raises if that has failed.

    Raises
    ------
    OSError
        At the latest when the file is closed.
    """
    with atomic_path(path) as temporary, open(temporary, "w+b", buffering=0) as raw:
        disk = _Disk(raw)
        try:
            # rdcc_nbytes: all chunks that are being filled have room at the same time
            with h5py.File(disk, "w", rdcc_nbytes=1 << 25) as stream:
                yield stream, disk.check
        except Exception:
            disk.check()
            raise
        disk.check()


class _Disk(io.RawIOBase):
    """A file for HDF5: after a failed write nothing more is written, and nothing more fails."""

    def __init__(self, raw: io.FileIO) -> None:
        self._raw = raw
        self._error: OSError | None = None
        self._position = self._size = 0

    def check(self) -> None:
        """Raise the first error, if there was one."""
        if self._error is not None:
            raise self._error

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Set the position."""
        self._position = offset + {os.SEEK_CUR: self._position, os.SEEK_END: self._size}.get(whence, 0)
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer; with zeros, where nothing could be written."""
        view = memoryview(buffer).cast("B")
        done = 0
        if self._error is None:
            self._raw.seek(self._position)
            while done < len(view) and (count := self._raw.readinto(view[done:])):
                done += count
        view[done:] = bytes(len(view) - done)
        self._position += len(view)
        return len(view)

    def write(self, buffer: Any, /) -> int:
        """Write all of a buffer."""
        view = memoryview(buffer).cast("B")
        size, done = len(view), 0
        try:
            self._raw.seek(self._position)
            while done < size and self._error is None:
                done += self._raw.write(view[done:]) or 0
        except OSError as error:
            self._error = error
        self._position += size
        self._size = max(self._size, self._position)
        return size

    def truncate(self, size: int | None = None, /) -> int:
        """Set the size."""
        self._size = self._position if size is None else size
        if self._error is None:
            try:
                self._raw.truncate(self._size)
            except OSError as error:
                self._error = error
        return self._size
