"""Kernels that put extracted rules into the arrays of a shard.

Shapes: R = rules, G = rows (a rule in the grammar of a sentence), N = sentences.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.lexical_kernels import lexical_costs
from itersel.grammar.table_kernels import ROW_COUNT, ROW_RULE, ROW_SAMPLES, ROW_SENTENCE, ROW_SINGLETON
from itersel.jit import kernel


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
    """Return MaxLexFgivenE and MaxLexEgivenF of rules, (R, 2); `longest`: maximum length of a target side."""
    cost = np.empty((source_offset.shape[0] - 1, 2), np.float32)
    best = np.empty(longest, np.float32)
    for rule in range(cost.shape[0]):
        cost[rule, 0], cost[rule, 1] = lexical_costs(
            pair_key,
            pair_cost,
            source[source_offset[rule] : source_offset[rule + 1]],
            target[target_offset[rule] : target_offset[rule + 1]],
            best,
        )
    return cost


@kernel
def place_rows(
    row: NDArray[np.int32],
    offset: NDArray[np.int64],
    rule: NDArray[np.int32],
    samples: NDArray[np.int32],
    count: NDArray[np.int32],
    singleton: NDArray[np.uint8],
) -> None:
    """Fill rule, samples, count and singleton (G) with the rows, stably sorted by sentence.

    row: (G, 5), see table_kernels.Rules. offset: (N + 1), destination of each sentence's rows.
    """
    filled = offset.copy()
    for i in range(row.shape[0]):
        place = filled[row[i, ROW_SENTENCE]]
        filled[row[i, ROW_SENTENCE]] += 1
        rule[place], samples[place] = row[i, ROW_RULE], row[i, ROW_SAMPLES]
        if samples[place] > 0:
            count[place], singleton[place] = row[i, ROW_COUNT], row[i, ROW_SINGLETON]
