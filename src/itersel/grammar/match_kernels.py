"""Kernels that find where the patterns of a shard occur in the indexed corpus.

Shapes: B = blocks (see pattern_kernels), D = words of the longest block beside a gap, T = positions of
the corpus.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.array_kernels import accumulate
from itersel.grammar.pattern_kernels import Limits
from itersel.jit import kernel, leaf_kernel


class Blocks(NamedTuple):
    """The blocks of a shard; row 0 of the first three stands for no block.

    low, high: int32 (B + 1), the range of the suffix array; length: int32 (B + 1), words.
    at: int32 (T, D), at[p, d]: the block of d + 1 words that begins at position p, or 0.
    position: int32; position_begin: int64 (B + 2), where each block begins in the corpus, ascending.
    room: uint8 (T), words from a position to the end of its sentence, at most 255.
    slot: int32 (B + 1), scratch, all -1 between calls.
    """

    low: NDArray[np.int32]
    high: NDArray[np.int32]
    length: NDArray[np.int32]
    at: NDArray[np.int32]
    position: NDArray[np.int32]
    position_begin: NDArray[np.int64]
    room: NDArray[np.uint8]
    slot: NDArray[np.int32]


class Matches(NamedTuple):
    """Occurrences of some patterns, int32: where the first, second, third block begin.

    begin: int64 (patterns + 1), where those of each pattern begin. Ordered by position of the first
    block, then of the second, then of the third.
    """

    begin: NDArray[np.int64]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    third: NDArray[np.int32]


@kernel
def locate_blocks(
    suffix: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    length: NDArray[np.int32],
    at: NDArray[np.int32],
    position_begin: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Fill `at` (preset to 0) and position_begin (preset to 0); returns position. See `Blocks`."""
    depth = at.shape[1]
    for block in range(1, low.shape[0]):
        position_begin[block + 1] = position_begin[block]
        if length[block] <= depth:
            position_begin[block + 1] += high[block] - low[block]
            for k in range(low[block], high[block]):
                at[suffix[k], length[block] - 1] = block
    position = np.empty(position_begin[-1], np.int32)
    filled = position_begin.copy()
    for p in range(at.shape[0]):
        for d in range(depth):
            block = at[p, d]
            if block == 0:
                break
            position[filled[block]] = p
            filled[block] += 1
    return position


@leaf_kernel
def fill_slots(slot: NDArray[np.int32], block: NDArray[np.int32]) -> int:
    """Give the different blocks of an ascending list numbers in `slot`; returns how many there are."""
    count = 0
    for i in range(block.shape[0]):
        if slot[block[i]] < 0:
            slot[block[i]] = count
            count += 1
    return count


@kernel
def match_seconds(blocks: Blocks, limits: Limits, first: int, seconds: NDArray[np.int32]) -> Matches:
    """Return the occurrences of u X v for u = `first` and every different v of `seconds` (ascending)."""
    slot, at, room = blocks.slot, blocks.at, blocks.room
    count = fill_slots(slot, seconds)
    begin = np.zeros(count + 2, np.int64)
    found_first = found_second = np.empty(0, np.int32)
    distance = blocks.length[first] + limits.min_gap
    for fill in range(2):
        for k in range(blocks.position_begin[first], blocks.position_begin[first + 1]):
            p = blocks.position[k]
            stop = p + min(limits.max_span, room[p])
            for q in range(p + distance, stop):
                for d in range(min(at.shape[1], stop - q)):
                    block = at[q, d]
                    if block == 0:
                        break
                    place = slot[block]
                    if place >= 0:
                        if fill:
                            found_first[begin[place + 1]], found_second[begin[place + 1]] = p, q
                            begin[place + 1] += 1
                        else:
                            begin[place + 2] += 1
        if not fill:
            accumulate(begin)
            found_first, found_second = np.empty(begin[-1], np.int32), np.empty(begin[-1], np.int32)
    for block in seconds:
        slot[block] = -1
    return Matches(begin[:-1], found_first, found_second, found_second)


@kernel
def match_thirds(
    blocks: Blocks,
    limits: Limits,
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    distance: int,
    thirds: NDArray[np.int32],
) -> Matches:
    """Return the occurrences of u X v X w for every w of `thirds` (ascending, none twice).

    first, second: the occurrences of u X v. distance: of the earliest third block from the second.
    """
    slot, at, room = blocks.slot, blocks.at, blocks.room
    count = fill_slots(slot, thirds)
    begin = np.zeros(count + 2, np.int64)
    found = np.empty((3, 0), np.int32)
    for fill in range(2):
        for k in range(first.shape[0]):
            stop = first[k] + min(limits.max_span, room[first[k]])
            for r in range(second[k] + distance, stop):
                for d in range(min(at.shape[1], stop - r)):
                    block = at[r, d]
                    if block == 0:
                        break
                    place = slot[block]
                    if place >= 0:
                        if fill:
                            row = begin[place + 1]
                            found[0, row], found[1, row], found[2, row] = first[k], second[k], r
                            begin[place + 1] += 1
                        else:
                            begin[place + 2] += 1
        if not fill:
            accumulate(begin)
            found = np.empty((3, begin[-1]), np.int32)
    for block in thirds:
        slot[block] = -1
    return Matches(begin[:-1], found[0], found[1], found[2])


@leaf_kernel
def take_sample(
    first: NDArray[np.int32], second: NDArray[np.int32], third: NDArray[np.int32], sample: NDArray[np.int32]
) -> int:
    """Take evenly spaced occurrences into `sample` (M, 3), all if they fit; returns how many.

    Of n occurrences, the k-th of M taken is number round(k n / M), as in cdec.
    """
    total, size = first.shape[0], sample.shape[0]
    for k in range(min(total, size)):
        i = k if total <= size else (2 * k * total + size) // (2 * size)
        sample[k, 0], sample[k, 1], sample[k, 2] = first[i], second[i], third[i]
    return int(min(total, size))
