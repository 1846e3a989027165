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


class Parameters:
    """The weights of a shard in training.

    Parameters
    ----------
    dense, sparse
        float64 (C) and (F): weights to start from.
    settings
        How they move.
    before
        Number of steps before this epoch: schedules go on counting.
    memory
        Of the dense and of the sparse weights, from the epoch before. None: nothing is remembered, and
        cumulative l1 begins to count.
    """

    def __init__(
        self,
        dense: NDArray[np.float64],
        sparse: NDArray[np.float64],
        settings: StepSettings,
        before: int = 0,
        memory: tuple[Memory, Memory] | None = None,
    ) -> None:
        kind = REGULARIZERS[settings.regularization] if settings.strength > 0 else NONE
        self._rule = Rule(kind, settings.strength, settings.rate, settings.adaptive)
        self._schedule, self._before = settings.schedule, before
        self._first = self._step = 0 if memory is None else before
        known = (None, None) if memory is None else memory
        self._dense = _coordinates(dense, self._step, known[0])
        self._sparse = _coordinates(sparse, self._step, known[1])
        self._every_dense = np.arange(dense.shape[0], dtype=np.int64)

    @property
    def dense(self) -> NDArray[np.float64]:
        """The dense weights now, float64 (C)."""
        return self._dense.value

    @property
    def sparse(self) -> NDArray[np.float64]:
        """The sparse weights, float64 (F); those that were refreshed or updated last are up to date."""
        return self._sparse.value

    @property
    def remembers(self) -> bool:
        """Whether something beside the weights outlasts the epoch."""
        return self._rule.adaptive or self._rule.regularizer == L1_CUMULATIVE

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self._rule.rate * self._scale(self._step + 1)

    def _scale(self, step: int) -> float:
        """Return the rate of a step, in units of the learning rate."""
        number = self._before + step - self._first
        return {"constant": 1.0, "1/t": 1.0 / number, "1/sqrt(t)": 1.0 / math.sqrt(number)}[self._schedule]

    def refresh(
        self, grammar: NDArray[np.int32], feature: NDArray[np.int32], offset: NDArray[np.int64]
    ) -> None:
        """Bring the weights of the features of some rules up to date; see `parameter_kernels.refresh`."""
        if self._rule.regularizer != NONE:
            refresh(self._rule, self._sparse, grammar, feature, offset, self._step)
            settle_all(self._rule, self._dense, self._step)

    def step(self, columns: Columns | None, coefficient: NDArray[np.float64] | None) -> None:
        """Take a step along the sum of coefficient * features, or one that only regularises.

        Raises
        ------
        WeightOverflowError
            If a weight became too large or NaN.
        """
        self._step += 1
        if columns is None or coefficient is None:
            return
        dense, sparse = combine(columns, coefficient)
        scale = self._scale(self._step)
        bad = update(self._rule, self._dense, self._every_dense, dense, self._step, scale)
        if bad >= 0:
            raise WeightOverflowError(True, bad)
        index = columns.feature.astype(np.int64)
        bad = update(self._rule, self._sparse, index, sparse, self._step, scale)
        if bad >= 0:
            raise WeightOverflowError(False, bad)

    def finish(self) -> None:
        """Bring everything up to date."""
        settle_all(self._rule, self._dense, self._step)
        settle_all(self._rule, self._sparse, self._step)

    def idle(
        self, value: NDArray[np.float64], paid: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return what the epoch makes of weights that none of its sentences has.

        Parameters
        ----------
        value, paid
            float64: weights of the start, and what cumulative l1 has added to them.

        Returns
        -------
        tuple
            The weights, their means over the steps, and `paid`.
        """
        steps = self._step - self._first
        if self._rule.regularizer == NONE or steps == 0:
            return value, value, paid
        weights = _coordinates(value, self._first, Memory(np.zeros_like(paid), paid))
        settle_all(self._rule, weights, self._step)
        return weights.value, weights.area / steps, weights.paid

    def averages(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means over the weights after each step of this epoch; after `finish`."""
        steps = self._step - self._first
        if steps == 0:
            return self.dense, self.sparse
        return self._dense.area / steps, self._sparse.area / steps

    def memory(self) -> tuple[Memory, Memory]:
        """Return what outlasts the epoch, dense and sparse; after `finish`."""
        dense, sparse = self._dense, self._sparse
        return Memory(dense.squares, dense.paid), Memory(sparse.squares, sparse.paid)


def _coordinates(value: NDArray[np.float64], step: int, memory: Memory | None) -> Coordinates:
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
