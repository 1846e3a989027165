"""Template RBS: bigrams of the source side, ``RBS:X_haus``; RBT has some of its kernels."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import inline_kernel, leaf_kernel
from itersel.grammar.template_kernels import NO_CODE, UNDERSCORE, Rules, put, put_symbol
from itersel.storage.arrays import UInt8s

SOURCE_PREFIX = np.frombuffer(b"RBS:", np.uint8)
TARGET_PREFIX = np.frombuffer(b"RBT:", np.uint8)
BEGIN_OF_RULE = np.frombuffer(b"<r>", np.uint8)
END_OF_RULE = np.frombuffer(b"</r>", np.uint8)

SYMBOL_BITS = 30
# Codes of symbols are even for words and odd for nonterminals; this one is beyond those of all categories.
OUTSIDE_CODE = (1 << 20) + 1


@leaf_kernel
def put_bigram(name: UInt8s, rules: Rules, rule: int, slot: int, on_target: bool) -> int:
    """Write the bigram that ends at symbol `slot` of a side; returns the length."""
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

    left = OUTSIDE_CODE
    right = OUTSIDE_CODE

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


@inline_kernel
def count_slots(rules: Rules, rule: int) -> int:
    """Return the number of bigrams, with those at the ends of the side."""
    return rules.source_offset[rule + 1] - rules.source_offset[rule] + 1


@inline_kernel
def put_name(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write a bigram."""
    return put_bigram(name, rules, rule, slot, False)


@inline_kernel
def name_code(rules: Rules, rule: int, slot: int) -> int:
    """Return the code of a bigram."""
    return bigram_code(rules, rule, slot, False)
