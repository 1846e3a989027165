"""Interpolated modified Kneser-Ney estimation (Chen & Goodman 1998), with the same numbers as KenLM's lmplz.

The method is described in Heafield et al. 2013 ("Scalable modified Kneser-Ney language model estimation"):
adjusted counts, discounts from counts of counts, and interpolation of each order with the next lower one, and
of unigrams with the uniform distribution. Nothing is pruned.

As there, the n-grams are on disk. lmplz sorts them by their last words and by their contexts in turn; here,
they are always sorted by their first words, and refer to their suffixes by row. An n-gram is represented by
its code: the row of its first n - 1 words among the n-grams of order n - 1, times the size of the vocabulary,
plus its last word. A code is one integer however long the n-gram, and n-grams in the order of their codes are
sorted by their words.

A block of text gives a sorted run for each order, whose rows refer to the run of the next lower order of the
same block. The runs of an order are merged from the lowest order to the highest: merging tells which row of
the result each row of a run has become, and with this, the runs of the next order are rewritten to refer to
the merged rows. They stay sorted, because merging keeps the order of rows. Everything is read and written
from beginning to end; apart from the vocabulary, nothing in memory grows with the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from itersel.lm.estimate_kernels import counting_sort, longer_ngrams
from itersel.lm.ngrams import NGrams
from itersel.lm.numbered_text import END_ID, START_ID, NumberedText
from itersel.run.progress import count_up
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.storage.diskarray import DiskArray, gather, tally

# lmplz --discount_fallback
FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)


class MemoryLimits(NamedTuple):
    """How much is in memory at a time; the model does not depend on it."""

    # Words of text that are counted in one block (more if a sentence is longer). Counting takes about 50
    # bytes for each. Larger blocks leave less to merge.
    tokens: int = 2**22
    # n-grams that are merged or interpolated in one step (more if a context has more successors)
    rows: int = 2**19
    # Probabilities or counts of the next lower order, which are looked up in any order. If there are more,
    # look-ups are distributed by range first, with some more reading and writing.
    values: int = 2**25


MEMORY_LIMITS = MemoryLimits()


class Types(NamedTuple):
    """The distinct n-grams of one order, sorted by their words; row i of the unigrams is word i."""

    # int64: row of the first n - 1 words in the next lower order, times V, plus the last word
    code: DiskArray
    suffix: DiskArray  # int64: row of the last n - 1 words in the next lower order
    occurrences: DiskArray  # int64: occurrences in the text
    starts: range  # the rows of the n-grams that begin with ``<s>``


class _Runs:
    """The sorted n-grams of one order in each block; the columns of all blocks are concatenated.

    `context` and `suffix` are rows in the run of the next lower order, and words for bigrams.
    """

    def __init__(self, folder: str) -> None:
        self.columns = [DiskArray(np.int32, folder) for _ in range(4)]
        self.context, self.word, self.suffix, self.occurrences = self.columns
        self.bounds = [0]  # where each block begins, and the end

    def append(self, columns: Int32s) -> None:
        for array, values in zip(self.columns, columns, strict=True):
            array.append(values)
        self.bounds.append(self.word.size)


def count_ngrams(text: NumberedText, order: int, limits: MemoryLimits = MEMORY_LIMITS) -> list[Types]:
    """Find the distinct n-grams of the orders 1 to `order`."""
    size = len(text.words)
    folder = text.tokens.folder
    types = [_new_types(folder, range(START_ID, START_ID + 1))]
    runs = [_Runs(folder) for _ in range(2, order + 1)]
    occurrences = np.zeros(size, np.int64)

    for tokens in count_up(_sentence_blocks(text.tokens, limits.tokens), "words counted", len):
        occurrences += np.bincount(tokens, minlength=size)
        for run, columns in zip(runs, _ngrams_of_block(tokens, size, order), strict=True):
            run.append(columns)

    types[0].code.append(np.arange(size))
    types[0].suffix.append(np.zeros(size, np.int64))
    types[0].occurrences.append(occurrences)

    rows = None
    bounds = [0]
    while runs:
        # Runs that are dropped are deleted from disk.
        run = runs.pop(0)
        code, suffix = _renumbered(run, rows, bounds, size)
        merged, rows = _merge(code, suffix, run, types[-1].starts, size, limits.rows)
        bounds = run.bounds
        types.append(merged)

    return types


def _new_types(folder: str, starts: range) -> Types:
    code, suffix, occurrences = (DiskArray(np.int64, folder) for _ in range(3))
    return Types(code, suffix, occurrences, starts)


def _sentence_blocks(tokens: DiskArray, length: int) -> Iterator[Int32s]:
    """Yield whole sentences of about `length` words together."""
    begin = 0
    while begin < tokens.size:
        block = tokens.read(begin, begin)
        ends = np.empty(0, np.int64)
        taken = length
        while not ends.size:
            block = tokens.read(begin, begin + taken)
            ends = np.flatnonzero(block == END_ID)
            taken *= 2
        stop = int(ends[-1]) + 1
        yield block[:stop]
        begin += stop


def _ngrams_of_block(tokens: Int32s, size: int, order: int) -> Iterator[Int32s]:
    """Yield context, word, suffix and occurrences of the n-grams of the orders from 2."""
    place = np.arange(tokens.shape[0], dtype=np.int32)
    # Places sorted by their word. No n-gram ends with <s>; those that would contain it have no row.
    by_word = counting_sort(tokens, place[tokens != START_ID], size)
    row = tokens
    count = size
    for n in range(2, order + 1):
        place = by_word - np.int32(n - 1)
        row, columns = longer_ngrams(tokens, row, counting_sort(row, place[place >= 0], count), n)
        yield columns
        count = columns.shape[1]


def _renumbered(
    runs: _Runs, rows: DiskArray | None, bounds: list[int], size: int
) -> tuple[DiskArray, DiskArray]:
    """Return codes and suffixes of runs, which refer to the merged n-grams of the next lower order.

    `rows` are the merged rows of the runs of that order, and `bounds` the bounds of its blocks; None if the
    rows are words.
    """
    code, suffix = (DiskArray(np.int64, runs.word.folder) for _ in range(2))
    for block, (begin, end) in enumerate(pairwise(runs.bounds)):
        context = runs.context.read(begin, end)
        last_words = runs.suffix.read(begin, end)
        if rows is not None:
            row = rows.read(bounds[block], bounds[block + 1])
            context, last_words = row[context], row[last_words]
        code.append(context.astype(np.int64) * size + runs.word.read(begin, end))
        suffix.append(last_words)
    return code, suffix


def _merge(
    code: DiskArray, suffix: DiskArray, runs: _Runs, contexts: range, size: int, length: int
) -> tuple[Types, DiskArray]:
    """Merge the runs of an order; `contexts` are the rows of the contexts that begin with ``<s>``.

    Returns the n-grams, and for each row of the runs, its row among them.
    """
    types = _new_types(code.folder, range(0))
    rows = DiskArray(np.int64, code.folder)
    bounds = np.array([contexts.start, contexts.stop]) * size
    starts = np.zeros(2, np.int64)
    parts = _parts(code, runs.bounds, length)

    for taken, codes in count_up(parts, "n-grams merged", lambda part: part[1].shape[0]):
        done = types.code.size
        # With return_index, numpy sorts stably, which is four times as fast for sorted runs.
        distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)

        types.code.append(distinct)
        types.suffix.append(np.concatenate([suffix.read(*part) for part in taken])[first])
        occurrences = np.concatenate([runs.occurrences.read(*part) for part in taken])
        # Sums of doubles are exact here: a text has fewer than 2^53 words.
        types.occurrences.append(np.bincount(inverse, occurrences).astype(np.int64))

        ends = np.cumsum([end - begin for begin, end in taken])
        for (begin, _), part in zip(taken, np.split(inverse, ends[:-1]), strict=True):
            rows.write(begin, part + done)
        starts += np.searchsorted(distinct, bounds)

    return types._replace(starts=range(*starts.tolist())), rows


def _parts(code: DiskArray, bounds: list[int], length: int) -> Iterator[tuple[list[tuple[int, int]], Int64s]]:
    """Yield the codes of all runs from the lowest to the highest, about `length` at a time.

    Yields the rows that are taken from each run (begin and end), and their codes, in the order of the runs.
    """
    begins, ends = bounds[:-1], bounds[1:]
    share = max(length // max(len(begins), 1), 1)
    while begins != ends:
        heads = [code.read(a, min(a + share, b)) for a, b in zip(begins, ends, strict=True)]
        # Up to the lowest of these codes, all codes of all runs have been read.
        limits = [int(head[-1]) for head, a, b in zip(heads, begins, ends, strict=True) if a + share < b]
        if limits:
            heads = [head[: np.searchsorted(head, min(limits), "right")] for head in heads]
        stops = [a + head.shape[0] for a, head in zip(begins, heads, strict=True)]
        yield list(zip(begins, stops, strict=True)), np.concatenate(heads)
        begins = stops


class EstimatedModel:
    """The n-grams of an estimated model, on disk; word 0 is ``<unk>``.

    By order, from 1: `code`, the n-grams as in `Types`, sorted by word number; `probability`, float64; and
    `backoff`, float64, log10, not for the highest order. `fallback` are the orders whose discounts could not
    be estimated, which use `FALLBACK_DISCOUNTS`.
    """

    def __init__(self, words: list[str], limits: MemoryLimits, fallback: list[int]) -> None:
        self.words = words
        self.limits = limits
        self.fallback = fallback
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
                np.log10(probability.read(begin, end), dtype=np.longdouble).astype(np.float64),
                np.zeros(end - begin) if is_highest else self.backoff[order - 1].read(begin, end),
            )

    def _words(self, order: int, begin: int, end: int) -> Int32s:
        """Return the words of some n-grams, int32 (n-grams, order)."""
        pieces = contexts(self.code[order - 1], len(self.words), self.limits.rows, begin, end)
        return np.concatenate([self._with_contexts(order, context, word) for _, context, word in pieces])

    def _with_contexts(self, order: int, context: Int64s, word: Int64s) -> Int32s:
        """Return the words of n-grams, given their contexts (sorted rows) and last words."""
        if order == 1:
            return word[:, None].astype(np.int32)
        first = int(context[0])
        words = self._words(order - 1, first, int(context[-1]) + 1)
        return np.column_stack([words[context - first], word.astype(np.int32)])


def contexts(
    code: DiskArray, size: int, rows: int, begin: int = 0, end: int | None = None
) -> Iterator[tuple[int, Int64s, Int64s]]:
    """Yield n-grams in blocks of about `rows` n-grams, and of at most `rows` contexts, from first to last.

    The n-grams of a context are in the same block, unless `begin` or `end` is between them. Yields the row of
    the first n-gram of the block; and int64 (n-grams): row of the first n - 1 words in the next lower order,
    and last word.
    """
    end = code.size if end is None else end

    while begin < end:
        stop = 0
        length = rows
        context = np.empty(0, np.int64)
        word = context
        while not stop:
            context, word = np.divmod(code.read(begin, min(begin + length, end)), size)
            # The last context may continue after the block.
            is_last = begin + length >= end
            stop = context.shape[0] if is_last else int(np.searchsorted(context, context[-1]))
            length *= 2

        stop = min(stop, int(np.searchsorted(context, context[0] + rows)))
        yield begin, context[:stop], word[:stop]
        begin += stop


def estimate(text: NumberedText, order: int, limits: MemoryLimits = MEMORY_LIMITS) -> EstimatedModel:
    """Estimate a model of the given order (at least 1).

    The probability of ``<unk>`` is its share of the uniform distribution, unless the text contains it.
    ``<s>``, which is never predicted, gets the same number, as in lmplz. Temporary files are in the same
    folder as those of the text.
    """
    types = count_ngrams(text, order, limits)
    counts = _adjusted_counts(types, limits)
    discounts = [_discounts(_occurring(count, limits.rows)) for count in counts]
    fallback = [order for order, found in enumerate(discounts, 1) if found is None]
    model = EstimatedModel(text.words, limits, fallback)
    for found in discounts:
        # N-grams and counts that are dropped are deleted from disk.
        _interpolate(model, types.pop(0), counts.pop(0), np.array([0.0, *(found or FALLBACK_DISCOUNTS)]))
    return model


def _interpolate(model: EstimatedModel, types: Types, counts: DiskArray, discount: Float64s) -> None:
    """Add the probabilities of the next order to a model, and the backoffs of the order before it.

    `discount` are the discounts of counts 0, 1, 2 and 3 or more.
    """
    size = len(model.words)
    limits = model.limits
    folder = counts.folder
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
        left[left <= 0] = 1.0
        backoff.append(np.log10(left, dtype=np.longdouble).astype(np.float64))

    if model.code:
        backoff.append(np.zeros(table.size - backoff.size))
        model.backoff.append(backoff)
    model.code.append(types.code)
    model.probability.append(probability)


def _adjusted_counts(types: list[Types], limits: MemoryLimits) -> list[DiskArray]:
    """Return the counts from which probabilities are computed, int64.

    For the highest order, and for n-grams that begin with <s> (nothing can precede them), this is the number
    of occurrences; for others, the number of distinct words to their left.
    """
    result = []
    for kind, longer in pairwise(types):
        counts = tally(longer.suffix, kind.code.size, limits.rows, limits.values)
        for begin in kind.starts[:: limits.rows]:
            counts.write(begin, kind.occurrences.read(begin, min(begin + limits.rows, kind.starts.stop)))
        result.append(counts)
    result.append(types[-1].occurrences)
    result[0].write(START_ID, np.zeros(1, np.int64))  # <s> is never predicted
    return result


def _occurring(counts: DiskArray, rows: int) -> Int64s:
    """Return how many n-grams have the counts 1, 2, 3 and 4."""
    return sum(
        (np.bincount(np.minimum(count, 5), minlength=6)[1:5] for count in counts.blocks(rows)),
        np.zeros(4, np.int64),
    )


def _discounts(occurring: Int64s) -> tuple[float, ...] | None:
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
