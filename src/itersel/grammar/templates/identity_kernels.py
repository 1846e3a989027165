"""Template R, the rule itself: ``R:X:NX_haus:N1_house``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.name_kernels import (
    COLON,
    DIGIT_0,
    LETTER_N,
    LETTER_R,
    UNDERSCORE,
    Rules,
    put_category,
    put_symbol,
)
from itersel.jit import leaf_kernel


@leaf_kernel
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
