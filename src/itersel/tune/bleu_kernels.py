"""Corpus BLEU from summed statistics (Papineni et al. 2002), and the best translations in k-best lists.

The counts of a translation or corpus are 4 numbers of clipped matches, 4 numbers of n-grams, the first of
which is the length in words, and the length of the reference (the closest in length of several).
Shapes: N sentences, H translations, M references.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel, leaf_kernel
from itersel.learn.bleu_kernels import ORDER, closest_length

REFERENCE = 2 * ORDER
COUNTS = REFERENCE + 1


class Statistics(NamedTuple):
    """BLEU statistics of translations.

    Attributes
    ----------
    matches
        int32 (H, 4): clipped matches of 1-grams to 4-grams.
    length
        int32 (H): words.
    reference_length
        int32 (H): words of the reference closest in length.
    """

    matches: NDArray[np.int32]
    length: NDArray[np.int32]
    reference_length: NDArray[np.int32]


@kernel
def closest_references(
    lengths: NDArray[np.int64],
    reference_offset: NDArray[np.int64],
    offset: NDArray[np.int64],
    length: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Return the length of the reference closest in length to each translation, int32 (H).

    Parameters
    ----------
    lengths, reference_offset
        int64 (M) and (N + 1): lengths of all references, and the references of each sentence.
    offset, length
        int64 (N + 1) and int32 (H): the translations of each sentence, and their lengths in words.
    """
    closest = np.empty(length.shape[0], np.int32)
    for sentence in range(offset.shape[0] - 1):
        begin, end = reference_offset[sentence], reference_offset[sentence + 1]
        for row in range(offset[sentence], offset[sentence + 1]):
            closest[row] = closest_length(lengths, begin, end, length[row], 1.0)
    return closest


@kernel
def bleu_of_counts(counts: NDArray[np.int64]) -> float:
    """Return BLEU between 0 and 1, with brevity penalty; 0 if an order has no match."""
    total = 0.0
    for n in range(ORDER):
        if counts[n] == 0:
            return 0.0
        total += math.log(counts[n] / counts[ORDER + n])
    total /= ORDER
    if counts[ORDER] < counts[REFERENCE]:
        total += 1.0 - counts[REFERENCE] / counts[ORDER]
    return math.exp(total)


@leaf_kernel
def add_counts(counts: NDArray[np.int64], statistics: Statistics, row: int, sign: int) -> None:
    """Add the counts of translation `row` to `counts` (9), or subtract them if `sign` is -1."""
    for n in range(ORDER):
        counts[n] += sign * statistics.matches[row, n]
        counts[ORDER + n] += sign * max(0, statistics.length[row] - n)
    counts[REFERENCE] += sign * statistics.reference_length[row]


@kernel
def best_bleu(score: NDArray[np.float64], offset: NDArray[np.int64], statistics: Statistics) -> float:
    """Return BLEU of the best translation of each sentence; ties go to the first."""
    counts = np.zeros(COUNTS, np.int64)
    for sentence in range(offset.shape[0] - 1):
        best = offset[sentence]
        for row in range(offset[sentence] + 1, offset[sentence + 1]):
            if score[row] > score[best]:
                best = row
        add_counts(counts, statistics, best, 1)
    return bleu_of_counts(counts)
