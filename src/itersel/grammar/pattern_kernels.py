"""Kernels that find the source patterns of sentences.

A block is a run of words of a sentence that occurs in the corpus. Blocks are numbered from 1 in the order of
the suffix array, so that all texts sort their patterns alike. A pattern is one to three blocks separated by
gaps: u, u X v, u X v X w.

Shapes: n = words of all sentences, concatenated, N = sentences, K = max_symbols, U = distinct
patterns, I = pairs of a pattern and a sentence with it, M = spans that are left out.
"""

from __future__ import annotations

from typing import NamedTuple

from itersel.compile.jit import leaf_kernel
from itersel.grammar.index_kernels import IndexArrays
from itersel.storage.arrays import Int32s, Int64s

# bits of a block number in the key of a pattern
BLOCK_BITS = 21


class RuleLimits(NamedTuple):
    """Limits on rules; see `itersel.config.extraction.ExtractionSettings`."""

    max_span: int
    max_symbols: int
    max_nonterminals: int
    min_gap: int
    max_samples: int


class LeftOut(NamedTuple):
    """What is left out of the grammar of a sentence: the sentence itself in the corpus, and its copies."""

    span: Int64s  # (M, 2): source positions in groups, ascending in each
    group: Int64s  # (N, 2): begin and end of each sentence's group


class Patterns(NamedTuple):
    """The distinct patterns of all sentences, and those in which they occur."""

    block: Int32s  # (U, 3): ascending; 0: no block
    begin: Int64s  # (U + 1): the begin of each pattern's sentences
    sentence: Int32s  # (I): the sentences, grouped by pattern
    left_out: LeftOut


@leaf_kernel
def is_left_out(left_out: LeftOut, sentence: int, first: int, last: int) -> bool:
    """Return whether positions `first` to `last` are in a span that is left out for a sentence."""
    low, high = left_out.group[sentence, 0], left_out.group[sentence, 1]

    # the last span that does not begin after `first`
    while low < high:
        middle = (low + high) // 2
        if left_out.span[middle, 0] <= first:
            low = middle + 1
        else:
            high = middle

    return bool(low > left_out.group[sentence, 0] and last < left_out.span[low - 1, 1])


@leaf_kernel
def first_from(index: IndexArrays, low: int, high: int, depth: int, word: int) -> int:
    """Return the first of some suffixes, alike in `depth` words, whose next word is at least `word`."""
    # The corpus ends with a sentence end, so only an unsorted suffix array could lead past it.
    last = index.source.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if index.source[min(index.suffix[middle] + depth, last)] < word:
            low = middle + 1
        else:
            high = middle
    return low


@leaf_kernel
def find_blocks(index: IndexArrays, words: Int32s, offset: Int64s, ranges: Int32s) -> None:
    """Fill ranges (2, n, K; preset to -1) with begin and end of words[i : i + k + 1] in the suffix array.

    words: int32 (n); words that are not in the corpus are V or greater. offset: int64 (N + 1).
    """
    word_begin = index.word_begin
    for s in range(offset.shape[0] - 1):
        for i in range(offset[s], offset[s + 1]):
            begin, end = 0, 0
            for k in range(min(ranges.shape[2], offset[s + 1] - i)):
                word = words[i + k]
                if word >= word_begin.shape[0] - 1:
                    break

                if k == 0:
                    begin, end = word_begin[word], word_begin[word + 1]
                else:
                    begin = first_from(index, begin, end, k, word)
                    end = first_from(index, begin, end, k, word + 1)

                if begin == end:
                    break
                ranges[0, i, k] = begin
                ranges[1, i, k] = end


@leaf_kernel
def list_patterns(block: Int64s, offset: Int64s, limits: RuleLimits, key: Int64s, sentence: Int32s) -> int:
    """List the patterns of each sentence, with repetitions; returns their number.

    block: int64 (n, K), the block of k + 1 words at each position, or 0. key, sentence: the three block
    numbers of each pattern, the first in the highest bits, and its sentence. If `key` is empty, only counts.
    """
    count = 0
    write = key.shape[0] > 0
    for s in range(offset.shape[0] - 1):
        for i in range(offset[s], offset[s + 1]):
            stop = min(offset[s + 1], i + limits.max_span)
            for a in range(1, min(limits.max_symbols, stop - i) + 1):
                if block[i, a - 1] == 0:
                    break
                first = block[i, a - 1] << (2 * BLOCK_BITS)
                if write:
                    key[count] = first
                    sentence[count] = s
                count += 1

                if limits.max_nonterminals < 1:
                    continue
                for j in range(i + a + limits.min_gap, stop):
                    for b in range(1, min(limits.max_symbols - 1 - a, stop - j) + 1):
                        if block[j, b - 1] == 0:
                            break
                        second = first | (block[j, b - 1] << BLOCK_BITS)
                        if write:
                            key[count] = second
                            sentence[count] = s
                        count += 1

                        if limits.max_nonterminals < 2:
                            continue
                        for k in range(j + b + limits.min_gap, stop):
                            for c in range(1, min(limits.max_symbols - 2 - a - b, stop - k) + 1):
                                if block[k, c - 1] == 0:
                                    break
                                if write:
                                    key[count] = second | block[k, c - 1]
                                    sentence[count] = s
                                count += 1
    return count
