"""Interpolated modified Kneser-Ney estimation (Chen & Goodman 1998), with the same numbers as KenLM's lmplz.

The method is described in Heafield et al. 2013 ("Scalable modified Kneser-Ney language model estimation"):
adjusted counts, discounts from counts of counts, and interpolation of each order with the next lower one, and
of unigrams with the uniform distribution. Nothing is pruned.

As there, the n-grams are on disk. lmplz sorts them by their last words and by their contexts in turn; here,
they are always sorted by their first words (see `itersel.lm.count`), and refer to their suffixes by row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from itersel.lm.arpa import NGrams
from itersel.lm.count import LIMITS, Limits, Types, count_ngrams
from itersel.lm.text import START_ID, Text
from itersel.progress import count_up
from itersel.storage.diskarray import DiskArray, gather, tally

# lmplz --discount_fallback
FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)


class EstimatedModel:
    """The n-grams of an estimated model, on disk.

    Attributes
    ----------
    words
        The vocabulary; word 0 is ``<unk>``.
    code, probability, backoff
        By order, from 1: the n-grams as in `Types`, sorted by word number, their probabilities, float64, and
        log10 of their backoffs, float64; the highest order has no backoffs.
    fallback
        The orders whose discounts could not be estimated, which use `FALLBACK_DISCOUNTS`.
    """

    def __init__(self, words: list[str], limits: Limits, fallback: list[int]) -> None:
        self.words, self.limits, self.fallback = words, limits, fallback
        self.code: list[DiskArray] = []
        self.probability: list[DiskArray] = []
        self.backoff: list[DiskArray] = []

    @property
    def counts(self) -> list[int]:
        """Number of n-grams by order, from 1."""
        return [code.size for code in self.code]

    def blocks(self, order: int) -> Iterator[NGrams]:
        """Yield the n-grams of an order in blocks."""
        code, probability = self.code[order - 1], self.probability[order - 1]
        for begin, context, word in contexts(code, len(self.words), self.limits.rows):
            end = begin + word.shape[0]
            is_highest = order == len(self.code)
            yield NGrams(
                self._with_contexts(order, context, word),
                np.log10(probability.read(begin, end)),
                np.zeros(end - begin) if is_highest else self.backoff[order - 1].read(begin, end),
            )

    def _words(self, order: int, begin: int, end: int) -> NDArray[np.int32]:
        """Return the words of some n-grams, int32 (n-grams, order)."""
        pieces = contexts(self.code[order - 1], len(self.words), self.limits.rows, begin, end)
        return np.concatenate([self._with_contexts(order, context, word) for _, context, word in pieces])

    def _with_contexts(
        self, order: int, context: NDArray[np.int64], word: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Return the words of n-grams, given their contexts (sorted rows) and last words."""
        if order == 1:
            return word[:, None].astype(np.int32)
        first = int(context[0])
        words = self._words(order - 1, first, int(context[-1]) + 1)
        return np.column_stack([words[context - first], word.astype(np.int32)])


