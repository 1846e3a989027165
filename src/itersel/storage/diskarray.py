"""Arrays on disk for intermediate results that may not fit into memory, read and written in blocks.

Their files have no names: they vanish when the array does, or with the process, even if it is killed.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from itersel.errors import FilePath


class DiskArray:
    """A one-dimensional array in a temporary file.

    The file is in `folder`, by default the system's for temporary files, which is created if it does not
    exist. A failed write is an OSError that names the folder.
    """

    def __init__(self, dtype: DTypeLike, folder: FilePath | None = None) -> None:
        self.dtype = np.dtype(dtype)
        self.folder = os.fspath(tempfile.gettempdir() if folder is None else folder)
        self.size = 0
        os.makedirs(self.folder, exist_ok=True)
        file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115
        self._descriptor = file.fileno()
        weakref.finalize(self, file.close)

    def append(self, values: NDArray[Any]) -> None:
        """Append values."""
        self.write(self.size, values)

    def write(self, begin: int, values: NDArray[Any]) -> None:
        """Store values at `begin`, which is at most `size`, and the places that follow."""
        content = np.ascontiguousarray(values, self.dtype)
        rest = content.view(np.uint8).data
        place = begin * self.dtype.itemsize
        try:
            while rest:
                written = os.pwrite(self._descriptor, rest, place)
                rest = rest[written:]
                place += written
        except OSError as error:
            message = f"{error.strerror} (temporary files)"
            raise OSError(error.errno, message, self.folder) from None
        self.size = max(self.size, begin + content.shape[0])

    def read(self, begin: int = 0, end: int | None = None) -> NDArray[Any]:
        """Return the values from `begin` up to `end`, by default all."""
        end = self.size if end is None else min(end, self.size)
        values = np.empty(max(end - begin, 0), self.dtype)
        rest = values.view(np.uint8).data
        place = begin * self.dtype.itemsize
        while rest:
            # A single call returns 2 GB at most.
            count = os.preadv(self._descriptor, [rest], place)
            rest = rest[count:]
            place += count
        return values

    def blocks(self, length: int) -> Iterator[NDArray[Any]]:
        """Yield all values in blocks of this length; the last one may be shorter."""
        for begin in range(0, self.size, length):
            yield self.read(begin, begin + length)


def gather(table: DiskArray, index: DiskArray, length: int, in_memory: int) -> DiskArray:
    """Return ``table[index]`` for a table and an index of any size.

    `length` rows of `index` are read at a time, and `in_memory` values of `table` are in memory.
    """
    found = []
    for part, rows_of_part in enumerate(_parts(index, table.size, length, in_memory)):
        values = table.read(part * in_memory, (part + 1) * in_memory)
        found.append(DiskArray(table.dtype, table.folder))
        for rows in rows_of_part.blocks(length):
            found[part].append(values[rows])

    if len(found) == 1:
        return found[0]

    result = DiskArray(table.dtype, table.folder)
    done = [0] * len(found)
    for rows in index.blocks(length):
        numbers = rows // in_memory
        block = np.empty(rows.shape[0], table.dtype)
        for part in np.unique(numbers).tolist():
            places = np.flatnonzero(numbers == part)
            block[places] = found[part].read(done[part], done[part] + places.shape[0])
            done[part] += places.shape[0]
        result.append(block)

    return result


def tally(index: DiskArray, size: int, length: int, in_memory: int) -> DiskArray:
    """Return how often each of the numbers 0, ..., `size` - 1 occurs in `index`, int64 (size).

    `length` rows of `index` are read at a time, and `in_memory` counts are in memory.
    """
    result = DiskArray(np.int64, index.folder)
    for part, rows_of_part in enumerate(_parts(index, size, length, in_memory)):
        counts = np.zeros(min(in_memory, size - part * in_memory), np.int64)
        for rows in rows_of_part.blocks(length):
            numbers, occurrences = np.unique(rows, return_counts=True)
            counts[numbers] += occurrences
        result.append(counts)
    return result


def _parts(index: DiskArray, size: int, length: int, width: int) -> list[DiskArray]:
    """Distribute numbers below `size` by ranges of `width`, relative to the range and otherwise in order."""
    if size <= width:
        return [index]
    parts = [DiskArray(index.dtype, index.folder) for _ in range(-(-size // width))]
    for rows in index.blocks(length):
        numbers, places = np.divmod(rows, width)
        order = np.argsort(numbers, kind="stable")
        bounds = np.searchsorted(numbers[order], np.arange(len(parts) + 1))
        for part, (begin, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            parts[part].append(places[order[begin:end]])
    return parts
