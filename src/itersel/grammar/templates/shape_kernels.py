"""Templates Shape, ``Shape_S01100_T01100``, and ShapeT, the target side alone: ``Shape_T01100``.

Of the five positions, 1, 3 and 5 stand for runs of terminals, 2 and 4 for nonterminals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.name_kernels import DIGIT_0, Rules, put
from itersel.jit import leaf_kernel

SHAPE_SOURCE = np.array([83, 104, 97, 112, 101, 95, 83], np.uint8)  # Shape_S
SHAPE_ALONE = np.array([83, 104, 97, 112, 101, 95, 84], np.uint8)  # Shape_T
SHAPE_TARGET = np.array([95, 84], np.uint8)  # _T
SHAPE_POSITIONS = 5
# codes of shapes begin here, beyond those of bigrams
SHAPE_CODE = 1 << 61


@leaf_kernel
def side_code(code: int, symbols: NDArray[np.int32], begin: int, end: int) -> int:
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
def put_bits(name: NDArray[np.uint8], length: int, code: int) -> int:
    """Append the last five bits of a code as digits; returns the new length."""
    for position in range(SHAPE_POSITIONS):
        name[length + position] = DIGIT_0 + (code >> (SHAPE_POSITIONS - 1 - position) & 1)
    return length + SHAPE_POSITIONS


@leaf_kernel
def put_shape(name: NDArray[np.uint8], rules: Rules, rule: int) -> int:
    """Write ``Shape_S....._T.....``; returns the length."""
    code = shape_code(rules, rule, False)
    length = put(name, 0, SHAPE_SOURCE, 0, SHAPE_SOURCE.shape[0])
    length = put_bits(name, length, code >> SHAPE_POSITIONS)
    length = put(name, length, SHAPE_TARGET, 0, SHAPE_TARGET.shape[0])
    return put_bits(name, length, code)


@leaf_kernel
def put_target_shape(name: NDArray[np.uint8], rules: Rules, rule: int) -> int:
    """Write ``Shape_T.....``; returns the length."""
    length = put(name, 0, SHAPE_ALONE, 0, SHAPE_ALONE.shape[0])
    return put_bits(name, length, shape_code(rules, rule, True))
