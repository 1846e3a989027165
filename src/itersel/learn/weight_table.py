"""The weights in training: by name, and as vectors of a part of a shard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.config.learners import Online
from itersel.config.numbered import L1_CUMULATIVE, NONE, REGULARIZATIONS
from itersel.decode.opening import Sentences
from itersel.decode.translations import WeightVectors
from itersel.learn.parameter_kernels import Coordinates, UpdateRule, refresh, settle_all, update
from itersel.learn.schedules import SCHEDULES
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt64s
from itersel.storage.strings import Strings, concatenate, string_table
from itersel.vectors.features import common_features, feature_keys, refuse_shared, unique_features
from itersel.vectors.shard_weights import Memory, ShardState
from itersel.vectors.weights import Weights, nonzero, take_weights

if TYPE_CHECKING:
    from itersel.learn.example import Example


class LearningSteps:
    """The steps of a learner in an epoch of `sentence_count` steps; `now` is the number of steps taken.

    Schedules continue after the `steps_before` steps of earlier epochs, and cumulative l1 continues from
    `owed_before`, the total penalty of earlier epochs.
    """

    def __init__(self, learner: Online, sentence_count: int, steps_before: int, owed_before: float) -> None:
        self.update_rule = UpdateRule(
            regularization=REGULARIZATIONS[learner.regularization],
            strength=learner.strength_per_epoch / max(1, sentence_count),
            owed_before=owed_before,
            base_rate=learner.learning_rate,
            adaptive=learner.adaptive,
        )
        self._schedule = SCHEDULES[learner.schedule]
        self._steps_before = steps_before
        self.now = 0

    def schedule_factor(self, step: int) -> float:
        """Return the factor of the learning rate in a step of this epoch."""
        return self._schedule(self._steps_before + step)


class PartFeatures(NamedTuple):
    """The F dense or sparse features of a part, and their weights.

    Keys are ascending, because the table is searched for them; weights are in the order of the part.
    """

    key: UInt64s  # (F), ascending
    name: Strings  # in the order of `key`
    row: Int64s  # (F): of each key, the row of its feature in `weights`
    known: Int64s  # positions in `key` of the features that the table already had
    table_row: Int64s  # their rows in the table
    weights: Coordinates  # of size F

    def name_of(self, row: int) -> str:
        """Return the name of the feature with this row in `weights`."""
        return self.name.get(int(np.flatnonzero(self.row == row)[0]))


class PartWeights:
    """The weights of a part's C dense and F sparse features while it is in training."""

    def __init__(self, dense: PartFeatures, sparse: PartFeatures, steps: LearningSteps) -> None:
        self.dense = dense
        self.sparse = sparse
        self._steps = steps

    @property
    def vectors(self) -> WeightVectors:
        """The weights to decode with; only sparse ones last refreshed or updated are up to date."""
        return WeightVectors(self.dense.weights.value, self.sparse.weights.value)

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self._steps.update_rule.base_rate * self._steps.schedule_factor(self._steps.now + 1)

    def refresh(self, row: Int32s, feature: Int32s, offset: Int64s) -> None:
        """Bring the weights of features of some rows up to date; see `parameter_kernels.refresh`."""
        steps = self._steps
        if steps.update_rule.regularization != NONE:
            refresh(steps.update_rule, self.sparse.weights, row, feature, offset, steps.now)
            settle_all(steps.update_rule, self.dense.weights, steps.now)

    def update(self, example: Example, coefficient: Float64s | None) -> str | None:
        """Take a step along the sum of coefficient * features, or one that only regularises (None).

        Returns the name of a feature whose weight became too large or NaN, None if there is none.
        """
        steps = self._steps
        steps.now += 1
        if coefficient is None:
            return None

        factor = steps.schedule_factor(steps.now)
        dense, sparse = example.combine(coefficient)
        for part_features, index, gradient in (
            (self.dense, np.arange(dense.shape[0]), dense),
            (self.sparse, example.columns.feature.astype(np.int64), sparse),
        ):
            bad = update(steps.update_rule, part_features.weights, index, gradient, steps.now, factor)
            if bad >= 0:
                return part_features.name_of(bad)

        return None


