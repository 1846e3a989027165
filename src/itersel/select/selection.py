"""Joint feature selection: which columns of the shard weights to keep, and the file of their matrix.

docs/formats.md describes the file.

Source: Simianer, Riezler & Dyer (2012), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import h5py
import numpy as np

from itersel.config.numbered import NORMS
from itersel.select.merge_kernels import Entries, WeightColumns, column_norms, column_sums
from itersel.storage.arrays import Float64s, Int64s, UInt64s
from itersel.storage.formats import Array, Digest, FileFormat, numbers
from itersel.storage.hdf5 import write_header
from itersel.storage.hdf5_rows import GrowingArray
from itersel.storage.strings import StringTable, concatenate, string_table
from itersel.vectors.feature_groups import find_reported_groups, reported_groups
from itersel.vectors.features import feature_keys
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
# What itersel reads of it. Only users read the entries of W, with h5py.
MATRIX = FileFormat(
    FORMAT.kind,
    FORMAT.version,
    ("itersel step mix --matrix",),
    {name: array for name, array in DATASETS.items() if name not in ("W/data", "W/indices", "v")},
)
MATRIX_BLOCK = 1 << 20  # columns of the matrix


class FeatureNorms(NamedTuple):
    """Columns of the matrix, by ascending key, without their entries."""

    key: UInt64s  # (m)
    name: StringTable
    norm: Float64s  # (m): over all shards, including those without the feature; so is the mean
    mean: Float64s

    def take(self, rows: Int64s) -> FeatureNorms:
        """Return the features at `rows`."""
        return FeatureNorms(self.key[rows], self.name.take(rows), self.norm[rows], self.mean[rows])


def above(norm: Float64s, threshold: float) -> Int64s:
    """Return the rows with a norm above a threshold."""
    return np.flatnonzero(norm > threshold)


def at_least(norm: Float64s, fraction: float) -> Int64s:
    """Return the rows with at least this fraction, at most 1, of the largest norm."""
    return np.flatnonzero(norm >= fraction * norm.max(initial=0.0))


def largest(norm: Float64s, number: float) -> Int64s:
    """Return this number of rows with the largest norms; ties are broken in favour of the first."""
    surplus = norm.shape[0] - int(number)
    if surplus <= 0:
        return np.arange(norm.shape[0])
    last = np.partition(norm, surplus)[surplus]
    is_chosen = norm >= last
    ties = np.flatnonzero(norm == last)
    is_chosen[ties[ties.shape[0] - (np.count_nonzero(is_chosen) - int(number)) :]] = False
    return np.flatnonzero(is_chosen)


# How features are chosen by their norms, by the setting of the limit.
CHOICES = {"select": largest, "threshold": above, "relative_threshold": at_least}


class Selector:
    """Selects features by their norms: sees each feature once, by ascending key.

    Keeps at most about twice as many features as can still be selected.

    `choose` is one of `CHOICES`, with its `limit`: a feature that it chooses from all features, it also
    chooses from any part that contains it. `keep` are names of features and of `reported_groups` that are
    selected regardless of their norms, and do not compete with the others.
    """

    def __init__(
        self, choose: Callable[[Float64s, float], Int64s], limit: float, keep: Sequence[str] = ()
    ) -> None:
        self._choose = choose
        self._limit = limit
        groups = reported_groups()
        self._groups = [groups.index(name) for name in keep if name in groups]
        self._names = feature_keys(string_table(name for name in keep if name not in groups))
        self._kept: list[FeatureNorms] = []
        self._chosen: list[FeatureNorms] = []
        self._size = self._size_before = 0

    def add(self, norms: FeatureNorms) -> None:
        """Consider more features, by their norms."""
        if self._groups or self._names.shape[0]:
            is_kept = np.isin(norms.key, self._names)
            is_kept |= np.isin(find_reported_groups(norms.key, norms.name), self._groups)
            self._kept.append(norms.take(np.flatnonzero(is_kept)))
            norms = norms.take(np.flatnonzero(~is_kept))
        self._chosen.append(norms.take(self._choose(norms.norm, self._limit)))
        self._size += self._chosen[-1].key.shape[0]
        if self._size > 2 * self._size_before:
            self._choose_again()

    def _choose_again(self) -> None:
        """Drop what was chosen only because the largest norms had not been seen."""
        norm = np.concatenate([part.norm for part in self._chosen])
        rows = self._choose(norm, self._limit)
        if rows.shape[0] < norm.shape[0]:
            self._chosen = [_join(self._chosen).take(rows)]
        self._size = self._size_before = rows.shape[0]

    def result(self) -> FeatureNorms:
        """Return the selected features, by ascending key."""
        self._choose_again()
        selected = _join([*self._kept, *self._chosen])
        return selected.take(np.argsort(selected.key)) if self._kept else selected


def feature_norms(entries: Entries, columns: WeightColumns, shards: int, norm: str) -> FeatureNorms:
    """Return the names, norms and means of columns."""
    names = StringTable(entries.name, entries.name_offset).take(columns.first)
    norms = column_norms(columns.offset, columns.value, NORMS[norm])
    sums = column_sums(columns.offset, columns.value)
    return FeatureNorms(columns.key, names, norms, sums / shards)


def _join(parts: Sequence[FeatureNorms]) -> FeatureNorms:
    return FeatureNorms(
        np.concatenate([part.key for part in parts]),
        concatenate([part.name for part in parts]),
        np.concatenate([part.norm for part in parts]),
        np.concatenate([part.mean for part in parts]),
    )


class MatrixWriter:
    """Writes the weights of all shards to an empty file, a range of columns at a time.

    `check` is called after each range, and raises an error if writing has failed.
    """

    def __init__(self, stream: h5py.File, check: Callable[[], None]) -> None:
        self._stream = stream
        self._check = check
        self._arrays = {name: GrowingArray(stream, name, array) for name, array in DATASETS.items()}
        for name in ("features/name_offset", "W/indptr"):
            self._arrays[name].append(np.zeros(1))

    def append(self, columns: WeightColumns, norms: FeatureNorms) -> None:
        """Add columns."""
        names = self._arrays["features/name"].size
        entries = self._arrays["W/data"].size
        for name, rows in (
            ("features/name_offset", norms.name.offset[1:] + names),
            ("W/indptr", columns.offset[1:] + entries),
            ("features/key", norms.key),
            ("features/name", norms.name.data),
            ("W/data", columns.value),
            ("W/indices", columns.shard),
            ("norm", norms.norm),
            ("v", norms.mean),
        ):
            self._arrays[name].append(rows)

        self._check()

    def finish(self, selected: FeatureNorms, attributes: Mapping[str, Any]) -> None:
        """Mark the selected features, and drop the means of all others."""
        stream = self._stream
        means = Digest()
        done = 0

        for begin in range(0, self._arrays["v"].size, MATRIX_BLOCK):
            key = stream["features/key"][begin : begin + MATRIX_BLOCK]
            end = int(np.searchsorted(selected.key, key[-1], side="right"))
            place = np.searchsorted(key, selected.key[done:end])
            chosen = np.zeros(key.shape[0], np.uint8)
            chosen[place] = 1
            mean = np.zeros(key.shape[0])
            mean[place] = selected.mean[done:end]

            self._arrays["selected"].append(chosen)
            stream["v"][begin : begin + MATRIX_BLOCK] = mean
            means.add(mean)
            done = end

        digests = {name: array.digest() for name, array in self._arrays.items()}
        write_header(stream, FORMAT, attributes, {**digests, "v": means.result(np.empty(0))})
