"""Template Del: source words without links, ``Del:doch`` (Green et al. 2013)."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import leaf_kernel
from itersel.grammar.template_kernels import Rules, put, put_symbol
from itersel.storage.arrays import UInt8s

PREFIX = np.frombuffer(b"Del:", np.uint8)


@leaf_kernel
def find_deletion(rules: Rules, rule: int, slot: int) -> int:
    """Return the position of unaligned source word `slot`, or -1 - n if there are only n of them.

    A rule without links has none, because text grammars may omit alignments.
    """
    begin = rules.source_offset[rule]
    deletions = 0
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
def count_slots(rules: Rules, rule: int) -> int:
    """Return the number of unaligned source words."""
    return -1 - find_deletion(rules, rule, -1)


@leaf_kernel
def put_name(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write unaligned source word `slot`; returns the length."""
    length = put(name, 0, PREFIX, 0, PREFIX.shape[0])
    return put_symbol(name, length, rules, rule, rules.source[find_deletion(rules, rule, slot)], False)
