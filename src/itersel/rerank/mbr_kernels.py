"""Kernels of minimum Bayes risk: the gain that is expected of each translation of a list.

Each translation is scored as if each other one were the reference (Kumar & Byrne 2004), so for k translations
there are k (k - 1) / 2 pairs. N-grams are counted once, and a pair only compares counts, which serve both
directions.

Shapes: k translations, E different n-grams of each translation added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.bleu.bleu_kernels import ngram_count, sentence_bleu_of
from itersel.bleu.names import LIN
from itersel.bleu.order import ORDER
from itersel.compile.jit import kernel, leaf_kernel
from itersel.evaluate.chrf import CHARACTER_ORDER
from itersel.evaluate.chrf_kernels import f_score
from itersel.rerank.ngram_kernels import hash_ngram, slot_of
from itersel.storage.arrays import Float64s, Int32s, Int64s


class NgramCounts(NamedTuple):
    """The n-grams of each translation, by n and then by translation."""

    gram: Int32s  # (E): numbers of the n-grams
    times: Int32s  # (E): how often the translation has it
    offset: Int64s  # (order * k + 1): where those of the translations begin, first all of n = 1
    grams: int  # how many numbers there are


@kernel
def count_ngrams(token: Int32s, offset: Int64s, order: int) -> NgramCounts:
    """Count the n-grams of each translation, up to n = `order`.

    token, offset: words or characters of the translations, int32 and int64 (k + 1).
    """
    rows = offset.shape[0] - 1
    most = order * token.shape[0]
    size = 16
    while size < 2 * token.shape[0]:
        size *= 2
    key = np.zeros(size, np.uint64)
    number = np.zeros(size, np.int32)

    gram = np.empty(most, np.int32)
    times = np.zeros(most, np.int32)
    begins = np.zeros(order * rows + 1, np.int64)
    # for each n-gram, the last entry that counts it
    last = np.full(most, -1, np.int64)
    grams = 0
    entries = 0
    for n in range(1, order + 1):
        for slot in range(size):
            key[slot] = 0

        for row in range(rows):
            first = entries
            for place in range(offset[row], offset[row + 1] - n + 1):
                hashed = hash_ngram(token, place, n)
                slot = slot_of(key, hashed)
                if key[slot] == 0:
                    key[slot] = hashed
                    number[slot] = grams
                    grams += 1

                found = number[slot]
                if last[found] < first:
                    last[found] = entries
                    gram[entries] = found
                    entries += 1
                times[last[found]] += 1
            begins[(n - 1) * rows + row + 1] = entries
    return NgramCounts(gram[:entries], times[:entries], begins, grams)


@leaf_kernel
def chrf(matches: Float64s, length: int, reference_length: int) -> float:
    """Return chrF between 0 and 1, as sacrebleu computes it: from the mean precision and the mean recall.

    matches: (`CHARACTER_ORDER`); the means are over the orders of which both sides have n-grams.
    """
    precision = 0.0
    recall = 0.0
    orders = 0
    for n in range(CHARACTER_ORDER):
        if length > n and reference_length > n:
            precision += matches[n] / (length - n)
            recall += matches[n] / (reference_length - n)
            orders += 1
    if orders == 0:
        return 0.0
    return f_score(precision / orders, recall / orders)


@leaf_kernel
def gain(is_chrf: bool, matches: Float64s, ngrams: Float64s, length: int, reference_length: int) -> float:
    """Return chrF or sentence BLEU (Lin & Och 2004) of a translation, given another one as its reference.

    `ngrams`, of at least `ORDER`, is overwritten. Two empty translations are equal, so they gain 1.
    """
    if length == 0 and reference_length == 0:
        return 1.0
    if is_chrf:
        return chrf(matches, length, reference_length)
    for n in range(ORDER):
        ngrams[n] = ngram_count(length, n + 1)
    return sentence_bleu_of(LIN, matches, ngrams, reference_length, min(ORDER, reference_length))


@kernel
def expected_gains(token: Int32s, offset: Int64s, probability: Float64s, is_chrf: bool) -> Float64s:
    """Return the expected gain of each translation: float64 (k).

    token, offset: the translations' characters for chrF, words for BLEU, int32 and int64 (k + 1).
    probability: float64 (k).
    """
    order = CHARACTER_ORDER if is_chrf else ORDER
    rows = probability.shape[0]
    counts = count_ngrams(token, offset, order)
    gram = counts.gram
    times = counts.times
    begins = counts.offset

    available = np.zeros(counts.grams, np.int32)
    matches = np.zeros(order)
    ngrams = np.zeros(order)
    expected = np.zeros(rows)
    for row in range(rows):
        length = offset[row + 1] - offset[row]
        for n in range(order):
            for entry in range(begins[n * rows + row], begins[n * rows + row + 1]):
                available[gram[entry]] = times[entry]

        for other in range(row):
            for n in range(order):
                common = 0
                for entry in range(begins[n * rows + other], begins[n * rows + other + 1]):
                    common += min(times[entry], available[gram[entry]])
                matches[n] = common

            other_length = offset[other + 1] - offset[other]
            expected[row] += probability[other] * gain(is_chrf, matches, ngrams, length, other_length)
            expected[other] += probability[row] * gain(is_chrf, matches, ngrams, other_length, length)
        # a translation is equal to itself
        expected[row] += probability[row]

        for n in range(order):
            for entry in range(begins[n * rows + row], begins[n * rows + row + 1]):
                available[gram[entry]] = 0
    return expected