def contexts(
    code: DiskArray, size: int, rows: int, begin: int = 0, end: int | None = None
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield n-grams in blocks of about `rows` n-grams, and of at most `rows` contexts, from first to last.

    The n-grams of a context are in the same block, unless `begin` or `end` is between them.

    Yields
    ------
    begin
        Row of the first n-gram of the block.
    context, word
        int64 (n-grams): row of the first n - 1 words in the next lower order, and last word.
    """
    end = code.size if end is None else end
    while begin < end:
        stop, length = 0, rows
        context = word = np.empty(0, np.int64)
        while not stop:
            context, word = np.divmod(code.read(begin, min(begin + length, end)), size)
            # The last context may continue behind the block.
            is_last = begin + length >= end
            stop = context.shape[0] if is_last else int(np.searchsorted(context, context[-1]))
            length *= 2
        stop = min(stop, int(np.searchsorted(context, context[0] + rows)))
        yield begin, context[:stop], word[:stop]
        begin += stop


def estimate(text: Text, order: int, limits: Limits = LIMITS) -> EstimatedModel:
    """Estimate a model of the given order (at least 1).

    The probability of ``<unk>`` is its share of the uniform distribution, unless the text contains it.
    ``<s>``, which is never predicted, gets the same number, as in lmplz. Temporary files are where those of
    the text are.
    """
    types = count_ngrams(text, order, limits)
    counts = _adjusted_counts(types, limits)
    discounts = [_discounts(_occurring(count, limits.rows)) for count in counts]
    fallback = [order for order, found in enumerate(discounts, 1) if found is None]
    model = EstimatedModel(text.words, limits, fallback)
    for found in discounts:
        # What is no longer in the lists leaves the disk.
        _interpolate(model, types.pop(0), counts.pop(0), np.array([0.0, *(found or FALLBACK_DISCOUNTS)]))
    return model


def _interpolate(
    model: EstimatedModel, types: Types, counts: DiskArray, discount: NDArray[np.float64]
) -> None:
    """Add the probabilities of the next order to a model, and the backoffs of the order before it.

    `discount` are those of counts 0, 1, 2 and 3 or more.
    """
    size, limits, folder = len(model.words), model.limits, counts.folder
    if model.probability:
        table = model.probability[-1]
    else:
        table = DiskArray(np.float64, folder)
        table.append(np.full(1, 1.0 / (size - 1)))
    lower = gather(table, types.suffix, limits.rows, limits.values)
    probability, backoff = (DiskArray(np.float64, folder) for _ in range(2))
    blocks = contexts(types.code, size, limits.rows)
    for begin, context, word in count_up(blocks, "n-grams interpolated", lambda block: block[1].shape[0]):
        count = counts.read(begin, begin + word.shape[0])
        first = int(context[0])
        context -= first
        taken = discount[np.minimum(count, 3)]
        total = np.bincount(context, count)
        # Avoids 0 / 0 for contexts that never occur: no n-gram uses them, and their backoff is 0 below.
        left = np.bincount(context, taken) / np.maximum(total, 1)
        suffixes = lower.read(begin, begin + word.shape[0])
        probability.append((count - taken) / total[context] + left[context] * suffixes)
        backoff.append(np.zeros(first - backoff.size))
        backoff.append(np.log10(left, out=np.zeros(left.shape[0]), where=left > 0))
    if model.code:
        backoff.append(np.zeros(table.size - backoff.size))
        model.backoff.append(backoff)
    model.code.append(types.code)
    model.probability.append(probability)


def _adjusted_counts(types: list[Types], limits: Limits) -> list[DiskArray]:
    """Return the counts from which probabilities are computed, int64.

    For the highest order, and for n-grams that begin with <s> (nothing can precede them), this is the number
    of occurrences; for others, the number of distinct words to their left.
    """
    result = []
    for kind, longer in itertools.pairwise(types):
        counts = tally(longer.suffix, kind.code.size, limits.rows, limits.values)
        for begin in kind.starts[:: limits.rows]:
            counts.write(begin, kind.occurrences.read(begin, min(begin + limits.rows, kind.starts.stop)))
        result.append(counts)
    result.append(types[-1].occurrences)
    result[0].write(START_ID, np.zeros(1, np.int64))  # <s> is never predicted
    return result


def _occurring(counts: DiskArray, rows: int) -> NDArray[np.int64]:
    """Return how many n-grams have the counts 1, 2, 3 and 4."""
    return sum(
        (np.bincount(np.minimum(count, 5), minlength=6)[1:5] for count in counts.blocks(rows)),
        np.zeros(4, np.int64),
    )


def _discounts(occurring: NDArray[np.int64]) -> tuple[float, ...] | None:
    """Estimate the discounts of counts 1, 2, 3+; None where they are undefined or out of range.

    `occurring` are the numbers of n-grams that occur 1, 2, 3 and 4 times (Chen & Goodman 1998,
    equation 26). Unlike in lmplz, zero is out of range, because it could lead to a backoff of log 0.
    """
    n = [int(value) for value in occurring]
    if 0 in n[:3]:
        return None
    y = n[0] / (n[0] + 2 * n[1])
    result = tuple(j - (j + 1) * y * n[j] / n[j - 1] for j in (1, 2, 3))
    return result if all(0 < d <= j for j, d in enumerate(result, 1)) else None
