"""Exact line searches along given directions (Flanigan, Dyer & Carbonell 2013), with MERT's envelopes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itersel.config.tuners import ALL_DENSE, STEP
from itersel.errors import InputError
from itersel.storage.strings import string_table
from itersel.tune.mert import axis
from itersel.tune.summed import LAST_SUM, SUM
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import Weights, find_weights


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
