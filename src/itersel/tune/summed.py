"""Sparse features summed to one dense feature, so that few weights are tuned on held-out text.

Besides its dense features, a translation has the score of its sparse features under given weights. The weight
of this column is a factor for all sparse weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.storage.strings import StringTable, concatenate, string_table
from itersel.tune.accumulate import ListFile, Pool, SparseRows, sparse_scores
from itersel.tune.generate import DIGITS
from itersel.vectors.common import common_features
from itersel.vectors.features import feature_keys, unique_features
from itersel.vectors.weights import Weights, find_weights

# Columns of the sparse features: with the weights that the lists were decoded with, and with those of the
# previous epoch. The names contain spaces, so they cannot be names of dense features.
SUM, LAST_SUM = "sparse features", "sparse features before"


def sum_sparse(files: Sequence[ListFile], pool: Pool, weights: Sequence[Weights]) -> Pool:
    """Return the lists with an additional dense column for each weight vector: the score of sparse features.

    Parameters
    ----------
    files
        As returned by `find_files`.
    pool
        Their merged lists.
    weights
        One or two weight vectors: of the lists, and of the previous epoch.
    """
    names = (SUM, LAST_SUM)[: len(weights)]
    scores = [np.round(sparse_scores(files, pool.origin, one), DIGITS) for one in weights]
    return pool._replace(
        dense=np.column_stack((pool.dense, *scores)), dense_names=(*pool.dense_names, *names)
    )


def no_sparse(rows: int) -> SparseRows:
    """Return `SparseRows` for translations without sparse features."""
    none = np.zeros(0, np.uint64)
    return SparseRows(
        np.zeros(0, np.int32), np.zeros(0), np.zeros(rows + 1, np.int64), none, string_table([])
    )


def start_values(names: Sequence[str], before: Weights) -> NDArray[np.float64]:
    """Return the start weights of all columns, float64 (C): 1 for the sum of the current sparse features."""
    value = find_weights(before, feature_keys(string_table(names)))
    for name, factor in ((SUM, 1.0), (LAST_SUM, 0.0)):
        if name in names:
            value[list(names).index(name)] = factor
    return value


def spread(names: Sequence[str], value: NDArray[np.float64], weights: Sequence[Weights]) -> Weights:
    """Return the weights of individual features from the weights of the columns of `sum_sparse`.

    Parameters
    ----------
    names, value
        Names and weights of the columns, float64 (C + 1 or 2).
    weights
        As for `sum_sparse`; empty if all columns are features.
    """
    columns = len(names) - len(weights)
    table = string_table(names[:columns])
    sparse = [elsewhere(one, [(feature_keys(table), table)]) for one in weights]
    key, name = unique_features(
        np.concatenate([np.zeros(0, np.uint64), *(one.key for one in sparse)]),
        concatenate([string_table([]), *(one.name for one in sparse)]),
    )
    total = np.zeros(key.shape[0])
    for one, factor in zip(sparse, value[columns:], strict=True):
        total += factor * find_weights(one, key)
    return join_weights([(feature_keys(table), table, value[:columns]), (key, name, total)])


def join_weights(
    parts: Sequence[tuple[NDArray[np.uint64], StringTable, NDArray[np.float64]]],
) -> Weights:
    """Combine features, names and weights, and drop zero weights; no feature may be in two parts."""
    key = np.concatenate([part[0] for part in parts])
    value = np.concatenate([part[2] for part in parts])
    name = concatenate([part[1] for part in parts])
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    key, name = unique_features(key, name)
    if twice.size:
        raise InputError(f"'{name.get(int(twice[0]))}' is both a dense and a sparse feature; rename one")
    kept = np.flatnonzero(value[order] != 0)
    return Weights(key[kept], value[order][kept], name.take(kept))


def elsewhere(weights: Weights, parts: Sequence[tuple[NDArray[np.uint64], StringTable]]) -> Weights:
    """Return the weights of features that are in none of the parts."""
    is_elsewhere = np.ones(weights.key.shape[0], bool)
    for key, name in parts:
        order = np.argsort(key, kind="stable")
        is_elsewhere[common_features(key[order], name.take(order), weights.key, weights.name)[1]] = False
    rows = np.flatnonzero(is_elsewhere)
    return Weights(weights.key[rows], weights.value[rows], weights.name.take(rows))
