"""Joint feature selection: which columns of the shard weights to keep [S12, section 3]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.select.merge_kernels import L0, L1, L2, LINF, Columns, Entries, column_norms, column_sums
from itersel.storage.strings import StringTable, concatenate, string_table
from itersel.vectors.features import GROUPS, feature_keys, find_groups
from itersel.vectors.weights import Weights

NORMS = {"l0": L0, "l1": L1, "l2": L2, "linf": LINF}


class Features(NamedTuple):
    """Columns of the matrix, by ascending key, without their entries.

    Attributes
    ----------
    key, name
        uint64 (m), and the names.
    norm, mean
        float64 (m): over all shards, including those without the feature.
    """

    key: NDArray[np.uint64]
    name: StringTable
    norm: NDArray[np.float64]
    mean: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64]) -> Features:
        """Return the features at `rows`."""
        return Features(self.key[rows], self.name.take(rows), self.norm[rows], self.mean[rows])


def above(norm: NDArray[np.float64], threshold: float) -> NDArray[np.int64]:
    """Return the rows with a norm above a threshold."""
    return np.flatnonzero(norm > threshold)


def at_least(norm: NDArray[np.float64], fraction: float) -> NDArray[np.int64]:
    """Return the rows with at least this fraction, at most 1, of the largest norm."""
    return np.flatnonzero(norm >= fraction * norm.max(initial=0.0))


def largest(norm: NDArray[np.float64], number: float) -> NDArray[np.int64]:
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


class Selection:
    """Selects features by their norms: sees each feature once, by ascending key.

    Keeps not many more than twice the features that can be selected, given all features so far.

    Parameters
    ----------
    choose, limit
        One of `CHOICES`, and its limit. The features that it chooses from all are among those that it chooses
        from any part.
    keep
        Names of features and of `GROUPS` that are selected regardless of their norms, and do not compete with
        the others.
    """

    def __init__(
        self,
        choose: Callable[[NDArray[np.float64], float], NDArray[np.int64]],
        limit: float,
        keep: Sequence[str] = (),
    ) -> None:
        self._choose, self._limit = choose, limit
        self._groups = [GROUPS.index(name) for name in keep if name in GROUPS]
        self._names = feature_keys(string_table(name for name in keep if name not in GROUPS))
        self._kept: list[Features] = []
        self._chosen: list[Features] = []
        self._size = self._size_before = 0

    def add(self, features: Features) -> None:
        """Consider more features."""
        if self._groups or self._names.shape[0]:
            is_kept = np.isin(features.key, self._names)
            is_kept |= np.isin(find_groups(features.key, features.name), self._groups)
            self._kept.append(features.take(np.flatnonzero(is_kept)))
            features = features.take(np.flatnonzero(~is_kept))
        self._chosen.append(features.take(self._choose(features.norm, self._limit)))
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

    def result(self) -> Features:
        """Return the selected features, by ascending key."""
        self._choose_again()
        selected = _join([*self._kept, *self._chosen])
        return selected.take(np.argsort(selected.key)) if self._kept else selected


def summarise(entries: Entries, columns: Columns, shards: int, norm: str) -> Features:
    """Return the names, norms and means of columns."""
    names = StringTable(entries.name, entries.name_offset).take(columns.first)
    norms = column_norms(columns.offset, columns.value, NORMS[norm])
    return Features(columns.key, names, norms, column_sums(columns.offset, columns.value) / shards)


def nonzero_means(features: Features) -> Weights:
    """Return the features with non-zero means as weights."""
    rows = np.flatnonzero(features.mean)
    return Weights(features.key[rows], features.mean[rows], features.name.take(rows))


def _join(parts: Sequence[Features]) -> Features:
    return Features(
        np.concatenate([part.key for part in parts]),
        concatenate([part.name for part in parts]),
        np.concatenate([part.norm for part in parts]),
        np.concatenate([part.mean for part in parts]),
    )
