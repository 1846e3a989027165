"""Kernels that append rules to the table of all rules of a shard.

Shapes: R = rules, G = rows (a rule in the grammar of a sentence).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.alignment_kernels import VOTED_BEGIN, VOTED_END, vote_alignment
from itersel.grammar.array_kernels import grown
from itersel.grammar.match_kernels import Blocks
from itersel.grammar.pattern_kernels import Limits
from itersel.grammar.rule_kernels import AFTER, BEFORE, FIRST_ROW, SYMBOL_BEGIN, VARIANT, Pairs
from itersel.jit import kernel, leaf_kernel

# elements of Rules.size
RULES, SOURCES, TARGETS, POINTS, ROWS = range(5)
# columns of Rules.end
SOURCE_END, TARGET_END, POINT_END = range(3)
# columns of Rules.row
ROW_RULE, ROW_SENTENCE, ROW_SAMPLES, ROW_COUNT, ROW_SINGLETON = range(5)
# instead of a pair: the pass-through rule of a word
PASS = -1


class Corpus(NamedTuple):
    """The arrays of `itersel.grammar.index_kernels.IndexArrays` that extraction needs."""

    source: NDArray[np.int32]
    suffix: NDArray[np.int32]
    position: NDArray[np.int32]
    link: NDArray[np.int32]
    target: NDArray[np.int32]


class Rules(NamedTuple):
    """Extracted rules, and the rows of the grammars in pattern order; grown as needed.

    size: int64 (5), number of RULES, symbols of each side, POINTS and ROWS in use.
    end: int32 (R, 3), SOURCE_END, TARGET_END, POINT_END of each rule.
    source, target: int32 (symbols, 1); point: int32 (points, 2), alignments.
    row: int32 (G, 5), ROW_RULE, ROW_SENTENCE, ROW_SAMPLES (sampled occurrences of the source side; 0 for
        a pass-through rule), ROW_COUNT (of the rule), ROW_SINGLETON (1: only one of these occurrences
        yields rules).
    """

    size: NDArray[np.int64]
    end: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    point: NDArray[np.int32]
    row: NDArray[np.int32]


@kernel
def make_room(rules: Rules, pairs: int, sentences: int, limits: Limits) -> Rules:
    """Return `rules` with capacity for the rules of one pattern that occurs in `sentences` sentences."""
    size, count = rules.size, pairs + 1
    return Rules(
        size,
        grown(rules.end, size[RULES] + count),
        grown(rules.source, size[SOURCES] + count * limits.max_symbols),
        grown(rules.target, size[TARGETS] + count * limits.max_span),
        grown(rules.point, size[POINTS] + count * limits.max_span * limits.max_symbols),
        grown(rules.row, size[ROWS] + count * sentences),
    )


@leaf_kernel
def write_source(
    corpus: Corpus,
    blocks: Blocks,
    block: NDArray[np.int32],
    variant: int,
    source: NDArray[np.int32],
    end: int,
) -> int:
    """Write the source side of a rule to source[end:]; returns its end."""
    gaps = 0
    for i in range(3):
        if (i == 0 and variant & BEFORE) or (i > 0 and block[i] > 0):
            gaps += 1
            source[end, 0], end = -gaps, end + 1
        begin = corpus.suffix[blocks.low[block[i]]]
        for p in range(begin, begin + blocks.length[block[i]]):
            source[end, 0], end = corpus.source[p], end + 1
    if variant & AFTER:
        source[end, 0], end = -gaps - 1, end + 1
    return end


@kernel
def append_rules(
    corpus: Corpus,
    blocks: Blocks,
    block: NDArray[np.int32],
    sample: NDArray[np.int32],
    pairs: Pairs,
    new: NDArray[np.int32],
    rules: Rules,
) -> None:
    """Append the rules of the pairs `new`, in this order.

    block: int32 (3), the pattern; sample: int32 (samples, 3), begins of its blocks.
    """
    size, length = rules.size, blocks.length
    lengths = (int(length[block[0]]), int(length[block[1]]), int(length[block[2]]))
    point, vote = np.empty((0, 2), np.int32), np.empty((0, 3), np.int32)
    for pair in new:
        if pair == PASS:
            variant = 0
            size[SOURCES] = write_source(corpus, blocks, block, variant, rules.source, size[SOURCES])
            rules.target[size[TARGETS], 0] = rules.source[size[SOURCES] - 1, 0]
            rules.point[size[POINTS], 0] = rules.point[size[POINTS], 1] = 0
            size[TARGETS] += 1
            size[POINTS] += 1
        else:
            row = pairs.pair[pair, FIRST_ROW]
            variant = int(pairs.row[row, VARIANT])
            size[SOURCES] = write_source(corpus, blocks, block, variant, rules.source, size[SOURCES])
            for i in range(pairs.row[row, SYMBOL_BEGIN], pairs.row[row + 1, SYMBOL_BEGIN]):
                rules.target[size[TARGETS], 0] = pairs.symbol[i]
                size[TARGETS] += 1
            point, vote, line = vote_alignment(
                corpus.position, corpus.link, pairs.row, row, sample, lengths, point, vote
            )
            for i in range(vote[line, VOTED_BEGIN], vote[line, VOTED_END]):
                rules.point[size[POINTS], 0], rules.point[size[POINTS], 1] = point[i, 0], point[i, 1]
                size[POINTS] += 1
        for i in range(3):
            rules.end[size[RULES], i] = size[SOURCES + i]
        size[RULES] += 1


@kernel
def place_rows(row: NDArray[np.int32], offset: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the columns of Rules.row, (5, G), stably sorted by sentence.

    offset: (sentences + 1), destination of each sentence's rows.
    """
    filled, placed = offset.copy(), np.empty((row.shape[1], row.shape[0]), np.int32)
    for i in range(row.shape[0]):
        sentence = row[i, ROW_SENTENCE]
        for column in range(row.shape[1]):
            placed[column, filled[sentence]] = row[i, column]
        filled[sentence] += 1
    return placed
