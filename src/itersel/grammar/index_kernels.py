"""Kernels of the grammar index: alignments, suffix order, and phrases consistent with the alignment.

Shapes: T = source positions (the words of all sentences, each followed by a sentence end), S = sentences,
L = alignment links.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.jit import leaf_kernel

# Longest span of a rule that the bit masks of phrases can hold.
SPAN_LIMIT = 30

SPACE, NEWLINE, HYPHEN, ZERO, NINE = 32, 10, 45, 48, 57


# IndexArrays.room stops counting here.
LONGEST_ROOM = 255

# errors of a position
FINE, BAD_SENTENCE, BAD_ROOM, BAD_LINKS, BAD_PHRASE = range(5)

# columns of IndexArrays.position
BEGINS, ENDS, LINK_LOW, LINK_HIGH, LINK_BEGIN = 0, 1, 2, 3, 4
COLUMNS = 5
# where there are only the last three
LOW, HIGH = 0, 1


class IndexArrays(NamedTuple):
    """The indexed corpus. Positions count from the start of the corpus; spans are half-open.

    source: int32 (T), words; word 0 marks the end of a sentence.
    source_offset: int64 (S + 1), begin of each sentence in `source`.
    room: uint8 (T), words from a position to the end of its sentence; at most 255.
    suffix: int32 (T), the suffix array: positions in the order of their suffixes.
    word_begin: int64 (V + 1), begin in `suffix` of the suffixes that start with each word.
    target: int32, the words of all target sentences, concatenated.
    position: int32 (T, 5), for each source position p:
        BEGINS, ENDS: bit n is set if [p, p + n), or [p - n, p), is an initial phrase;
        LINK_LOW, LINK_HIGH: the span of the target positions that it is linked to; -1: unaligned;
        LINK_BEGIN: begin of its links in `link`; they end where those of p + 1 begin.
    link: int32 (L), target positions of the links, ascending for each source position.
    pair_key, pair_cost: uint64 (slots), float32 (slots, 2), the lexical table, see lexical_kernels.
    """

    source: NDArray[np.int32]
    source_offset: NDArray[np.int64]
    room: NDArray[np.uint8]
    suffix: NDArray[np.int32]
    word_begin: NDArray[np.int64]
    target: NDArray[np.int32]
    position: NDArray[np.int32]
    link: NDArray[np.int32]
    pair_key: NDArray[np.uint64]
    pair_cost: NDArray[np.float32]


class Links(NamedTuple):
    """The links of each position of one side, P positions, to positions of the other side.

    position: int32 (P, 5 or 3), with all or the last three columns of `IndexArrays.position`.
    link: int32, as there.
    """

    position: NDArray[np.int32]
    link: NDArray[np.int32]


@leaf_kernel
def parse_alignments(text: NDArray[np.uint8], links: NDArray[np.int32], offset: NDArray[np.int64]) -> int:
    """Parse lines of ``i-j`` points; returns -1, or the first malformed line (from 0).

    text: lines, each with a newline at its end. links: (L, 2), offset: (S + 1), to be filled.
    """
    count, line, number, digits, part = 0, 0, 0, 0, 0
    # part: 0 before the hyphen of a point, 1 after it
    for i in range(text.shape[0]):
        byte = int(text[i])
        if ZERO <= byte <= NINE and digits < 9:
            number, digits = number * 10 + byte - ZERO, digits + 1
        elif byte == HYPHEN and digits > 0 and part == 0:
            links[count, 0] = number
            number, digits, part = 0, 0, 1
        elif byte in (SPACE, NEWLINE):
            if digits > 0 and part == 1:
                links[count, 1] = number
                count += 1
            elif digits > 0 or part == 1:
                return line
            number, digits, part = 0, 0, 0
            if byte == NEWLINE:
                line += 1
                offset[line] = count
        else:
            return line
    return -1


@leaf_kernel
def find_outside(
    links: NDArray[np.int32], line_begin: NDArray[np.int64], offset: NDArray[np.int64], column: int
) -> tuple[int, int]:
    """Return line and row of the first link outside its sentence, or (-1, -1).

    links: (L, 2), line_begin: (S + 1), from `parse_alignments`. offset: (S + 1), the sentences of one side.
    """
    for line in range(line_begin.shape[0] - 1):
        for k in range(line_begin[line], line_begin[line + 1]):
            if links[k, column] >= offset[line + 1] - offset[line]:
                return line, k
    return -1, -1


@leaf_kernel
def sort_links(
    links: NDArray[np.int32],
    line_begin: NDArray[np.int64],
    own: NDArray[np.int64],
    other: NDArray[np.int64],
    column: int,
    cursor: NDArray[np.int64],
    found: Links,
) -> int:
    """Fill `found` with the distinct links of one side, and return their number.

    links, line_begin: as in `find_outside`; a link has the position of this side in `column`. own, other:
    (S + 1), begin of each sentence among the positions of this and of the other side. cursor: int64 (longest
    sentence + 1), scratch.
    """
    position, link, count = found.position, found.link, 0
    left_out = COLUMNS - position.shape[1]
    low_column, high_column, begin_column = LINK_LOW - left_out, LINK_HIGH - left_out, LINK_BEGIN - left_out
    for line in range(line_begin.shape[0] - 1):
        first, length = own[line], own[line + 1] - own[line]
        for i in range(length + 1):
            cursor[i] = 0
        for k in range(line_begin[line], line_begin[line + 1]):
            cursor[links[k, column] + 1] += 1
        cursor[0] = count
        for i in range(length):
            cursor[i + 1] += cursor[i]
            position[first + i, begin_column] = cursor[i]
        for k in range(line_begin[line], line_begin[line + 1]):
            # insertion into the links of the position, which ascend
            i, value = links[k, column], other[line] + links[k, 1 - column]
            place = cursor[i]
            cursor[i] += 1
            while place > position[first + i, begin_column] and link[place - 1] > value:
                link[place] = link[place - 1]
                place -= 1
            link[place] = value
        for i in range(length):
            low, high = position[first + i, begin_column], cursor[i]
            position[first + i, begin_column] = count
            for k in range(low, high):
                if k == low or link[k] != link[k - 1]:
                    link[count], count = link[k], count + 1
            position[first + i, low_column] = position[first + i, high_column] = -1
            if high > low:
                position[first + i, low_column] = link[position[first + i, begin_column]]
                position[first + i, high_column] = link[count - 1] + 1
    return count


@leaf_kernel
def mark_phrases(
    source_offset: NDArray[np.int64],
    position: NDArray[np.int32],
    room: NDArray[np.uint8],
    back: NDArray[np.int32],
) -> None:
    """Set the bits of all tight phrases, the smallest of the initial phrases of Chiang 2007, section 3.

    Fills `room`, too.

    position: (T, 5), see `IndexArrays`; BEGINS and ENDS are preset to 0. back: the last three columns
    for the target positions.
    A phrase is tight if the words at its four edges are aligned; its target side is then the span of its
    links.
    """
    for s in range(source_offset.shape[0] - 1):
        stop = source_offset[s + 1] - 1
        for begin in range(source_offset[s], stop):
            room[begin] = min(stop - begin, LONGEST_ROOM)
            if position[begin, LINK_LOW] < 0:
                continue
            low = high = position[begin, LINK_LOW]
            source_low, source_high = begin, begin + 1
            for end in range(begin + 1, min(begin + SPAN_LIMIT, stop) + 1):
                if position[end - 1, LINK_LOW] < 0:
                    continue
                new_low = min(low, position[end - 1, LINK_LOW])
                new_high = max(high, position[end - 1, LINK_HIGH])
                for t in range(new_low, new_high):
                    if not low <= t < high and back[t, LOW] >= 0:
                        source_low = min(source_low, back[t, LOW])
                        source_high = max(source_high, back[t, HIGH])
                low, high = new_low, new_high
                if source_low < begin or high - low > SPAN_LIMIT:
                    break
                if source_high <= end:
                    position[begin, BEGINS] |= 1 << (end - begin)
                    position[end, ENDS] |= 1 << (end - begin)


@leaf_kernel
def find_bad_position(
    source: NDArray[np.int32],
    source_offset: NDArray[np.int64],
    room: NDArray[np.uint8],
    position: NDArray[np.int32],
    link: NDArray[np.int32],
) -> tuple[int, int]:
    """Return the first source position that contradicts the sentences and links, or (-1, FINE).

    Arrays as in `IndexArrays`; the caller has checked the bounds of offsets, words and links. If all is FINE,
    no phrase and no link leads out of its sentence or out of the arrays.
    """
    end = 0
    for s in range(source_offset.shape[0] - 1):
        first, stop = source_offset[s], source_offset[s + 1]
        if first == stop:
            return first, BAD_SENTENCE
        for p in range(first, stop):
            if (source[p] == 0) != (p == stop - 1):
                return p, BAD_SENTENCE
            if room[p] != min(stop - 1 - p, LONGEST_ROOM):
                return p, BAD_ROOM
            begin, end = position[p, LINK_BEGIN], link.shape[0]
            if p + 1 < source.shape[0]:
                end = position[p + 1, LINK_BEGIN]
            if begin < 0 or begin > end or end > link.shape[0] or (p == 0 and begin > 0):
                return p, BAD_LINKS
            low, high = -1, -1
            if begin < end:
                low, high = link[begin], link[end - 1] + 1
            for k in range(begin + 1, end):
                if link[k] <= link[k - 1]:
                    return p, BAD_LINKS
            if position[p, LINK_LOW] != low or position[p, LINK_HIGH] != high:
                return p, BAD_LINKS
            longest = min(stop - 1 - p, SPAN_LIMIT)
            if position[p, BEGINS] & 1 or position[p, BEGINS] >> (longest + 1):
                return p, BAD_PHRASE
            longest = min(p - first, SPAN_LIMIT)
            if position[p, ENDS] & 1 or position[p, ENDS] >> (longest + 1):
                return p, BAD_PHRASE
    return -1, FINE
