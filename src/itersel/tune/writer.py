"""Writes a declared format a few rows at a time, so memory does not depend on the size of the output."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from itersel.storage.formats import Digest, FileFormat
from itersel.storage.hdf5 import stream_hdf5, write_header

CHUNK_BYTES = 1 << 18
# Rows are buffered up to this many bytes, because each HDF5 write takes half a millisecond.
WAITING_BYTES = 1 << 22


class ArrayWriter:
    """Appends rows to the arrays of a file; see `write_rows`.

    Arrays of offsets are recognised by their format (`Array.into`). They begin with 0; append the ends of
    rows, counted from the end of the rows written so far.
    """

    def __init__(
        self, stream: h5py.File, check: Callable[[], None], format: FileFormat, columns: int
    ) -> None:
        self._stream, self._check, self._format = stream, check, format
        self._digests = {name: Digest() for name in format.arrays}
        self._ends = {name: 0 for name, declared in format.arrays.items() if declared.into is not None}
        for name, declared in format.arrays.items():
            shape = tuple(entry if isinstance(entry, int) else columns for entry in declared.shape[1:])
            dtype = np.dtype(declared.dtype)
            row_bytes = dtype.itemsize * max(1, int(np.prod(shape)))
            # data that is similar in neighbouring rows compresses to a tenth
            stream.create_dataset(
                name,
                (0, *shape),
                dtype,
                maxshape=(None, *shape),
                chunks=(max(1, CHUNK_BYTES // row_bytes), *(max(1, size) for size in shape)),
                compression="gzip",
                compression_opts=1,
                shuffle=dtype.itemsize > 1,
            )
        self._waiting: dict[str, list[NDArray[Any]]] = {name: [] for name in format.arrays}
        self._bytes = 0
        for name in self._ends:
            self._put(name, np.zeros(1, np.int64))

    def append(self, rows: Mapping[str, NDArray[Any]]) -> None:
        """Append rows to arrays.

        Raises
        ------
        OSError
            If the rows cannot be written.
        """
        for name, part in rows.items():
            if name not in self._ends:
                self._put(name, part)
            elif part.size:
                self._put(name, part + self._ends[name])
                self._ends[name] += int(part[-1])
        if self._bytes > WAITING_BYTES:
            self._flush()

    def finish(self, attributes: Mapping[str, Any]) -> None:
        """Write the header; nothing can be appended afterwards."""
        self._flush()
        digests = {}
        for name in self._format.arrays:
            dataset = self._stream[name]
            digests[name] = self._digests[name].result(np.empty((0, *dataset.shape[1:]), dataset.dtype))
        write_header(self._stream, self._format, attributes, digests)

    def _put(self, name: str, rows: NDArray[Any]) -> None:
        part = np.array(rows, self._format.arrays[name].dtype)
        self._waiting[name].append(part)
        self._bytes += part.nbytes

    def _flush(self) -> None:
        """Write the buffered rows."""
        for name, waiting in self._waiting.items():
            if waiting:
                part, dataset = np.concatenate(waiting), self._stream[name]
                begin = dataset.shape[0]
                dataset.resize(begin + part.shape[0], axis=0)
                dataset[begin:] = part
                self._digests[name].add(part)
                waiting.clear()
        self._bytes = 0
        self._check()


@contextlib.contextmanager
def write_rows(path: str | os.PathLike[str], format: FileFormat, columns: int) -> Iterator[ArrayWriter]:
    """Yield a writer for a file; the named second dimension of two-dimensional arrays is `columns`.

    The file is written whole or not at all.
    """
    with stream_hdf5(path) as (stream, check):
        yield ArrayWriter(stream, check, format, columns)
