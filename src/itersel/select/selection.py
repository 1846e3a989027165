"""Joint feature selection: which columns of the shard weights to keep [S12, section 3]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
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


class Selection(ABC):
    """Selects features by their norms: sees each feature once, by ascending key."""

    def __init__(self) -> None:
        self._kept: list[Features] = []

    def add(self, features: Features) -> None:
        """Consider more features."""
        self._kept.append(self._selected(features))

    def result(self) -> Features:
        """Return the selected features, by ascending key."""
        return _join(self._kept)

    @abstractmethod
    def _selected(self, features: Features) -> Features:
        """Return those that can be selected, given all features so far."""


class AboveThreshold(Selection):
    """Select features whose norm is above a threshold; minus infinity selects all."""

    def __init__(self, threshold: float) -> None:
        super().__init__()
        self._threshold = threshold

    def _selected(self, features: Features) -> Features:
        return features.take(np.flatnonzero(features.norm > self._threshold))


class AtLeastFraction(Selection):
    """Select features whose norm is at least this fraction of the largest norm; 0 selects all."""

    def __init__(self, fraction: float) -> None:
        super().__init__()
        self._fraction, self._largest = fraction, 0.0

    def add(self, features: Features) -> None:
        """Consider more features."""
        largest = max(self._largest, features.norm.max(initial=0.0))
        if largest > self._largest:
            self._largest = largest
            self._kept = [self._selected(part) for part in self._kept]
        super().add(features)

    def _selected(self, features: Features) -> Features:
        return features.take(np.flatnonzero(features.norm >= self._fraction * self._largest))


class Largest(Selection):
    """Select the K features with the largest norms; ties are broken by ascending key.

    Keeps no more than about 2 K features at a time.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self._size = 0
        # Norm of the worst selected feature. All later features have larger keys.
        self._last_norm = -np.inf

    def add(self, features: Features) -> None:
        """Consider more features."""
        super().add(features)
        self._size += self._kept[-1].key.shape[0]
        if self._size > 2 * self._number:
            self._prune()

    def _selected(self, features: Features) -> Features:
        rows = np.flatnonzero(features.norm > self._last_norm)
        if rows.shape[0] > self._number:
            norm = features.norm[rows]
            rows = rows[norm >= np.partition(norm, -self._number)[-self._number]]
        return features.take(rows)

    def _prune(self) -> None:
        features = _join(self._kept)
        if features.key.shape[0] >= self._number:
            best = np.argsort(-features.norm, kind="stable")[: self._number]
            self._last_norm = features.norm[best[-1]]
            features = features.take(np.sort(best))
        self._kept, self._size = [features], features.key.shape[0]

    def result(self) -> Features:
        """Return the selected features, by ascending key."""
        self._prune()
        return self._kept[0]


class KeepAlways(Selection):
    """Select some features by name or group; another selection chooses among the others.

    Parameters
    ----------
    kept
        Names of features and of `GROUPS`.
    others
        Sees only the other features, so the kept ones do not compete with them.
    """

    def __init__(self, kept: Sequence[str], others: Selection) -> None:
        super().__init__()
        self._groups = [GROUPS.index(name) for name in kept if name in GROUPS]
        self._names = feature_keys(string_table(name for name in kept if name not in GROUPS))
        self._others = others

    def _selected(self, features: Features) -> Features:
        is_kept = np.isin(features.key, self._names)
        is_kept |= np.isin(find_groups(features.key, features.name), self._groups)
        self._others.add(features.take(np.flatnonzero(~is_kept)))
        return features.take(np.flatnonzero(is_kept))

    def result(self) -> Features:
        """Return the selected features, by ascending key."""
        selected = _join([*self._kept, self._others.result()])
        return selected.take(np.argsort(selected.key))


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
