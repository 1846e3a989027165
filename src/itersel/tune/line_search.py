"""Line searches along given directions (Flanigan, Dyer & Carbonell 2013), exact, by MERT's envelopes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itersel.config.tuners import ALL_DENSE, STEP
from itersel.errors import InputError
from itersel.storage.strings import string_table
from itersel.tune.mert import MAX_ROUNDS, LineSearch, move
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
        Dense features, ``dense`` for each of them, or ``step`` for `start` - `last`.
    names
        Of the columns, C.
    scale, start
        float64 (C): by how much each column varies, and the weights before.
    last
        Weights of the epoch before; without them there is no step.

    Raises
    ------
    InputError
        If there is no such feature.
    """
    features = [name for name in names if name not in (SUM, LAST_SUM)]
    directions = []
    for name in wanted:
        if name == STEP:
            directions += [] if last is None else [_step(names, start, last)]
        elif name == ALL_DENSE:
            directions += [_axis(names.index(feature), scale) for feature in features]
        elif name in features:
            directions.append(_axis(names.index(name), scale))
        else:
            raise InputError(
                f"there is no dense feature '{name}' to search along; there are {', '.join(features)}"
            )
    return [direction for direction in directions if direction.any()]


def _axis(column: int, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the direction of one column, by which scores vary by about 1; 0 if the column never varies."""
    direction = np.zeros(scale.shape[0])
    direction[column] = 1.0 / scale[column] if scale[column] > 0 else 0.0
    return direction


def _step(names: Sequence[str], start: NDArray[np.float64], last: Weights) -> NDArray[np.float64]:
    """Return the way from the weights of the epoch before to those now: -1 is there, 0 is here."""
    direction = start - find_weights(last, feature_keys(string_table(names)))
    if SUM in names:
        # all sparse weights now come in, and those of the epoch before go out
        direction[list(names).index(SUM)], direction[list(names).index(LAST_SUM)] = 1.0, -1.0
    return direction


def search_lines(
    search: LineSearch, start: NDArray[np.float64], directions: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], float]:
    """Search along one direction after another, again and again, until a round improves nothing.

    Returns
    -------
    tuple
        Weights, float64 (C), and BLEU between 0 and 1.
    """
    weights, bleu = start, search.bleu(start)
    for _ in range(MAX_ROUNDS):
        before = bleu
        for direction in directions:
            weights, bleu = move(search, weights, bleu, direction)
        if bleu == before:
            break
    return weights, bleu
