"""Strings in arrays of bytes: copying, and finding the distinct words of a text."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Int32s, Int64s, UInt8s


@leaf_kernel
def copy_strings(data: UInt8s, offset: Int64s, rows: Int64s, result: UInt8s, result_offset: Int64s) -> None:
    """Copy the strings at `rows` (n) of a table to result[result_offset[i] : result_offset[i + 1]].

    Positions are unsigned so that the loop compiles to vector instructions, four times as fast.
    """
    for i in range(rows.shape[0]):
        begin = np.uint64(offset[rows[i]])
        to = np.uint64(result_offset[i])
        for position in range(np.uint64(offset[rows[i] + 1]) - begin):
            result[to + np.uint64(position)] = data[begin + np.uint64(position)]


@kernel
def take_strings(data: UInt8s, offset: Int64s, rows: Int64s) -> tuple[UInt8s, Int64s]:
    """Return a table of the strings at `rows` of a table: uint8, int64 (rows + 1)."""
    result_offset = np.zeros(rows.shape[0] + 1, np.int64)
    for i in range(rows.shape[0]):
        result_offset[i + 1] = result_offset[i] + offset[rows[i] + 1] - offset[rows[i]]
    result = np.empty(result_offset[rows.shape[0]], np.uint8)
    copy_strings(data, offset, rows, result, result_offset)
    return result, result_offset


@kernel
def distinct_words(text: UInt8s) -> tuple[Int32s, Int64s]:
    """Find the distinct words of a text, separated by spaces and tabs.

    Returns the number of each word, int32, and where each distinct one begins and ends, int64 (distinct, 2),
    in the order in which they first occur.
    """
    most = text.shape[0] // 2 + 1  # words
    mask = 1
    while mask < most:
        mask = 2 * mask + 1

    slot = np.full(mask + 1, -1, np.int32)
    numbers = np.empty(most, np.int32)
    bounds = np.empty((most, 2), np.int64)
    words = 0
    distinct = 0
    end = 0

    while end < text.shape[0]:
        begin = end
        digest = np.int64(2166136261)
        # FNV-1a (Fowler, Noll & Vo)
        while end < text.shape[0] and text[end] != 32 and text[end] != 9:
            digest = ((digest ^ np.int64(text[end])) * 16777619) & 0xFFFFFFFF
            end += 1

        if end > begin:
            place = digest & mask
            while slot[place] >= 0 and not _is_same(text, bounds, slot[place], begin, end):
                place = (place + 1) & mask
            if slot[place] < 0:
                slot[place] = distinct
                bounds[distinct, 0] = begin
                bounds[distinct, 1] = end
                distinct += 1
            numbers[words] = slot[place]
            words += 1

        end += 1
    return numbers[:words], bounds[:distinct]


@leaf_kernel
def _is_same(text: UInt8s, bounds: Int64s, row: int, begin: int, end: int) -> bool:
    """Return whether a part of a text is the same as that in a row of `bounds`."""
    first = bounds[row, 0]
    if bounds[row, 1] - first != end - begin:
        return False
    place = begin
    while place < end and text[place] == text[first + place - begin]:
        place += 1
    return place == end
