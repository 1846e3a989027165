"""Kernels that find the rules of one source pattern in its sampled occurrences, and their word alignments.

A pattern u has up to four variants: u, X u, u X, X u X (bits of the variant: 1 = X before, 2 = X after).
A pair is a variant and a target side; the rules of the grammar are the pairs of all patterns.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.grammar.array_kernels import grown
from itersel.grammar.index_kernels import BEGINS, ENDS, LINK_BEGIN, LINK_HIGH, LINK_LOW
from itersel.grammar.pattern_kernels import RuleLimits
from itersel.storage.arrays import Int32s, Int64s

VARIANTS = 4
BEFORE, AFTER = 1, 2
# bits of the hash of a target side
DIGEST_MASK = 0x7FFFFFFF

# columns of PatternRules.row
NUMBER, VARIANT, LOW, HIGH, LOW_1, HIGH_1, LOW_2, HIGH_2, SYMBOL_BEGIN, DIGEST, PAIR, NEXT = range(12)
ROW_COLUMNS = 12
# columns of PatternRules.pair
FIRST_ROW, LAST_ROW, SLOT, COUNT, RULE, OWN, OWN_FOR = range(7)
PAIR_COLUMNS = 7
# columns of PatternRules.seen
ROW_BEGIN, VARIANT_BITS = 0, 1
# rows of PatternRules.variant_count
ALL_OCCURRENCES, OWN_OCCURRENCES = 0, 1
# columns of the votes: begin and end of an alignment's points, and the number of occurrences with it
VOTED_BEGIN, VOTED_END, VOTES = range(3)


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
    # number in the shard, or -1; OWN rows that are left out for sentence OWN_FOR, or -1
    pair: Int32s
    slot: Int32s  # (a power of two >= 2 F): hash table of pair + 1; 0: empty
    # (max_samples + 1, 2), for each occurrence: ROW_BEGIN, VARIANT_BITS (bit v: variant v)
    seen: Int32s
    order: Int32s  # (F): the pairs, sorted by variant
    variant_count: Int64s  # (2, VARIANTS): ALL_OCCURRENCES and OWN_OCCURRENCES with each variant
    new: Int32s  # (F + 1): the pairs whose rules are to be appended to those of the shard


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
        low, high = min(low, before[0]), max(high, before[1])
        low_1, high_1, low_2, high_2 = before[0], before[1], low_1, high_1

    if after[0] >= 0:
        variant |= AFTER
        low, high = min(low, after[0]), max(high, after[1])
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
    row[count, LOW_1], row[count, HIGH_1] = low_1, high_1
    row[count, LOW_2], row[count, HIGH_2] = low_2, high_2
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
                low, high = block_low if low < 0 else min(low, block_low), max(high, block_high)

    if low < 0:
        return 0, Spans(-1, -1, -1, -1, -1, -1)

    # checked last: the gaps are aligned, but the pattern itself also needs an aligned word
    if low_1 >= 0:
        low, high = min(low, low_1), max(high, high_1)
    if low_2 >= 0:
        low, high = min(low, low_2), max(high, high_2)
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
        seen[number, ROW_BEGIN], seen[number, VARIANT_BITS] = count, 0
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


@leaf_kernel
def write_targets(corpus: IndexedCorpus, pairs: PatternRules, count: int) -> None:
    """Write the target sides of the first `count` rows; fills SYMBOL_BEGIN and DIGEST."""
    target = corpus.target
    row = pairs.row
    symbol = pairs.symbol
    end = 0
    for i in range(count):
        row[i, SYMBOL_BEGIN] = end
        place = int(row[i, LOW])
        stop = row[i, HIGH]
        digest = int(row[i, VARIANT])

        while place < stop:
            if place == row[i, LOW_1]:
                value = -1
                place = int(row[i, HIGH_1])
            elif place == row[i, LOW_2]:
                value = -2
                place = int(row[i, HIGH_2])
            else:
                value = int(target[place])
                place += 1

            symbol[end] = value
            digest = (digest * 1000003 ^ value) & DIGEST_MASK
            end += 1
        row[i, DIGEST] = digest
    row[count, SYMBOL_BEGIN] = end


@leaf_kernel
def same_target(symbol: Int32s, first: int, second: int, length: int) -> bool:
    """Return whether two sequences of symbols are equal."""
    i = 0
    while i < length and symbol[first + i] == symbol[second + i]:
        i += 1
    return i == length


@leaf_kernel
def group_rows(pairs: PatternRules, count: int) -> int:
    """Group the first `count` rows into pairs; returns their number."""
    row = pairs.row
    symbol = pairs.symbol
    pair = pairs.pair
    slot = pairs.slot
    mask = 15
    used = 0
    while mask < 2 * count:
        mask = 2 * mask + 1

    for i in range(count):
        begin = row[i, SYMBOL_BEGIN]
        length = row[i + 1, SYMBOL_BEGIN] - row[i, SYMBOL_BEGIN]
        digest = row[i, DIGEST]
        place = (digest ^ (digest >> 15)) & mask
        found = -1

        while slot[place] != 0 and found < 0:
            other = pair[slot[place] - 1, FIRST_ROW]
            if (
                row[other, DIGEST] == digest
                and row[other, VARIANT] == row[i, VARIANT]
                and row[other + 1, SYMBOL_BEGIN] - row[other, SYMBOL_BEGIN] == length
                and same_target(symbol, row[other, SYMBOL_BEGIN], begin, length)
            ):
                found = slot[place] - 1
            else:
                place = (place + 1) & mask

        row[i, NEXT] = -1
        if found < 0:
            found = used
            used += 1
            slot[place] = used
            pair[found, FIRST_ROW] = i
            pair[found, SLOT] = place
            pair[found, COUNT] = 1
            pair[found, RULE], pair[found, OWN_FOR] = -1, -1
        else:
            row[pair[found, LAST_ROW], NEXT] = i
            pair[found, COUNT] += 1

        row[i, PAIR], pair[found, LAST_ROW] = found, i
    for i in range(used):
        slot[pair[i, SLOT]] = 0
    return used


@leaf_kernel
def write_points(
    corpus: IndexedCorpus, pairs: PatternRules, i: int, lengths: tuple[int, int, int], point: Int32s, end: int
) -> int:
    """Write the alignment of row i to point[end:] (any, 2), symbols of both sides; returns its end."""
    position = corpus.position
    link = corpus.link
    row = pairs.row
    symbol = row[i, VARIANT] & BEFORE

    for block in range(3):
        begin = pairs.sample[row[i, NUMBER], block]
        for p in range(begin, begin + lengths[block]):
            for k in range(position[p, LINK_BEGIN], position[p + 1, LINK_BEGIN]):
                place = link[k] - row[i, LOW]
                if row[i, LOW_1] >= 0 and link[k] >= row[i, HIGH_1]:
                    place -= row[i, HIGH_1] - row[i, LOW_1] - 1
                if row[i, LOW_2] >= 0 and link[k] >= row[i, HIGH_2]:
                    place -= row[i, HIGH_2] - row[i, LOW_2] - 1

                point[end, 0], point[end, 1] = symbol, place
                end += 1
            symbol += 1
        symbol += 1
    return end


@leaf_kernel
def compare_points(point: Int32s, vote: Int32s, a: int, b: int) -> int:
    """Return -1, 0 or 1 if the alignment in row a of `vote` is less than, equal to, or greater than in b."""
    first, second = vote[a, VOTED_BEGIN], vote[b, VOTED_BEGIN]
    length, other_length = vote[a, VOTED_END] - first, vote[b, VOTED_END] - second
    result = 0
    i = 0
    while i < 2 * min(length, other_length) and result == 0:
        result = np.sign(point[first + i // 2, i % 2] - point[second + i // 2, i % 2])
        i += 1
    return np.sign(length - other_length) if result == 0 else result


@kernel
def vote_alignment(
    corpus: IndexedCorpus,
    pairs: PatternRules,
    i: int,
    lengths: tuple[int, int, int],
    point: Int32s,
    vote: Int32s,
) -> tuple[Int32s, Int32s, int]:
    """Find the most frequent alignment of the pair whose first row is i.

    Ties go to the smallest alignment, compared point by point. point: (any, 2), vote: (any, 3), scratch.

    Returns point and vote, grown if needed, and the row of the result in `vote`: the alignment is
    point[vote[line, VOTED_BEGIN] : vote[line, VOTED_END]].
    """
    position = corpus.position
    row = pairs.row
    count = 0
    end = 0
    while i >= 0:
        begin = end
        links = 0
        for block in range(3):
            first = pairs.sample[row[i, NUMBER], block]
            links += position[first + lengths[block], LINK_BEGIN] - position[first, LINK_BEGIN]

        point = grown(point, end + links)
        vote = grown(vote, count + 1)
        end = write_points(corpus, pairs, i, lengths, point, begin)
        vote[count, VOTED_BEGIN] = begin
        vote[count, VOTED_END] = end
        vote[count, VOTES] = 0

        line = 0
        while line < count and compare_points(point, vote, line, count):
            line += 1

        if line == count:
            count += 1
        else:
            end = begin

        vote[line, VOTES] += 1
        i = row[i, NEXT]

    best = 0
    for line in range(1, count):
        more = vote[line, VOTES] - vote[best, VOTES]
        if more > 0 or (more == 0 and compare_points(point, vote, best, line) > 0):
            best = line
    return point, vote, best
