"""The dense and sparse weights of a shard in training, and the state kept from epoch to epoch."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.config.learners import Learner
from itersel.learn.parameter_kernels import (
    L1_CLIP,
    L1_CUMULATIVE,
    L2,
    NONE,
    Coordinates,
    Rule,
    refresh,
    settle_all,
    update,
)
from itersel.learn.update_kernels import Columns, combine

REGULARIZERS = {"none": NONE, "l1": L1_CLIP, "l1-cumulative": L1_CUMULATIVE, "l2": L2}


class Memory(NamedTuple):
    """The state kept between epochs besides the weights: float64 arrays of the same size.

    Attributes
    ----------
    squares
        Sums of squared gradients.
    paid
        The total penalty that cumulative l1 has added to the weights.
    """

    squares: NDArray[np.float64]
    paid: NDArray[np.float64]


class WeightOverflowError(Exception):
    """A weight became too large or NaN.

    Parameters
    ----------
    dense
        Whether it is a dense weight.
    row
        Row of the weight.
    """

    def __init__(self, dense: bool, row: int) -> None:
        super().__init__(dense, row)
        self.dense, self.row = dense, row


class Steps:
    """How the weights of a learner move, and how many steps they have taken.

    Parameters
    ----------
    settings
        How they move.
    before
        Number of steps before this epoch, from which schedules continue.
    goes_on
        Whether the weights have a `Memory` of earlier steps; if not, cumulative l1 starts at 0.

    Attributes
    ----------
    rule
        The update rule, for the kernels.
    first, now
        Numbers of the last step before this epoch, and of the last step.
    """

    def __init__(self, settings: Learner, before: int = 0, goes_on: bool = False) -> None:
        kind = REGULARIZERS[settings.regularization] if settings.strength > 0 else NONE
        self.rule = Rule(kind, settings.strength, settings.learning_rate, settings.adaptive)
        self._schedule, self._before = settings.schedule, before
        self.first = self.now = before if goes_on else 0

    @property
    def remembers(self) -> bool:
        """Whether there is state to keep between epochs besides the weights."""
        return self.rule.adaptive or self.rule.regularizer == L1_CUMULATIVE

    @property
    def taken(self) -> int:
        """Number of steps in this epoch."""
        return self.now - self.first

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self.rule.rate * self.scale(self.now + 1)

    def scale(self, step: int) -> float:
        """Return the rate of a step as a multiple of the learning rate."""
        number = self._before + step - self.first
        return {"constant": 1.0, "1/t": 1.0 / number, "1/sqrt(t)": 1.0 / math.sqrt(number)}[self._schedule]


class Parameters:
    """The weights of a shard in training.

    Parameters
    ----------
    dense, sparse
        The weights of the shard's C dense and F sparse features.
    steps
        How they move; counts the steps.
    """

    def __init__(self, dense: Coordinates, sparse: Coordinates, steps: Steps) -> None:
        self._dense, self._sparse, self._steps = dense, sparse, steps
        self._every_dense = np.arange(dense.value.shape[0], dtype=np.int64)

    @property
    def dense(self) -> NDArray[np.float64]:
        """The current dense weights, float64 (C)."""
        return self._dense.value

    @property
    def sparse(self) -> NDArray[np.float64]:
        """The sparse weights, float64 (F); only those last refreshed or updated are up to date."""
        return self._sparse.value

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self._steps.rate

    def refresh(
        self, grammar: NDArray[np.int32], feature: NDArray[np.int32], offset: NDArray[np.int64]
    ) -> None:
        """Update the weights of some rules' features to the present; see `parameter_kernels.refresh`."""
        steps = self._steps
        if steps.rule.regularizer != NONE:
            refresh(steps.rule, self._sparse, grammar, feature, offset, steps.now)
            settle_all(steps.rule, self._dense, steps.now)

    def step(self, columns: Columns | None, coefficient: NDArray[np.float64] | None) -> None:
        """Take a step along the sum of coefficient * features, or one that only regularises.

        Raises
        ------
        WeightOverflowError
            If a weight becomes too large or NaN.
        """
        steps = self._steps
        steps.now += 1
        if columns is None or coefficient is None:
            return
        dense, sparse = combine(columns, coefficient)
        scale = steps.scale(steps.now)
        bad = update(steps.rule, self._dense, self._every_dense, dense, steps.now, scale)
        if bad >= 0:
            raise WeightOverflowError(True, bad)
        index = columns.feature.astype(np.int64)
        bad = update(steps.rule, self._sparse, index, sparse, steps.now, scale)
        if bad >= 0:
            raise WeightOverflowError(False, bad)


def make_coordinates(value: NDArray[np.float64], step: int, memory: Memory | None = None) -> Coordinates:
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
