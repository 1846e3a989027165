"""Merge the sorted weights of many shards into columns, one range of keys at a time.

Keys are hashes, uniform over their range, so the leading bits of a key predict its rank. The keys of a small
range are put into a hash table whose slots ascend with the key, and end up at most a few places out of order.

Features with the same key must have the same name. Names are not compared, but a second hash of them: the
names of all shards are scattered over memory, and comparing them takes as long as everything else.

Shapes: Z = shards, n = entries of a range (of all shards), m = columns (distinct keys) of a range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.config.numbered import L0, L1, L2
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt8s, UInt64s
from itersel.storage.formats import MAX_MAGNITUDE

# Entries merged at a time: they, their table and their columns fit in the L2 cache.
BLOCK = 1 << 14


class Entries(NamedTuple):
    """Weights of all shards in one range of keys."""

    begin: Int64s  # (Z + 1): shard z has the entries ``begin[z]:begin[z + 1]``, sorted by key
    key: UInt64s  # (n)
    check: UInt64s  # (n): second hash of the name
    value: Float64s  # (n)
    name: UInt8s
    name_offset: Int64s  # (n + 1)


class WeightColumns(NamedTuple):
    """Columns of the matrix, sorted by key."""

    key: UInt64s  # (m)
    first: Int64s  # (m): one of the entries of each column
    # (m + 1): column c contains the non-zero values ``value[offset[c]:offset[c + 1]]``, by ascending shard
    offset: Int64s
    shard: Int32s
    value: Float64s


def make_columns(entries: int) -> WeightColumns:
    """Return memory for the columns of this number of entries."""
    key = np.empty(entries, np.uint64)
    first = np.empty(entries, np.int64)
    shard = np.empty(entries, np.int32)
    value = np.empty(entries)
    return WeightColumns(key, first, np.empty(entries + 1, np.int64), shard, value)


class Workspace(NamedTuple):
    """Memory for one block, reused for all, because new memory from the operating system is slow."""

    # A hash table of the columns, whose slots ascend with the key: the column in each slot (-1 if it is
    # empty), its key, and the second hash of its name.
    slot_column: Int32s
    slot_key: UInt64s
    slot_check: UInt64s
    column: Int32s  # (n): the column of each entry; -1 if its value is 0
    first: Int64s  # (m): first entry of each column
    size: Int64s  # (m): number of its entries
    order: Int64s  # (m): the columns by ascending key
    place: Int64s  # (m): where the next entry of each column goes


@kernel
def make_workspace(count: int) -> Workspace:
    """Return memory for blocks of at most `count` entries."""
    homes = 2  # at least: shifting 64 bits by 64 is undefined
    while homes < 2 * count:
        homes *= 2
    # Probing does not wrap around, so slots stay in key order.
    slots = homes + count
    return Workspace(
        np.empty(slots, np.int32),
        np.empty(slots, np.uint64),
        np.empty(slots, np.uint64),
        np.empty(count, np.int32),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
    )


@leaf_kernel
def find_columns(
    entries: Entries, begin: Int64s, end: Int64s, low: np.uint64, high: np.uint64, work: Workspace
) -> tuple[int, int, int]:
    """Assign numbers to the distinct keys of the entries ``begin[z]:end[z]``, in order of first occurrence.

    The keys are from `low` to `high` inclusive. Fills the table, `column`, `first` and `size` of `work`, and
    returns the number of columns, and two entries that cannot be merged; see `merge_entries`.
    """
    key = entries.key
    check = entries.check
    value = entries.value
    homes = np.uint64(work.slot_column.shape[0] - work.column.shape[0])
    shift = np.uint64(0)
    while (high - low) >> shift >= homes:
        shift += np.uint64(1)

    for empty in range(work.slot_column.shape[0]):
        work.slot_column[empty] = -1

    count = 0
    turn = 0
    for z in range(begin.shape[0]):
        for entry in range(begin[z], end[z]):
            if not abs(value[entry]) <= MAX_MAGNITUDE:
                return count, entry, entry

            work.column[turn] = -1
            if value[entry] != 0.0:
                slot = np.int64((key[entry] - low) >> shift)
                while work.slot_column[slot] != -1 and work.slot_key[slot] != key[entry]:
                    slot += 1

                column = work.slot_column[slot]
                if column == -1:
                    column = np.int32(count)
                    work.slot_column[slot] = column
                    work.slot_key[slot] = key[entry]
                    work.slot_check[slot] = check[entry]
                    work.first[column] = entry
                    work.size[column] = 0
                    count += 1
                elif work.slot_check[slot] != check[entry]:
                    return count, entry, work.first[column]

                work.column[turn] = column
                work.size[column] += 1

            turn += 1
    return count, -1, -1


@leaf_kernel
def sort_columns(key: UInt64s, work: Workspace) -> None:
    """Write the columns to `work.order`, sorted by key."""
    first = work.first
    order = work.order
    placed = 0

    for slot in range(work.slot_column.shape[0]):
        column = work.slot_column[slot]
        if column == -1:
            continue

        place = placed
        while place > 0 and key[first[order[place - 1]]] > key[first[column]]:
            order[place] = order[place - 1]
            place -= 1

        order[place] = column
        placed += 1


@leaf_kernel
def place_entries(
    entries: Entries, begin: Int64s, end: Int64s, work: Workspace, columns: WeightColumns
) -> None:
    """Copy entries to the next free place of their column."""
    turn = 0
    for z in range(begin.shape[0]):
        for entry in range(begin[z], end[z]):
            column = work.column[turn]
            if column != -1:
                target = work.place[column]
                work.place[column] = target + 1
                columns.shard[target] = z
                columns.value[target] = entries.value[entry]
            turn += 1


@kernel
def merge_entries(
    entries: Entries, low: np.uint64, high: np.uint64, columns: WeightColumns
) -> tuple[int, int, int]:
    """Merge the entries with keys from `low` to `high` inclusive, block by block.

    Writes to `columns`, arrays with at least as many elements as there are entries (`offset`: one more).
    Returns the number of columns, and two entries with the same key but different names, or twice an entry
    whose value is NaN or beyond `MAX_MAGNITUDE`; -1 if all could be merged.
    """
    shards = entries.begin.shape[0] - 1
    total = entries.key.shape[0]
    blocks = total // BLOCK + 1
    width = (high - low) // np.uint64(blocks)
    begin, end = entries.begin[:-1].copy(), np.empty(shards, np.int64)
    work = make_workspace(min(total, BLOCK + BLOCK // 16))  # a little more than the mean
    merged = 0
    last = low
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

        if count > work.column.shape[0]:
            work = make_workspace(count)
        column_count, bad, other = find_columns(entries, begin, end, block_low, last, work)
        if bad >= 0:
            return 0, bad, other

        sort_columns(entries.key, work)
        for rank in range(column_count):
            column = work.order[rank]
            columns.first[merged] = work.first[column]
            columns.key[merged] = entries.key[work.first[column]]
            work.place[column] = columns.offset[merged]
            columns.offset[merged + 1] = columns.offset[merged] + work.size[column]
            merged += 1

        place_entries(entries, begin, end, work, columns)
        for z in range(shards):
            begin[z] = end[z]
    return merged, -1, -1


@kernel
def column_sums(offset: Int64s, value: Float64s) -> Float64s:
    """Return the sum of the values of each column, added in shard order: float64 (m)."""
    result = np.zeros(offset.shape[0] - 1)
    for c in range(result.shape[0]):
        for entry in range(offset[c], offset[c + 1]):
            result[c] += value[entry]
    return result


@kernel
def column_norms(offset: Int64s, value: Float64s, norm: int) -> Float64s:
    """Return a norm (`itersel.config.numbered`) of each column, added in shard order: float64 (m)."""
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