class WeightTable:
    """All weights: the start weights, and the weights of features updated in earlier parts.

    The parts of a shard are trained one after another. A weight's history carries over from one to the next,
    so the result is the same as for one part with all sentences. The epoch has `sentence_count` steps; there
    were `steps_before` in earlier epochs.
    """

    def __init__(self, start: ShardState, learner: Online, sentence_count: int, steps_before: int) -> None:
        weights = start.weights
        memory = start.memory
        owed_before = 0.0 if memory is None else memory.owed
        self._steps = LearningSteps(learner, sentence_count, steps_before, owed_before)
        # an epoch without sentences takes nothing from the weights
        self._owed_after = owed_before + (learner.strength_per_epoch if sentence_count else 0.0)
        self._key = weights.key
        self._name = weights.name
        self._weights = make_coordinates(weights.value, 0, memory)

    def open(self, sentences: Sentences, dense_names: tuple[str, ...]) -> PartWeights:
        """Return the weights of a part with these sentences.

        Raises an `InputError` if a dense and a sparse feature share a name, or two features share a key.
        """
        names = string_table(dense_names)
        keys = feature_keys(names)
        row = np.argsort(keys)
        key = keys[row]
        name = names.take(row)

        sparse_key = sentences.feature_key
        sparse_name = sentences.feature_name
        refuse_shared(key, name, sparse_key, sparse_name)

        dense = self._find(key, name, row)
        # sparse features are in the order of their keys already
        sparse = self._find(sparse_key, sparse_name, np.arange(sparse_key.shape[0]))
        return PartWeights(dense, sparse, self._steps)

    def _find(self, key: UInt64s, name: Strings, row: Int64s) -> PartFeatures:
        """Return the weights of a part's features; `row` says where the part has the feature of a key."""
        known, table_row = common_features(key, name, self._key, self._name)
        weights = make_coordinates(np.zeros(key.shape[0]), self._steps.now)
        for of_part, of_table in zip(weights, self._weights, strict=True):
            of_part[row[known]] = of_table[table_row]

        return PartFeatures(key=key, name=name, row=row, known=known, table_row=table_row, weights=weights)

    def close(self, part: PartWeights) -> None:
        """Copy the weights of a part back to the table, including new features if they have been updated."""
        keys = [self._key]
        names = [self._name]
        tables = [self._weights]

        for part_features in (part.dense, part.sparse):
            weights = part_features.weights
            for of_table, of_part in zip(self._weights, weights, strict=True):
                of_table[part_features.table_row] = of_part[part_features.row[part_features.known]]

            is_new = _were_updated(weights)[part_features.row]
            is_new[part_features.known] = False

            new = np.flatnonzero(is_new)
            keys.append(part_features.key[new])
            names.append(part_features.name.take(new))
            tables.append(_take(weights, part_features.row[new]))

        key = np.concatenate(keys)
        arrays: Any = map(np.concatenate, zip(*tables, strict=True))
        # in the order in which `unique_features` sorts keys and names
        self._weights = _take(Coordinates(*arrays), np.argsort(key))
        self._key, self._name = unique_features(key, concatenate(names))

    def collect(self, average: bool) -> tuple[Weights, ShardState | None]:
        """Return the weights to mix, and the state to continue from; None if they are the same."""
        steps = self._steps
        found = self._weights
        settle_all(steps.update_rule, found, steps.now)

        last = Weights(self._key, found.value, self._name)
        to_mix = last
        if average and steps.now > 0:
            to_mix = last._replace(value=found.area / steps.now)

        weights = nonzero(to_mix)
        if not steps.update_rule.adaptive and steps.update_rule.regularization != L1_CUMULATIVE:
            # nothing besides the weights is kept
            return weights, ShardState(nonzero(last)) if average else None
        rows = (found.value != 0) | (found.squares != 0) | (found.paid != 0)
        memory = Memory(found.squares[rows], found.paid[rows], self._owed_after)
        return weights, ShardState(take_weights(last, rows), memory)


def make_coordinates(value: Float64s, step: int, memory: Memory | None = None) -> Coordinates:
    """Return the coordinates of weights after step `step`."""
    size = value.shape[0]
    return Coordinates(
        value=value.copy(),
        anchor=value.copy(),
        since=np.full(size, step, np.int64),
        start=value.copy(),
        total=np.zeros(size),
        paid=np.zeros(size) if memory is None else memory.paid.copy(),
        squares=np.zeros(size) if memory is None else memory.squares.copy(),
        area=np.zeros(size),
    )


def _were_updated(weights: Coordinates) -> NDArray[np.bool_]:
    """Return which weights have changed since they were 0, bool (n), even if they are 0 again."""
    were_updated: NDArray[np.bool_] = weights.anchor != 0
    for history in (weights.total, weights.paid, weights.squares, weights.area):
        were_updated |= history != 0
    return were_updated


def _take(weights: Coordinates, rows: Int64s) -> Coordinates:
    arrays: Any = (array[rows] for array in weights)
    return Coordinates(*arrays)
