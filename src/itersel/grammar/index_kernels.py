"""Kernels of the grammar index: alignments, suffix order, and phrases consistent with the alignment.

Shapes: T = source positions (the words of all sentences, each followed by a sentence end), S = sentences,
L = alignment links.

Suffixes are sorted by induction (Nong, Zhang & Chan 2009, SA-IS). Shapes: n = length of the text, K = size
of its alphabet. Behind the text is an end that is smaller than any symbol. A suffix is of type S if it is
smaller than the one after it, otherwise of type L. An S whose predecessor is an L is leftmost (LMS): the
order of these suffixes determines that of all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Bools, Float32s, Int32s, Int64s, UInt8s, UInt64s

# Longest span of a rule that the bit masks of phrases can hold.
SPAN_LIMIT = 30

# bytes of a file of alignments
SPACE = 32
NEWLINE = 10
HYPHEN = 45
ZERO = 48
NINE = 57

# instead of a suffix that is not yet sorted
EMPTY = -1

# IndexArrays.room stops counting here.
LONGEST_ROOM = 255

# errors of a position
FINE, BAD_SENTENCE, BAD_ROOM, BAD_LINKS, BAD_PHRASE = range(5)
POSITION_FAULTS = {
    BAD_SENTENCE: ("source", "has no end of a sentence where one must be, or one elsewhere"),
    BAD_ROOM: ("room", "is not the rest of the sentence"),
    BAD_LINKS: ("position", "does not fit the links"),
    BAD_PHRASE: ("position", "marks a phrase that crosses the end of its sentence"),
}

# columns of IndexArrays.position
BEGINS, ENDS, LINK_LOW, LINK_HIGH, LINK_BEGIN = 0, 1, 2, 3, 4
COLUMNS = 5
# columns of the span of source positions that a target position is linked to; -1: unaligned
LOW, HIGH = 0, 1


class IndexArrays(NamedTuple):
    """The indexed corpus. Positions count from the start of the corpus; spans are half-open."""

    source: Int32s  # (T): words; word 0 marks the end of a sentence
    source_offset: Int64s  # (S + 1): begin of each sentence in `source`
    room: UInt8s  # (T): words from a position to the end of its sentence; at most 255
    suffix: Int32s  # (T): the suffix array: positions in the order of their suffixes
    word_begin: Int64s  # (V + 1): begin in `suffix` of the suffixes that start with each word
    target: Int32s  # the words of all target sentences, concatenated
    # (T, 5), for each source position p: BEGINS, ENDS: bit n is set if [p, p + n), or [p - n, p), is an
    # initial phrase; LINK_LOW, LINK_HIGH: the span of the target positions that it is linked to, -1 if
    # unaligned; LINK_BEGIN: begin of its links in `link`, which end where those of p + 1 begin
    position: Int32s
    link: Int32s  # (L): target positions of the links, ascending for each source position
    pair_key: UInt64s  # (slots): the lexical table, see lexical_kernels
    pair_cost: Float32s  # (slots, 2)


@leaf_kernel
def parse_alignments(text: UInt8s, links: Int32s, offset: Int64s) -> int:
    """Parse lines of ``i-j`` points; returns -1, or the first malformed line (from 0).

    text: lines, each with a newline at its end. links: (L, 2), offset: (S + 1), to be filled.
    """
    count = 0
    line = 0
    number = 0
    digits = 0
    part = 0  # 0 before the hyphen of a point, 1 after it

    for i in range(text.shape[0]):
        byte = int(text[i])
        if ZERO <= byte <= NINE and digits < 9:
            number = number * 10 + byte - ZERO
            digits += 1
        elif byte == HYPHEN and digits > 0 and part == 0:
            links[count, 0] = number
            number = 0
            digits = 0
            part = 1
        elif byte in (SPACE, NEWLINE):
            if digits > 0 and part == 1:
                links[count, 1] = number
                count += 1
            elif digits > 0 or part == 1:
                return line

            number = 0
            digits = 0
            part = 0
            if byte == NEWLINE:
                line += 1
                offset[line] = count
        else:
            return line
    return -1


@kernel
def sort_links(
    links: Int32s, line_begin: Int64s, source_offset: Int64s, target_offset: Int64s
) -> tuple[Int32s, Int32s, Int32s]:
    """Return `position`, with BEGINS and ENDS 0, and `link` of `IndexArrays`; and spans of target words.

    links: (L, 2), line_begin: (S + 1), from `parse_alignments`. source_offset, target_offset: (S + 1).
    span: (target words, 2), LOW and HIGH of the links; -1: unaligned.
    """
    count = 0
    lines = line_begin.shape[0] - 1
    position = np.zeros((source_offset[lines], COLUMNS), np.int32)
    link = np.empty(links.shape[0], np.int32)
    span = np.full((target_offset[lines], 2), -1, np.int32)

    for line in range(lines):
        first = source_offset[line]
        length = source_offset[line + 1] - source_offset[line]

        # LINK_HIGH counts the links of a position, then is where the next one goes, until all are in order
        for k in range(line_begin[line], line_begin[line + 1]):
            position[first + links[k, 0], LINK_HIGH] += 1

        end = count
        for i in range(length):
            begin = end
            end = begin + position[first + i, LINK_HIGH]
            position[first + i, LINK_BEGIN] = begin
            position[first + i, LINK_HIGH] = begin

        for k in range(line_begin[line], line_begin[line + 1]):
            i = links[k, 0]
            value = target_offset[line] + links[k, 1]
            if span[value, LOW] < 0 or first + i < span[value, LOW]:
                span[value, LOW] = first + i
            span[value, HIGH] = max(span[value, HIGH], first + i + 1)

            # insertion into the links of the position, which ascend
            place = position[first + i, LINK_HIGH]
            position[first + i, LINK_HIGH] += 1
            while place > position[first + i, LINK_BEGIN] and link[place - 1] > value:
                link[place] = link[place - 1]
                place -= 1
            link[place] = value

        for i in range(length):
            low, high = position[first + i, LINK_BEGIN], position[first + i, LINK_HIGH]
            position[first + i, LINK_BEGIN] = count
            for k in range(low, high):
                if k == low or link[k] != link[k - 1]:
                    link[count] = link[k]
                    count += 1

            position[first + i, LINK_LOW] = -1
            position[first + i, LINK_HIGH] = -1
            if high > low:
                position[first + i, LINK_LOW] = link[position[first + i, LINK_BEGIN]]
                position[first + i, LINK_HIGH] = link[count - 1] + 1
    return position, link[:count], span


@leaf_kernel
def mark_phrases(source_offset: Int64s, position: Int32s, room: UInt8s, span: Int32s) -> None:
    """Set the bits of all tight phrases, the smallest of the initial phrases of Chiang 2007, section 3.

    Fills `room`, too. position: (T, 5), see `IndexArrays`; BEGINS and ENDS are preset to 0. span: see
    `sort_links`. A phrase is tight if the words at its four edges are aligned; its target side is then the
    span of its links.
    """
    for s in range(source_offset.shape[0] - 1):
        stop = source_offset[s + 1] - 1
        for begin in range(source_offset[s], stop):
            room[begin] = min(stop - begin, LONGEST_ROOM)

            if position[begin, LINK_LOW] < 0:
                continue

            low = position[begin, LINK_LOW]
            high = low
            source_low, source_high = begin, begin + 1

            for end in range(begin + 1, min(begin + SPAN_LIMIT, stop) + 1):
                if position[end - 1, LINK_LOW] < 0:
                    continue

                new_low = min(low, position[end - 1, LINK_LOW])
                new_high = max(high, position[end - 1, LINK_HIGH])

                for t in range(new_low, new_high):
                    if not low <= t < high and span[t, LOW] >= 0:
                        source_low = min(source_low, span[t, LOW])
                        source_high = max(source_high, span[t, HIGH])

                low, high = new_low, new_high
                if source_low < begin or high - low > SPAN_LIMIT:
                    break

                if source_high <= end:
                    position[begin, BEGINS] |= 1 << (end - begin)
                    position[end, ENDS] |= 1 << (end - begin)


@leaf_kernel
def find_bad_position(index: IndexArrays) -> tuple[int, int]:
    """Return the first source position that contradicts the sentences and links, or (-1, FINE).

    The caller has checked the bounds of offsets, words and links. If all is FINE, no phrase and no link leads
    out of its sentence or out of the arrays.
    """
    source = index.source
    room = index.room
    position = index.position
    link = index.link
    end = 0
    for s in range(index.source_offset.shape[0] - 1):
        first, stop = index.source_offset[s], index.source_offset[s + 1]
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

            is_range = 0 <= begin <= end <= link.shape[0]
            skips_links = p == 0 and begin > 0
            if not is_range or skips_links:
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


@leaf_kernel
def mark_smaller(text: Int32s, smaller: Bools) -> None:
    """Set smaller (n), preset to False, where a suffix is of type S."""
    for i in range(text.shape[0] - 2, -1, -1):
        smaller[i] = text[i] < text[i + 1] or (text[i] == text[i + 1] and smaller[i + 1])


@leaf_kernel
def induce(text: Int32s, smaller: Bools, leftmost: Int32s, begin: Int64s, end: Int64s, order: Int32s) -> None:
    """Fill order (n), preset to `EMPTY`, with all suffixes, given the LMS suffixes in their order.

    begin, end: int64 (K), where the suffixes that begin with each symbol are in `order`; scratch.
    If the LMS suffixes are in any order, their substrings up to the next LMS become sorted.
    """
    size = text.shape[0]
    for k in range(leftmost.shape[0] - 1, -1, -1):
        symbol = text[leftmost[k]]
        end[symbol] -= 1
        order[end[symbol]] = leftmost[k]

    # an L is larger than the suffix after it; the first is the last symbol, which the end follows
    order[begin[text[size - 1]]] = size - 1
    begin[text[size - 1]] += 1
    for i in range(size):
        before = order[i] - 1
        if before >= 0 and not smaller[before]:
            symbol = text[before]
            order[begin[symbol]] = before
            begin[symbol] += 1

    # an S is smaller than the suffix after it: filled from the end of a symbol; `begin` is where its S begin
    for symbol in range(end.shape[0]):
        end[symbol] = begin[symbol]

    for i in range(size):
        if smaller[i]:
            end[text[i]] += 1

    for i in range(size - 1, -1, -1):
        before = order[i] - 1
        if before >= 0 and smaller[before]:
            symbol = text[before]
            end[symbol] -= 1
            order[end[symbol]] = before


@leaf_kernel
def name_substrings(text: Int32s, smaller: Bools, order: Int32s, name: Int32s) -> int:
    """Give each distinct substring from one LMS to the next a number; returns how many there are.

    order: (n), with these substrings sorted. name: int32 (n // 2 + 1), the number of the substring that
    begins at position p becomes name[p // 2], as no two are adjacent.
    """
    size = text.shape[0]
    count = 0
    last = -1
    for i in range(size):
        here = order[i]
        if here < 1 or not smaller[here] or smaller[here - 1]:
            continue

        same = last >= 0
        k = 0
        while same:
            # one that reaches the end is unlike any other
            a = last + k
            b = here + k

            if max(a, b) == size or text[a] != text[b] or smaller[a] != smaller[b]:
                same = False
            elif k > 0 and smaller[b] and not smaller[b - 1]:
                break
            k += 1

        if not same:
            count += 1
        name[here // 2] = count - 1
        last = here
    return count
