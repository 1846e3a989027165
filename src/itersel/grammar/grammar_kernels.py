"""Kernels that put extracted rules into the arrays of a shard.

Shapes: R = rules, G = rows (a rule in the grammar of a sentence), N = sentences.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.lexical_kernels import lexical_costs
from itersel.grammar.table_kernels import ROW_COUNT, ROW_RULE, ROW_SAMPLES, ROW_SENTENCE, ROW_SINGLETON
from itersel.jit import kernel

# columns of the dense features, the order of itersel.limits.GRAMMAR_FEATURES
COHERENT, SAMPLE_COUNT, PAIR_COUNT, LEX_SOURCE, LEX_TARGET, SINGLETON_SOURCE, SINGLETON_PAIR = range(7)


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
    cost: NDArray[np.float32],
    logarithm: NDArray[np.float64],
    rule: NDArray[np.int32],
    dense: NDArray[np.float32],
) -> None:
    """Fill rule (G) and dense (G, 7) with the rows, stably sorted by sentence.

    row: (G, 5), see table_kernels.Rules. offset: (N + 1), destination of each sentence's rows. cost:
    (R, 2), from `rule_costs`. logarithm: float64, log10 of 0, 1, 2, ..., maximum number of samples + 1.
    """
    filled = offset.copy()
    for i in range(row.shape[0]):
        place = filled[row[i, ROW_SENTENCE]]
        filled[row[i, ROW_SENTENCE]] += 1
        rule[place] = row[i, ROW_RULE]
        samples, count = row[i, ROW_SAMPLES], row[i, ROW_COUNT]
        if samples == 0:
            dense[place, :] = 0
            continue
        dense[place, COHERENT] = logarithm[samples] - logarithm[count]
        dense[place, SAMPLE_COUNT], dense[place, PAIR_COUNT] = logarithm[1 + samples], logarithm[1 + count]
        dense[place, LEX_SOURCE], dense[place, LEX_TARGET] = cost[rule[place], 0], cost[rule[place], 1]
        dense[place, SINGLETON_SOURCE] = row[i, ROW_SINGLETON]
        dense[place, SINGLETON_PAIR] = count == 1
