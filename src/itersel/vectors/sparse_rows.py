"""Sparse features as rows: for each translation, its features in ascending order, and their values.

Sparse features have other forms only where these rows would not do:

- text, `name=value`, which becomes a dict for each line or rule (`itersel.lists.lines.ParsedLine`,
  `itersel.grammar.build.Rule`)
- while lists are read, the values of dense and sparse features in the order of the files
  (`itersel.lists.reading`)
- the same rows for rules, with float32 values, and with names that are written on demand
  (`itersel.grammar.sparse.SparseFeatures`)
- rows that stay in files until they are needed (`itersel.lists.joining.SparseFiles`)
- a scipy matrix of differences between translations, for L-BFGS (`itersel.tune.ranking.pair_matrix`)
- hashes, which tell whether translations are equal (`itersel.lists.table.hash_rows`)

Kernels and learners get the arrays `feature`, `value` and `offset`. Weights of features are
`itersel.vectors.weights.Weights`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.storage.arrays import Bools, Float64s, Int32s, Int64s, UInt64s
from itersel.storage.ragged import rows_of, sum_rows, take_rows
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.feature_names import text_prefix
from itersel.vectors.features import keep_features, names_with, unique_features
from itersel.vectors.weights import Weights, find_weights


class SparseRows(NamedTuple):
    """Sparse features of translations, ascending within each, if `sparse_rows` has made them.

    As they are in a file, features and keys may be in any order. Shapes: H translations, F features.
    """

    # int32, float64, int64 (H + 1)
    feature: Int32s
    value: Float64s
    offset: Int64s
    # features: keys, uint64 (F), and their names, if they are known
    key: UInt64s
    name: StringTable

    @property
    def is_empty(self) -> bool:
        """Whether no translation has a sparse feature."""
        return not self.feature.shape[0]

    def take(self, rows: Int64s) -> SparseRows:
        """Return the features of some translations, in any order."""
        feature, offset = take_rows(self.feature, self.offset, rows)
        return SparseRows(feature, take_rows(self.value, self.offset, rows)[0], offset, self.key, self.name)

    def only(self, kept: Bools) -> SparseRows:
        """Return only some features, given whether each (F) is kept."""
        rows = np.flatnonzero(kept)
        arrays = keep_features(self.feature, self.value, self.offset, kept)
        return SparseRows(*arrays, self.key[rows], self.name.take(rows))

    def without(self, templates: Collection[str]) -> SparseRows:
        """Return all features but those of some templates of text."""
        if not templates:
            return self
        kept = np.ones(self.key.shape[0], np.bool_)
        for template in templates:
            kept[names_with(text_prefix(template), self.name)] = False
        return self.only(kept)

    def scores(self, weights: Weights) -> Float64s:
        """Return the scores of all translations, float64 (H); features without a weight count 0."""
        return self.scores_of(find_weights(weights, self.key))

    def scores_of(self, weight: Float64s) -> Float64s:
        """Return the scores of all translations, float64 (H), given the weight of each feature (F)."""
        return sum_rows(weight[self.feature] * self.value, self.offset)


def sparse_rows(
    feature: NDArray[np.integer], value: Float64s, offset: Int64s, key: UInt64s, name: StringTable
) -> SparseRows:
    """Return sparse features whose rows and keys are in any order; see `unique_features` for errors."""
    ascending, names = unique_features(key, name)
    number = np.searchsorted(ascending, key).astype(np.int32)[feature]
    if not rises_within_rows(number, offset):
        row = rows_of(offset)
        order = np.lexsort((number, row))
        number, value = number[order], value[order]
    return SparseRows(number, value, offset, ascending, names)


def rises_within_rows(feature: NDArray[np.integer], offset: Int64s) -> bool:
    """Return whether the features of each translation are strictly ascending."""
    is_rising = np.diff(feature) > 0
    begins = offset[1:-1]
    is_rising[begins[(begins > 0) & (begins < feature.shape[0])] - 1] = True
    return bool(is_rising.all())


def no_sparse_rows(translations: int) -> SparseRows:
    """Return rows without features."""
    none, offset = np.zeros(0, np.int32), np.zeros(translations + 1, np.int64)
    return SparseRows(none, np.zeros(0), offset, np.zeros(0, np.uint64), string_table(()))
