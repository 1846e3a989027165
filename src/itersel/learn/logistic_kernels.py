"""The gradient of the logistic loss over pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel


@kernel
def logistic_coefficients(
    score: NDArray[np.float64], pairs: NDArray[np.int64]
) -> tuple[NDArray[np.float64], int]:
    """Return the negative gradient of sum log(1 + exp(-lead)), float64 (k), and the number of wrong pairs.

    score: float64 (k), of the translations. pairs: int64 (p, 2), the better and the worse translation of each
    pair. A pair with a lead of 0 counts as wrong.
    """
    coefficient, wrong = np.zeros(score.shape[0]), 0
    for pair in range(pairs.shape[0]):
        better, worse = pairs[pair, 0], pairs[pair, 1]
        lead = score[better] - score[worse]
        if lead <= 0.0:
            wrong += 1
        # 1 / (1 + exp(lead)), without overflow
        if lead > 0.0:
            small = np.exp(-lead)
            slope = small / (1.0 + small)
        else:
            slope = 1.0 / (1.0 + np.exp(lead))
        coefficient[better] += slope
        coefficient[worse] -= slope
    return coefficient, wrong
