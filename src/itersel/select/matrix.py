"""W.h5: the weights of all shards as one sparse matrix, and the selected features.

- ``features/key``, ``features/name``, ``features/name_offset``: the D features, by ascending key;
- ``W/data``, ``W/indices``, ``W/indptr``: W (Z x D) in compressed sparse columns, as scipy's `csc_matrix`;
- ``norm`` (D), ``selected`` (D, 0 or 1), ``v`` (D): norm of each column, whether it was selected, and its
  mean over all shards if so, else 0.

It is also a weights file, with the weights `v` of all features. Every array has a checksum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import h5py
import numpy as np

from itersel.select.merge_kernels import Columns
from itersel.select.selection import Features
from itersel.storage.formats import Array, Digest, FileFormat, numbers
from itersel.storage.hdf5 import write_header
from itersel.storage.hdf5_rows import GrowingArray
from itersel.vectors.weights import FORMAT

DATASETS = {
    **{name: array for name, array in FORMAT.arrays.items() if name.startswith("features/")},
    "W/data": numbers("<f8", "entries"),
    "W/indices": Array("<i4", ("entries",)),
    "W/indptr": Array("<i8", ("D+1",), least=0, rising=True),
    "norm": numbers("<f8", "D", least=0),
    "selected": Array("|u1", ("D",), most=1),
    "v": FORMAT.arrays["v"],
}
KIND = "shard-matrix"
# Excludes the entries of W, which only users read, with h5py.
MATRIX = FileFormat(
    FORMAT.kind,
    FORMAT.version,
    "itersel mix --matrix",
    {name: array for name, array in DATASETS.items() if name not in ("W/data", "W/indices", "v")},
)
BLOCK = 1 << 20  # columns


class MatrixWriter:
    """Writes W.h5, an empty file, a range of columns at a time; `check` raises an error if it cannot."""

    def __init__(self, stream: h5py.File, check: Callable[[], None]) -> None:
        self._stream, self._check = stream, check
        self._arrays = {name: GrowingArray(stream, name, array) for name, array in DATASETS.items()}
        for name in ("features/name_offset", "W/indptr"):
            self._arrays[name].append(np.zeros(1))

    def append(self, columns: Columns, features: Features) -> None:
        """Add columns."""
        names, entries = self._arrays["features/name"].size, self._arrays["W/data"].size
        for name, rows in (
            ("features/name_offset", features.name.offset[1:] + names),
            ("W/indptr", columns.offset[1:] + entries),
            ("features/key", features.key),
            ("features/name", features.name.data),
            ("W/data", columns.value),
            ("W/indices", columns.shard),
            ("norm", features.norm),
            ("v", features.mean),
        ):
            self._arrays[name].append(rows)
        self._check()

    def finish(self, selected: Features, attributes: Mapping[str, Any]) -> None:
        """Mark the selected features, and drop the means of all others."""
        stream, means, done = self._stream, Digest(), 0
        for begin in range(0, self._arrays["v"].size, BLOCK):
            key = stream["features/key"][begin : begin + BLOCK]
            end = int(np.searchsorted(selected.key, key[-1], side="right"))
            place = np.searchsorted(key, selected.key[done:end])
            chosen, mean = np.zeros(key.shape[0], np.uint8), np.zeros(key.shape[0])
            chosen[place], mean[place] = 1, selected.mean[done:end]
            self._arrays["selected"].append(chosen)
            stream["v"][begin : begin + BLOCK] = mean
            means.add(mean)
            done = end
        digests = {name: array.digest() for name, array in self._arrays.items()}
        write_header(stream, FORMAT, attributes, {**digests, "v": means.result(np.empty(0))})
