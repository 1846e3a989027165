"""The input of tuners. On held-out text, sparse features are summed into one, so few weights are tuned.

The column of this sum is the score of a translation's sparse features under given weights; its weight is a
factor for all sparse weights. Flanigan, Dyer & Carbonell (2013) search along directions of such columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itersel.config.tuners import ALL_DENSE, STEP
from itersel.errors import InputError
from itersel.lists.files import ListFile
from itersel.lists.table import ListTable, SparseRows, no_sparse_rows, rounded
from itersel.storage.arrays import Float64s
from itersel.tune.generate import SUM
from itersel.tune.mert import axis
from itersel.vectors.features import common_features, refuse_shared
from itersel.vectors.weights import (
    Weights,
    find_named,
    find_weights,
    make_weights,
    nonzero,
    take_weights,
    weighted_sum,
)

# Column of the sum with the weights of the previous epoch; see `SUM`.
LAST_SUM = "sparse features before"


class Tuned(NamedTuple):
    """Result of a tuner."""

    weights: Weights  # all that are not zero
    # of the best translations in the lists under these weights: corpus BLEU or mean quality, 0 to 100
    score: float
    sentences: int
    translations: int  # distinct ones; 0 for forests


class ForestFiles(NamedTuple):
    """Forests of all shards and iterations, as returned by `itersel.lists.joining.find_files`."""

    files: Sequence[ListFile]

    @property
    def dense_names(self) -> tuple[str, ...]:
        """Names of the dense features, which are the same in all files."""
        return self.files[0].dense_names


class Task(NamedTuple):
    """The input of every tuner.

    The C columns are the dense features and, on held-out text, one or two sums of the sparse features.
    Otherwise, the F sparse features of the lists are tuned one by one.
    """

    lists: ListTable | ForestFiles
    before: Weights  # weights that the newest lists were decoded with, or to start from
    # On held-out text, the weights by which sparse features are summed: `before` and, for the line search
    # between the two, the mixed weights of the previous epoch.
    sums: tuple[Weights, ...] = ()
    seed: tuple[int, ...] = ()

    @property
    def features(self) -> list[str]:
        """Names of the dense features, the first columns."""
        return [name for name in self.lists.dense_names if name not in (SUM, LAST_SUM)]

    @property
    def start(self) -> Float64s:
        """Start weights of the columns, float64 (C): 1 for the sum of the current sparse features."""
        value = find_named(self.before, self.features)
        return np.append(value, (1.0, 0.0)[: len(self.sums)])

    @property
    def table(self) -> ListTable:
        """The lists; the task must have some."""
        assert isinstance(self.lists, ListTable)
        return self.lists

    @property
    def forests(self) -> Sequence[ListFile]:
        """The files of forests; the task must have some."""
        assert isinstance(self.lists, ForestFiles)
        return self.lists.files

    def start_with(self, sparse: SparseRows) -> Float64s:
        """Return the start weights of columns and sparse features, float64 (C + F)."""
        return np.append(self.start, find_weights(self.before, sparse.key))

    def directions(self, wanted: Sequence[str], scale: Float64s) -> list[Float64s]:
        """Return the directions of a line search, float64 (C), without those in which nothing varies.

        `wanted` are dense features, ``dense`` for all of them, or ``step`` for the step from the weights of
        the previous epoch to `before`, which is ignored if these weights are not given. `scale`, float64 (C),
        is how much each column varies.
        """
        features = self.features
        directions: list[Float64s] = []
        for name in wanted:
            if name == STEP:
                for last in self.sums[1:]:
                    step = self.start[: len(features)] - find_named(last, features)
                    # add all current sparse weights, and subtract those of the previous epoch
                    directions.append(np.append(step, (1.0, -1.0)))
            elif name == ALL_DENSE:
                directions += [axis(scale, column) for column in range(len(features))]
            elif name in features:
                directions.append(axis(scale, features.index(name)))
            else:
                raise InputError(
                    f"cannot search along '{name}', not a dense feature; choose from {', '.join(features)}"
                )

        return [direction for direction in directions if direction.any()]

    def weights(self, value: Float64s, sparse: SparseRows | None = None, rest: float = 0.0) -> Weights:
        """Return the weights of individual features, without zeros.

        `value`, float64 (C + F), are the weights of the columns and of the sparse features, whose names are
        in `sparse`; `rest` is the factor of the weights of all other features. If sparse features are summed,
        the weights of the sums are the factors instead.
        """
        columns, factors, others = len(self.features), [rest], [self.before]
        if self.sums:
            factors, others = value[columns : columns + len(self.sums)].tolist(), list(self.sums)
        own = [make_weights(dict(zip(self.features, value[:columns].tolist(), strict=True)))]
        if sparse is not None:
            refuse_shared(own[0].key, own[0].name, sparse.key, sparse.name)
            own.append(Weights(sparse.key, value[value.shape[0] - sparse.key.shape[0] :], sparse.name))
        for part in own:
            others = [elsewhere(one, part) for one in others]
        return nonzero(weighted_sum([*own, *others], [1.0] * len(own) + factors))

    def tuned(self, weights: Weights, best: float) -> Tuned:
        """Return the result of tuning on lists; `best` is `ListTable.best` under the weights."""
        table = self.table
        return Tuned(weights, 100 * best, table.sentence_count, table.translation_count)


def with_sums(table: ListTable, sums: Sequence[Weights]) -> ListTable:
    """Return lists in which sparse features are summed with each of the weights; each sum is a column."""
    if not sums:
        return table
    columns = [table.sparse.scores(weights) for weights in sums]
    return table._replace(
        dense=np.column_stack((table.dense, rounded(np.column_stack(columns)))),
        dense_names=(*table.dense_names, *(SUM, LAST_SUM)[: len(sums)]),
        sparse=no_sparse_rows(table.translation_count),
    )


def elsewhere(weights: Weights, known: Weights) -> Weights:
    """Return the weights of all features that `known` does not have."""
    is_elsewhere = np.ones(weights.key.shape[0], bool)
    is_elsewhere[common_features(known.key, known.name, weights.key, weights.name)[1]] = False
    return take_weights(weights, is_elsewhere)
