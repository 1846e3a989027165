"""Kernels of lexical scores: counting links, and the probabilities of IBM model 1 (Brown et al. 1993)."""

from __future__ import annotations

import math

import numpy as np

from itersel.compile.jit import kernel
from itersel.grammar.lexical_kernels import count_word_pair, find_word_pair
from itersel.storage.arrays import Bools, Float64s, Int32s, Int64s, UInt64s

# Instead of the probability of a word that none of the others has been linked to.
LEAST = 1e-7


@kernel
def add_links(
    source: Int32s,
    source_offset: Int64s,
    target: Int32s,
    target_offset: Int64s,
    link_source: Int32s,
    link_target: Int32s,
    link_offset: Int64s,
    is_kept: Bools,
) -> tuple[Int32s, Int32s]:
    """Return the two words of each link of the sentences that are kept; 0 for words without links."""
    most = link_source.shape[0] + source.shape[0] + target.shape[0]
    first = np.empty(most, np.int32)
    second = np.empty(most, np.int32)
    has_source = np.zeros(source.shape[0], np.uint8)
    has_target = np.zeros(target.shape[0], np.uint8)
    count = 0

    for sentence in range(is_kept.shape[0]):
        if not is_kept[sentence]:
            continue

        for k in range(link_offset[sentence], link_offset[sentence + 1]):
            i, j = source_offset[sentence] + link_source[k], target_offset[sentence] + link_target[k]
            has_source[i] = 1
            has_target[j] = 1

            first[count] = source[i]
            second[count] = target[j]
            count += 1

        for i in range(source_offset[sentence], source_offset[sentence + 1]):
            if not has_source[i]:
                first[count] = source[i]
                second[count] = 0
                count += 1
        for j in range(target_offset[sentence], target_offset[sentence + 1]):
            if not has_target[j]:
                first[count] = 0
                second[count] = target[j]
                count += 1

    return first[:count].copy(), second[:count].copy()


@kernel
def lookup_table(source: Int32s, target: Int32s, number: Int64s) -> tuple[UInt64s, Int64s]:
    """Return a hash table of distinct pairs of words and their counts, at most half full."""
    slots = 16
    while slots < 2 * source.shape[0]:
        slots *= 2
    key = np.zeros(slots, np.uint64)
    count = np.zeros(slots, np.int64)
    for k in range(source.shape[0]):
        count_word_pair(key, count, source[k], target[k], number[k])
    return key, count


@kernel
def sum_of_costs(
    source: Int32s,
    source_offset: Int64s,
    target: Int32s,
    target_offset: Int64s,
    sentence: Int64s,
    key: UInt64s,
    count: Int64s,
    source_count: Int64s,
    target_count: Int64s,
) -> Float64s:
    """Return log10 p(target | source) and log10 p(source | target) of each translation, float64 (H, 2).

    sentence: the source sentence of each translation, int64 (H); key, count: see `lookup_table`;
    source_count, target_count: how often each word was linked, NULL included.
    """
    score = np.zeros((sentence.shape[0], 2))
    longest = 0
    for row in range(sentence.shape[0]):
        longest = max(longest, target_offset[row + 1] - target_offset[row])
    of_target = np.zeros(longest + 1)

    for row in range(sentence.shape[0]):
        begin, end = source_offset[sentence[row]], source_offset[sentence[row] + 1]
        first = target_offset[row]
        words = target_offset[row + 1] - target_offset[row]
        for j in range(words):
            of_target[j] = 0.0

        # i = begin - 1 is NULL on the source side, j = words is NULL on the target side
        for i in range(begin - 1, end):
            one = 0 if i < begin else source[i]
            of_source = 0.0
            for j in range(words + 1):
                other = 0 if j == words else target[first + j]
                if one == 0 and other == 0:
                    continue

                slot = find_word_pair(key, one, other)
                if key[slot] == 0:
                    continue

                if j < words:
                    of_target[j] += count[slot] / source_count[one]
                if i >= begin:
                    of_source += count[slot] / target_count[other]

            if i >= begin:
                score[row, 1] += math.log10(max(of_source / (words + 1), LEAST))

        for j in range(words):
            score[row, 0] += math.log10(max(of_target[j] / (end - begin + 1), LEAST))

    return score
