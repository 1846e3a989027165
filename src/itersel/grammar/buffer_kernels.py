"""Kernels that append the rules of one pattern to those of all sentences, and to the grammars of some.

Shapes: R = rules, G = rows (a rule in the grammar of a sentence).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import inline_kernel, kernel, leaf_kernel
from itersel.grammar.array_kernels import grown
from itersel.grammar.match_kernels import Blocks
from itersel.grammar.pair_kernels import VOTED_BEGIN, VOTED_END, vote_alignment
from itersel.grammar.pattern_kernels import LeftOut, Patterns, RuleLimits, is_left_out
from itersel.grammar.rule_kernels import (
    AFTER,
    ALL_OCCURRENCES,
    BEFORE,
    COUNT,
    FIRST_ROW,
    LEFT_OUT,
    LEFT_OUT_FOR,
    LEFT_OUT_OCCURRENCES,
    PAIR,
    ROW_BEGIN,
    RULE,
    SYMBOL_BEGIN,
    VARIANT,
    VARIANT_BITS,
    VARIANTS,
    IndexedCorpus,
    PatternRules,
)
from itersel.storage.arrays import Int32s, Int64s

# elements of RuleBuffer.size
RULES, SOURCES, TARGETS, POINTS, ROWS = range(5)
# columns of RuleBuffer.row
ROW_RULE, ROW_SENTENCE, ROW_SAMPLES, ROW_COUNT, ROW_SINGLETON = range(5)
# instead of a pair: the pass-through rule of a word
PASS = -1


class RuleBuffer(NamedTuple):
    """Extracted rules, and the rows of the grammars in pattern order; grown as needed."""

    size: Int64s  # (5): number of RULES, symbols of each side, POINTS and ROWS in use
    end: Int32s  # (R, 3): end of the source side, the target side and the points of each rule
    source: Int32s  # (symbols, 1), and so is the target
    target: Int32s
    point: Int32s  # (points, 2): alignments
    # (G, 5): ROW_RULE, ROW_SENTENCE, ROW_SAMPLES (sampled occurrences of the source side; 0 for a
    # pass-through rule), ROW_COUNT (of the rule), ROW_SINGLETON (1: only one of these occurrences yields
    # rules)
    row: Int32s


@leaf_kernel
def count_left_out(samples: int, sentence: int, left_out: LeftOut, pairs: PatternRules) -> int:
    """Count the sampled occurrences that are left out for a sentence, and return their number.

    Fills LEFT_OUT of their pairs, with LEFT_OUT_FOR = sentence, and variant_count[LEFT_OUT_OCCURRENCES].
    """
    found = 0
    count = pairs.variant_count
    for variant in range(VARIANTS):
        count[LEFT_OUT_OCCURRENCES, variant] = 0

    for number in range(samples):
        if is_left_out(left_out, sentence, pairs.sample[number, 0], pairs.sample[number, 0]):
            found += 1
            for i in range(pairs.seen[number, ROW_BEGIN], pairs.seen[number + 1, ROW_BEGIN]):
                pair = pairs.row[i, PAIR]
                if pairs.pair[pair, LEFT_OUT_FOR] != sentence:
                    pairs.pair[pair, LEFT_OUT_FOR] = sentence
                    pairs.pair[pair, LEFT_OUT] = 0
                pairs.pair[pair, LEFT_OUT] += 1

            for variant in range(VARIANTS):
                count[LEFT_OUT_OCCURRENCES, variant] += (pairs.seen[number, VARIANT_BITS] >> variant) & 1

    return found


@inline_kernel
def append_row(
    rules: RuleBuffer, rule: int, sentence: int, samples: int, count: int, is_singleton: bool
) -> None:
    """Append a rule to the grammar of a sentence."""
    row = rules.row
    end = rules.size[ROWS]
    row[end, ROW_RULE] = rule
    row[end, ROW_SENTENCE] = sentence
    row[end, ROW_SAMPLES] = samples
    row[end, ROW_COUNT] = count
    row[end, ROW_SINGLETON] = is_singleton
    rules.size[ROWS] = end + 1


@leaf_kernel
def append_rows(
    patterns: Patterns,
    pattern: int,
    is_word: bool,
    samples: int,
    count: int,
    pairs: PatternRules,
    rules: RuleBuffer,
) -> int:
    """Append the rules of a pattern to the grammars of its sentences; returns how many are `new`.

    With leave-one-out, occurrences in the sentence and its copies are left out without being replaced: the
    sample of a pattern never depends on the sentence. A single-word pattern also gets a pass-through rule.
    """
    pair = pairs.pair
    order = pairs.order
    variant_count = pairs.variant_count
    new = 0
    passing = -1

    for k in range(patterns.begin[pattern], patterns.begin[pattern + 1]):
        sentence = patterns.sentence[k]
        left_out_samples = 0
        if patterns.left_out.group[sentence, 0] < patterns.left_out.group[sentence, 1]:
            left_out_samples = count_left_out(samples, sentence, patterns.left_out, pairs)

        i = 0
        for variant in range(VARIANTS):
            others = variant_count[ALL_OCCURRENCES, variant]
            if left_out_samples > 0:
                others -= variant_count[LEFT_OUT_OCCURRENCES, variant]

            while i < count and pairs.row[pair[order[i], FIRST_ROW], VARIANT] == variant:
                this = order[i]
                i += 1
                times = pair[this, COUNT]
                if pair[this, LEFT_OUT_FOR] == sentence:
                    times -= pair[this, LEFT_OUT]
                if times == 0:
                    continue

                if pair[this, RULE] < 0:
                    pair[this, RULE] = rules.size[RULES] + new
                    pairs.new[new] = this
                    new += 1
                append_row(rules, pair[this, RULE], sentence, samples - left_out_samples, times, others == 1)

            if variant == 0 and is_word:
                if passing < 0:
                    passing = rules.size[RULES] + new
                    pairs.new[new] = PASS
                    new += 1
                append_row(rules, passing, sentence, 0, 0, False)

    return new


@kernel
def make_room(rules: RuleBuffer, pairs: int, sentences: int, limits: RuleLimits) -> RuleBuffer:
    """Return `rules` with capacity for the rules of one pattern that occurs in `sentences` sentences."""
    size = rules.size
    count = pairs + 1
    return RuleBuffer(
        size,
        grown(rules.end, size[RULES] + count),
        grown(rules.source, size[SOURCES] + count * limits.max_symbols),
        grown(rules.target, size[TARGETS] + count * limits.max_span),
        grown(rules.point, size[POINTS] + count * limits.max_span * limits.max_symbols),
        grown(rules.row, size[ROWS] + count * sentences),
    )


@leaf_kernel
def write_source(
    corpus: IndexedCorpus, blocks: Blocks, block: Int32s, variant: int, rules: RuleBuffer
) -> None:
    """Append the source side of a rule."""
    source = rules.source
    end = rules.size[SOURCES]
    gaps = 0

    for i in range(3):
        if (i == 0 and variant & BEFORE) or (i > 0 and block[i] > 0):
            gaps += 1
            source[end, 0] = -gaps
            end += 1

        begin = corpus.suffix[blocks.low[block[i]]]
        for p in range(begin, begin + blocks.length[block[i]]):
            source[end, 0] = corpus.source[p]
            end += 1

    if variant & AFTER:
        source[end, 0] = -gaps - 1
        end += 1

    rules.size[SOURCES] = end


@kernel
def append_rules(
    corpus: IndexedCorpus, blocks: Blocks, block: Int32s, new: int, pairs: PatternRules, rules: RuleBuffer
) -> None:
    """Append the rules of the first `new` pairs in PatternRules.new; block: int32 (3), the pattern."""
    size = rules.size
    length = blocks.length
    lengths = (int(length[block[0]]), int(length[block[1]]), int(length[block[2]]))
    point = np.empty((0, 2), np.int32)
    vote = np.empty((0, 3), np.int32)

    for number in range(new):
        pair = pairs.new[number]
        row = -1 if pair == PASS else int(pairs.pair[pair, FIRST_ROW])
        write_source(corpus, blocks, block, 0 if row < 0 else int(pairs.row[row, VARIANT]), rules)

        if row < 0:
            rules.target[size[TARGETS], 0] = rules.source[size[SOURCES] - 1, 0]
            rules.point[size[POINTS], 0] = 0
            rules.point[size[POINTS], 1] = 0
            size[TARGETS] += 1
            size[POINTS] += 1
        else:
            for i in range(pairs.row[row, SYMBOL_BEGIN], pairs.row[row + 1, SYMBOL_BEGIN]):
                rules.target[size[TARGETS], 0] = pairs.symbol[i]
                size[TARGETS] += 1

            point, vote, line = vote_alignment(corpus, pairs, row, lengths, point, vote)
            for i in range(vote[line, VOTED_BEGIN], vote[line, VOTED_END]):
                rules.point[size[POINTS], 0] = point[i, 0]
                rules.point[size[POINTS], 1] = point[i, 1]
                size[POINTS] += 1

        for i in range(3):
            rules.end[size[RULES], i] = size[SOURCES + i]
        size[RULES] += 1


@kernel
def place_rows(row: Int32s, offset: Int64s) -> Int32s:
    """Return the columns of RuleBuffer.row, (5, G), stably sorted by sentence.

    offset: (sentences + 1), destination of each sentence's rows.
    """
    filled = offset.copy()
    placed = np.empty((row.shape[1], row.shape[0]), np.int32)
    for i in range(row.shape[0]):
        sentence = row[i, ROW_SENTENCE]
        for column in range(row.shape[1]):
            placed[column, filled[sentence]] = row[i, column]
        filled[sentence] += 1
    return placed
