"""Kernels that find the rules of one source pattern in its sampled occurrences.

A pattern u has up to four variants: u, X u, u X, X u X (bits of the variant: 1 = X before, 2 = X after).
A pair is a variant and a target side; the rules of the grammar are the pairs of all patterns, which
`pair_kernels` finds.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from itersel.compile.jit import leaf_kernel
from itersel.grammar.index_kernels import BEGINS, ENDS, LINK_HIGH, LINK_LOW
from itersel.grammar.pattern_kernels import RuleLimits
from itersel.storage.arrays import Int32s, Int64s

VARIANTS = 4
BEFORE, AFTER = 1, 2

# columns of PatternRules.row
NUMBER, VARIANT, LOW, HIGH, LOW_1, HIGH_1, LOW_2, HIGH_2, SYMBOL_BEGIN, DIGEST, PAIR, NEXT = range(12)
ROW_COLUMNS = 12
# columns of PatternRules.pair
FIRST_ROW, LAST_ROW, SLOT, COUNT, RULE, LEFT_OUT, LEFT_OUT_FOR = range(7)
PAIR_COLUMNS = 7
# columns of PatternRules.seen
ROW_BEGIN, VARIANT_BITS = 0, 1
# rows of PatternRules.variant_count
ALL_OCCURRENCES, LEFT_OUT_OCCURRENCES = 0, 1


class IndexedCorpus(NamedTuple):
    """The arrays of `index_kernels.IndexArrays` that extraction needs; with all, it takes 5 % longer."""

    source: Int32s
    suffix: Int32s
    position: Int32s
    link: Int32s
    target: Int32s


class PatternRules(NamedTuple):
    """Scratch arrays for one pattern: the rules found at its sampled occurrences, and their pairs.

    An occurrence yields at most one rule of each variant (docs/extraction.md), so there are at most
    F = VARIANTS * max_samples rules and pairs.
    """

    sample: Int32s  # (max_samples, 3): begins of the blocks of the sampled occurrences
    # (F + 1, 12), for each rule at an occurrence: NUMBER of the occurrence in the sample; VARIANT; LOW, HIGH;
    # LOW_1, HIGH_1; LOW_2, HIGH_2: the target spans of the rule, and of its gaps in source order (-1: no such
    # gap); SYMBOL_BEGIN: begin of its target side in `symbol`, which ends where that of the next row begins;
    # DIGEST: hash of variant and target side; PAIR; NEXT: the next row of the same pair, or -1
    row: Int32s
    symbol: Int32s  # (F * max_span): target sides
    # (F, 7), for each pair: FIRST_ROW, LAST_ROW; SLOT, its position in `slot`; COUNT of rows; RULE, its
    # number among the rules of all sentences, or -1; LEFT_OUT rows that are left out for sentence
    # LEFT_OUT_FOR, or -1
    pair: Int32s
    slot: Int32s  # (a power of two >= 2 F): hash table of pair + 1; 0: empty
    # (max_samples + 1, 2), for each occurrence: ROW_BEGIN, VARIANT_BITS (bit v: variant v)
    seen: Int32s
    order: Int32s  # (F): the pairs, sorted by variant
    variant_count: Int64s  # (2, VARIANTS): ALL_OCCURRENCES and LEFT_OUT_OCCURRENCES with each variant
    new: Int32s  # (F + 1): the pairs whose rules are to be appended to those of all sentences


# begin and end of target positions; (-1, -1): none
Span: TypeAlias = tuple[int, int]


class Spans(NamedTuple):
    """Target spans at an occurrence: of the whole pattern, and of its gaps (-1: no such gap)."""

    low: int
    high: int
    low_1: int
    high_1: int
    low_2: int
    high_2: int


@leaf_kernel
def target_span(position: Int32s, begin: int, end: int) -> Span:
    """Return the span of the target positions that source words are linked to."""
    low, high = -1, -1
    for p in range(begin, end):
        if position[p, LINK_LOW] >= 0:
            if low < 0 or position[p, LINK_LOW] < low:
                low = position[p, LINK_LOW]
            high = max(high, position[p, LINK_HIGH])

    return low, high


@leaf_kernel
def is_phrase(position: Int32s, begin: int, end: int) -> bool:
    """Return whether [begin, end) is an initial phrase."""
    return bool((position[begin, BEGINS] >> (end - begin)) & 1)


@leaf_kernel
def least_length(lengths: int, least: int, most: int) -> int:
    """Return the lowest bit of `lengths` from `least` to `most`, or 0."""
    for length in range(least, most + 1):
        if (lengths >> length) & 1:
            return length
    return 0


@leaf_kernel
def add_row(
    row: Int32s, count: int, number: int, spans: Spans, before: Span, after: Span, max_span: int
) -> int:
    """Write a rule to row[count] unless its target side is too long; returns the number of rows.

    before, after: the target spans of an X at the left and right edge.
    """
    low, high, low_1, high_1, low_2, high_2 = spans
    variant = 0

    if before[0] >= 0:
        variant |= BEFORE
        low = min(low, before[0])
        high = max(high, before[1])
        # the X at the left edge comes before the gaps
        low_2, high_2 = low_1, high_1
        low_1, high_1 = before

    if after[0] >= 0:
        variant |= AFTER
        low = min(low, after[0])
        high = max(high, after[1])
        if low_1 < 0:
            low_1, high_1 = after
        else:
            low_2, high_2 = after

    if high - low > max_span:
        return count

    row[count, NUMBER] = number
    row[count, VARIANT] = variant
    row[count, LOW] = low
    row[count, HIGH] = high
    row[count, LOW_1] = low_1
    row[count, HIGH_1] = high_1
    row[count, LOW_2] = low_2
    row[count, HIGH_2] = high_2
    return count + 1


@leaf_kernel
def find_core(
    position: Int32s, begins: Int32s, number: int, lengths: tuple[int, int, int]
) -> tuple[int, Spans]:
    """Return the end of an occurrence and its target spans; 0 if a gap is no phrase or no word is aligned."""
    end = begins[number, 0] + lengths[0]
    low, high = target_span(position, begins[number, 0], end)
    low_1, high_1 = -1, -1
    low_2, high_2 = -1, -1

    for block in range(1, 3):
        if lengths[block] > 0:
            begin = begins[number, block]
            if not is_phrase(position, end, begin):
                return 0, Spans(-1, -1, -1, -1, -1, -1)

            gap_low, gap_high = target_span(position, end, begin)
            if block == 1:
                low_1, high_1 = gap_low, gap_high
            else:
                low_2, high_2 = gap_low, gap_high

            end = begin + lengths[block]
            block_low, block_high = target_span(position, begin, end)
            if block_low >= 0:
                low = block_low if low < 0 else min(low, block_low)
                high = max(high, block_high)

    if low < 0:
        return 0, Spans(-1, -1, -1, -1, -1, -1)

    # checked last: the gaps are aligned, but the pattern itself also needs an aligned word
    if low_1 >= 0:
        low = min(low, low_1)
        high = max(high, high_1)
    if low_2 >= 0:
        low = min(low, low_2)
        high = max(high, high_2)

    return end, Spans(low, high, low_1, high_1, low_2, high_2)


@leaf_kernel
def find_rows(
    corpus: IndexedCorpus,
    pairs: PatternRules,
    samples: int,
    lengths: tuple[int, int, int],
    limits: RuleLimits,
    edges: int,
) -> int:
    """Fill `row` up to HIGH_2, and `seen`, with the rules of all samples; returns the number of rows.

    lengths: of the blocks, 0: no such block. edges: how many nonterminals may be added at the edges. Only the
    smallest initial phrase is subtracted at an edge (Chiang 2007, section 3), because larger ones give the
    same rule (docs/extraction.md).
    """
    position = corpus.position
    begins = pairs.sample
    row = pairs.row
    seen = pairs.seen
    count = 0
    least = limits.min_gap
    none = (-1, -1)

    for number in range(samples):
        seen[number, ROW_BEGIN] = count
        seen[number, VARIANT_BITS] = 0
        start = begins[number, 0]
        end, spans = find_core(position, begins, number, lengths)
        if end == 0:
            continue

        span = end - start
        room = limits.max_span - span

        if is_phrase(position, start, end):
            count = add_row(row, count, number, spans, none, none, limits.max_span)

        if edges > 0:
            # bit n: the n words before are a phrase, both alone and together with the pattern
            before = least_length(position[start, ENDS] & (position[end, ENDS] >> span), least, room)
            if before > 0:
                gap = target_span(position, start - before, start)
                count = add_row(row, count, number, spans, gap, none, limits.max_span)

            after = least_length(position[end, BEGINS] & (position[start, BEGINS] >> span), least, room)
            if after > 0:
                gap = target_span(position, end, end + after)
                count = add_row(row, count, number, spans, none, gap, limits.max_span)

        for before in range(least, room - least + 1 if edges > 1 else 0):
            if (position[start, ENDS] >> before) & 1:
                whole = position[start - before, BEGINS] >> (before + span)
                after = least_length(position[end, BEGINS] & whole, least, room - before)
                if after > 0:
                    gap = target_span(position, start - before, start)
                    other = target_span(position, end, end + after)
                    count = add_row(row, count, number, spans, gap, other, limits.max_span)
                    break

        for i in range(seen[number, ROW_BEGIN], count):
            seen[number, VARIANT_BITS] |= 1 << row[i, VARIANT]

    seen[samples, ROW_BEGIN] = count
    return count
