"""HDF5 files written a few rows at a time, so memory does not depend on the size of the output.

The HDF5 library does not survive a failed write (see `itersel.storage.hdf5`), so it writes to a Python file
object that records the first error and ignores all later writes.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from itersel.errors import FilePath
from itersel.run.atomic import atomic_path
from itersel.storage.formats import Array, Digest, FileFormat, without_extra
from itersel.storage.hdf5 import VERSION, write_header

# Bytes in a chunk of packed arrays, and of others.
PACKED_CHUNK, CHUNK = 1 << 18, 1 << 20
# Rows are buffered up to this many bytes, because each HDF5 write takes half a millisecond.
WAITING_BYTES = 1 << 22


class GrowingArray:
    """An array of a file to which rows are appended, and its checksum.

    `columns` is the second dimension if the declaration only names it.
    """

    def __init__(
        self, stream: h5py.File, name: str, declared: Array, packed: bool = False, columns: int = 1
    ) -> None:
        self._stream = stream
        self._name = name
        self._digest = Digest()
        shape = tuple(entry if isinstance(entry, int) else columns for entry in declared.shape[1:])
        dtype = np.dtype(declared.dtype)
        rows = (PACKED_CHUNK if packed else CHUNK) // (dtype.itemsize * max(1, math.prod(shape)))
        options: dict[str, Any] = {"chunks": (max(1, rows), *(max(1, size) for size in shape))}
        if packed:
            # data that is similar in neighbouring rows compresses to a tenth
            options |= {"compression": "gzip", "compression_opts": 1, "shuffle": dtype.itemsize > 1}
        stream.create_dataset(name, (0, *shape), dtype, maxshape=(None, *shape), **options)

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self._stream[self._name].shape[0])

    def append(self, rows: NDArray[Any]) -> None:
        """Append rows."""
        dataset = self._stream[self._name]
        part = np.asarray(rows, dataset.dtype)
        begin = dataset.shape[0]
        dataset.resize(begin + part.shape[0], axis=0)
        dataset[begin:] = part
        self._digest.add(part)

    def digest(self) -> str:
        """Return the checksum of all rows."""
        dataset = self._stream[self._name]
        return self._digest.result(np.empty((0, *dataset.shape[1:]), dataset.dtype))


class RowWriter:
    """Appends rows to the arrays of a file; see `write_rows`.

    Arrays of offsets are recognised by their format (`Array.into`). They begin with 0; append the ends of
    rows, counted from the end of the rows written so far.
    """

    def __init__(
        self, stream: h5py.File, check: Callable[[], None], format: FileFormat, columns: int, has_extra: bool
    ) -> None:
        self._stream = stream
        self._check = check
        self._known = format.arrays.keys()
        self._format = format if has_extra else without_extra(format)

        self._arrays: dict[str, GrowingArray] = {}
        self._waiting: dict[str, list[NDArray[Any]]] = {}
        self._ends: dict[str, int] = {}
        self._begun = set[str]()  # offsets that have their first row, 0
        self._bytes = 0

        for name, declared in self._format.arrays.items():
            self._arrays[name] = GrowingArray(stream, name, declared, format.packed, columns)
            self._waiting[name] = []
            if declared.into is not None:
                self._ends[name] = 0
                # an extra array may stay without rows
                if not declared.is_extra:
                    self._begin(name)

    def append(self, rows: Mapping[str, NDArray[Any]]) -> None:
        """Append rows to arrays; extra arrays are ignored if the file has none."""
        for name, part in rows.items():
            if name in self._waiting and name not in self._ends:
                self._put(name, part)
            elif name in self._ends and part.size:
                self._begin(name)
                self._put(name, part + self._ends[name])
                self._ends[name] += int(part[-1])
            elif name not in self._known:
                raise KeyError(name)
        if self._bytes > WAITING_BYTES:
            self._flush()

    def finish(self, attributes: Mapping[str, Any]) -> None:
        """Write the header; nothing can be appended afterwards."""
        self._flush()
        digests = {name: array.digest() for name, array in self._arrays.items()}
        write_header(self._stream, self._format, attributes, digests)

    def _begin(self, name: str) -> None:
        if name not in self._begun:
            self._begun.add(name)
            self._put(name, np.zeros(1, np.int64))

    def _put(self, name: str, rows: NDArray[Any]) -> None:
        part = np.array(rows, self._format.arrays[name].dtype)
        self._waiting[name].append(part)
        self._bytes += part.nbytes

    def _flush(self) -> None:
        for name, waiting in self._waiting.items():
            if waiting:
                self._arrays[name].append(np.concatenate(waiting))
                waiting.clear()
        self._bytes = 0
        self._check()


@contextlib.contextmanager
def write_rows(
    path: FilePath, format: FileFormat, columns: int, attributes: Mapping[str, Any], has_extra: bool = True
) -> Iterator[RowWriter]:
    """Yield a writer for a file with these attributes, which is written whole or not at all.

    `columns` is the named second dimension of two-dimensional arrays; `has_extra` tells whether the file has
    the extra arrays of the format (`Array.is_extra`).
    """
    with stream_hdf5(path) as (stream, check):
        writer = RowWriter(stream, check, format, columns, has_extra)
        yield writer
        writer.finish(attributes)


@contextlib.contextmanager
def stream_hdf5(path: FilePath) -> Iterator[tuple[h5py.File, Callable[[], None]]]:
    """Yield an HDF5 file that is written as it grows, and a function that raises after a failed write.

    A failed write is raised at the latest when the file is closed.
    """
    with atomic_path(path) as temporary, _Disk(temporary, "w+") as disk:
        try:
            # rdcc_nbytes: large enough for all chunks that are being filled
            with h5py.File(disk, "w", rdcc_nbytes=1 << 25, libver=VERSION) as stream:
                yield stream, disk.check
        except Exception:
            disk.check()
            raise
        disk.check()


class _Disk(io.FileIO):
    """A file for HDF5 that, after a failed write, ignores all further writes without an error.

    HDF5 sets the position before each read and write.
    """

    error: OSError | None = None

    def check(self) -> None:
        """Raise the first error, if there was one."""
        if self.error is not None:
            raise self.error

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer, with zeros where nothing could be written."""
        view = memoryview(buffer).cast("B")
        done = 0
        while self.error is None and done < len(view) and (count := super().readinto(view[done:])):
            done += count
        view[done:] = bytes(len(view) - done)
        return len(view)

    def write(self, buffer: Any, /) -> int:
        """Write all of a buffer."""
        view = memoryview(buffer).cast("B")
        done = 0
        try:
            while self.error is None and done < len(view):
                done += super().write(view[done:])
        except OSError as error:
            self.error = error
        return len(view)

    def truncate(self, size: int | None = None, /) -> int:
        """Set the size."""
        try:
            return super().truncate(size) if self.error is None else 0
        except OSError as error:
            self.error = error
            return 0
