"""MIRA's choice of hope and fear, and its quadratic program with several constraints.

Shapes: k = translations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel, leaf_kernel

# Stop when no constraint is violated by more than this, or after so many rounds.
TOLERANCE = 1e-9
ROUNDS = 10_000


@leaf_kernel
def hope_and_fear(
    score: NDArray[np.float64], cost: NDArray[np.float64], is_oracle: bool, is_prediction: bool
) -> tuple[int, int]:
    """Return the hope and fear translations of an update; ties go to the first.

    score, cost: float64 (k). The hope has the largest score - cost, or, if it is an oracle, the least cost,
    with ties broken by score. The fear has the largest score + cost, or, if it is the prediction, the largest
    score.
    """
    hope, fear = 0, 0
    for t in range(1, score.shape[0]):
        if is_oracle:
            if cost[t] < cost[hope] or (cost[t] == cost[hope] and score[t] > score[hope]):
                hope = t
        elif score[t] - cost[t] > score[hope] - cost[hope]:
            hope = t
        if is_prediction:
            if score[t] > score[fear]:
                fear = t
        elif score[t] + cost[t] > score[fear] + cost[fear]:
            fear = t
    return hope, fear


@kernel
def solve_constraints(
    gram: NDArray[np.float64],
    score: NDArray[np.float64],
    cost: NDArray[np.float64],
    hope: int,
    c: float,
) -> tuple[NDArray[np.float64], int]:
    """Return the update that best satisfies the constraints of all translations, and how many were active.

    Minimises |dw|^2 / 2 + C max over j of (cost(j) - cost(hope) - (w + dw)(h(hope) - h(j))); the maximum is
    at least 0 because of j = hope. In the dual, each translation has a weight a(j) >= 0, these sum to C, and
    dw = sum of a(j) (h(hope) - h(j)). Sequential minimal optimisation (Platt 1998; Chiang 2012, section 3.2)
    moves weight from the best satisfied constraint with non-zero weight to the most violated one.

    gram: float64 (k, k), inner products of the features; score, cost: float64 (k).
    """
    count = score.shape[0]
    weight = np.zeros(count)
    weight[hope] = c
    # Violation of each constraint, and change of each score by the update so far.
    change = np.zeros(count)
    for _ in range(ROUNDS):
        worst, best = -1, -1
        most, least = -np.inf, np.inf
        for j in range(count):
            missed = cost[j] - cost[hope] - (score[hope] + change[hope] - score[j] - change[j])
            if missed > most:
                worst, most = j, missed
            if weight[j] > 0.0 and missed < least:
                best, least = j, missed
        # not a number if a change has overflowed
        if not most - least > TOLERANCE:
            break
        distance = gram[worst, worst] + gram[best, best] - 2.0 * gram[worst, best]
        step = weight[best]
        if distance > 0.0:
            step = min(step, (most - least) / distance)
        weight[worst] += step
        weight[best] -= step
        # adds step * (h(best) - h(worst)) to the update
        for t in range(count):
            change[t] += step * (gram[best, t] - gram[worst, t])
    coefficient, active, total = np.zeros(count), 0, 0.0
    for j in range(count):
        if j != hope and weight[j] > 0.0:
            coefficient[j] = -weight[j]
            total += weight[j]
            active += 1
    coefficient[hope] = total
    return coefficient, active
