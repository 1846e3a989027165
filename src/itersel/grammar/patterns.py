"""The source patterns of sentences, and where their blocks begin in the corpus."""

from __future__ import annotations

import numpy as np

from itersel.corpus.vocabulary import Side
from itersel.errors import InputError
from itersel.grammar.index_kernels import IndexArrays
from itersel.grammar.match_kernels import Blocks, find_bad_block, link_blocks
from itersel.grammar.pattern_kernels import (
    BLOCK_BITS,
    LeftOut,
    Patterns,
    RuleLimits,
    find_blocks,
    list_patterns,
)
from itersel.storage.arrays import Bools, Int32s, Int64s
from itersel.storage.ragged import begins_run, rows_of

BLOCK_MASK = (1 << BLOCK_BITS) - 1
# greater than the number of words of any block
LENGTH_RADIX = 64


def find_patterns(
    index: IndexArrays, side: Side, left_out: LeftOut, limits: RuleLimits
) -> tuple[Patterns, Blocks, Bools]:
    """Find all patterns of sentences, and where their blocks begin in the corpus.

    Arguments as in `extract_rule_table`. Returns patterns, blocks, and whether each word (n) is a block.
    """
    ranges = np.full((2, side.words.shape[0], limits.max_symbols), -1, np.int32)
    find_blocks(index, side.words, side.offset, ranges)
    block, blocks = _number_blocks(index, *ranges)
    if left_out.span.shape[0]:
        only_left_out = _occurrences(block, side.offset, left_out) == (blocks.high - blocks.low)[block]
        # if a block occurs only in what is left out, so does everything that contains it
        block[np.logical_or.accumulate(only_left_out, axis=1)] = 0
    distinct, begin, sentence = _sort_patterns(block, side.offset, limits)
    return Patterns(distinct, begin, sentence, left_out), blocks, block[:, 0] > 0


def _occurrences(block: Int32s, offset: Int64s, left_out: LeftOut) -> Int64s:
    """Return for each block of each sentence how often it occurs in what is left out for the sentence."""
    sentence = rows_of(offset)[:, None]
    key = sentence * (int(block.max(initial=0)) + 1) + block
    _, number, count = np.unique(key, return_inverse=True, return_counts=True)
    occurrences: Int64s = count[number].reshape(block.shape) * np.diff(left_out.group)[sentence[:, 0]]
    return occurrences


def _number_blocks(index: IndexArrays, low: Int32s, high: Int32s) -> tuple[Int32s, Blocks]:
    """Return the numbers of blocks, int32 (n, K), and the blocks, given their ranges in the suffix array.

    They are numbered from 1, by position in the suffix array, then by length; 0 means no block.
    """
    code = low.astype(np.int64) * LENGTH_RADIX + np.arange(1, low.shape[1] + 1)
    code[low < 0] = 0
    # 0 always comes first, even if no block is missing: the suffixes of words begin above it
    distinct, number = np.unique(np.append(code, 0), return_inverse=True)
    block = number[:-1].reshape(low.shape).astype(np.int32)
    lows = (distinct // LENGTH_RADIX).astype(np.int32)
    lengths = (distinct % LENGTH_RADIX).astype(np.int32)

    highs, parent = np.zeros_like(lows), np.zeros_like(lows)
    highs[block] = high
    parent[block[:, 1:]] = block[:, :-1]
    highs[0] = parent[0] = 0

    edges = 1 << (2 * lows.shape[0]).bit_length()
    blocks = Blocks(
        lows,
        highs,
        lengths,
        parent,
        slot=np.full(lows.shape[0], -1, np.int32),
        longer=np.zeros(lows.shape[0], np.bool_),
        by_word=np.zeros(index.word_begin.shape[0] - 1, np.int32),
        edge=np.zeros(edges, np.int64),
        by_edge=np.zeros(edges, np.int32),
        source=index.source,
        room=index.room,
    )

    if find_bad_block(index.suffix, blocks) >= 0:
        raise InputError("damaged index: its array 'suffix' is out of order; recreate the index")

    link_blocks(index.suffix, blocks)
    return block, blocks


def _sort_patterns(block: Int32s, offset: Int64s, limits: RuleLimits) -> tuple[Int32s, Int64s, Int32s]:
    """Return the distinct patterns (U, 3) in ascending order, and the sentences of each."""
    if block.max(initial=0) > BLOCK_MASK:
        raise InputError(f"more than {BLOCK_MASK} different phrases; extract fewer sentences at a time")

    wide = block.astype(np.int64)
    count = list_patterns(wide, offset, limits, np.empty(0, np.int64), np.empty(0, np.int32))
    key, sentence = np.empty(count, np.int64), np.empty(count, np.int32)
    list_patterns(wide, offset, limits, key, sentence)

    # stable: the sentences of a pattern stay in ascending order
    order = np.argsort(key, kind="stable")
    key, sentence = key[order], sentence[order]

    new_pattern = begins_run(key)
    kept = begins_run(key, sentence)
    begin = np.flatnonzero(new_pattern[kept])
    key = key[new_pattern]
    distinct = np.stack([key >> 2 * BLOCK_BITS, key >> BLOCK_BITS & BLOCK_MASK, key & BLOCK_MASK], axis=1)
    return distinct.astype(np.int32), np.append(begin, kept.sum()), sentence[kept]
