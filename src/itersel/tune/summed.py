"""Sparse features summed to one dense feature, so that few weights are tuned on held-out text.

Besides its dense features, a translation has the score of its sparse features under given weights. The weight
of this column is a factor for all sparse weights.

Exact line searches along given directions of these columns are those of Flanigan, Dyer & Carbonell (2013).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itersel.config.tuners import ALL_DENSE, STEP
from itersel.errors import InputError
from itersel.storage.strings import StringTable, concatenate, string_table
from itersel.tune.accumulate import ListFile, Pool, sparse_scores
from itersel.tune.generate import DIGITS, SUM
from itersel.tune.mert import axis
from itersel.vectors.features import common_features, feature_keys, unique_features
from itersel.vectors.weights import Weights, find_weights, take_weights

# Column of the sparse features with the weights of the previous epoch, beside `SUM` with those that the lists
# were decoded with.
LAST_SUM = "sparse features before"
# Keys, names and weights of features.
Part = tuple[NDArray[np.uint64], StringTable, NDArray[np.float64]]


def sum_sparse(files: Sequence[ListFile], pool: Pool, weights: Sequence[Weights]) -> Pool:
    """Return the lists with an additional dense column for each weight vector: the score of sparse features.

    Parameters
    ----------
    files
        As returned by `find_files`.
    pool
        Their merged lists.
    weights
        At most two weight vectors: of the lists (`SUM`), and of the previous epoch (`LAST_SUM`).
    """
    for one in weights:
        score = np.round(sparse_scores(files, pool.origin, one), DIGITS)
        pool = pool._replace(dense=np.column_stack((pool.dense, score)))
    return pool


def start_values(names: Sequence[str], before: Weights) -> NDArray[np.float64]:
    """Return the start weights of all columns, float64 (C): 1 for the sum of the current sparse features."""
    value = find_weights(before, feature_keys(string_table(names)))
    for name, factor in ((SUM, 1.0), (LAST_SUM, 0.0)):
        if name in names:
            value[list(names).index(name)] = factor
    return value


def named_directions(
    wanted: Sequence[str],
    names: Sequence[str],
    scale: NDArray[np.float64],
    start: NDArray[np.float64],
    last: Weights | None,
) -> list[NDArray[np.float64]]:
    """Return directions, float64 (C), by name.

    Parameters
    ----------
    wanted
        Dense features, ``dense`` for all of them, or ``step`` for `start` - `last`.
    names
        Names of the C columns.
    scale, start
        float64 (C): how much each column varies, and the start weights.
    last
        Weights of the previous epoch; ``step`` is ignored without them.

    Raises
    ------
    InputError
        If a feature does not exist.
    """
    features = [name for name in names if name not in (SUM, LAST_SUM)]
    directions = []
    for name in wanted:
        if name == STEP:
            directions += [] if last is None else [_step(names, start, last)]
        elif name == ALL_DENSE:
            directions += [axis(scale, names.index(feature)) for feature in features]
        elif name in features:
            directions.append(axis(scale, names.index(name)))
        else:
            raise InputError(
                f"cannot search along '{name}', not a dense feature; choose from {', '.join(features)}"
            )
    return [direction for direction in directions if direction.any()]


def _step(names: Sequence[str], start: NDArray[np.float64], last: Weights) -> NDArray[np.float64]:
    """Return the step from the previous epoch's weights (at -1) to the current ones (at 0)."""
    direction = start - find_weights(last, feature_keys(string_table(names)))
    if SUM in names:
        # add all current sparse weights, and subtract those of the previous epoch
        direction[list(names).index(SUM)], direction[list(names).index(LAST_SUM)] = 1.0, -1.0
    return direction


def spread(
    names: Sequence[str],
    value: NDArray[np.float64],
    others: Sequence[Weights],
    rest: float = 0.0,
    sparse: Sequence[Part] = (),
) -> Weights:
    """Return the weights of individual features from the weights of columns, without zeros.

    Parameters
    ----------
    names, value
        Names and weights of the columns, float64 (C).
    others
        Weights of features that are neither columns nor in `sparse`, which are multiplied by the weights of
        the columns `SUM` and `LAST_SUM`.
    rest
        Their factor if there is no column `SUM`.
    sparse
        The tuned weights of sparse features.

    Raises
    ------
    InputError
        If a feature is both a column and in `sparse`.
    """
    features = [name for name in names if name not in (SUM, LAST_SUM)]
    table, columns = string_table(features), len(features)
    parts: list[Part] = [(feature_keys(table), table, value[:columns]), *sparse]
    apart = list(others)
    for part in parts:
        apart = [elsewhere(one, *part[:2]) for one in apart]
    key, name = unique_features(
        np.concatenate([one.key for one in apart]), concatenate([one.name for one in apart])
    )
    total = np.zeros(key.shape[0])
    for one, factor in zip(apart, (*value[columns:], rest), strict=False):
        total += factor * find_weights(one, key)
    return _join([*parts, (key, name, total)])


def _join(parts: Sequence[Part]) -> Weights:
    """Combine features, names and weights, and drop zero weights."""
    key = np.concatenate([part[0] for part in parts])
    value = np.concatenate([part[2] for part in parts])
    name = concatenate([part[1] for part in parts])
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    key, name = unique_features(key, name)
    if twice.size:
        raise InputError(f"'{name.get(int(twice[0]))}' is both a dense and a sparse feature; rename one")
    return take_weights(Weights(key, value[order], name), value[order] != 0)


def elsewhere(weights: Weights, key: NDArray[np.uint64], name: StringTable) -> Weights:
    """Return the weights of other features than these."""
    is_elsewhere = np.ones(weights.key.shape[0], bool)
    order = np.argsort(key, kind="stable")
    is_elsewhere[common_features(key[order], name.take(order), weights.key, weights.name)[1]] = False
    return take_weights(weights, is_elsewhere)
