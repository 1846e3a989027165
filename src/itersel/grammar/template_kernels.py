"""What templates of sparse features have in common: the rules, and kernels that write pieces of a name.

Names are written byte by byte. The templates are in `itersel.grammar.templates`; that of whole rules is here,
because `itersel.grammar.sparse_kernels` treats it differently.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import leaf_kernel
from itersel.storage.arrays import Int32s, Int64s, UInt8s, UInt16s
from itersel.storage.strings import StringTable

COLON, UNDERSCORE, DIGIT_0, LETTER_N = b":_0N"
IDENTITY_PREFIX = np.frombuffer(b"R:", np.uint8)

# The code of a name that has none; see `itersel.grammar.templates`.
NO_CODE = -1
# Codes of shapes begin here, beyond those of bigrams.
SHAPE_CODE = 1 << 61


class Rules(NamedTuple):
    """Rules and their words; shapes as in `itersel.grammar.sentence_grammars`."""

    words: StringTable  # the vocabulary; `escaped` (`itersel.vectors.features`) wherever names are written
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
            name[length] = LETTER_N
            name[length + 1] = DIGIT_0 - symbol
            length += 2
        else:
            length = put_symbol(name, length, rules, rule, symbol, True)
    return length
