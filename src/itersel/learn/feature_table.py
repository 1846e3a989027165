"""The features of a shard, and the way from weights by name to vectors of the shard and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.learn.parameters import Memory, Parameters, WeightOverflowError
from itersel.storage.strings import concatenate, string_table
from itersel.vectors.common import common_features
from itersel.vectors.features import feature_keys, unique_features
from itersel.vectors.weights import Weights, find_weights, take_weights

if TYPE_CHECKING:
    from itersel.grammar.shard import Shard


class Start(NamedTuple):
    """Where training starts.

    Attributes
    ----------
    weights
        Weights of any features.
    memory
        What a learner has kept of these features from the epoch before (`itersel.learn.parameters.Memory`),
        rows as in `weights`; None: nothing.
    """

    weights: Weights
    memory: Memory | None = None


class FeatureTable:
    """The features of a shard, dense and sparse, and where they are among the weights of the start.

    Attributes
    ----------
    dense, sparse
        float64 (C) and (F): the weights of the start.
    memory
        That of the start, of the dense and of the sparse features.
    """

    def __init__(self, shard: Shard, dense_names: tuple[str, ...], start: Start) -> None:
        names = string_table(dense_names)
        keys = feature_keys(names)
        self._dense_order = np.argsort(keys)
        self._dense_key, self._dense_name = keys[self._dense_order], names.take(self._dense_order)
        self._sparse_key, self._sparse_name = shard.feature_key, shard.feature_name
        self._names, self._start = dense_names, start
        shared, _ = common_features(self._dense_key, self._dense_name, self._sparse_key, self._sparse_name)
        if shared.size:
            name = self._dense_name.get(int(shared[0]))
            raise InputError(f"'{name}' is a dense and a sparse feature; rename one")
        self.dense, self.sparse = self._find(start.weights.value)
        self.memory = None
        if start.memory is not None:
            parts = zip(*(self._find(part) for part in start.memory), strict=True)
            dense, sparse = (Memory(*part) for part in parts)
            self.memory = dense, sparse

    def _find(self, value: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values (rows as in the start's weights) of the dense and of the sparse features."""
        weights = self._start.weights._replace(value=value)
        dense = np.empty(self._dense_key.shape[0])
        dense[self._dense_order] = find_weights(weights, self._dense_key)
        return dense, find_weights(weights, self._sparse_key)

    def name(self, error: WeightOverflowError) -> str:
        """Return the name of a weight that has overflowed."""
        return self._names[error.row] if error.dense else self._sparse_name.get(error.row)

    def collect(self, parameters: Parameters, average: bool) -> tuple[Weights, Start | None]:
        """Return what is mixed, and where the shard would go on; None where that is the same.

        Weights of the start that no feature of the shard has are among both.
        """
        parameters.finish()
        before = self._start.weights.value
        old = self._start.memory or Memory(*np.zeros((2, before.shape[0])))
        # of features that the shard does not have
        idle, idle_mean, paid = parameters.idle(before, old.paid)
        last = self._join(parameters.dense, parameters.sparse, idle)
        mixed = self._join(*parameters.averages(), idle_mean) if average else last
        weights = take_weights(mixed, mixed.value != 0)
        if not parameters.remembers:
            return weights, Start(take_weights(last, last.value != 0)) if average else None
        parts = zip(*parameters.memory(), (old.squares, paid), strict=True)
        memory = Memory(*(self._join(*part).value for part in parts))
        rows = (last.value != 0) | (memory.squares != 0) | (memory.paid != 0)
        return weights, Start(take_weights(last, rows), Memory(*(part[rows] for part in memory)))

    def _join(
        self, dense: NDArray[np.float64], sparse: NDArray[np.float64], start: NDArray[np.float64]
    ) -> Weights:
        """Put values of the dense features, of the shard's and of all others of the start together."""
        weights = self._start.weights
        elsewhere = np.ones(weights.key.shape[0], bool)
        tables = (
            (self._dense_key, self._dense_name, dense[self._dense_order]),
            (self._sparse_key, self._sparse_name, sparse),
        )
        for key, name, _ in tables:
            elsewhere[common_features(key, name, weights.key, weights.name)[1]] = False
        rest = take_weights(weights._replace(value=start), elsewhere)
        parts = [*tables, (rest.key, rest.name, rest.value)]
        key = np.concatenate([part[0] for part in parts])
        value = np.concatenate([part[2] for part in parts])[np.argsort(key)]
        key, name = unique_features(key, concatenate([part[1] for part in parts]))
        return Weights(key, value, name)
