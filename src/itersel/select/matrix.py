"""W.h5: the weights of all shards as one sparse matrix, and what was selected of it.

- ``features/key``, ``features/name``, ``features/name_offset``: the D features, by ascending key;
- ``W/data``, ``W/indices``, ``W/indptr``: W (Z x D) in compressed sparse columns, as scipy's `csc_matrix`;
- ``norm`` (D), ``selected`` (D, 0 or 1), ``v`` (D): norm of each column, whether it was selected, and its
  mean over all shards if so, else 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from itersel.select.merge_kernels import Columns
from itersel.select.selection import Features, Selection

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
CHUNK_BYTES = 1 << 20
BLOCK = 1 << 20  # columns


class MatrixWriter:
    """Writes W.h5 a range of columns at a time.

    Parameters
    ----------
    stream
        The file, empty.
    check
        Raises an error if the file cannot be written.
    """

    def __init__(self, stream: h5py.File, check: Callable[[], None]) -> None:
        self._stream, self._check = stream, check
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
        self._append("v", features.mean)
        self._check()

    def finish(self, selection: Selection, attributes: Mapping[str, Any]) -> None:
        """Mark what was selected, drop the means of all else."""
        stream = self._stream
        stream["selected"].resize(stream["norm"].shape)
        for rows in _blocks(stream["norm"].shape[0]):
            chosen = selection.contains(stream["features/key"][rows], stream["norm"][rows])
            stream["selected"][rows] = chosen
            stream["v"][rows] = np.where(chosen, stream["v"][rows], 0.0)
        stream.attrs.update(attributes)

    def _size(self, name: str) -> int:
        return int(self._stream[name].shape[0])

    def _append(self, name: str, array: NDArray[Any]) -> None:
        dataset, begin = self._stream[name], self._size(name)
        dataset.resize((begin + array.shape[0],))
        dataset[begin:] = array


def _blocks(size: int) -> Iterator[slice]:
    for begin in range(0, size, BLOCK):
        yield slice(begin, min(begin + BLOCK, size))
