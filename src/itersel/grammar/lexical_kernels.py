"""Kernels of the lexical table: an open-addressing hash table from word pairs to costs.

Shapes: C = slots, a power of two. A slot holds the key, source word << 32 | target word (0: empty slot;
word 0 is NULL), and the costs, -log10 p(f|e) and -log10 p(e|f).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.compile.jit import kernel, leaf_kernel

# -log10 of a probability of zero, as in cdec
INFINITE_COST = 99.0

MIX = np.uint64(0x9E3779B97F4A7C15)
HIGH_HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)


@leaf_kernel
def find_pair(pair_key: NDArray[np.uint64], source: int, target: int) -> int:
    """Return the slot of a word pair, or the empty slot where it belongs."""
    key = (np.uint64(source) << HIGH_HALF) | np.uint64(target)
    mask = pair_key.shape[0] - 1
    # Fibonacci hashing mixes the high bits best
    slot = np.int64((key * MIX) >> HIGH_HALF) & mask
    while pair_key[slot] != key and pair_key[slot] != 0:
        slot = (slot + 1) & mask
    return int(slot)


@leaf_kernel
def fill_table(
    pair: NDArray[np.uint64],
    cost: NDArray[np.float32],
    pair_key: NDArray[np.uint64],
    pair_cost: NDArray[np.float32],
) -> None:
    """Insert the keys of distinct word pairs and their costs (pairs, 2) into an empty table."""
    for i in range(pair.shape[0]):
        slot = find_pair(pair_key, pair[i] >> HIGH_HALF, pair[i] & LOW_HALF)
        pair_key[slot] = pair[i]
        pair_cost[slot, 0], pair_cost[slot, 1] = cost[i, 0], cost[i, 1]


@kernel
def rule_costs(
    pair_key: NDArray[np.uint64],
    pair_cost: NDArray[np.float32],
    source: NDArray[np.int32],
    source_offset: NDArray[np.int64],
    target: NDArray[np.int32],
    target_offset: NDArray[np.int64],
    longest: int,
) -> NDArray[np.float32]:
    """Return MaxLexFgivenE and MaxLexEgivenF of R rules, (R, 2); `longest`: maximum length of a target side.

    source, target: symbols; negative ones are nonterminals. The offsets: int64 (R + 1).
    """
    cost = np.empty((source_offset.shape[0] - 1, 2), np.float32)
    best = np.empty(longest, np.float32)
    for rule in range(cost.shape[0]):
        source_begin, target_begin = source_offset[rule], target_offset[rule]
        target_length = target_offset[rule + 1] - target_begin
        for j in range(target_length):
            best[j] = INFINITE_COST
        source_given_target, target_given_source = 0.0, 0.0
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
                slot = find_pair(pair_key, word, other)
                if pair_key[slot] != 0:
                    best_source = min(best_source, pair_cost[slot, 0])
                    if other > 0:
                        best[j] = min(best[j], pair_cost[slot, 1])
            if word > 0:
                source_given_target += best_source
        for j in range(target_length):
            if target[target_begin + j] > 0:
                target_given_source += best[j]
        cost[rule, 0], cost[rule, 1] = source_given_target, target_given_source
    return cost
