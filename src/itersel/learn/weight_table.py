"""All weights in training by name, and their conversion to and from the vectors of a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.config.learners import Learner
from itersel.errors import InputError
from itersel.learn.parameter_kernels import Coordinates, settle_all
from itersel.learn.parameters import (
    Memory,
    Parameters,
    Steps,
    WeightOverflowError,
    make_coordinates,
)
from itersel.storage.strings import Strings, concatenate, string_table
from itersel.vectors.features import common_features, feature_keys, unique_features
from itersel.vectors.weights import Weights, take_weights

if TYPE_CHECKING:
    from itersel.grammar.shard import Shard


class Start(NamedTuple):
    """Where training starts.

    Attributes
    ----------
    weights
        Weights of any features.
    memory
        The learner's state for these features from the previous epoch (`itersel.learn.parameters.Memory`),
        with rows as in `weights`; None if there is none.
    steps
        Number of steps taken so far, if known.
    """

    weights: Weights
    memory: Memory | None = None
    steps: int | None = None


class _Features(NamedTuple):
    """Dense or sparse features of a shard, and their weights.

    Attributes
    ----------
    key, name
        Ascending keys, and the names.
    order
        Row of each feature in `weights`.
    known, row
        Features that the table already had: their positions in `key`, and their rows in the table.
    weights
        Weights in the order of the shard.
    """

    key: NDArray[np.uint64]
    name: Strings
    order: NDArray[np.int64]
    known: NDArray[np.int64]
    row: NDArray[np.int64]
    weights: Coordinates


class ShardWeights:
    """The weights of a shard's features while it is in training.

    Attributes
    ----------
    parameters
        The weights as vectors of the shard.
    dense, sparse
        The features, for `WeightTable.close`.
    """

    def __init__(
        self, dense_names: tuple[str, ...], dense: _Features, sparse: _Features, steps: Steps
    ) -> None:
        self._dense_names, self.dense, self.sparse = dense_names, dense, sparse
        self.parameters = Parameters(dense.weights, sparse.weights, steps)

    def name(self, error: WeightOverflowError) -> str:
        """Return the name of a weight that has overflowed."""
        return self._dense_names[error.row] if error.dense else self.sparse.name.get(error.row)


class WeightTable:
    """All weights: those of the start, and those of features that the shards so far have updated.

    Shards are trained one after another. A weight's history carries over from one to the next, so the result
    is the same as for one shard with all sentences.

    Parameters
    ----------
    start
        Where training starts.
    settings, before
        See `itersel.learn.parameters.Steps`.
    """

    def __init__(self, start: Start, settings: Learner, before: int) -> None:
        weights, memory, _ = start
        self._steps = Steps(settings, before, goes_on=memory is not None)
        self._key, self._name = weights.key, weights.name
        self._weights = make_coordinates(weights.value, self._steps.first, memory)

    def open(self, shard: Shard, dense_names: tuple[str, ...]) -> ShardWeights:
        """Return the weights of a shard.

        Raises
        ------
        InputError
            If a dense and a sparse feature have the same name, or two features have the same key.
        """
        names = string_table(dense_names)
        keys = feature_keys(names)
        order = np.argsort(keys)
        key, name = keys[order], names.take(order)
        shared, _ = common_features(key, name, shard.feature_key, shard.feature_name)
        if shared.size:
            raise InputError(f"'{name.get(int(shared[0]))}' is both a dense and a sparse feature; rename one")
        dense = self._find(key, name, order)
        sparse = self._find(shard.feature_key, shard.feature_name, np.arange(shard.feature_key.shape[0]))
        return ShardWeights(dense_names, dense, sparse, self._steps)

    def _find(self, key: NDArray[np.uint64], name: Strings, order: NDArray[np.int64]) -> _Features:
        known, row = common_features(key, name, self._key, self._name)
        weights = make_coordinates(np.zeros(key.shape[0]), self._steps.now)
        for ours, own in zip(weights, self._weights, strict=True):
            ours[order[known]] = own[row]
        return _Features(key, name, order, known, row, weights)

    def close(self, shard: ShardWeights) -> None:
        """Copy the weights of a shard back to the table, including new features if they have been updated."""
        keys, names, tables = [self._key], [self._name], [self._weights]
        for one in (shard.dense, shard.sparse):
            for own, theirs in zip(self._weights, one.weights, strict=True):
                own[one.row] = theirs[one.order[one.known]]
            is_new = _moved(one.weights)[one.order]
            is_new[one.known] = False
            rows = np.flatnonzero(is_new)
            keys.append(one.key[rows])
            names.append(one.name.take(rows))
            tables.append(_take(one.weights, one.order[rows]))
        key = np.concatenate(keys)
        arrays: Any = map(np.concatenate, zip(*tables, strict=True))
        self._weights = _take(Coordinates(*arrays), np.argsort(key))
        self._key, self._name = unique_features(key, concatenate(names))

    def collect(self, average: bool) -> tuple[Weights, Start | None]:
        """Return the weights to mix, and the state to continue from; None if they are the same."""
        steps, found = self._steps, self._weights
        settle_all(steps.rule, found, steps.now)
        last = Weights(self._key, found.value, self._name)
        mixed = last
        if average and steps.taken:
            mixed = last._replace(value=found.area / steps.taken)
        weights = take_weights(mixed, mixed.value != 0)
        if not steps.remembers:
            return weights, Start(take_weights(last, last.value != 0)) if average else None
        rows = (found.value != 0) | (found.squares != 0) | (found.paid != 0)
        return weights, Start(take_weights(last, rows), Memory(found.squares[rows], found.paid[rows]))


def _take(weights: Coordinates, rows: NDArray[np.int64]) -> Coordinates:
    arrays: Any = (array[rows] for array in weights)
    return Coordinates(*arrays)


def _moved(weights: Coordinates) -> NDArray[np.bool_]:
    """Return which weights differ from the initial ones that `make_coordinates` returns for new features."""
    is_moved: NDArray[np.bool_] = weights.anchor != 0
    for array in (weights.total, weights.paid, weights.squares, weights.area):
        is_moved |= array != 0
    return is_moved
