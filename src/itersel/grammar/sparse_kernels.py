"""Names of the sparse features of rules, written and counted byte by byte.

A rule with n source and m target symbols has n + m + 4 feature occurrences, numbered here as *slots*:
0 its identity, 1 to n + 1 the source bigrams, n + 2 to n + m + 2 the target bigrams, the last its shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel
from itersel.storage.strings import StringTable
from itersel.vectors.feature_kernels import FNV_OFFSET, finish, hash_bytes

LETTER_B, LETTER_N, LETTER_R, LETTER_S, LETTER_T = 66, 78, 82, 83, 84
COLON, UNDERSCORE, DIGIT_0 = 58, 95, 48
BEGIN_OF_RULE = np.array([60, 114, 62], np.uint8)  # <r>
END_OF_RULE = np.array([60, 47, 114, 62], np.uint8)  # </r>
SHAPE_SOURCE = np.array([83, 104, 97, 112, 101, 95, 83], np.uint8)  # Shape_S
SHAPE_TARGET = np.array([95, 84], np.uint8)  # _T

FIXED_SLOTS = 4
SHAPE_POSITIONS = 5
COLLISION = -1


class Rules(NamedTuple):
    """Rules and their words; shapes as in `itersel.grammar.shard.Shard`."""

    words: StringTable  # the vocabulary, escaped
    names: StringTable  # of the categories, escaped
    category: NDArray[np.uint16]
    source: NDArray[np.int32]
    source_offset: NDArray[np.int64]
    target: NDArray[np.int32]
    target_offset: NDArray[np.int64]


class Names(NamedTuple):
    """Different names in the order of their first occurrence; the arrays are longer than what is used.

    Attributes
    ----------
    slot
        int32 (power of two): open-addressing hash table of name numbers, -1 where free.
    key
        uint64: keys of the names.
    data, offset
        uint8, int64: bytes of the names.
    """

    slot: NDArray[np.int32]
    key: NDArray[np.uint64]
    data: NDArray[np.uint8]
    offset: NDArray[np.int64]


class Occurrences(NamedTuple):
    """Sparse rows: the features of every rule, as numbers of `Names`."""

    feature: NDArray[np.int32]
    value: NDArray[np.float32]
    offset: NDArray[np.int64]


@kernel
def put(name: NDArray[np.uint8], length: int, piece: NDArray[np.uint8], begin: int, end: int) -> int:
    """Append ``piece[begin:end]`` to the `length` bytes of a name; returns the new length."""
    for position in range(begin, end):
        name[length] = piece[position]
        length += 1
    return length


@kernel
def put_category(name: NDArray[np.uint8], length: int, rules: Rules, rule: int, symbol: int) -> int:
    """Append the category of a nonterminal, -1 or -2, or of the left-hand side, 0; returns the new length."""
    category = rules.category[rule, -symbol]
    return put(name, length, rules.names.data, rules.names.offset[category], rules.names.offset[category + 1])


@kernel
def put_symbol(
    name: NDArray[np.uint8], length: int, rules: Rules, rule: int, symbol: int, on_target: bool
) -> int:
    """Append a terminal, or a nonterminal by category and, on the target side, index."""
    if symbol >= 0:
        return put(name, length, rules.words.data, rules.words.offset[symbol], rules.words.offset[symbol + 1])
    length = put_category(name, length, rules, rule, symbol)
    if not on_target:
        return length
    name[length] = DIGIT_0 - symbol
    return length + 1


@kernel
def put_identity(name: NDArray[np.uint8], rules: Rules, rule: int) -> int:
    """Write ``R:lhs:source:target``; returns the length."""
    name[0], name[1] = LETTER_R, COLON
    length = put_category(name, 2, rules, rule, 0)
    name[length] = COLON
    length += 1
    for place in range(rules.source_offset[rule], rules.source_offset[rule + 1]):
        if rules.source[place] < 0:
            name[length] = LETTER_N
            length += 1
        length = put_symbol(name, length, rules, rule, rules.source[place], False)
        name[length] = UNDERSCORE
        length += 1
    name[length - 1] = COLON  # no rule has an empty source side
    begin = rules.target_offset[rule]
    for place in range(begin, rules.target_offset[rule + 1]):
        if place > begin:
            name[length] = UNDERSCORE
            length += 1
        symbol = rules.target[place]
        if symbol < 0:
            name[length], name[length + 1] = LETTER_N, DIGIT_0 - symbol
            length += 2
        else:
            length = put_symbol(name, length, rules, rule, symbol, True)
    return length


@kernel
def put_bigram(
    name: NDArray[np.uint8],
    rules: Rules,
    rule: int,
    symbols: NDArray[np.int32],
    begin: int,
    end: int,
    place: int,
    on_target: bool,
) -> int:
    """Write the bigram that ends at `place` of a side ``symbols[begin:end]``; returns the length."""
    name[0], name[1], name[3] = LETTER_R, LETTER_B, COLON
    name[2] = LETTER_T if on_target else LETTER_S
    length = 4
    if place == begin:
        length = put(name, length, BEGIN_OF_RULE, 0, BEGIN_OF_RULE.shape[0])
    else:
        length = put_symbol(name, length, rules, rule, symbols[place - 1], on_target)
    name[length] = UNDERSCORE
    length += 1
    if place == end:
        return put(name, length, END_OF_RULE, 0, END_OF_RULE.shape[0])
    return put_symbol(name, length, rules, rule, symbols[place], on_target)


@kernel
def put_shape_side(
    name: NDArray[np.uint8], length: int, symbols: NDArray[np.int32], begin: int, end: int
) -> int:
    """Append the five positions of one side: runs of terminals at 1, 3, 5, nonterminals at 2, 4."""
    place = begin
    for position in range(SHAPE_POSITIONS):
        filled = place < end and (symbols[place] < 0) == (position % 2 == 1)
        name[length] = DIGIT_0 + filled
        length += 1
        if filled and position % 2 == 1:
            place += 1
        elif filled:
            while place < end and symbols[place] >= 0:
                place += 1
    return length


@kernel
def put_shape(name: NDArray[np.uint8], rules: Rules, rule: int) -> int:
    """Write ``Shape_S....._T.....``; returns the length."""
    length = put(name, 0, SHAPE_SOURCE, 0, SHAPE_SOURCE.shape[0])
    begin, end = rules.source_offset[rule], rules.source_offset[rule + 1]
    length = put_shape_side(name, length, rules.source, begin, end)
    length = put(name, length, SHAPE_TARGET, 0, SHAPE_TARGET.shape[0])
    begin, end = rules.target_offset[rule], rules.target_offset[rule + 1]
    return put_shape_side(name, length, rules.target, begin, end)


@kernel
def grow(names: Names, count: int, more: int, more_bytes: int) -> Names:
    """Return names with room for some more; the hash table is at most half full then."""
    if count + more > names.key.shape[0]:
        capacity = names.slot.shape[0]
        while count + more > capacity // 2:
            capacity *= 2
        slot = np.full(capacity, -1, np.int32)
        key = np.empty(capacity // 2, np.uint64)
        offset = np.zeros(capacity // 2 + 1, np.int64)
        key[:count] = names.key[:count]
        offset[: count + 1] = names.offset[: count + 1]
        for number in range(count):
            place = np.int64(key[number] & np.uint64(capacity - 1))
            while slot[place] >= 0:
                place = (place + 1) & (capacity - 1)
            slot[place] = number
        names = Names(slot, key, names.data, offset)
    if names.offset[count] + more_bytes > names.data.shape[0]:
        data = np.empty(2 * (names.offset[count] + more_bytes), np.uint8)
        data[: names.offset[count]] = names.data[: names.offset[count]]
        names = Names(names.slot, names.key, data, names.offset)
    return names


@kernel
def find_name(names: Names, count: int, key: np.uint64, name: NDArray[np.uint8], length: int) -> int:
    """Return the number of a name; `count` after adding it; `COLLISION` if another name has its key.

    `names` must have room (`grow`).
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
    names.slot[place], names.key[count] = count, key
    begin = names.offset[count]
    names.offset[count + 1] = begin + length
    for position in range(length):
        names.data[begin + position] = name[position]
    return count


