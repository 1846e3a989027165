"""Extraction of all rules of a shard, without features, for `itersel.grammar.extract`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.extract_kernels import Own, Work, extract_rules
from itersel.grammar.index_kernels import IndexArrays
from itersel.grammar.pattern_kernels import Limits
from itersel.grammar.patterns import find_patterns
from itersel.grammar.rule_kernels import PAIR_COLUMNS, ROW_COLUMNS, VARIANTS, Pairs
from itersel.grammar.sparse import count_bins
from itersel.grammar.table_kernels import (
    POINT_END,
    POINTS,
    ROW_COUNT,
    ROW_RULE,
    ROW_SENTENCE,
    ROWS,
    RULES,
    SOURCE_END,
    SOURCES,
    TARGET_END,
    TARGETS,
    Corpus,
    Rules,
)
from itersel.storage.ragged import take_rows

# 64 MB. A pattern with more occurrences gets its own batch. The occurrences of a first block are scanned once
# for each batch; with 1 << 20 and a million sentence pairs, they were scanned four times on average.
BATCH = 1 << 23


class RuleTable(NamedTuple):
    """R rules, and G rows that list the rules of each sentence.

    Attributes
    ----------
    source, source_offset, target, target_offset
        int32, int64 (R + 1): symbols; words as in the index, with higher numbers for unknown words.
    point, point_offset
        int32 (points, 2), int64 (R + 1): alignments.
    row
        int32 (G, 5): rule, sentence, sampled occurrences of the source side (0 for a pass-through rule),
        occurrences of the rule, and whether only one occurrence of the source side yields rules. The rules of
        a sentence are sorted by source side; pass-through rules of words not in the corpus come last.
    """

    source: NDArray[np.int32]
    source_offset: NDArray[np.int64]
    target: NDArray[np.int32]
    target_offset: NDArray[np.int64]
    point: NDArray[np.int32]
    point_offset: NDArray[np.int64]
    row: NDArray[np.int32]


def extract_rule_table(
    index: IndexArrays,
    words: NDArray[np.int32],
    offset: NDArray[np.int64],
    own: Own,
    limits: Limits,
    batch: int = BATCH,
) -> RuleTable:
    """Extract the rules of sentences.

    Parameters
    ----------
    index, words, offset, own, limits
        As in `itersel.grammar.patterns.find_patterns`.
    batch
        Number of occurrences of patterns with one gap to hold at a time; affects only memory.
    """
    patterns, blocks, is_block = find_patterns(index, words, offset, own, limits)
    sample = np.empty((limits.max_samples, 3), np.int32)
    pairs = _empty_pairs(limits)
    work = Work(
        sample,
        order=np.empty(pairs.pair.shape[0], np.int32),
        variant_count=np.zeros((2, VARIANTS), np.int64),
        new=np.empty(pairs.pair.shape[0] + 1, np.int32),
    )
    corpus = Corpus(index.source, index.suffix, index.position, index.link, index.target)
    rules = extract_rules(corpus, patterns, blocks, limits, batch, pairs, _empty_rules(), work)
    size, end = rules.size, rules.end[: rules.size[RULES]]
    extracted = RuleTable(
        rules.source[: size[SOURCES], 0],
        _offsets(end[:, SOURCE_END]),
        rules.target[: size[TARGETS], 0],
        _offsets(end[:, TARGET_END]),
        rules.point[: size[POINTS]],
        _offsets(end[:, POINT_END]),
        rules.row[: size[ROWS]],
    )
    sentence = np.repeat(np.arange(offset.shape[0] - 1), np.diff(offset))
    return _pass_through(extracted, words[~is_block], sentence[~is_block])


def _empty_pairs(limits: Limits) -> Pairs:
    """Return tables large enough for all rules of one pattern."""
    capacity = VARIANTS * limits.max_samples
    return Pairs(
        row=np.empty((capacity + 1, ROW_COLUMNS), np.int32),
        symbol=np.empty(capacity * limits.max_span, np.int32),
        pair=np.empty((capacity, PAIR_COLUMNS), np.int32),
        slot=np.zeros(2 << (2 * capacity).bit_length(), np.int32),
        seen=np.empty((limits.max_samples + 1, 2), np.int32),
    )


def _empty_rules() -> Rules:
    return Rules(
        size=np.zeros(5, np.int64),
        end=np.empty((1024, 3), np.int32),
        source=np.empty((1024, 1), np.int32),
        target=np.empty((1024, 1), np.int32),
        point=np.empty((1024, 2), np.int32),
        row=np.empty((1024, 5), np.int32),
    )


def _offsets(end: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.concatenate(([0], end)).astype(np.int64)


def _pass_through(table: RuleTable, words: NDArray[np.int32], sentence: NDArray[np.int64]) -> RuleTable:
    """Append pass-through rules, with rows at the end of their sentences."""
    distinct, rule = np.unique(words, return_inverse=True)
    pairs, first = np.unique(np.stack([sentence, rule.reshape(-1)], axis=1), axis=0, return_index=True)
    # In sentence order, because the numbers of words that are not in the corpus depend on the shard.
    pairs = pairs[np.argsort(first)]
    row = np.zeros((pairs.shape[0], table.row.shape[1]), np.int32)
    row[:, ROW_RULE] = pairs[:, 1] + table.source_offset.shape[0] - 1
    row[:, ROW_SENTENCE] = pairs[:, 0]
    step = np.arange(1, distinct.shape[0] + 1)
    return RuleTable(
        np.append(table.source, distinct),
        np.append(table.source_offset, table.source_offset[-1] + step),
        np.append(table.target, distinct),
        np.append(table.target_offset, table.target_offset[-1] + step),
        np.append(table.point, np.zeros((distinct.shape[0], 2), np.int32), axis=0),
        np.append(table.point_offset, table.point_offset[-1] + step),
        np.append(table.row, row, axis=0),
    )


def split_by_count(table: RuleTable) -> tuple[RuleTable, NDArray[np.uint8]]:
    """Split each rule into one rule per count bin (`itersel.grammar.sparse.count_bins`).

    With leave-one-out, the count of a rule differs between sentences; most rules are in one sentence of a
    shard.

    Returns
    -------
    table, bin
        The rules in the same order, copies of a rule sorted by bin, and their bins, uint8 (R).
    """
    bins = count_bins(table.row[:, ROW_COUNT])
    pair = table.row[:, ROW_RULE].astype(np.int64) << 8 | bins
    distinct, number = np.unique(pair, return_inverse=True)
    row = table.row.copy()
    row[:, ROW_RULE] = number.reshape(-1)
    rules = distinct >> 8
    source, source_offset = take_rows(table.source, table.source_offset, rules)
    target, target_offset = take_rows(table.target, table.target_offset, rules)
    point, point_offset = take_rows(table.point, table.point_offset, rules)
    split = RuleTable(source, source_offset, target, target_offset, point, point_offset, row)
    return split, (distinct & 0xFF).astype(np.uint8)
