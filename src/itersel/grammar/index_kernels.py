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
def mark_phrases(
    source_offset: NDArray[np.int64],
    position: NDArray[np.int32],
    back_low: NDArray[np.int32],
    back_high: NDArray[np.int32],
) -> None:
    """Set the bits of all tight phrases, the smallest of the initial phrases of Chiang 2007, section 3.

    position: (T, 5), see `IndexArrays`; BEGINS and ENDS are preset to 0. back_low, back_high: int32, for
    each target position the span of the source positions that it is linked to; -1: unaligned.
    A phrase is tight if the words at its four edges are aligned; its target side is then the span of its
    links.
    """
    for s in range(source_offset.shape[0] - 1):
        stop = source_offset[s + 1] - 1
        for begin in range(source_offset[s], stop):
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
                    if not low <= t < high and back_low[t] >= 0:
                        source_low = min(source_low, back_low[t])
                        source_high = max(source_high, back_high[t])
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
