"""Learning from the k-best list of one sentence: its features by column, and the updates of the learners.

Margins and updates depend only on differences between translations, and the translations of a k-best list
share most of their features. So a feature that most translations have is shifted by its value in the first
of them, which leaves few non-zero entries.

Shapes: k = translations, C = dense features, L = sparse features of the k-best list, E = entries after the
shift, p = pairs (the better translation, the worse one).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel
from itersel.storage.arrays import Float64s, Int32s, Int64s

# The quadratic program of MIRA is solved when no constraint is violated by more than the tolerance, or after
# the maximum number of rounds.
TOLERANCE = 1e-9
ROUNDS = 10_000


class ShiftedFeatures(NamedTuple):
    """Shifted features of a k-best list, stored by feature."""

    dense: Float64s  # (k, C)
    feature: Int32s  # (L): rows of the feature table, in order of first occurrence
    # (L + 1): column l of the sparse matrix is row[offset[l]:offset[l + 1]], ascending, and the same of value
    offset: Int64s
    row: Int32s  # (E)
    value: Float64s  # (E): not 0


@kernel
def shift_columns(
    count: int, offset: Int64s, row: Int32s, value: Float64s
) -> tuple[Int64s, Int32s, Float64s]:
    """Shift the sparse features of `count` translations; returns the arrays of `ShiftedFeatures`."""
    # A shifted feature may have an entry in every translation, but fewer than twice as many as before.
    most = 2 * row.shape[0]
    kept_row = np.empty(most, np.int32)
    kept_value = np.empty(most)
    kept_offset = np.zeros(offset.shape[0], np.int64)
    kept = 0

    for column in range(offset.shape[0] - 1):
        begin = offset[column]
        end = offset[column + 1]
        # a feature of most translations is shifted, so that it has fewer entries
        shift = value[begin] if 2 * (end - begin) > count else 0.0

        entry = begin
        for translation in range(count):
            difference = -shift
            if entry < end and row[entry] == translation:
                difference += value[entry]
                entry += 1
            elif shift == 0.0:
                continue

            if difference != 0.0:
                kept_row[kept] = translation
                kept_value[kept] = difference
                kept += 1

        kept_offset[column + 1] = kept
    return kept_offset, kept_row[:kept].copy(), kept_value[:kept].copy()


@kernel
def gram_matrix(columns: ShiftedFeatures) -> Float64s:
    """Return the inner products of all translations' shifted features, float64 (k, k).

    Does not use BLAS, whose order of summation depends on the processor and the threads.
    """
    dense = columns.dense
    offset = columns.offset
    row = columns.row
    value = columns.value
    count = dense.shape[0]
    gram = np.zeros((count, count))

    for i in range(count):
        for j in range(i + 1):
            total = 0.0
            for c in range(dense.shape[1]):
                total += dense[i, c] * dense[j, c]
            gram[i, j] = total

    for column in range(offset.shape[0] - 1):
        begin = offset[column]
        for a in range(begin, offset[column + 1]):
            for b in range(begin, a + 1):
                gram[row[a], row[b]] += value[a] * value[b]

    for i in range(count):
        for j in range(i):
            gram[j, i] = gram[i, j]
    return gram


@kernel
def violated_pairs(
    score: Float64s, pairs: Int64s, gram: Float64s, rate: float, margin: float
) -> tuple[Float64s, int]:
    """Return wins minus losses of each translation over all updates, float64 (k), and the number of updates.

    A pair, int64 (p, 2), causes an update if its better translation leads by less than `margin`, or does not
    lead. If `gram` has rows (see `gram_matrix`), `score` (k) follows the weights: an update by a pair changes
    the score of translation t by rate * (gram[t, better] - gram[t, worse]).
    """
    count = score.shape[0]
    coefficient = np.zeros(count)
    shift = np.zeros(count)
    updates = 0

    for pair in range(pairs.shape[0]):
        better = pairs[pair, 0]
        worse = pairs[pair, 1]
        lead = score[better] - score[worse] + rate * (shift[better] - shift[worse])
        if lead > 0.0 and lead >= margin:
            continue

        updates += 1
        coefficient[better] += 1.0
        coefficient[worse] -= 1.0
        for t in range(gram.shape[0]):
            shift[t] += gram[better, t] - gram[worse, t]
    return coefficient, updates


@kernel
def logistic_coefficients(score: Float64s, pairs: Int64s) -> tuple[Float64s, int]:
    """Return the negative gradient of sum log(1 + exp(-lead)), float64 (k), and the number of wrong pairs.

    score: float64 (k); pairs: int64 (p, 2). A pair with a lead of 0 counts as wrong.
    """
    coefficient = np.zeros(score.shape[0])
    wrong = 0
    for pair in range(pairs.shape[0]):
        better = pairs[pair, 0]
        worse = pairs[pair, 1]
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


@kernel
def solve_constraints(
    gram: Float64s, score: Float64s, cost: Float64s, hope: int, c: float
) -> tuple[Float64s, int]:
    """Return the update that best satisfies the constraints of all translations, and how many were active.

    Minimises |dw|^2 / 2 + C max over j of (cost(j) - cost(hope) - (w + dw)(h(hope) - h(j))); the maximum is
    at least 0 because of j = hope. In the dual, C is divided among the translations: each has a
    share a(j) >= 0, and dw = sum of a(j) (h(hope) - h(j)). Sequential minimal optimisation (Platt 1998;
    Chiang 2012, section 3.2) moves a part of C from the best satisfied constraint with a non-zero share to
    the most violated one.

    gram: float64 (k, k), inner products of the features; score, cost: float64 (k).
    """
    count = score.shape[0]
    share = np.zeros(count)
    share[hope] = c
    # of each score, by the update so far
    change = np.zeros(count)

    for _ in range(ROUNDS):
        # the most violated constraint, and the best satisfied one with a share
        worst = -1
        best = -1
        most = -np.inf
        least = np.inf

        for j in range(count):
            lead = score[hope] + change[hope] - score[j] - change[j]
            violation = cost[j] - cost[hope] - lead
            if violation > most:
                worst = j
                most = violation

            if share[j] > 0.0 and violation < least:
                best = j
                least = violation

        # not a number if a change has overflowed
        if not most - least > TOLERANCE:
            break

        distance = gram[worst, worst] + gram[best, best] - 2.0 * gram[worst, best]
        step = share[best]
        if distance > 0.0:
            step = min(step, (most - least) / distance)

        share[worst] += step
        share[best] -= step

        # adds step * (h(best) - h(worst)) to the update
        for t in range(count):
            change[t] += step * (gram[best, t] - gram[worst, t])

    coefficient = np.zeros(count)
    active = 0
    total = 0.0
    for j in range(count):
        if j != hope and share[j] > 0.0:
            coefficient[j] = -share[j]
            total += share[j]
            active += 1
    coefficient[hope] = total
    return coefficient, active
