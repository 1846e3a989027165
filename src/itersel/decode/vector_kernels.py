"""Dense and sparse feature vectors of the derivations of a k-best list."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel
from itersel.decode.kbest_kernels import Best
from itersel.decode.scoring_kernels import RuleTable, SentenceRules
from itersel.grammar.array_kernels import sort_stably
from itersel.storage.arrays import Float64s, Int32s, Int64s


@kernel
def dense_vectors(best: Best, rules: SentenceRules, lm_column: int) -> Float64s:
    """Return float64 (k, C): sums over the rules of each derivation, and the language-model column."""
    count = best.score.shape[0]
    columns = rules.dense.shape[1]
    vectors = np.zeros((count, columns))
    for i in range(count):
        for j in range(best.rule_offset[i], best.rule_offset[i + 1]):
            for column in range(columns):
                vectors[i, column] += rules.dense[best.rule[j], column]
        vectors[i, lm_column] = best.lm[i]
    return vectors


@kernel
def sparse_vectors(
    best: Best, rules: SentenceRules, rule_table: RuleTable
) -> tuple[Int32s, Float64s, Int64s]:
    """Return sparse rows (feature, value, offset of k + 1): each feature once per row, in ascending order."""
    count = best.score.shape[0]
    total = 0
    for j in range(best.rule.shape[0]):
        rule = rules.rule[best.rule[j]]
        total += rule_table.feature_offset[rule + 1] - rule_table.feature_offset[rule]

    feature = np.empty(total, np.int32)
    value = np.empty(total, np.float64)
    offset = np.zeros(count + 1, np.int64)
    key = np.empty(total, np.float64)
    buffer_value = np.empty(total, np.float64)
    order = np.empty(total, np.int64)
    other = np.empty(total, np.int64)

    used = 0

    for i in range(count):
        size = 0
        for j in range(best.rule_offset[i], best.rule_offset[i + 1]):
            rule = rules.rule[best.rule[j]]
            for place in range(rule_table.feature_offset[rule], rule_table.feature_offset[rule + 1]):
                key[size] = rule_table.feature[place]
                buffer_value[size] = rule_table.feature_value[place]
                order[size] = size
                size += 1

        sort_stably(order, key, other, size)
        for j in range(size):
            place = order[j]
            if used > offset[i] and feature[used - 1] == key[place]:
                value[used - 1] += buffer_value[place]
            else:
                feature[used] = key[place]
                value[used] = buffer_value[place]
                used += 1

        offset[i + 1] = used
    return feature[:used], value[:used], offset
