"""The weights of a shard in training, dense and sparse, and what is kept from epoch to epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class StepSettings:
    """How weights move.

    Attributes
    ----------
    rate
        Learning rate, above 0.
    schedule
        ``constant``; ``1/t`` or ``1/sqrt(t)``: the rate is divided by the number of the step, or by its root.
    adaptive
        AdaGrad: a rate for each weight.
    regularization, strength
        One of `REGULARIZERS`, and its strength a sentence.
    """

    rate: float
    schedule: str = "constant"
    adaptive: bool = False
    regularization: str = "none"
    strength: float = 0.0


class Memory(NamedTuple):
    """What outlasts an epoch beside the weights: float64 arrays of their size.

    Attributes
    ----------
    squares
        Sum of squared gradients.
    paid
        What cumulative l1 has added to the weights.
    """

    squares: NDArray[np.float64]
    paid: NDArray[np.float64]


class WeightOverflowError(Exception):
    """A weight became too large or NaN.

    Parameters
    ----------
    dense
        It is a dense weight.
    row
        Which one.
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
        Number of steps before this epoch: schedules go on counting.
    goes_on
        The weights have a `Memory` of the steps before; else cumulative l1 begins to count.

    Attributes
    ----------
    rule
        For the kernels.
    first, now
        Number of the last step before this epoch, and of the last step.
    """

    def __init__(self, settings: StepSettings, before: int = 0, goes_on: bool = False) -> None:
        kind = REGULARIZERS[settings.regularization] if settings.strength > 0 else NONE
        self.rule = Rule(kind, settings.strength, settings.rate, settings.adaptive)
        self._schedule, self._before = settings.schedule, before
        self.first = self.now = before if goes_on else 0

    @property
    def remembers(self) -> bool:
        """Whether something beside the weights outlasts the epoch."""
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
        """Return the rate of a step, in units of the learning rate."""
        number = self._before + step - self.first
        return {"constant": 1.0, "1/t": 1.0 / number, "1/sqrt(t)": 1.0 / math.sqrt(number)}[self._schedule]


class Parameters:
    """The weights of a shard in training.

    Parameters
    ----------
    dense, sparse
        The weights of its C dense and F sparse features.
    steps
        How they move; counts their steps.
    """

    def __init__(self, dense: Coordinates, sparse: Coordinates, steps: Steps) -> None:
        self._dense, self._sparse, self._steps = dense, sparse, steps
        self._every_dense = np.arange(dense.value.shape[0], dtype=np.int64)

    @property
    def dense(self) -> NDArray[np.float64]:
        """The dense weights now, float64 (C)."""
        return self._dense.value

    @property
    def sparse(self) -> NDArray[np.float64]:
        """The sparse weights, float64 (F); those that were refreshed or updated last are up to date."""
        return self._sparse.value

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self._steps.rate

    def refresh(
        self, grammar: NDArray[np.int32], feature: NDArray[np.int32], offset: NDArray[np.int64]
    ) -> None:
        """Bring the weights of the features of some rules up to date; see `parameter_kernels.refresh`."""
        steps = self._steps
        if steps.rule.regularizer != NONE:
            refresh(steps.rule, self._sparse, grammar, feature, offset, steps.now)
            settle_all(steps.rule, self._dense, steps.now)

    def step(self, columns: Columns | None, coefficient: NDArray[np.float64] | None) -> None:
        """Take a step along the sum of coefficient * features, or one that only regularises.

        Raises
        ------
        WeightOverflowError
            If a weight became too large or NaN.
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
    """Return weights as they are after step `step`."""
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
