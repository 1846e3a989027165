"""The sparse features of rules: all templates, and a table of feature names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import inline_kernel, kernel
from itersel.grammar.dispatch_kernels import R as IDENTITY
from itersel.grammar.dispatch_kernels import count_slots, name_code, put_name
from itersel.grammar.template_kernels import NO_CODE, Rules, put, put_identity
from itersel.storage.arrays import Float32s, Int32s, Int64s, UInt8s, UInt64s
from itersel.storage.hash_kernels import GOLDEN_RATIO
from itersel.vectors.feature_kernels import FNV_OFFSET, finish, hash_bytes

COLLISION = -1
# Of a direct-mapped cache from codes to numbers of names: a new code replaces the one in its place. Most
# features are bigrams, and few of those are distinct; one in the cache is found without writing its name.
MEMO_BITS = 16


class NameTable(NamedTuple):
    """Distinct names in the order of their first occurrence; the arrays have spare capacity.

    slot: int32 (power of two), open-addressing hash table of name numbers, -1 where free.
    key: uint64, keys of the names; data, offset: uint8, int64, their bytes.
    """

    slot: Int32s
    key: UInt64s
    data: UInt8s
    offset: Int64s


class Occurrences(NamedTuple):
    """Sparse rows: the features of each rule, as indices into `NameTable`; -1 - r: identity of rule r."""

    feature: Int32s
    value: Float32s
    offset: Int64s


@kernel
def grow(names: NameTable, count: int, more: int, more_bytes: int) -> NameTable:
    """Return names with capacity for `more` names; the hash table will be at most half full."""
    if count + more > names.key.shape[0]:
        capacity = names.slot.shape[0]
        while count + more > capacity // 2:
            capacity *= 2

        slot = np.full(capacity, -1, np.int32)
        key = np.empty(capacity // 2, np.uint64)
        offset = np.zeros(capacity // 2 + 1, np.int64)

        for number in range(count):
            key[number] = names.key[number]
            offset[number + 1] = names.offset[number + 1]
            place = np.int64(key[number] & np.uint64(capacity - 1))
            while slot[place] >= 0:
                place = (place + 1) & (capacity - 1)
            slot[place] = number

        names = NameTable(slot, key, names.data, offset)

    if names.offset[count] + more_bytes > names.data.shape[0]:
        data = np.empty(2 * (names.offset[count] + more_bytes), np.uint8)
        for i in range(names.offset[count]):
            data[i] = names.data[i]
        names = NameTable(names.slot, names.key, data, names.offset)
    return names


@inline_kernel
def find_name(names: NameTable, count: int, key: np.uint64, name: UInt8s, length: int) -> int:
    """Return the number of a name; `count` after adding it; `COLLISION` if another name has its key.

    `names` must have spare capacity (`grow`).
    """
    mask = names.slot.shape[0] - 1
    place = np.int64(key & np.uint64(mask))
    while names.slot[place] >= 0:
        number = names.slot[place]
        if names.key[number] == key:
            begin = names.offset[number]
            if names.offset[number + 1] - begin != length:
                return COLLISION
            for position in range(length):
                if names.data[begin + position] != name[position]:
                    return COLLISION
            return number

        place = (place + 1) & mask

    names.slot[place] = count
    names.key[count] = key

    begin = names.offset[count]
    names.offset[count + 1] = begin + length
    for position in range(length):
        names.data[begin + position] = name[position]
    return count


@inline_kernel
def memo_place(code: int) -> int:
    """Return the place of a code in the cache; that of `NO_CODE` is the last one."""
    if code == NO_CODE:
        return 1 << MEMO_BITS
    return np.int64((np.uint64(code) * GOLDEN_RATIO) >> np.uint64(64 - MEMO_BITS))


@inline_kernel
def count_one(rows: Occurrences, first: int, filled: int, number: int) -> int:
    """Count an occurrence of a feature among those from `first`; returns how many are filled then."""
    place = first
    while place < filled and rows.feature[place] != number:
        place += 1

    if place == filled:
        rows.feature[place] = number
        rows.value[place] = 0.0
        filled += 1
    rows.value[place] += 1.0
    return filled


@kernel
def count_features(
    rules: Rules, templates: Int64s, longest: int
) -> tuple[Occurrences, UInt64s, NameTable, int, UInt8s]:
    """Count the features of every rule; `longest`: bytes of the longest possible name.

    Names of identities are not kept: there are as many as rules, and few are ever needed.

    Returns the rows, in which each rule has a feature once; the keys of the identities, uint64 (R), no rows
    without this template; the names of all other features, and their number; and an empty array, or a name
    with the key of an earlier name (uint8): the results are then incomplete.
    """
    rule_count = rules.category.shape[0]
    slots = 0
    for rule in range(rule_count):
        for template in templates:
            slots += count_slots(rules, rule, template)

    rows = Occurrences(
        np.empty(slots, np.int32), np.empty(slots, np.float32), np.zeros(rule_count + 1, np.int64)
    )
    names = NameTable(
        np.full(2, -1, np.int32), np.empty(1, np.uint64), np.empty(1, np.uint8), np.zeros(2, np.int64)
    )

    identity = np.empty(rule_count if (templates == IDENTITY).any() else 0, np.uint64)

    places = (1 << MEMO_BITS) + 1  # the last one is always free
    memo_code = np.full(places, NO_CODE, np.int64)
    memo_number = np.empty(places, np.int32)

    name = np.empty(longest, np.uint8)
    filled = 0
    count = 0
    for rule in range(rule_count):
        for template in templates:
            if template == IDENTITY:
                length = put_identity(name, rules, rule)
                identity[rule] = finish(hash_bytes(FNV_OFFSET, name, 0, length))

                rows.feature[filled] = -1 - rule
                rows.value[filled] = 1.0
                filled += 1
                continue

            more = count_slots(rules, rule, template)
            more_bytes = more * longest
            if count + more > names.key.shape[0] or names.offset[count] + more_bytes > names.data.shape[0]:
                names = grow(names, count, more, more_bytes)

            first = filled  # names of different templates differ
            for slot in range(more):
                code = name_code(rules, rule, slot, template)
                remembered = memo_place(code)

                if code != NO_CODE and memo_code[remembered] == code:
                    number = int(memo_number[remembered])
                else:
                    length = put_name(name, rules, rule, slot, template)
                    key = finish(hash_bytes(FNV_OFFSET, name, 0, length))
                    number = find_name(names, count, key, name, length)
                    if number == COLLISION:
                        return rows, identity, names, count, name[:length]

                    count = max(count, number + 1)
                    memo_code[remembered] = code
                    memo_number[remembered] = number

                filled = count_one(rows, first, filled, number)

        rows.offset[rule + 1] = filled

    rows = Occurrences(rows.feature[:filled], rows.value[:filled], rows.offset)
    return rows, identity, names, count, name[:0]


@kernel
def take_names(
    rules: Rules, names: UInt8s, offset: Int64s, places: Int64s, longest: int
) -> tuple[UInt8s, Int64s]:
    """Return a table of names (n): of the rows of a table, or -1 - r for the identity of rule r."""
    name = np.empty(longest, np.uint8)
    taken = np.zeros(places.shape[0] + 1, np.int64)
    data = np.empty(longest, np.uint8)

    for i in range(places.shape[0]):
        place = places[i]
        if place < 0:
            length = put_identity(name, rules, -1 - place)
        else:
            length = put(name, 0, names, offset[place], offset[place + 1])

        if taken[i] + length > data.shape[0]:
            more = np.empty(2 * (taken[i] + length), np.uint8)
            more[: taken[i]] = data[: taken[i]]
            data = more

        taken[i + 1] = put(data, taken[i], name, 0, length)
    return data[: taken[places.shape[0]]], taken


@kernel
def renumber(rows: Occurrences, rank: Int32s, identity_rank: Int32s) -> None:
    """Replace feature numbers by their ranks and sort each row, in place."""
    for rule in range(rows.offset.shape[0] - 1):
        begin = rows.offset[rule]
        for place in range(begin, rows.offset[rule + 1]):
            number = rows.feature[place]
            value = rows.value[place]
            feature = rank[number] if number >= 0 else identity_rank[-1 - number]

            while place > begin and rows.feature[place - 1] > feature:
                rows.feature[place] = rows.feature[place - 1]
                rows.value[place] = rows.value[place - 1]
                place -= 1

            rows.feature[place] = feature
            rows.value[place] = value
