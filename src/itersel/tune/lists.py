"""k-best lists on disk: for each translation the statistics of BLEU and the features, not the words.

A file holds the lists of one shard, decoded with the weights of one iteration. It grows sentence by sentence,
so that memory does not depend on the size of the shard. Sparse features are rows of a table of the file, in
the order in which they turn up; a table sorted by key would have to be known before the first sentence.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import h5py
import numpy as np
from numpy.typing import NDArray

from itersel.hdf5 import stream_hdf5, write_header
from itersel.learn.bleu_kernels import ORDER
from itersel.storage.formats import Array, Digest, FileFormat, numbers
from itersel.strings import StringTable

MAX_COUNT = (1 << 31) - 1

# Sizes: N sentences, H translations, C dense features, F sparse features. Everything is packed: translations
# of a sentence are much alike, and a list shrinks to a tenth.
FORMAT = FileFormat(
    "k-best lists file",
    1,
    "itersel kbest",
    {
        "sentence_offset": Array("<i8", ("N+1",), into="H"),
        "reference_length": Array("<i4", ("N",), least=0, most=MAX_COUNT),
        "matches": Array("<i4", ("H", ORDER), least=0, most=MAX_COUNT),
        "length": Array("<i4", ("H",), least=0, most=MAX_COUNT),
        "hash": Array("<u8", ("H", 2)),
        "dense": numbers("<f8", "H", "C"),
        "feature": Array("<i4", ("sparse values",), least=0, below="F"),
        "feature_value": numbers("<f8", "sparse values"),
        "feature_offset": Array("<i8", ("H+1",), into="sparse values"),
        "feature_key": Array("<u8", ("F",)),
        "feature_name": Array("|u1", ("bytes of features",)),
        "feature_name_offset": Array("<i8", ("F+1",), into="bytes of features", text="feature_name"),
    },
)
# What a tuner of dense features reads. The arrays that give sizes have to be read with those that use them.
DENSE_ARRAYS = ("sentence_offset", "reference_length", "matches", "length", "hash", "dense")
SPARSE_ARRAYS = tuple(name for name in FORMAT.arrays if name.startswith("feature"))
CHUNK_BYTES = 1 << 18
# Offsets are written as ends; the 0 before the first is there from the start.
OFFSETS = ("sentence_offset", "feature_offset", "feature_name_offset")


class Translations(NamedTuple):
    """The k-best list of one sentence; what the arrays mean is said in `itersel.tune.accumulate.Pool`.

    Attributes
    ----------
    matches
        int (k, 4): clipped n-gram matches.
    length
        int (k): words.
    hash
        uint64 (k, 2): of words and features together.
    dense
        float64 (k, C).
    feature, feature_value, feature_offset
        int, float64, int64 (k + 1): sparse features, rows of a table.
    """

    matches: NDArray[Any]
    length: NDArray[Any]
    hash: NDArray[np.uint64]
    dense: NDArray[np.float64]
    feature: NDArray[Any]
    feature_value: NDArray[np.float64]
    feature_offset: NDArray[np.int64]


class ListWriter:
    """Appends the k-best lists of sentences to a file; see `write_lists`."""

    def __init__(self, stream: h5py.File, check: Callable[[], None], columns: int) -> None:
        self._stream, self._check = stream, check
        self._digests = {name: Digest() for name in FORMAT.arrays}
        self._ends = dict.fromkeys(OFFSETS, 0)
        for name, declared in FORMAT.arrays.items():
            shape = tuple(entry if isinstance(entry, int) else columns for entry in declared.shape[1:])
            dtype = np.dtype(declared.dtype)
            row_bytes = dtype.itemsize * max(1, int(np.prod(shape)))
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
        for name in OFFSETS:
            self._append(name, np.zeros(1, np.int64))

    def add(self, translations: Translations, reference_length: int) -> None:
        """Append the list of the next sentence."""
        found = translations
        self._append("reference_length", np.array([reference_length]))
        self._append_ends("sentence_offset", np.array([found.length.shape[0]]))
        for name in ("matches", "length", "hash", "dense", "feature", "feature_value"):
            self._append(name, getattr(found, name))
        self._append_ends("feature_offset", found.feature_offset[1:])
        self._check()

    def finish(self, key: NDArray[np.uint64], name: StringTable, attributes: Mapping[str, Any]) -> None:
        """Append the table of sparse features, and say what the file is."""
        self._append("feature_key", key)
        self._append("feature_name", name.data)
        self._append_ends("feature_name_offset", name.offset[1:])
        digests = {}
        for array in FORMAT.arrays:
            dataset = self._stream[array]
            digests[array] = self._digests[array].result(np.empty((0, *dataset.shape[1:]), dataset.dtype))
        write_header(self._stream, FORMAT, attributes, digests)

    def _append_ends(self, name: str, ends: NDArray[np.int64]) -> None:
        self._append(name, ends + self._ends[name])
        if ends.size:
            self._ends[name] += int(ends[-1])

    def _append(self, name: str, rows: NDArray[Any]) -> None:
        dataset = self._stream[name]
        part = np.asarray(rows, dataset.dtype)
        begin = dataset.shape[0]
        dataset.resize(begin + part.shape[0], axis=0)
        dataset[begin:] = part
        self._digests[name].add(part)


@contextlib.contextmanager
def write_lists(path: str | os.PathLike[str], columns: int) -> Iterator[ListWriter]:
    """Yield a writer of a file with `columns` dense features; it appears whole or not at all."""
    with stream_hdf5(path) as (stream, check):
        yield ListWriter(stream, check, columns)
