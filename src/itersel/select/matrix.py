"""W.h5: the weights of all shards as one sparse matrix, and the selected features.

- ``features/key``, ``features/name``, ``features/name_offset``: the D features, by ascending key;
- ``W/data``, ``W/indices``, ``W/indptr``: W (Z x D) in compressed sparse columns, as scipy's `csc_matrix`;
- ``norm`` (D), ``selected`` (D, 0 or 1), ``v`` (D): norm of each column, whether it was selected, and its
  mean over all shards if so, else 0.

It is also a weights file, with the weights `v` of all features. Every array has a checksum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from itersel.select.merge_kernels import Columns
from itersel.select.selection import Features, Selection
from itersel.storage.formats import Array, Digest, FileFormat, numbers
from itersel.storage.hdf5 import write_header
from itersel.vectors.weights import FORMAT

DATASETS = {
    "features/key": np.uint64,
    "features/name": np.uint8,
    "features/name_offset": np.int64,
    "W/data": np.float64,
    "W/indices": np.int32,
    "W/indptr": np.int64,
    "norm": np.float64,
    "selected": np.uint8,
    "v": np.float64,
}
KIND = "shard-matrix"
# Excludes the entries of W, which only users read, with h5py.
MATRIX = FileFormat(
    FORMAT.kind,
    FORMAT.version,
    "itersel mix --matrix",
    {
        **{name: array for name, array in FORMAT.arrays.items() if name.startswith("features/")},
        "W/indptr": Array("<i8", ("D+1",), least=0, rising=True),
        "norm": numbers("<f8", "D", least=0),
        "selected": Array("|u1", ("D",), most=1),
    },
)
CHUNK_BYTES = 1 << 20
BLOCK = 1 << 20  # columns


class MatrixWriter:
    """Writes W.h5 a range of columns at a time.

    Parameters
    ----------
    stream
        An empty file.
    check
        Raises an error if the file cannot be written.
    """

    def __init__(self, stream: h5py.File, check: Callable[[], None]) -> None:
        self._stream, self._check = stream, check
        self._digests = {name: Digest() for name in DATASETS}
        for name, dtype in DATASETS.items():
            chunk = CHUNK_BYTES // np.dtype(dtype).itemsize
            stream.create_dataset(name, (0,), dtype, maxshape=(None,), chunks=(chunk,))
        for name in ("features/name_offset", "W/indptr"):
            self._append(name, np.zeros(1, np.int64))

    def append(self, columns: Columns, features: Features) -> None:
        """Add columns."""
        for name, ends, base in (
            ("features/name_offset", features.name.offset, self._size("features/name")),
            ("W/indptr", columns.offset, self._size("W/data")),
        ):
            self._append(name, ends[1:] + base)
        self._append("features/key", features.key)
        self._append("features/name", features.name.data)
        self._append("W/data", columns.value)
        self._append("W/indices", columns.shard)
        self._append("norm", features.norm)
        # `finish` drops the means of features that are not selected
        self._append("v", features.mean, is_final=False)
        self._check()

    def finish(self, selection: Selection, attributes: Mapping[str, Any]) -> None:
        """Mark the selected features, and drop the means of all others."""
        stream = self._stream
        stream["selected"].resize(stream["norm"].shape)
        for rows in _blocks(stream["norm"].shape[0]):
            chosen = selection.contains(stream["features/key"][rows], stream["norm"][rows])
            self._write("selected", rows, chosen)
            self._write("v", rows, np.where(chosen, stream["v"][rows], 0.0))
        digests = {name: self._digests[name].result(np.empty(0, dtype)) for name, dtype in DATASETS.items()}
        write_header(stream, FORMAT, attributes, digests)

    def _size(self, name: str) -> int:
        return int(self._stream[name].shape[0])

    def _append(self, name: str, array: NDArray[Any], is_final: bool = True) -> None:
        dataset, begin = self._stream[name], self._size(name)
        rows = slice(begin, begin + array.shape[0])
        dataset.resize((rows.stop,))
        if is_final:
            self._write(name, rows, array)
        else:
            dataset[rows] = array

    def _write(self, name: str, rows: slice, array: NDArray[Any]) -> None:
        """Write the final values of an array's next rows, and add them to its checksum."""
        part = np.asarray(array, DATASETS[name])
        self._stream[name][rows] = part
        self._digests[name].add(part)


def _blocks(size: int) -> Iterator[slice]:
    for begin in range(0, size, BLOCK):
        yield slice(begin, min(begin + BLOCK, size))
