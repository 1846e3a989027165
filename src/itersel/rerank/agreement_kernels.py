"""Kernels of agreement: how similar a translation is to what its list expects.

What a list expects are the counts of n-grams and the lengths of its translations, averaged with their
probabilities, instead of those of a reference: consensus decoding (DeNero, Chiang & Knight 2009), the linear
form of minimum Bayes risk.

A hash table (`itersel.rerank.ngram_kernels`) has a slot for each n-gram of a list, with its expected count.
"""

from __future__ import annotations

import math

import numpy as np

from itersel.bleu.bleu_kernels import ngram_count
from itersel.bleu.order import ORDER
from itersel.compile.jit import kernel, leaf_kernel
from itersel.evaluate.chrf import CHARACTER_ORDER
from itersel.evaluate.chrf_kernels import f_score
from itersel.rerank.ngram_kernels import hash_ngram, slot_of
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt64s


@leaf_kernel
def expect(
    key: UInt64s, expected: Float64s, token: Int32s, offset: Int64s, first: int, probability: Float64s, n: int
) -> float:
    """Add up the expected counts of the n-grams of a list; returns the expected number of n-grams.

    probability: float64, of the translations from `first` on.
    """
    total = 0.0
    for k in range(probability.shape[0]):
        begin, end = offset[first + k], offset[first + k + 1]
        for place in range(begin, end - n + 1):
            hashed = hash_ngram(token, place, n)
            slot = slot_of(key, hashed)
            key[slot] = hashed
            expected[slot] += probability[k]
        total += probability[k] * max(end - begin - n + 1, 0)
    return total


@leaf_kernel
def count_matches(
    key: UInt64s,
    expected: Float64s,
    seen: Int64s,
    times: Int32s,
    token: Int32s,
    begin: int,
    end: int,
    n: int,
    row: int,
) -> float:
    """Return the matches of a translation's n-grams with the expected ones, each count clipped.

    seen, times: for each slot, the last translation (`row`) that has its n-gram, and how often so far.
    """
    matches = 0.0
    for place in range(begin, end - n + 1):
        slot = slot_of(key, hash_ngram(token, place, n))
        if seen[slot] != row:
            seen[slot] = row
            times[slot] = 0
        matches += min(times[slot] + 1.0, expected[slot]) - min(times[slot] + 0.0, expected[slot])
        times[slot] += 1
    return matches


@kernel
def probabilities(score: Float64s, lists: Int64s) -> Float64s:
    """Return the probabilities of the translations of each list (H), given their logarithms.

    A constant may have been added to the logarithms of a list.
    """
    probability = np.empty(score.shape[0])
    for sentence in range(lists.shape[0] - 1):
        begin, end = lists[sentence], lists[sentence + 1]

        highest = score[begin]
        for row in range(begin, end):
            highest = max(highest, score[row])

        total = 0.0
        for row in range(begin, end):
            probability[row] = math.exp(score[row] - highest)
            total += probability[row]

        for row in range(begin, end):
            probability[row] /= total
    return probability


@kernel
def matches_with_expected(
    token: Int32s, offset: Int64s, lists: Int64s, probability: Float64s, order: int
) -> tuple[Float64s, Float64s]:
    """Return the matches of each translation with the expected n-grams of its list, and how many those are.

    token, offset: the words or characters of H translations, int32 and int64 (H + 1); lists: the translations
    of each sentence, int64 (N + 1); probability: float64 (H), with the sum 1 in each list.

    Returns float64 (H, order) and (N, order).
    """
    sentences = lists.shape[0] - 1
    matches = np.zeros((probability.shape[0], order))
    expected_total = np.zeros((sentences, order))
    most = 16
    for sentence in range(sentences):
        tokens = offset[lists[sentence + 1]] - offset[lists[sentence]]
        while most < 2 * tokens:
            most *= 2

    key = np.zeros(most, np.uint64)
    expected = np.zeros(most)
    seen = np.full(most, -1, np.int64)
    times = np.zeros(most, np.int32)

    for sentence in range(sentences):
        first, last = lists[sentence], lists[sentence + 1]
        # no larger than this list needs, so that little has to be cleared
        size = 16
        while size < 2 * (offset[last] - offset[first]):
            size *= 2

        for n in range(1, order + 1):
            for slot in range(size):
                key[slot] = 0
                expected[slot] = 0.0
                seen[slot] = -1
            total = expect(key[:size], expected[:size], token, offset, first, probability[first:last], n)
            expected_total[sentence, n - 1] = total
            for row in range(first, last):
                matches[row, n - 1] = count_matches(
                    key[:size], expected[:size], seen, times, token, offset[row], offset[row + 1], n, row
                )
    return matches, expected_total


@kernel
def expected_bleu(matches: Float64s, length: Int64s, sentence: Int64s, expected: Float64s) -> Float64s:
    """Return BLEU of each translation, counts of all orders increased by one: float64 (H).

    matches: (H, 4); length: words (H); sentence: int64 (H); expected: number of n-grams (N, 4).
    """
    result = np.zeros(length.shape[0])
    for row in range(result.shape[0]):
        total = 0.0
        for n in range(ORDER):
            grams = ngram_count(length[row], n + 1)
            total += math.log((matches[row, n] + 1.0) / (grams + 1.0))
        wanted = expected[sentence[row], 0]
        if length[row] < wanted:
            total += ORDER * (1.0 - (wanted + 1.0) / (length[row] + 1.0))
        result[row] = math.exp(total / ORDER)
    return result


@kernel
def expected_chrf(matches: Float64s, length: Int64s, sentence: Int64s, expected: Float64s) -> Float64s:
    """Return chrF (Popović 2015) of each translation: the mean F score of the orders that occur, float64 (H).

    matches: (H, 6); length: characters (H); sentence: int64 (H); expected: number of n-grams (N, 6).
    """
    result = np.zeros(length.shape[0])
    for row in range(result.shape[0]):
        total = 0.0
        orders = 0
        for n in range(CHARACTER_ORDER):
            grams = max(length[row] - n, 0)
            wanted = expected[sentence[row], n]
            if grams > 0 and wanted > 0.0:
                orders += 1
                total += f_score(matches[row, n] / grams, matches[row, n] / wanted)
        result[row] = total / max(orders, 1)
    return result
