"""Merge the sorted weights of many shards into columns, one range of keys at a time.

Keys are hashes, uniform over their range, so the leading bits of a key predict its rank. The keys of a small
range are put into a hash table whose slots ascend with the key, and end up at most a few places out of order.

Shapes: Z = shards, n = entries of a range (of all shards), m = columns (distinct keys) of a range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel, leaf_kernel

L0, L1, L2, LINF = 0, 1, 2, 3
FINE, NOT_FINITE, COLLISION, DAMAGED = 0, 1, 2, 3

# Entries merged at a time: their table (4 slots per entry), names and columns fit in the L2 cache.
BLOCK = 1 << 14


class Entries(NamedTuple):
    """Weights of all shards in one range of keys.

    Attributes
    ----------
    begin
        int64 (Z + 1): shard z has the entries ``begin[z]:begin[z + 1]``, sorted by key.
    key, value
        uint64 (n), float64 (n).
    name, name_offset
        uint8, int64 (n + 1): the names.
    """

    begin: NDArray[np.int64]
    key: NDArray[np.uint64]
    value: NDArray[np.float64]
    name: NDArray[np.uint8]
    name_offset: NDArray[np.int64]


class Columns(NamedTuple):
    """Columns of the matrix, sorted by key.

    Attributes
    ----------
    key, first
        uint64 (m), int64 (m): the key of each column, and one of its entries.
    offset, shard, value
        int64 (m + 1), int32, float64: column c holds the non-zero values ``value[offset[c]:offset[c + 1]]``,
        by ascending shard.
    """

    key: NDArray[np.uint64]
    first: NDArray[np.int64]
    offset: NDArray[np.int64]
    shard: NDArray[np.int32]
    value: NDArray[np.float64]


class Status(NamedTuple):
    """Whether entries could be merged.

    Attributes
    ----------
    kind
        `FINE`; `NOT_FINITE`: the value of `entry` is not finite; `COLLISION`: `entry` and `other` have the
        same key but different names; `DAMAGED`: the offsets of the name of `entry` are invalid.
    entry, other
        Numbers of entries.
    """

    kind: int
    entry: int
    other: int


@leaf_kernel
def same_name(entries: Entries, a: int, b: int) -> bool:
    """Whether two entries have the same name."""
    name, offset = entries.name, entries.name_offset
    length = offset[a + 1] - offset[a]
    if length != offset[b + 1] - offset[b]:
        return False
    left, right = np.uint64(offset[a]), np.uint64(offset[b])
    # Without an early exit and with unsigned positions, the loop compiles to a few vector instructions, three
    # times as fast.
    difference = np.uint8(0)
    for position in range(np.uint64(length)):
        difference |= name[left + np.uint64(position)] ^ name[right + np.uint64(position)]
    return bool(difference == 0)


@leaf_kernel
def find_columns(
    entries: Entries,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    low: np.uint64,
    slots: NDArray[np.int32],
    shift: np.uint64,
    column: NDArray[np.int32],
    first: NDArray[np.int64],
    size: NDArray[np.int64],
) -> tuple[int, Status]:
    """Assign numbers to the distinct keys of the entries ``begin[z]:end[z]``, in order of first occurrence.

    Writes the `column` of each entry (-1 if its value is 0), the `first` entry and the `size` of each column,
    and the columns to `slots`, from `make_slots`. Returns the number of columns.
    """
    key, value, offset = entries.key, entries.value, entries.name_offset
    count, turn = 0, 0
    for z in range(begin.shape[0]):
        for entry in range(begin[z], end[z]):
            if not np.isfinite(value[entry]):
                return count, Status(NOT_FINITE, entry, entry)
            if not offset[entry] <= offset[entry + 1] <= entries.name.shape[0]:
                return count, Status(DAMAGED, entry, entry)
            column[turn] = -1
            if value[entry] != 0.0:
                slot = np.int64((key[entry] - low) >> shift)
                while slots[slot] != -1 and key[first[slots[slot]]] != key[entry]:
                    slot += 1
                if slots[slot] == -1:
                    slots[slot], first[count], size[count] = count, entry, 0
                    count += 1
                elif not same_name(entries, first[slots[slot]], entry):
                    return count, Status(COLLISION, entry, first[slots[slot]])
                column[turn] = slots[slot]
                size[slots[slot]] += 1
            turn += 1
    return count, Status(FINE, 0, 0)


@leaf_kernel
def sort_columns(
    slots: NDArray[np.int32], key: NDArray[np.uint64], first: NDArray[np.int64], order: NDArray[np.int32]
) -> None:
    """Write the columns to `order` (m), sorted by key."""
    found = 0
    for slot in range(slots.shape[0]):
        column = slots[slot]
        if column == -1:
            continue
        place = found
        while place > 0 and key[first[order[place - 1]]] > key[first[column]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = column
        found += 1


@kernel
def make_slots(count: int, width: np.uint64) -> tuple[NDArray[np.int32], np.uint64]:
    """Return an empty table for `count` keys from 0 to `width`, and the shift that maps a key to its slot."""
    homes = 2  # at least: shifting 64 bits by 64 is undefined
    while homes < 4 * count:
        homes *= 2
    shift = np.uint64(0)
    while width >> shift >= np.uint64(homes):
        shift += np.uint64(1)
    # Probing does not wrap around, so slots stay in key order.
    return np.full(homes + count, -1, np.int32), shift


@leaf_kernel
def place_entries(
    entries: Entries,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    column: NDArray[np.int32],
    place: NDArray[np.int64],
    columns: Columns,
) -> None:
    """Copy entries to the next free `place` of their `column`."""
    turn = 0
    for z in range(begin.shape[0]):
        for entry in range(begin[z], end[z]):
            if column[turn] != -1:
                target = place[column[turn]]
                place[column[turn]] = target + 1
                columns.shard[target], columns.value[target] = z, entries.value[entry]
            turn += 1


@kernel
def merge_entries(entries: Entries, low: np.uint64, high: np.uint64, columns: Columns) -> tuple[int, Status]:
    """Merge the entries with keys from `low` to `high` inclusive, block by block.

    Writes to `columns`, arrays with at least as many elements as there are entries (`offset`: one more).
    Returns the number of columns.
    """
    shards, total = entries.begin.shape[0] - 1, entries.key.shape[0]
    blocks = total // BLOCK + 1
    width = (high - low) // np.uint64(blocks)
    begin, end = entries.begin[:-1].copy(), np.empty(shards, np.int64)
    merged, last = 0, low
    columns.offset[0] = 0
    for block in range(blocks):
        block_low = low if block == 0 else last + np.uint64(1)
        last = high if block == blocks - 1 else block_low + width
        count = 0
        for z in range(shards):
            end[z] = begin[z]
            while end[z] < entries.begin[z + 1] and entries.key[end[z]] <= last:
                end[z] += 1
            count += end[z] - begin[z]
        slots, shift = make_slots(count, last - block_low)
        column, first, size = np.empty(count, np.int32), np.empty(count, np.int64), np.empty(count, np.int64)
        found, status = find_columns(entries, begin, end, block_low, slots, shift, column, first, size)
        if status.kind != FINE:
            return 0, status
        order, place = np.empty(found, np.int32), np.empty(found, np.int64)
        sort_columns(slots, entries.key, first, order)
        for rank in range(found):
            columns.first[merged] = first[order[rank]]
            columns.key[merged] = entries.key[first[order[rank]]]
            place[order[rank]] = columns.offset[merged]
            columns.offset[merged + 1] = columns.offset[merged] + size[order[rank]]
            merged += 1
        place_entries(entries, begin, end, column, place, columns)
        begin[:] = end
    return merged, Status(FINE, 0, 0)


@kernel
def column_norms(offset: NDArray[np.int64], value: NDArray[np.float64], norm: int) -> NDArray[np.float64]:
    """Return the norm of each column, float64 (m)."""
    result = np.zeros(offset.shape[0] - 1)
    for c in range(result.shape[0]):
        for entry in range(offset[c], offset[c + 1]):
            magnitude = abs(value[entry])
            if norm == L0:
                result[c] += 1.0
            elif norm == L1:
                result[c] += magnitude
            elif norm == L2:
                result[c] += magnitude * magnitude
            else:
                result[c] = max(result[c], magnitude)
        if norm == L2:
            result[c] = np.sqrt(result[c])
    return result


@kernel
def column_sums(offset: NDArray[np.int64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each column, added in shard order, float64 (m)."""
    result = np.zeros(offset.shape[0] - 1)
    for c in range(result.shape[0]):
        for entry in range(offset[c], offset[c + 1]):
            result[c] += value[entry]
    return result
