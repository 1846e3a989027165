"""Templates of sparse features (docs/features.md): kernels that find a rule's features and write their names.

A *slot* is an occurrence of a feature in a rule. `itersel.grammar.sparse_kernels` knows the templates by
number, their place in `itersel.limits.BUILT_IN_TEMPLATES`. Names are written byte by byte.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.arrays import Int32s, Int64s, UInt8s, UInt16s
from itersel.compile.jit import inline_kernel, leaf_kernel
from itersel.storage.strings import StringTable, string_table

COLON, UNDERSCORE, DIGIT_0, LETTER_N = b":_0N"
IDENTITY_PREFIX = np.frombuffer(b"R:", np.uint8)
SOURCE_PREFIX, TARGET_PREFIX = np.frombuffer(b"RBS:", np.uint8), np.frombuffer(b"RBT:", np.uint8)
BEGIN_OF_RULE, END_OF_RULE = np.frombuffer(b"<r>", np.uint8), np.frombuffer(b"</r>", np.uint8)
PAIR_PREFIX, DELETION_PREFIX = np.frombuffer(b"Lex:", np.uint8), np.frombuffer(b"Del:", np.uint8)
SHAPE_PREFIX = np.frombuffer(b"Shape", np.uint8)
SHAPE_SOURCE, SHAPE_TARGET = np.frombuffer(b"_S", np.uint8), np.frombuffer(b"_T", np.uint8)

SYMBOL_BITS = 30
# Codes of symbols are even for words and odd for nonterminals; this one is beyond those of all categories.
OUTSIDE_CODE = (1 << 20) + 1
NO_CODE = -1

# 1, 3 and 5 stand for runs of terminals, 2 and 4 for nonterminals
SHAPE_POSITIONS = 5
# codes of shapes begin here, beyond those of bigrams
SHAPE_CODE = 1 << 61

# Bins of counts by number: 0 is none, n > 1 ends at 2^(n-1).
MAX_BIN = 21
BIN_NAMES, BIN_OFFSET = string_table(
    ["", "Count:1", "Count:2", *(f"Count:{2**n // 2 + 1}-{2**n}" for n in range(2, MAX_BIN))]
)


class Rules(NamedTuple):
    """Rules and their words; shapes as in `itersel.grammar.shard.Shard`."""

    words: StringTable  # the vocabulary; escaped (`sparse._escape`) wherever names are written
    names: StringTable  # of the categories, likewise
    category: UInt16s
    source: Int32s
    source_offset: Int64s
    target: Int32s
    target_offset: Int64s
    point: UInt8s
    point_offset: Int64s
    bin: UInt8s  # bin of the rule's count; 0: unknown


@leaf_kernel
def put(name: UInt8s, length: int, piece: UInt8s, begin: int, end: int) -> int:
    """Append ``piece[begin:end]`` to the `length` bytes of a name; returns the new length."""
    for position in range(begin, end):
        name[length] = piece[position]
        length += 1
    return length


@leaf_kernel
def put_category(name: UInt8s, length: int, rules: Rules, rule: int, symbol: int) -> int:
    """Append the category of a nonterminal (-1, -2) or of the left-hand side (0); returns the new length."""
    category = rules.category[rule, -symbol]
    return put(name, length, rules.names.data, rules.names.offset[category], rules.names.offset[category + 1])


@leaf_kernel
def put_symbol(name: UInt8s, length: int, rules: Rules, rule: int, symbol: int, on_target: bool) -> int:
    """Append a terminal, or the category of a nonterminal and, on the target side, its index."""
    if symbol >= 0:
        return put(name, length, rules.words.data, rules.words.offset[symbol], rules.words.offset[symbol + 1])
    length = put_category(name, length, rules, rule, symbol)
    if not on_target:
        return length
    name[length] = DIGIT_0 - symbol
    return length + 1


@leaf_kernel
def put_identity(name: UInt8s, rules: Rules, rule: int) -> int:
    """Write the rule itself, ``R:X:NX_haus:N1_house``; returns the length."""
    length = put(name, 0, IDENTITY_PREFIX, 0, IDENTITY_PREFIX.shape[0])
    length = put_category(name, length, rules, rule, 0)
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


@leaf_kernel
def put_bigram(name: UInt8s, rules: Rules, rule: int, slot: int, on_target: bool) -> int:
    """Write the bigram that ends at symbol `slot` of a side, ``RBS:X_haus`` or ``RBT:X1_house``."""
    symbols = rules.target if on_target else rules.source
    offset = rules.target_offset if on_target else rules.source_offset
    prefix = TARGET_PREFIX if on_target else SOURCE_PREFIX
    begin, end = offset[rule], offset[rule + 1]
    place = begin + slot
    length = put(name, 0, prefix, 0, prefix.shape[0])
    if place == begin:
        length = put(name, length, BEGIN_OF_RULE, 0, BEGIN_OF_RULE.shape[0])
    else:
        length = put_symbol(name, length, rules, rule, symbols[place - 1], on_target)
    name[length] = UNDERSCORE
    length += 1
    if place == end:
        return put(name, length, END_OF_RULE, 0, END_OF_RULE.shape[0])
    return put_symbol(name, length, rules, rule, symbols[place], on_target)


@inline_kernel
def bigram_code(rules: Rules, rule: int, slot: int, on_target: bool) -> int:
    """Return a number that only bigrams with the same name have, or `NO_CODE` for word numbers from 2^29."""
    symbols = rules.target if on_target else rules.source
    offset = rules.target_offset if on_target else rules.source_offset
    begin, end = offset[rule], offset[rule + 1]
    place = begin + slot
    left, right = OUTSIDE_CODE, OUTSIDE_CODE
    if place > begin:
        left = symbol_code(rules, rule, symbols[place - 1])
    if place < end:
        right = symbol_code(rules, rule, symbols[place])
    if max(left, right) >> SYMBOL_BITS != 0:
        return NO_CODE
    return (int(on_target) << 2 * SYMBOL_BITS) | (left << SYMBOL_BITS) | right


@leaf_kernel
def symbol_code(rules: Rules, rule: int, symbol: int) -> int:
    """Return a number for a word, or for the category and index of a nonterminal."""
    if symbol >= 0:
        return int(symbol) << 1
    return (int(rules.category[rule, -symbol]) << 2) | (int(-symbol - 1) << 1) | 1


@leaf_kernel
def side_code(code: int, symbols: Int32s, begin: int, end: int) -> int:
    """Append the five positions of one side to a code, a bit each: 1 where they are filled."""
    place = begin
    for position in range(SHAPE_POSITIONS):
        filled = place < end and (symbols[place] < 0) == (position % 2 == 1)
        code = code << 1 | int(filled)
        if filled and position % 2 == 1:
            place += 1
        elif filled:
            while place < end and symbols[place] >= 0:
                place += 1
    return code


@leaf_kernel
def shape_code(rules: Rules, rule: int, only_target: bool) -> int:
    """Return a number that only features of the same shape and template have."""
    code = 2 if only_target else 1
    if not only_target:
        code = side_code(code, rules.source, rules.source_offset[rule], rules.source_offset[rule + 1])
    target_begin, target_end = rules.target_offset[rule], rules.target_offset[rule + 1]
    return SHAPE_CODE | side_code(code, rules.target, target_begin, target_end)


@leaf_kernel
def put_bits(name: UInt8s, length: int, code: int) -> int:
    """Append the last five bits of a code as digits; returns the new length."""
    for position in range(SHAPE_POSITIONS):
        name[length + position] = DIGIT_0 + (code >> (SHAPE_POSITIONS - 1 - position) & 1)
    return length + SHAPE_POSITIONS


@leaf_kernel
def put_shape(name: UInt8s, rules: Rules, rule: int, only_target: bool) -> int:
    """Write ``Shape_S01100_T01100``, or ``Shape_T01100``; returns the length."""
    code = shape_code(rules, rule, only_target)
    length = put(name, 0, SHAPE_PREFIX, 0, SHAPE_PREFIX.shape[0])
    if not only_target:
        length = put(name, length, SHAPE_SOURCE, 0, SHAPE_SOURCE.shape[0])
        length = put_bits(name, length, code >> SHAPE_POSITIONS)
    length = put(name, length, SHAPE_TARGET, 0, SHAPE_TARGET.shape[0])
    return put_bits(name, length, code)


@leaf_kernel
def find_pair(rules: Rules, rule: int, slot: int) -> int:
    """Return the alignment point of pair `slot` of linked words, or -1 - n if there are only n pairs."""
    source, target = rules.source_offset[rule], rules.target_offset[rule]
    pairs = 0
    for point in range(rules.point_offset[rule], rules.point_offset[rule + 1]):
        word = rules.source[source + rules.point[point, 0]]
        if word >= 0 and rules.target[target + rules.point[point, 1]] >= 0:
            if pairs == slot:
                return int(point)
            pairs += 1
    return -1 - pairs


@leaf_kernel
def put_pair(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write linked word pair `slot`, ``Lex:haus_house`` (Green et al. 2013); returns the length."""
    point = find_pair(rules, rule, slot)
    length = put(name, 0, PAIR_PREFIX, 0, PAIR_PREFIX.shape[0])
    source = rules.source[rules.source_offset[rule] + rules.point[point, 0]]
    length = put_symbol(name, length, rules, rule, source, False)
    name[length] = UNDERSCORE
    target = rules.target[rules.target_offset[rule] + rules.point[point, 1]]
    return put_symbol(name, length + 1, rules, rule, target, True)


