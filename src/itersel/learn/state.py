"""The state of a shard between epochs, and the arrays of its file that keep it."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import NamedTuple

from itersel.storage.arrays import Float64s
from itersel.storage.formats import Array, numbers, strings
from itersel.vectors.weights import FORMAT, Weights

LARGEST = sys.float_info.max
# S features, which can differ from the features of the weights to mix.
STATE = replace(
    FORMAT,
    arrays={
        "state/key": Array("<u8", ("S",), rising=True),
        **strings("state/name", "S", "state names", rising=True),
        "state/v": numbers("<f8", "S"),
        "state/squares": Array("<f8", ("S",), least=0, most=LARGEST),
        "state/paid": Array("<f8", ("S",), least=-LARGEST, most=LARGEST),
    },
)


class Memory(NamedTuple):
    """The state kept between epochs besides the weights; arrays are float64, of the same size."""

    squares: Float64s  # sums of squared gradients
    paid: Float64s  # the total penalty that cumulative l1 has added to the weights
    owed: float = 0.0  # the total penalty that cumulative l1 would have taken from a weight that is never 0


class ShardState(NamedTuple):
    """The state of a shard that training starts from."""

    weights: Weights  # of any features
    memory: Memory | None = None  # state of the previous epoch, with rows as in `weights`
    steps: int | None = None  # number of steps taken so far, if known
    stopped: bool = False  # training has stopped: the weights are passed on
