"""Kernels for the rules of one source pattern: what its sampled occurrences translate to.

A pattern u has up to four variants: u, X u, u X, X u X (bits of the variant: 1 = X before, 2 = X after).
A pair is a variant with a target side; the rules of the grammar are the pairs of all patterns.

The hot functions take single arrays, not tuples of them: numba counts references of every array of a
tuple at every call, which costs more than what the functions do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.index_kernels import BEGINS, ENDS, LINK_HIGH, LINK_LOW
from itersel.grammar.pattern_kernels import Limits
from itersel.jit import leaf_kernel

VARIANTS = 4
BEFORE, AFTER = 1, 2
# bits of the hash of a target side
DIGEST_MASK = 0x7FFFFFFF

# columns of Pairs.row
NUMBER, VARIANT, LOW, HIGH, LOW_1, HIGH_1, LOW_2, HIGH_2, SYMBOL_BEGIN, DIGEST, PAIR, NEXT, IS_FIRST = range(
    13
)
# columns of Pairs.pair
FIRST_ROW, LAST_ROW, SLOT, COUNT, RULE, OWN, OWN_FOR = range(7)
# columns of Pairs.seen
ROW_BEGIN, VARIANT_BITS = 0, 1
# columns of Pairs.shape are the variant and the six numbers of `shape_of`
SHAPE_COLUMNS = 7


class Pairs(NamedTuple):
    """The rules at all occurrences of a pattern, and the pairs that they are of; F, Y: capacities.

    row: int32 (F + 1, 13), of every rule at an occurrence:
        NUMBER of the occurrence in the sample; VARIANT;
        LOW, HIGH; LOW_1, HIGH_1; LOW_2, HIGH_2: the target spans of the whole, and of its gaps in
        source order (-1: no such gap);
        SYMBOL_BEGIN: where its target side begins in `symbol`, it ends where that of the next row begins;
        DIGEST: hash of variant and target side; PAIR; NEXT: the next row of the same pair, or -1;
        IS_FIRST: whether it is the first row of its pair at this occurrence.
    symbol: int32 (Y), target sides.
    pair: int32 (F, 7), of every pair: FIRST_ROW, LAST_ROW; SLOT, its place in `slot`; COUNT, the
        occurrences that have it; RULE, OWN, OWN_FOR: for the caller, RULE and OWN_FOR preset to -1.
    slot: int32 (a power of two >= 2 F), hash table of pair + 1; 0: empty.
    shape: int32 (any, 7), scratch: of the rules of one occurrence, see `shape_of`.
    seen: int32 (samples + 1, 2), of every occurrence: ROW_BEGIN, VARIANT_BITS (bit v: it has variant v).
    """

    row: NDArray[np.int32]
    symbol: NDArray[np.int32]
    pair: NDArray[np.int32]
    slot: NDArray[np.int32]
    shape: NDArray[np.int32]
    seen: NDArray[np.int32]


@leaf_kernel
def widen(position: NDArray[np.int32], p: int, low: int, high: int) -> tuple[int, int]:
    """Return a target span (-1, -1: none) widened by the links of source word p."""
    if position[p, LINK_LOW] >= 0:
        if low < 0 or position[p, LINK_LOW] < low:
            low = position[p, LINK_LOW]
        high = max(high, position[p, LINK_HIGH])
    return low, high


@leaf_kernel
def target_span(position: NDArray[np.int32], begin: int, end: int) -> tuple[int, int]:
    """Return the span of the target positions that source words are linked to; -1, -1: to none."""
    low, high = -1, -1
    for p in range(begin, end):
        low, high = widen(position, p, low, high)
    return low, high


@leaf_kernel
def join(low: int, high: int, other_low: int, other_high: int) -> tuple[int, int]:
    """Return the span over two target spans; -1, -1: none."""
    if other_low < 0:
        return low, high
    return (other_low if low < 0 else min(low, other_low)), max(high, other_high)


@leaf_kernel
def shape_of(
    low: int, high: int, low_1: int, high_1: int, low_2: int, high_2: int
) -> tuple[int, int, int, int, int, int]:
    """Return the target spans of a rule without what does not change its symbols or their alignment.

    When the gap at an edge grows, the rule mostly stays what it is: only the span of the gap changes.
    So edges that are shared by a gap and the whole, or by two gaps, are replaced by a mark; what
    remains are the target positions of the terminals, and the places of the gaps between them.
    """
    if low_1 >= 0:
        if low == low_1:
            low = low_1 = -2
        if high == high_1:
            high = high_1 = -3
    if low_2 >= 0:
        if low == low_2:
            low = low_2 = -2
        if high == high_2:
            high = high_2 = -3
        if high_1 == low_2:
            high_1 = low_2 = -4
        elif high_2 == low_1:
            high_2 = low_1 = -4
    return low, high, low_1, high_1, low_2, high_2


@leaf_kernel
def is_repeated(
    shape: NDArray[np.int32], count: int, a: int, b: int, c: int, d: int, e: int, f: int, g: int
) -> bool:
    """Return whether one of the first `count` shapes is (a, ..., g); if not, make it the next one."""
    found, i = False, 0
    while i < count and not found:
        found = shape[i, 0] == a and shape[i, 1] == b and shape[i, 2] == c and shape[i, 3] == d
        found = found and shape[i, 4] == e and shape[i, 5] == f and shape[i, 6] == g
        i += 1
    if not found and count < shape.shape[0]:
        shape[count, 0], shape[count, 1], shape[count, 2], shape[count, 3] = a, b, c, d
        shape[count, 4], shape[count, 5], shape[count, 6] = e, f, g
    return found


@leaf_kernel
def is_phrase(position: NDArray[np.int32], begin: int, end: int) -> bool:
    """Return whether [begin, end) is an initial phrase."""
    return bool((position[begin, BEGINS] >> (end - begin)) & 1)


@leaf_kernel
def find_rows(
    position: NDArray[np.int32],
    begins: NDArray[np.int32],
    lengths: tuple[int, int, int],
    limits: Limits,
    edges: int,
    pairs: Pairs,
) -> int:
    """Fill the rows up to HIGH_2, and `seen`, with the rules of all occurrences; returns how many rows.

    Every initial phrase that can be subtracted at an edge gives a rule (Chiang 2007, section 3), but
    rules with one shape are listed once. begins: (samples, 3), where the blocks begin; lengths: of the
    blocks, 0: no such block. edges: how many nonterminals may be added at the edges.
    """
    row, shape, seen = pairs.row, pairs.shape, pairs.seen
    count = 0
    for number in range(begins.shape[0]):
        seen[number, ROW_BEGIN], seen[number, VARIANT_BITS] = count, 0
        start = int(begins[number, 0])
        end = start + lengths[0]
        low, high = target_span(position, start, end)
        inner_low, inner_high, last_low, last_high = -1, -1, -1, -1
        fits = True
        for block in range(1, 3):
            if lengths[block] > 0 and fits:
                begin = int(begins[number, block])
                fits = is_phrase(position, end, begin)
                if block == 1:
                    inner_low, inner_high = target_span(position, end, begin)
                else:
                    last_low, last_high = target_span(position, end, begin)
                end = begin + lengths[block]
                low, high = join(low, high, *target_span(position, begin, end))
        if not fits or low < 0:
            continue
        low, high = join(low, high, inner_low, inner_high)
        low, high = join(low, high, last_low, last_high)
        room, shapes = limits.max_span - (end - start), 0
        before_low, before_high = -1, -1
        for before in range(room + 1 if edges > 0 else 1):
            if before > 0:
                before_low, before_high = widen(position, start - before, before_low, before_high)
                if before < limits.min_gap or not (position[start, ENDS] >> before) & 1:
                    if not position[start, ENDS] >> before:
                        break
                    continue
            # bit n: the n words after the pattern are a phrase (or none), and all together are one
            candidates = position[start - before, BEGINS] >> (before + end - start)
            candidates &= position[end, BEGINS] | 1
            after_low, after_high = -1, -1
            for after in range(room - before + 1 if edges > (before > 0) else 1):
                if not candidates >> after:
                    break
                if after > 0:
                    after_low, after_high = widen(position, end + after - 1, after_low, after_high)
                if not (candidates >> after) & 1 or 0 < after < limits.min_gap:
                    continue
                whole_low, whole_high = join(low, high, before_low, before_high)
                whole_low, whole_high = join(whole_low, whole_high, after_low, after_high)
                if whole_high - whole_low > limits.max_span:
                    break
                low_1, high_1, low_2, high_2 = inner_low, inner_high, last_low, last_high
                if before > 0:
                    low_1, high_1, low_2, high_2 = before_low, before_high, inner_low, inner_high
                if after > 0 and low_1 < 0:
                    low_1, high_1 = after_low, after_high
                elif after > 0:
                    low_2, high_2 = after_low, after_high
                variant = (1 if before > 0 else 0) + (2 if after > 0 else 0)
                b, c, d, e, f, g = shape_of(whole_low, whole_high, low_1, high_1, low_2, high_2)
                if is_repeated(shape, shapes, variant, b, c, d, e, f, g):
                    continue
                shapes = min(shapes + 1, shape.shape[0])
                row[count, NUMBER], row[count, VARIANT] = number, variant
                row[count, LOW], row[count, HIGH] = whole_low, whole_high
                row[count, LOW_1], row[count, HIGH_1] = low_1, high_1
                row[count, LOW_2], row[count, HIGH_2] = low_2, high_2
                seen[number, VARIANT_BITS] |= 1 << variant
                count += 1
    seen[begins.shape[0], ROW_BEGIN] = count
    return count


@leaf_kernel
def write_targets(
    target: NDArray[np.int32], row: NDArray[np.int32], count: int, symbol: NDArray[np.int32]
) -> None:
    """Write the target sides of the first `count` rows; fills SYMBOL_BEGIN and DIGEST."""
    end = 0
    for i in range(count):
        row[i, SYMBOL_BEGIN] = end
        place, stop, digest = int(row[i, LOW]), row[i, HIGH], int(row[i, VARIANT])
        while place < stop:
            if place == row[i, LOW_1]:
                value, place = -1, int(row[i, HIGH_1])
            elif place == row[i, LOW_2]:
                value, place = -2, int(row[i, HIGH_2])
            else:
                value, place = int(target[place]), place + 1
            symbol[end] = value
            digest = (digest * 1000003 ^ value) & DIGEST_MASK
            end += 1
        row[i, DIGEST] = digest
    row[count, SYMBOL_BEGIN] = end


@leaf_kernel
def same_target(symbol: NDArray[np.int32], first: int, second: int, length: int) -> bool:
    """Return whether two stretches of symbols are equal."""
    i = 0
    while i < length and symbol[first + i] == symbol[second + i]:
        i += 1
    return i == length


@leaf_kernel
def group_rows(
    row: NDArray[np.int32],
    count: int,
    symbol: NDArray[np.int32],
    pair: NDArray[np.int32],
    slot: NDArray[np.int32],
    mask: int,
) -> int:
    """Find the pairs of the first `count` rows; returns how many. mask: slots in use - 1."""
    pairs = 0
    for i in range(count):
        begin, length = row[i, SYMBOL_BEGIN], row[i + 1, SYMBOL_BEGIN] - row[i, SYMBOL_BEGIN]
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
        row[i, NEXT], row[i, IS_FIRST] = -1, 1
        if found < 0:
            found, pairs = pairs, pairs + 1
            slot[place] = pairs
            pair[found, FIRST_ROW], pair[found, SLOT], pair[found, COUNT] = i, place, 1
            pair[found, RULE], pair[found, OWN_FOR] = -1, -1
        else:
            last = pair[found, LAST_ROW]
            row[last, NEXT] = i
            if row[last, NUMBER] == row[i, NUMBER]:
                row[i, IS_FIRST] = 0
            else:
                pair[found, COUNT] += 1
        row[i, PAIR], pair[found, LAST_ROW] = found, i
    for i in range(pairs):
        slot[pair[i, SLOT]] = 0
    return pairs