@leaf_kernel
def find_deletion(rules: Rules, rule: int, slot: int) -> int:
    """Return the position of unaligned source word `slot`, or -1 - n if there are only n of them.

    A rule without links has none, because text grammars may omit alignments.
    """
    begin, deletions = rules.source_offset[rule], 0
    if rules.point_offset[rule] == rules.point_offset[rule + 1]:
        return -1
    for place in range(begin, rules.source_offset[rule + 1]):
        if rules.source[place] < 0:
            continue
        is_linked = False
        for point in range(rules.point_offset[rule], rules.point_offset[rule + 1]):
            is_linked |= rules.point[point, 0] == place - begin
        if not is_linked:
            if deletions == slot:
                return int(place)
            deletions += 1
    return -1 - deletions


@leaf_kernel
def put_deletion(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write unaligned source word `slot`, ``Del:doch`` (Green et al. 2013); returns the length."""
    length = put(name, 0, DELETION_PREFIX, 0, DELETION_PREFIX.shape[0])
    return put_symbol(name, length, rules, rule, rules.source[find_deletion(rules, rule, slot)], False)


@leaf_kernel
def put_count(name: UInt8s, rules: Rules, rule: int) -> int:
    """Write ``Count:3-4``, in how many sampled occurrences of its source side the rule was seen.

    With leave-one-out, occurrences in the sentence itself do not count.
    """
    number = rules.bin[rule]
    return put(name, 0, BIN_NAMES, BIN_OFFSET[number], BIN_OFFSET[number + 1])
