"""Templates for the word alignment of a rule (Green et al. 2013).

Lex: ``Lex:haus_house`` for each pair of linked words. Del: ``Del:doch`` for each unaligned source word.
A rule without links has neither, because text grammars may omit alignments.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.name_kernels import COLON, UNDERSCORE, Rules, put, put_symbol
from itersel.jit import leaf_kernel

LEX = np.array([76, 101, 120], np.uint8)  # Lex
DEL = np.array([68, 101, 108], np.uint8)  # Del


@leaf_kernel
def find_pair(rules: Rules, rule: int, slot: int) -> int:
    """Return the point of word pair `slot`, or -1 - n if there are only n pairs."""
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
def pair_slots(rules: Rules, rule: int) -> int:
    """Return the number of pairs of linked words."""
    return -1 - find_pair(rules, rule, -1)


@leaf_kernel
def put_pair(name: NDArray[np.uint8], rules: Rules, rule: int, slot: int) -> int:
    """Write linked word pair `slot`; returns the length."""
    point = find_pair(rules, rule, slot)
    length = put(name, 0, LEX, 0, LEX.shape[0])
    name[length] = COLON
    source = rules.source[rules.source_offset[rule] + rules.point[point, 0]]
    length = put_symbol(name, length + 1, rules, rule, source, False)
    name[length] = UNDERSCORE
    target = rules.target[rules.target_offset[rule] + rules.point[point, 1]]
    return put_symbol(name, length + 1, rules, rule, target, True)


@leaf_kernel
def find_deletion(rules: Rules, rule: int, slot: int) -> int:
    """Return the position of unaligned word `slot`, or -1 - n if there are only n of them."""
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
def deletion_slots(rules: Rules, rule: int) -> int:
    """Return the number of unaligned source words."""
    return -1 - find_deletion(rules, rule, -1)


@leaf_kernel
def put_deletion(name: NDArray[np.uint8], rules: Rules, rule: int, slot: int) -> int:
    """Write unaligned source word `slot`; returns the length."""
    length = put(name, 0, DEL, 0, DEL.shape[0])
    name[length] = COLON
    return put_symbol(name, length + 1, rules, rule, rules.source[find_deletion(rules, rule, slot)], False)
