"""Template RBT: bigrams of the target side, ``RBT:X1_house``."""

from __future__ import annotations

from itersel.compile.jit import inline_kernel
from itersel.grammar.template_kernels import Rules
from itersel.grammar.templates.rbs_kernels import bigram_code, put_bigram
from itersel.storage.arrays import UInt8s


@inline_kernel
def count_slots(rules: Rules, rule: int) -> int:
    """Return the number of bigrams, with those at the ends of the side."""
    return rules.target_offset[rule + 1] - rules.target_offset[rule] + 1


@inline_kernel
def put_name(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write a bigram."""
    return put_bigram(name, rules, rule, slot, True)


@inline_kernel
def name_code(rules: Rules, rule: int, slot: int) -> int:
    """Return the code of a bigram."""
    return bigram_code(rules, rule, slot, True)
