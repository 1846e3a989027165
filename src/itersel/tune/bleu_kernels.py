"""Corpus BLEU from summed statistics (Papineni et al. 2002), and the best translations of lists.

Counts of a translation or of a corpus: 4 clipped matches, 4 numbers of n-grams, of which the first is the
length in words. Shapes: N sentences, H translations.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel
from itersel.learn.bleu_kernels import ORDER

COUNTS = 2 * ORDER


@kernel
def bleu_of_counts(counts: NDArray[np.int64], reference_length: int) -> float:
    """Return BLEU between 0 and 1, with brevity penalty; 0 where an order has no match."""
    total = 0.0
    for n in range(ORDER):
        if counts[n] == 0:
            return 0.0
        total += math.log(counts[n] / counts[ORDER + n])
    total /= ORDER
    if counts[ORDER] < reference_length:
        total += 1.0 - reference_length / counts[ORDER]
    return math.exp(total)


@kernel
def add_counts(
    counts: NDArray[np.int64], matches: NDArray[np.int32], length: NDArray[np.int32], row: int, sign: int
) -> None:
    """Add the counts of translation `row` to `counts` (8), or take them away where `sign` is -1."""
    for n in range(ORDER):
        counts[n] += sign * matches[row, n]
        counts[ORDER + n] += sign * max(0, length[row] - n)


@kernel
def best_rows(score: NDArray[np.float64], offset: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the best translation of every sentence, int64 (N); the first of equal ones."""
    best = np.empty(offset.shape[0] - 1, np.int64)
    for sentence in range(best.shape[0]):
        row = offset[sentence]
        for other in range(offset[sentence] + 1, offset[sentence + 1]):
            if score[other] > score[row]:
                row = other
        best[sentence] = row
    return best


@kernel
def corpus_counts(
    rows: NDArray[np.int64], matches: NDArray[np.int32], length: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the summed counts of translations, int64 (8)."""
    counts = np.zeros(COUNTS, np.int64)
    for row in rows:
        add_counts(counts, matches, length, row, 1)
    return counts
