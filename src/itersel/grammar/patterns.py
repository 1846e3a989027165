"""The source patterns of a shard of sentences, and their occurrences in the indexed corpus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.grammar.extract_kernels import Own, Patterns
from itersel.grammar.index_kernels import IndexArrays
from itersel.grammar.match_kernels import Blocks, link_blocks
from itersel.grammar.pattern_kernels import (
    BLOCK_BITS,
    Limits,
    find_bad_block,
    find_blocks,
    list_patterns,
)

BLOCK_MASK = (1 << BLOCK_BITS) - 1
# greater than the number of words of any block
LENGTH_RADIX = 64


def find_patterns(
    index: IndexArrays,
    words: NDArray[np.int32],
    offset: NDArray[np.int64],
    own: Own,
    limits: Limits,
) -> tuple[Patterns, Blocks, NDArray[np.bool_]]:
    """Find all patterns of sentences, and where their blocks begin in the corpus.

    Parameters
    ----------
    index
        The corpus.
    words, offset
        int32 (n), int64 (N + 1): the sentences, as word numbers of the index; unknown words have higher
        numbers.
    own
        The sentences that are copies of each sentence, each once, and the sentence itself if it is in the
        corpus.
    limits
        Which patterns to look for.

    Returns
    -------
    tuple
        Patterns, blocks, and for each of the n words whether it is a block.
    """
    low, high = np.full((2, words.shape[0], limits.max_symbols), -1, np.int32)
    find_blocks(index.source, index.suffix, index.word_begin, words, offset, low, high)
    block, lows, highs, lengths = _number_blocks(low, high)
    if find_bad_block(index.suffix, index.room, lows, highs, lengths) >= 0:
        raise InputError("damaged index: its array 'suffix' is out of order; recreate the index")
    blocks = _link_blocks(index, block, lows, highs, lengths)
    if own.span.shape[0]:
        only_own = _occurrences(block, offset, own) == (highs - lows)[block]
        # if a block occurs only in what is left out, so does everything that contains it
        block[np.logical_or.accumulate(only_own, axis=1)] = 0
    distinct, begin, sentence = _sort_patterns(block, offset, limits)
    return (
        Patterns(distinct, begin, sentence, own),
        blocks,
        block[:, 0] > 0,
    )


def leave_nothing_out(sentences: int) -> Own:
    """Return what is left out of the grammars of sentences that are not in the corpus."""
    return Own(np.empty((0, 2), np.int64), np.zeros((sentences, 2), np.int64))


def _occurrences(block: NDArray[np.int32], offset: NDArray[np.int64], own: Own) -> NDArray[np.int64]:
    """Return for each block of each sentence how often it occurs in what is left out for the sentence."""
    sentence = np.repeat(np.arange(offset.shape[0] - 1), np.diff(offset))[:, None]
    key = sentence * (int(block.max(initial=0)) + 1) + block
    _, number, count = np.unique(key, return_inverse=True, return_counts=True)
    occurrences: NDArray[np.int64] = count[number].reshape(block.shape) * np.diff(own.group)[sentence[:, 0]]
    return occurrences


def _link_blocks(
    index: IndexArrays,
    block: NDArray[np.int32],
    lows: NDArray[np.int32],
    highs: NDArray[np.int32],
    lengths: NDArray[np.int32],
) -> Blocks:
    """Return the blocks, with tables to look up words of the corpus among them."""
    parent = np.zeros_like(lows)
    parent[block[:, 1:]] = block[:, :-1]
    parent[0] = 0
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
    link_blocks(index.suffix, blocks)
    return blocks


def _number_blocks(
    low: NDArray[np.int32], high: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Assign numbers to blocks from 1, by position in the suffix array, then by length; 0 means no block.

    Returns the numbers (n, K), and the suffix array range and length of each block.
    """
    code = low.astype(np.int64) * LENGTH_RADIX + np.arange(1, low.shape[1] + 1)
    code[low < 0] = 0
    # 0 always comes first, even if no block is missing: the suffixes of words begin above it
    distinct, number = np.unique(np.append(code, 0), return_inverse=True)
    block = number[:-1].reshape(low.shape).astype(np.int32)
    lows, lengths = (distinct // LENGTH_RADIX).astype(np.int32), (distinct % LENGTH_RADIX).astype(np.int32)
    highs = np.zeros_like(lows)
    highs[block] = high
    highs[0] = 0
    return block, lows, highs, lengths


def _sort_patterns(
    block: NDArray[np.int32], offset: NDArray[np.int64], limits: Limits
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct patterns (U, 3) in ascending order, and the sentences of each."""
    if block.max(initial=0) > BLOCK_MASK:
        raise InputError(f"more than {BLOCK_MASK} different phrases; extract smaller shards")
    wide = block.astype(np.int64)
    count = list_patterns(wide, offset, limits, np.empty(0, np.int64), np.empty(0, np.int32))
    key, sentence = np.empty(count, np.int64), np.empty(count, np.int32)
    list_patterns(wide, offset, limits, key, sentence)
    # stable: the sentences of a pattern stay in ascending order
    order = np.argsort(key, kind="stable")
    key, sentence = key[order], sentence[order]
    new_pattern = np.diff(key, prepend=-1) != 0
    kept = new_pattern | (np.diff(sentence, prepend=-1) != 0)
    begin = np.flatnonzero(new_pattern[kept])
    key = key[new_pattern]
    distinct = np.stack([key >> 2 * BLOCK_BITS, key >> BLOCK_BITS & BLOCK_MASK, key & BLOCK_MASK], axis=1)
    return distinct.astype(np.int32), np.append(begin, kept.sum()), sentence[kept]
