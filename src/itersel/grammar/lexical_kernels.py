"""Kernels of the lexical table: an open-addressing hash table from word pairs to costs.

Shapes: C = slots, a power of two. A slot holds the key, source word << 32 | target word (0: empty slot;
word 0 is NULL), and the costs, -log10 p(f|e) and -log10 p(e|f).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.jit import leaf_kernel

# -log10 of a probability of zero, as in cdec
INFINITE_COST = 99.0

MIX = np.uint64(0x9E3779B97F4A7C15)
HIGH_HALF = np.uint64(32)


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
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    cost: NDArray[np.float32],
    pair_key: NDArray[np.uint64],
    pair_cost: NDArray[np.float32],
) -> None:
    """Insert distinct word pairs and their costs (pairs, 2) into an empty table."""
    for i in range(source.shape[0]):
        slot = find_pair(pair_key, source[i], target[i])
        pair_key[slot] = (np.uint64(source[i]) << HIGH_HALF) | np.uint64(target[i])
        pair_cost[slot, 0], pair_cost[slot, 1] = cost[i, 0], cost[i, 1]


@leaf_kernel
def lexical_costs(
    pair_key: NDArray[np.uint64],
    pair_cost: NDArray[np.float32],
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    best: NDArray[np.float32],
) -> tuple[float, float]:
    """Return MaxLexFgivenE and MaxLexEgivenF of a rule.

    source, target: symbols; negative ones are nonterminals. best: scratch, at least as long as target.
    """
    for j in range(target.shape[0]):
        best[j] = INFINITE_COST
    source_given_target, target_given_source = 0.0, 0.0
    # i = -1 is NULL on the source side; the last j is NULL on the target side
    for i in range(-1, source.shape[0]):
        word = 0 if i < 0 else source[i]
        if word < 0:
            continue
        best_source = INFINITE_COST
        for j in range(target.shape[0] + 1):
            other = target[j] if j < target.shape[0] else 0
            if other < 0 or (word == 0 and other == 0):
                continue
            slot = find_pair(pair_key, word, other)
            if pair_key[slot] != 0:
                best_source = min(best_source, pair_cost[slot, 0])
                if other > 0:
                    best[j] = min(best[j], pair_cost[slot, 1])
        if word > 0:
            source_given_target += best_source
    for j in range(target.shape[0]):
        if target[j] > 0:
            target_given_source += best[j]
    return source_given_target, target_given_source
