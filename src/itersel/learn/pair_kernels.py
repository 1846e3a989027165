"""Preference pairs over a ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel


@kernel
def pairs_across_levels(score: NDArray[np.float64], level: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all pairs (better, worse) with different levels and different scores, int64 (pairs, 2).

    `score` (k) descends and `level` (k) ascends; pairs are sorted by better, then by worse position.
    """
    count = score.shape[0]
    found = 0
    for better in range(count):
        for worse in range(better + 1, count):
            if level[better] < level[worse] and score[better] > score[worse]:
                found += 1
    pairs = np.empty((found, 2), np.int64)
    found = 0
    for better in range(count):
        for worse in range(better + 1, count):
            if level[better] < level[worse] and score[better] > score[worse]:
                pairs[found, 0] = better
                pairs[found, 1] = worse
                found += 1
    return pairs
