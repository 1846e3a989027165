"""Template Shape: runs of (non)terminals, ``Shape_S01100_T01100``; ShapeT has some of its kernels."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import inline_kernel, leaf_kernel
from itersel.grammar.template_kernels import DIGIT_0, SHAPE_CODE, Rules, put
from itersel.storage.arrays import Int32s, UInt8s

SHAPE_PREFIX = np.frombuffer(b"Shape", np.uint8)
SHAPE_SOURCE = np.frombuffer(b"_S", np.uint8)
SHAPE_TARGET = np.frombuffer(b"_T", np.uint8)
# 1, 3 and 5 stand for runs of terminals, 2 and 4 for nonterminals
SHAPE_POSITIONS = 5


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


@inline_kernel
def put_name(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write the shape of a rule."""
    return put_shape(name, rules, rule, False)


@inline_kernel
def name_code(rules: Rules, rule: int, slot: int) -> int:
    """Return the code of a shape."""
    return shape_code(rules, rule, False)