@kernel
def count_features(rules: Rules, longest: int) -> tuple[Occurrences, Names, int, NDArray[np.uint8]]:
    """Count the features of every rule.

    Returns
    -------
    occurrences, names
        Rows, each name once a rule; and all names.
    count
        How many names there are.
    collision
        uint8: empty, or a name whose key another name has already; the results are then incomplete.

    Parameters
    ----------
    rules
        The rules.
    longest
        No name has more bytes.
    """
    rule_count = rules.category.shape[0]
    slots = rules.source.shape[0] + rules.target.shape[0] + FIXED_SLOTS * rule_count
    feature, value = np.empty(slots, np.int32), np.empty(slots, np.float32)
    offset = np.zeros(rule_count + 1, np.int64)
    names = Names(
        np.full(2, -1, np.int32), np.empty(1, np.uint64), np.empty(1, np.uint8), np.zeros(2, np.int64)
    )
    name, filled, count = np.empty(longest, np.uint8), 0, 0
    for rule in range(rule_count):
        source, source_end = rules.source_offset[rule], rules.source_offset[rule + 1]
        target, target_end = rules.target_offset[rule], rules.target_offset[rule + 1]
        first_target = 2 + source_end - source
        last = first_target + 1 + target_end - target
        names = grow(names, count, last + 1, (last + 1) * longest)
        begin = filled
        for slot in range(last + 1):
            if slot == 0:
                length = put_identity(name, rules, rule)
            elif slot < first_target:
                place = source + slot - 1
                length = put_bigram(name, rules, rule, rules.source, source, source_end, place, False)
            elif slot < last:
                place = target + slot - first_target
                length = put_bigram(name, rules, rule, rules.target, target, target_end, place, True)
            else:
                length = put_shape(name, rules, rule)
            key = finish(hash_bytes(FNV_OFFSET, name, 0, length))
            number = find_name(names, count, key, name, length)
            if number == COLLISION:
                return Occurrences(feature, value, offset), names, count, name[:length]
            count = max(count, number + 1)
            place = begin
            while place < filled and feature[place] != number:
                place += 1
            if place == filled:
                feature[place], value[place] = number, 0.0
                filled += 1
            value[place] += 1.0
        offset[rule + 1] = filled
    return Occurrences(feature[:filled], value[:filled], offset), names, count, name[:0]


@kernel
def renumber(rows: Occurrences, rank: NDArray[np.int32]) -> None:
    """Replace feature numbers by their ranks and sort every row by them, in place."""
    for rule in range(rows.offset.shape[0] - 1):
        begin = rows.offset[rule]
        for place in range(begin, rows.offset[rule + 1]):
            feature, value = rank[rows.feature[place]], rows.value[place]
            while place > begin and rows.feature[place - 1] > feature:
                rows.feature[place], rows.value[place] = rows.feature[place - 1], rows.value[place - 1]
                place -= 1
            rows.feature[place], rows.value[place] = feature, value
