"""Templates RBS and RBT, bigrams of the source and target side: ``RBS:X_haus``, ``RBT:X1_house``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.name_kernels import (
    COLON,
    LETTER_B,
    LETTER_R,
    LETTER_S,
    LETTER_T,
    UNDERSCORE,
    Rules,
    put,
    put_symbol,
)
from itersel.jit import inline_kernel, leaf_kernel

BEGIN_OF_RULE = np.array([60, 114, 62], np.uint8)  # <r>
END_OF_RULE = np.array([60, 47, 114, 62], np.uint8)  # </r>
SYMBOL_BITS = 30
# Codes of symbols are even for words and odd for nonterminals; this one is beyond those of all categories.
OUTSIDE_CODE = (1 << 20) + 1
NO_CODE = -1


@leaf_kernel
def bigram_slots(rules: Rules, rule: int, on_target: bool) -> int:
    """Return the number of bigrams of a side, including those at its ends."""
    if on_target:
        return int(rules.target_offset[rule + 1] - rules.target_offset[rule] + 1)
    return int(rules.source_offset[rule + 1] - rules.source_offset[rule] + 1)


@leaf_kernel
def put_bigram(name: NDArray[np.uint8], rules: Rules, rule: int, slot: int, on_target: bool) -> int:
    """Write the bigram that ends at symbol `slot` of a side; returns the length."""
    symbols = rules.target if on_target else rules.source
    offset = rules.target_offset if on_target else rules.source_offset
    begin, end = offset[rule], offset[rule + 1]
    place = begin + slot
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
