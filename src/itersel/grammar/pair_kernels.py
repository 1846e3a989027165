"""Kernels that find the pairs of one source pattern: its different rules, and the alignment of each."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.grammar.array_kernels import grown
from itersel.grammar.index_kernels import LINK_BEGIN
from itersel.grammar.pattern_kernels import RuleLimits
from itersel.grammar.rule_kernels import (
    ALL_OCCURRENCES,
    BEFORE,
    COUNT,
    DIGEST,
    FIRST_ROW,
    HIGH,
    HIGH_1,
    HIGH_2,
    LAST_ROW,
    LEFT_OUT_FOR,
    LOW,
    LOW_1,
    LOW_2,
    NEXT,
    NUMBER,
    PAIR,
    RULE,
    SLOT,
    SYMBOL_BEGIN,
    VARIANT,
    VARIANT_BITS,
    VARIANTS,
    IndexedCorpus,
    PatternRules,
    find_rows,
)
from itersel.storage.arrays import Int32s

# bits of the hash of a target side
DIGEST_MASK = 0x7FFFFFFF
# columns of the votes: begin and end of an alignment's points, and the number of occurrences with it
VOTED_BEGIN, VOTED_END, VOTES = range(3)


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
            pair[found, RULE] = -1
            pair[found, LEFT_OUT_FOR] = -1
        else:
            row[pair[found, LAST_ROW], NEXT] = i
            pair[found, COUNT] += 1

        row[i, PAIR] = found
        pair[found, LAST_ROW] = i

    for i in range(used):
        slot[pair[i, SLOT]] = 0
    return used


@kernel
def find_pairs(
    corpus: IndexedCorpus,
    lengths: tuple[int, int, int],
    limits: RuleLimits,
    samples: int,
    pairs: PatternRules,
) -> int:
    """Find the pairs of all sampled occurrences; fills order and variant_count, returns their number."""
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

                point[end, 0] = symbol
                point[end, 1] = place
                end += 1
            symbol += 1
        symbol += 1
    return end


@leaf_kernel
def compare_points(point: Int32s, vote: Int32s, a: int, b: int) -> int:
    """Return -1, 0 or 1 if the alignment in row a of `vote` is less than, equal to, or greater than in b."""
    first = vote[a, VOTED_BEGIN]
    second = vote[b, VOTED_BEGIN]
    length = vote[a, VOTED_END] - first
    other_length = vote[b, VOTED_END] - second
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
