"""Kernels that match source patterns in the indexed corpus; `pattern_kernels` finds those of sentences.

No scratch array is as large as the corpus: corpus words are looked up among the sentences' blocks as they are
scanned, and for frequent patterns only samples are kept, or a batch of second blocks is listed at a time.

Shapes: B = blocks, V = words of the index, T = words of the corpus.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.grammar.array_kernels import accumulate
from itersel.grammar.pattern_kernels import RuleLimits
from itersel.storage.arrays import Bools, Int32s, Int64s, UInt8s

# Below this size, insertion sort is faster than radix sort.
FEW = 64
DIGITS = 2048
DIGIT_BITS = 11


class Blocks(NamedTuple):
    """The blocks of all sentences; row 0 of the first five arrays stands for no block."""

    low: Int32s  # (B + 1): range in the suffix array
    high: Int32s
    length: Int32s  # (B + 1): words
    parent: Int32s  # (B + 1): the block without its last word, 0 for one word
    slot: Int32s  # (B + 1): scratch, all -1 between calls
    longer: Bools  # (B + 1): scratch, all False between calls
    by_word: Int32s  # (V): the one-word block of each word, or 0
    edge: Int64s  # (a power of two, > 2 B): hash table of parent << 32 | last word, 0: empty
    by_edge: Int32s  # the block of each edge
    source: Int32s  # (T): the corpus
    room: UInt8s  # (T): words from a position to the end of its sentence, at most 255


class Matches(NamedTuple):
    """Occurrences of patterns, sorted by the positions of the first, then second, then third block."""

    begin: Int64s  # (patterns + 1): begin of each pattern's occurrences
    first: Int32s  # the positions of the first, second and third block
    second: Int32s
    third: Int32s
    # (patterns): position of the first block in the last occurrence, even if that occurrence is not kept
    last: Int32s


@leaf_kernel
def find_bad_block(suffix: Int32s, blocks: Blocks) -> int:
    """Return the first block that crosses the end of a sentence, or -1.

    With a sorted suffix array there is none, but checking that it is sorted would take longer.
    """
    for block in range(1, blocks.low.shape[0]):
        for k in range(blocks.low[block], blocks.high[block]):
            if blocks.room[suffix[k]] < blocks.length[block]:
                return block
    return -1


@leaf_kernel
def edge_place(edge: Int64s, parent: int, word: int) -> int:
    """Return the slot of an edge in the hash table, or the empty slot where it belongs."""
    mask = edge.shape[0] - 1
    key = (np.int64(parent) << 32) | np.int64(word)
    place = np.int64(parent) * 1000003 + np.int64(word) * 8191
    place = (place ^ (place >> 15)) & mask
    while edge[place] != 0 and edge[place] != key:
        place = (place + 1) & mask
    return int(place)


@leaf_kernel
def link_blocks(suffix: Int32s, blocks: Blocks) -> None:
    """Fill by_word, edge and by_edge (preset to 0)."""
    for block in range(1, blocks.low.shape[0]):
        word = blocks.source[suffix[blocks.low[block]] + blocks.length[block] - 1]
        if blocks.parent[block] == 0:
            blocks.by_word[word] = block
        else:
            parent = blocks.parent[block]
            place = edge_place(blocks.edge, parent, word)
            blocks.edge[place] = (np.int64(parent) << 32) | np.int64(word)
            blocks.by_edge[place] = block


@kernel
def sort_positions(position: Int32s) -> Int32s:
    """Return positions in ascending order (compiles twenty times faster than np.sort)."""
    size = position.shape[0]
    result = position.copy()

    if size < FEW:
        for i in range(1, size):
            value = result[i]
            k = i
            while k > 0 and result[k - 1] > value:
                result[k] = result[k - 1]
                k -= 1
            result[k] = value
        return result

    other = np.empty_like(result)
    count = np.empty(DIGITS + 1, np.int64)
    for digit in range(3):  # 33 bits
        shift = digit * DIGIT_BITS

        for i in range(DIGITS + 1):
            count[i] = 0
        for i in range(size):
            count[((result[i] >> shift) & (DIGITS - 1)) + 1] += 1
        accumulate(count)

        for i in range(size):
            place = (result[i] >> shift) & (DIGITS - 1)
            other[count[place]] = result[i]
            count[place] += 1
        result, other = other, result
    return result


@leaf_kernel
def fill_slots(blocks: Blocks, wanted: Int32s) -> int:
    """Assign numbers to the distinct blocks of an ascending list in `slot`; returns how many there are.

    Marks their proper prefixes in `longer`.
    """
    count = 0
    for i in range(wanted.shape[0]):
        block = wanted[i]
        if blocks.slot[block] < 0:
            blocks.slot[block] = count
            count += 1
            block = blocks.parent[block]
            while block > 0 and not blocks.longer[block]:
                blocks.longer[block] = True
                block = blocks.parent[block]
    return count


@leaf_kernel
def clear_slots(blocks: Blocks, wanted: Int32s) -> None:
    """Undo `fill_slots`."""
    for i in range(wanted.shape[0]):
        block = wanted[i]
        blocks.slot[block] = -1
        block = blocks.parent[block]
        while block > 0 and blocks.longer[block]:
            blocks.longer[block] = False
            block = blocks.parent[block]


@leaf_kernel
def next_block(blocks: Blocks, block: int, position: int, stop: int) -> int:
    """Return the block extended by the word at `position` if a longer block is wanted, else 0."""
    if position >= stop or not blocks.longer[block]:
        return 0
    place = edge_place(blocks.edge, block, blocks.source[position])
    return int(blocks.by_edge[place])  # 0 if there is no such block


@leaf_kernel
def count_blocks(
    blocks: Blocks, limits: RuleLimits, first: Int32s, last: Int32s, distance: int, count: Int64s
) -> None:
    """Count, in count[number], the occurrences of each wanted block after occurrences of a pattern.

    first, last: begins of the pattern's first and last block. distance: from the last block to the earliest
    begin of the wanted one.
    """
    slot = blocks.slot
    for k in range(first.shape[0]):
        stop = first[k] + min(limits.max_span, blocks.room[first[k]])
        for q in range(last[k] + distance, stop):
            block = int(blocks.by_word[blocks.source[q]])
            end = q + 1
            while block > 0:
                if slot[block] >= 0:
                    count[slot[block]] += 1
                block = next_block(blocks, block, end, stop)
                end += 1


@kernel
def size_seconds(
    blocks: Blocks, limits: RuleLimits, positions: Int32s, distance: int, seconds: Int32s
) -> Int64s:
    """Return the begin of the list of u X v for each distinct v in `seconds` (ascending)."""
    count = fill_slots(blocks, seconds)
    begin = np.zeros(count + 1, np.int64)
    count_blocks(blocks, limits, positions, positions, distance, begin[1:])
    clear_slots(blocks, seconds)
    accumulate(begin)
    return begin


@kernel
def match_seconds(
    blocks: Blocks, limits: RuleLimits, positions: Int32s, distance: int, seconds: Int32s, begin: Int64s
) -> Matches:
    """Return the occurrences of u X v for each distinct v in `seconds` (ascending).

    positions: begins of u, ascending. distance: from the begin of u to the earliest second block.
    begin: the part of the result of `size_seconds` for `seconds`.
    """
    count = fill_slots(blocks, seconds)
    relative = begin - begin[0]
    first = np.empty(relative[count], np.int32)
    second = np.empty(relative[count], np.int32)
    last = np.full(count, -1, np.int32)
    place = relative.copy()
    slot = blocks.slot

    for k in range(positions.shape[0]):
        p = positions[k]
        stop = p + min(limits.max_span, blocks.room[p])
        for q in range(p + distance, stop):
            block = int(blocks.by_word[blocks.source[q]])
            end = q + 1

            while block > 0:
                number = slot[block]
                if number >= 0:
                    first[place[number]] = p
                    second[place[number]] = q
                    place[number] += 1
                    last[number] = p
                block = next_block(blocks, block, end, stop)
                end += 1

    clear_slots(blocks, seconds)
    return Matches(relative, first, second, second, last)


@leaf_kernel
def sample_number(k: int, total: int, size: int) -> int:
    """Return the index, among `total` occurrences, of sample k of `size`: evenly spaced, as in cdec."""
    return k if total <= size else (2 * k * total + size) // (2 * size)


@kernel
def match_thirds(
    blocks: Blocks, limits: RuleLimits, first: Int32s, second: Int32s, distance: int, thirds: Int32s
) -> Matches:
    """Return the sampled occurrences of u X v X w for each w in `thirds` (ascending, distinct).

    first, second: the occurrences of u X v. distance: from the second block to the earliest third block.
    """
    wanted = fill_slots(blocks, thirds)
    slot = blocks.slot
    count = np.zeros(wanted, np.int64)
    last = np.full(wanted, -1, np.int32)
    count_blocks(blocks, limits, first, second, distance, count)

    # for each w: occurrences seen, samples taken, the index of the next sample, and its position in `found`
    begin = np.zeros(wanted + 1, np.int64)
    state = np.zeros((wanted, 4), np.int64)
    for number in range(wanted):
        begin[number + 1] = begin[number] + min(count[number], limits.max_samples)
        state[number, 3] = begin[number]
    found = np.empty((3, begin[wanted]), np.int32)

    for k in range(first.shape[0] if begin[wanted] > 0 else 0):
        p = first[k]
        stop = p + min(limits.max_span, blocks.room[p])
        for r in range(second[k] + distance, stop):
            block = int(blocks.by_word[blocks.source[r]])
            end = r + 1
            while block > 0:
                number = slot[block]

                if number >= 0:
                    if state[number, 0] == state[number, 2]:
                        row = state[number, 3]
                        found[0, row] = p
                        found[1, row] = second[k]
                        found[2, row] = r
                        state[number, 1] += 1
                        # after the last sample: an index that no occurrence has
                        state[number, 2] = sample_number(state[number, 1], count[number], limits.max_samples)
                        state[number, 3] += 1
                    state[number, 0] += 1
                    last[number] = p
                block = next_block(blocks, block, end, stop)
                end += 1

    clear_slots(blocks, thirds)
    return Matches(begin, found[0], found[1], found[2], last)


@leaf_kernel
def take_sample(first: Int32s, second: Int32s, third: Int32s, sample: Int32s) -> int:
    """Copy evenly spaced occurrences to `sample` (M, 3), or all if they fit; returns their number."""
    total = first.shape[0]
    size = sample.shape[0]
    for k in range(min(total, size)):
        i = sample_number(k, total, size)
        sample[k, 0] = first[i]
        sample[k, 1] = second[i]
        sample[k, 2] = third[i]
    return int(min(total, size))
