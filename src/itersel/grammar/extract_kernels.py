"""The kernels that extract the grammars of a whole shard, pattern by pattern.

Shapes: U = distinct patterns, I = pairs of a pattern and a sentence with it, M = max_samples, R = rules,
G = rows (a rule in the grammar of a sentence).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.grammar.array_kernels import grown, run_end
from itersel.grammar.match_kernels import (
    Blocks,
    Matches,
    match_seconds,
    match_thirds,
    size_seconds,
    sort_positions,
    take_sample,
)
from itersel.grammar.pattern_kernels import RuleLimits
from itersel.grammar.rule_kernels import (
    AFTER,
    ALL_OCCURRENCES,
    BEFORE,
    COUNT,
    FIRST_ROW,
    OWN,
    OWN_FOR,
    OWN_OCCURRENCES,
    PAIR,
    ROW_BEGIN,
    RULE,
    SYMBOL_BEGIN,
    VARIANT,
    VARIANT_BITS,
    VARIANTS,
    VOTED_BEGIN,
    VOTED_END,
    IndexedCorpus,
    PatternRules,
    find_rows,
    group_rows,
    vote_alignment,
    write_targets,
)
from itersel.storage.arrays import Int32s, Int64s

# elements of Rules.size
RULES, SOURCES, TARGETS, POINTS, ROWS = range(5)
# columns of Rules.row
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


class Own(NamedTuple):
    """What is left out of the grammar of a sentence: the sentence itself in the corpus, and its copies."""

    span: Int64s  # (M, 2): source positions in groups, ascending in each
    group: Int64s  # (N, 2): begin and end of each sentence's group


class Patterns(NamedTuple):
    """The distinct patterns of a shard, and the sentences in which they occur."""

    block: Int32s  # (U, 3): ascending; 0: no block
    begin: Int64s  # (U + 1): the begin of each pattern's sentences
    sentence: Int32s  # (I): the sentences, grouped by pattern
    own: Own


@kernel
def extract_pairs(
    corpus: IndexedCorpus,
    lengths: tuple[int, int, int],
    limits: RuleLimits,
    samples: int,
    pairs: PatternRules,
) -> int:
    """Extract the pairs of all sampled occurrences; fills order and variant_count, returns their number."""
    gaps = (1 if lengths[1] > 0 else 0) + (1 if lengths[2] > 0 else 0)
    symbols = lengths[0] + lengths[1] + lengths[2] + gaps
    edges = min(2, limits.max_nonterminals - gaps, limits.max_symbols - symbols)

    rows = find_rows(corpus, pairs, samples, lengths, limits, edges)
    write_targets(corpus, pairs, rows)
    count = group_rows(pairs, rows)
    ordered = 0

    for variant in range(VARIANTS):
        occurrences = 0
        for number in range(samples):
            occurrences += (pairs.seen[number, VARIANT_BITS] >> variant) & 1
        pairs.variant_count[ALL_OCCURRENCES, variant] = occurrences

        if occurrences > 0:
            for pair in range(count):
                if pairs.row[pairs.pair[pair, FIRST_ROW], VARIANT] == variant:
                    pairs.order[ordered] = pair
                    ordered += 1
    return count


@leaf_kernel
def is_in_own(own: Own, sentence: int, first: int, last: int) -> bool:
    """Return whether positions `first` to `last` are in a span that is left out for a sentence."""
    low, high = own.group[sentence, 0], own.group[sentence, 1]
    # the last span that does not begin after `first`
    while low < high:
        middle = (low + high) // 2
        if own.span[middle, 0] <= first:
            low = middle + 1
        else:
            high = middle
    return low > own.group[sentence, 0] and last < own.span[low - 1, 1]


@leaf_kernel
def count_own(samples: int, sentence: int, own: Own, pairs: PatternRules) -> int:
    """Count the sampled occurrences that are left out for a sentence, and return their number.

    Fills OWN of their pairs, with OWN_FOR = sentence, and variant_count[OWN_OCCURRENCES].
    """
    left_out = 0
    count = pairs.variant_count
    for variant in range(VARIANTS):
        count[OWN_OCCURRENCES, variant] = 0

    for number in range(samples):
        if is_in_own(own, sentence, pairs.sample[number, 0], pairs.sample[number, 0]):
            left_out += 1
            for i in range(pairs.seen[number, ROW_BEGIN], pairs.seen[number + 1, ROW_BEGIN]):
                pair = pairs.row[i, PAIR]
                if pairs.pair[pair, OWN_FOR] != sentence:
                    pairs.pair[pair, OWN_FOR], pairs.pair[pair, OWN] = sentence, 0
                pairs.pair[pair, OWN] += 1

            for variant in range(VARIANTS):
                count[OWN_OCCURRENCES, variant] += (pairs.seen[number, VARIANT_BITS] >> variant) & 1
    return left_out


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
    row = rules.row
    variant_count = pairs.variant_count
    end = rules.size[ROWS]
    new = 0
    passing = -1

    for k in range(patterns.begin[pattern], patterns.begin[pattern + 1]):
        sentence = patterns.sentence[k]
        own = 0
        i = 0
        if patterns.own.group[sentence, 0] < patterns.own.group[sentence, 1]:
            own = count_own(samples, sentence, patterns.own, pairs)

        for variant in range(VARIANTS):
            others = variant_count[ALL_OCCURRENCES, variant]
            if own > 0:
                others -= variant_count[OWN_OCCURRENCES, variant]

            while i < count and pairs.row[pair[order[i], FIRST_ROW], VARIANT] == variant:
                this = order[i]
                i += 1
                times = pair[this, COUNT] - (pair[this, OWN] if pair[this, OWN_FOR] == sentence else 0)
                if times == 0:
                    continue

                if pair[this, RULE] < 0:
                    pair[this, RULE] = rules.size[RULES] + new
                    pairs.new[new] = this
                    new += 1

                row[end, ROW_RULE] = pair[this, RULE]
                row[end, ROW_SENTENCE] = sentence
                row[end, ROW_SAMPLES] = samples - own
                row[end, ROW_COUNT] = times
                row[end, ROW_SINGLETON] = others == 1
                end += 1

            if variant == 0 and is_word:
                if passing < 0:
                    passing = rules.size[RULES] + new
                    pairs.new[new] = PASS
                    new += 1

                row[end, ROW_RULE] = passing
                row[end, ROW_SENTENCE] = sentence
                row[end, ROW_SAMPLES] = 0
                row[end, ROW_COUNT] = 0
                row[end, ROW_SINGLETON] = 0
                end += 1

    rules.size[ROWS] = end
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
    size, length = rules.size, blocks.length
    lengths = (int(length[block[0]]), int(length[block[1]]), int(length[block[2]]))
    point, vote = np.empty((0, 2), np.int32), np.empty((0, 3), np.int32)

    for number in range(new):
        pair = pairs.new[number]
        row = -1 if pair == PASS else int(pairs.pair[pair, FIRST_ROW])
        write_source(corpus, blocks, block, 0 if row < 0 else int(pairs.row[row, VARIANT]), rules)

        if row < 0:
            rules.target[size[TARGETS], 0] = rules.source[size[SOURCES] - 1, 0]
            rules.point[size[POINTS], 0] = rules.point[size[POINTS], 1] = 0
            size[TARGETS] += 1
            size[POINTS] += 1
        else:
            for i in range(pairs.row[row, SYMBOL_BEGIN], pairs.row[row + 1, SYMBOL_BEGIN]):
                rules.target[size[TARGETS], 0] = pairs.symbol[i]
                size[TARGETS] += 1

            point, vote, line = vote_alignment(corpus, pairs, row, lengths, point, vote)
            for i in range(vote[line, VOTED_BEGIN], vote[line, VOTED_END]):
                rules.point[size[POINTS], 0], rules.point[size[POINTS], 1] = point[i, 0], point[i, 1]
                size[POINTS] += 1

        for i in range(3):
            rules.end[size[RULES], i] = size[SOURCES + i]
        size[RULES] += 1


@kernel
def extract_rules(
    corpus: IndexedCorpus,
    patterns: Patterns,
    blocks: Blocks,
    limits: RuleLimits,
    batch: int,
    pairs: PatternRules,
    rules: RuleBuffer,
) -> RuleBuffer:
    """Extract the rules of all patterns; returns `rules`, grown as needed.

    Patterns with the same first block, or the same first two, are matched together.
    batch: number of occurrences of two-block patterns to list at a time (always at least one pattern).
    """
    block = patterns.block
    none = np.empty(0, np.int32)
    group_end = 0
    pair_end = 0
    pair = 0
    pair_begin = 0
    listed = 0
    listed_end = 0
    positions = none
    begin = np.zeros(1, np.int64)
    seconds = thirds = Matches(begin, none, none, none, none)

    for pattern in range(block.shape[0]):
        u, v, w = block[pattern, 0], block[pattern, 1], block[pattern, 2]
        distance = blocks.length[u] + limits.min_gap

        if pattern == group_end:
            group_end, pair_end = run_end(block[:, 0], pattern, block.shape[0]), pattern + 1
            if pair_end < group_end:
                positions = sort_positions(corpus.suffix[blocks.low[u] : blocks.high[u]])
                begin = size_seconds(blocks, limits, positions, distance, block[pair_end:group_end, 1])
                pair = -1
                listed_end = 0
        elif pattern == pair_end:
            pair_begin, pair_end = pattern, run_end(block[:, 1], pattern, group_end)
            pair += 1

            if pair == listed_end:
                listed = pair
                listed_end = pair + 1
                end = pattern
                while listed_end < begin.shape[0] - 1 and begin[listed_end + 1] - begin[pair] <= batch:
                    listed_end += 1
                for _ in range(listed, listed_end):
                    end = run_end(block[:, 1], end, group_end)
                seconds = match_seconds(
                    blocks, limits, positions, distance, block[pattern:end, 1], begin[listed : listed_end + 1]
                )

        if v == 0:
            first = second = third = corpus.suffix[blocks.low[u] : blocks.high[u]]
            last = 0
        elif w == 0:
            low, high = seconds.begin[pair - listed], seconds.begin[pair - listed + 1]
            first, last = seconds.first[low:high], int(seconds.last[pair - listed])
            second = third = seconds.second[low:high]
            if pattern + 1 < pair_end:
                gap = blocks.length[v] + limits.min_gap
                thirds = match_thirds(blocks, limits, first, second, gap, block[pattern + 1 : pair_end, 2])
        else:
            low, high = thirds.begin[pattern - pair_begin - 1], thirds.begin[pattern - pair_begin]
            first = thirds.first[low:high]
            second = thirds.second[low:high]
            third = thirds.third[low:high]
            last = int(thirds.last[pattern - pair_begin - 1])

        begins = patterns.begin[pattern]
        ends = patterns.begin[pattern + 1]
        if first.shape[0] == 0:
            continue

        # a pattern of one sentence, in which all its occurrences are left out
        alone = v > 0 and ends - begins == 1
        if alone and is_in_own(patterns.own, patterns.sentence[begins], first[0], last):
            continue

        samples = take_sample(first, second, third, pairs.sample)
        lengths = (int(blocks.length[u]), int(blocks.length[v]), int(blocks.length[w]))
        count = extract_pairs(corpus, lengths, limits, samples, pairs)

        is_word = v == 0 and lengths[0] == 1
        if count > 0 or is_word:
            rules = make_room(rules, count, ends - begins, limits)
            new = append_rows(patterns, pattern, is_word, samples, count, pairs, rules)
            append_rules(corpus, blocks, block[pattern], new, pairs, rules)
    return rules


@kernel
def place_rows(row: Int32s, offset: Int64s) -> Int32s:
    """Return the columns of Rules.row, (5, G), stably sorted by sentence.

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
