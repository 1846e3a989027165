"""Template Lex: pairs of linked words, ``Lex:haus_house`` (Green et al. 2013)."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import leaf_kernel
from itersel.grammar.template_kernels import UNDERSCORE, Rules, put, put_symbol
from itersel.storage.arrays import UInt8s

PREFIX = np.frombuffer(b"Lex:", np.uint8)


@leaf_kernel
def find_pair(rules: Rules, rule: int, slot: int) -> int:
    """Return the alignment point of pair `slot` of linked words, or -1 - n if there are only n pairs."""
    source = rules.source_offset[rule]
    target = rules.target_offset[rule]
    pairs = 0
    for point in range(rules.point_offset[rule], rules.point_offset[rule + 1]):
        word = rules.source[source + rules.point[point, 0]]
        if word >= 0 and rules.target[target + rules.point[point, 1]] >= 0:
            if pairs == slot:
                return int(point)
            pairs += 1
    return -1 - pairs


@leaf_kernel
def count_slots(rules: Rules, rule: int) -> int:
    """Return the number of pairs."""
    return -1 - find_pair(rules, rule, -1)


@leaf_kernel
def put_name(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write pair `slot`; returns the length."""
    point = find_pair(rules, rule, slot)
    length = put(name, 0, PREFIX, 0, PREFIX.shape[0])
    source = rules.source[rules.source_offset[rule] + rules.point[point, 0]]
    length = put_symbol(name, length, rules, rule, source, False)
    name[length] = UNDERSCORE
    target = rules.target[rules.target_offset[rule] + rules.point[point, 1]]
    return put_symbol(name, length + 1, rules, rule, target, True)
