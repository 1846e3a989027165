"""Minimum Bayes risk: the translation of a list that is expected to be most like the others.

Kumar & Byrne (2004) choose the hypothesis of the lowest expected loss under the posterior of the model; here
the loss is 1 - gain, and the posterior is that of the list, from scaled model scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from itersel.config.mbr import CHRF_GAIN, MinimumRisk
from itersel.corpus.text import split_words
from itersel.corpus.vocabulary import Side, WordNumbers, number_words
from itersel.lists.table import ListTable, Ranking, best_first
from itersel.rerank.agreement_kernels import probabilities
from itersel.rerank.mbr_kernels import expected_gains
from itersel.rerank.words import characters_of
from itersel.storage.arrays import Float64s, Int64s
from itersel.storage.ragged import take_rows

# Expected gains are rounded to these decimal places: the last digits of logarithms vary between processors.
DIGITS = 12


def ranked_by_gain(side: Side, words: Sequence[str], score: Float64s, mbr: MinimumRisk) -> Int64s:
    """Return the positions of a list's best translations, the highest expected gain first.

    Ties go to the higher score, then to the earlier translation. Equal translations have the sum of their
    probabilities, because each is a perfect match for the others.

    Parameters
    ----------
    side
        The words of the translations (k), of which `words` are the numbered text.
    score
        Their model scores, float64 (k).
    mbr
        How gains are computed, and how many translations, the best by their scores, are compared.
    """
    best = best_first(score, mbr.size)
    compared = Side(*take_rows(side.words, side.offset, best))
    is_chrf = mbr.gain == CHRF_GAIN
    if is_chrf:
        compared = characters_of(compared, words)

    # scores below the best, which cannot overflow
    below = mbr.scale * (score[best] - score[best[0]])
    probability = probabilities(below, np.array([0, best.shape[0]]))
    expected = expected_gains(*compared, probability, is_chrf)
    return best[best_first(np.round(expected, DIGITS), best.shape[0])]


def ranking_of(mbr: MinimumRisk | None) -> Ranking:
    """Return how the translations of lists are ranked: by their scores, or by expected gain."""
    if mbr is None:
        return ListTable.ranked

    def ranked(table: ListTable, score: Float64s, k_best: int) -> Iterator[Int64s]:
        for begin, end in pairwise(table.offset.tolist()):
            numbers = WordNumbers()
            side = number_words([split_words(table.text.get(row)) for row in range(begin, end)], numbers)
            yield begin + ranked_by_gain(side, list(numbers), score[begin:end], mbr)[:k_best]

    return ranked
