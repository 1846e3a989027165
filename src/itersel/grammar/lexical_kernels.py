"""Kernels of the lexical table: an open-addressing hash table from word pairs to costs.

Shapes: C = slots, a power of two. A slot contains the key, source word << 32 | target word (0: empty slot;
word 0 is NULL), and the costs, -log10 p(f|e) and -log10 p(e|f).
"""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.grammar.index_kernels import LINK_BEGIN, LOW
from itersel.storage.arrays import Float32s, Int32s, Int64s, UInt64s
from itersel.storage.hash_kernels import GOLDEN_RATIO
from itersel.storage.ragged import Ragged

# -log10 of a probability of zero, as in cdec
INFINITE_COST = 99.0

HIGH_HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
FIRST_SLOTS = 1 << 16


@leaf_kernel
def find_word_pair(pair_key: UInt64s, source: int, target: int) -> int:
    """Return the slot of a word pair, or the empty slot where it belongs."""
    key = (np.uint64(source) << HIGH_HALF) | np.uint64(target)
    mask = pair_key.shape[0] - 1
    slot = np.int64((key * GOLDEN_RATIO) >> HIGH_HALF) & mask
    while pair_key[slot] != key and pair_key[slot] != 0:
        slot = (slot + 1) & mask
    return int(slot)


@leaf_kernel
def count_word_pair(key: UInt64s, count: Int64s, source: int, target: int, number: int) -> int:
    """Count a word pair in a table that is not full; returns 1 if it is new, else 0."""
    slot = find_word_pair(key, source, target)
    is_new = count[slot] == 0
    key[slot] = (np.uint64(source) << HIGH_HALF) | np.uint64(target)
    count[slot] += number
    return int(is_new)


@kernel
def doubled_table(key: UInt64s, count: Int64s) -> tuple[UInt64s, Int64s]:
    """Return a table twice as large with the same pairs and counts."""
    slots = key.shape[0]
    more_key = np.zeros(2 * slots, np.uint64)
    more_count = np.zeros(2 * slots, np.int64)
    for slot in range(slots):
        if count[slot]:
            count_word_pair(more_key, more_count, key[slot] >> HIGH_HALF, key[slot] & LOW_HALF, count[slot])
    return more_key, more_count


@kernel
def count_pairs(
    source: Int32s, target: Int32s, position: Int32s, link: Int32s, span: Int32s
) -> tuple[UInt64s, Int64s]:
    """Return a table (C) of the counts of all pairs of linked words; 0 in empty slots.

    source, target: words of all positions; a word without links is linked to NULL, except sentence ends.
    position, link: see `index_kernels.IndexArrays`; span: see `index_kernels.sort_links`.
    """
    key = np.zeros(FIRST_SLOTS, np.uint64)
    count = np.zeros(FIRST_SLOTS, np.int64)
    filled = 0
    for p in range(source.shape[0]):
        begin, end = position[p, LINK_BEGIN], link.shape[0]
        if p + 1 < source.shape[0]:
            end = position[p + 1, LINK_BEGIN]

        while 2 * (filled + end - begin + 1) > key.shape[0]:
            key, count = doubled_table(key, count)
        for k in range(begin, end):
            filled += count_word_pair(key, count, source[p], target[link[k]], 1)
        if begin == end and source[p] > 0:
            filled += count_word_pair(key, count, source[p], 0, 1)

    for p in range(target.shape[0]):
        if 2 * (filled + 1) > key.shape[0]:
            key, count = doubled_table(key, count)
        if span[p, LOW] < 0:
            filled += count_word_pair(key, count, 0, target[p], 1)
    return key, count


@leaf_kernel
def fill_table(pair: UInt64s, cost: Float32s, pair_key: UInt64s, pair_cost: Float32s) -> None:
    """Insert the keys of distinct word pairs and their costs (pairs, 2) into an empty table."""
    for i in range(pair.shape[0]):
        slot = find_word_pair(pair_key, pair[i] >> HIGH_HALF, pair[i] & LOW_HALF)
        pair_key[slot] = pair[i]
        pair_cost[slot, 0] = cost[i, 0]
        pair_cost[slot, 1] = cost[i, 1]


@kernel
def rule_costs(
    pair_key: UInt64s, pair_cost: Float32s, sources: Ragged, targets: Ragged, longest: int
) -> Float32s:
    """Return MaxLexFgivenE and MaxLexEgivenF of R rules, (R, 2); `longest`: maximum length of a target side.

    sources, targets: symbols, int32; negative ones are nonterminals.
    """
    source, source_offset = sources
    target, target_offset = targets
    cost = np.empty((source_offset.shape[0] - 1, 2), np.float32)
    best = np.empty(longest, np.float32)

    for rule in range(cost.shape[0]):
        source_begin = source_offset[rule]
        target_begin = target_offset[rule]
        target_length = target_offset[rule + 1] - target_begin

        for j in range(target_length):
            best[j] = INFINITE_COST

        source_given_target = 0.0
        target_given_source = 0.0
        # i = -1 is NULL on the source side; the last j is NULL on the target side
        for i in range(-1, source_offset[rule + 1] - source_begin):
            word = 0 if i < 0 else source[source_begin + i]
            if word < 0:
                continue

            best_source = INFINITE_COST
            for j in range(target_length + 1):
                other = target[target_begin + j] if j < target_length else 0
                if other < 0 or (word == 0 and other == 0):
                    continue
                slot = find_word_pair(pair_key, word, other)
                if pair_key[slot] != 0:
                    best_source = min(best_source, pair_cost[slot, 0])
                    if other > 0:
                        best[j] = min(best[j], pair_cost[slot, 1])

            if word > 0:
                source_given_target += best_source

        for j in range(target_length):
            if target[target_begin + j] > 0:
                target_given_source += best[j]

        cost[rule, 0] = source_given_target
        cost[rule, 1] = target_given_source
    return cost
