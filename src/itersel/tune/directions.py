"""The directions of line searches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from itersel.config.tuners import EPOCH_STEP
from itersel.errors import InputError
from itersel.storage.arrays import Float64s
from itersel.tune.problem import TuningProblem
from itersel.tune.sums import EPOCH_START_SUM
from itersel.vectors.feature_names import DENSE
from itersel.vectors.weights import find_named


def axis(deviation: Float64s, column: int) -> Float64s:
    """Return the direction of one feature, scaled so that scores vary by about 1; 0 if it never varies."""
    direction = np.zeros(deviation.shape[0])
    direction[column] = 1 / deviation[column] if deviation[column] > 0 else 0.0
    return direction


def named_directions(problem: TuningProblem, wanted: Sequence[str], deviation: Float64s) -> list[Float64s]:
    """Return the directions that a user names, float64 (C), without those in which nothing varies.

    `wanted` are dense features, ``dense`` for all of them, or ``step`` for the step from the epoch's start
    weights to the tuner's, which is ignored if the former are not given. `deviation`, float64 (C), is the
    standard deviation of each column.
    """
    features = problem.features
    directions: list[Float64s] = []
    for name in wanted:
        if name == EPOCH_STEP:
            if (epoch_step := _epoch_step(problem)) is not None:
                directions.append(epoch_step)
        elif name == DENSE:
            directions += [axis(deviation, column) for column in range(len(features))]
        elif name in features:
            directions.append(axis(deviation, features.index(name)))
        else:
            raise InputError(
                f"cannot search along '{name}', not a dense feature; choose from {', '.join(features)}"
            )

    return [direction for direction in directions if direction.any()]


def _epoch_step(problem: TuningProblem) -> Float64s | None:
    """Return the step from the epoch's start weights to the tuner's, float64 (C), if it is known."""
    epoch_start = next((one.weights for one in problem.sums if one.name == EPOCH_START_SUM), None)
    if epoch_start is None:
        return None
    dense = find_named(problem.start_weights, problem.features) - find_named(epoch_start, problem.features)
    return np.append(dense, [one.epoch_step for one in problem.sums])
