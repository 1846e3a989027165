"""Template Count: how often a rule was seen, in bins, ``Count:3-4``."""

from __future__ import annotations

from itersel.compile.jit import leaf_kernel
from itersel.grammar.template_kernels import Rules, put
from itersel.storage.arrays import UInt8s
from itersel.storage.strings import string_table

# Bins of counts by number: 0 is none, n > 1 ends at 2^(n-1).
MAX_BIN = 21
BIN_NAMES, BIN_OFFSET = string_table(
    ["", "Count:1", "Count:2", *(f"Count:{2**n // 2 + 1}-{2**n}" for n in range(2, MAX_BIN))]
)


@leaf_kernel
def count_slots(rules: Rules, rule: int) -> int:
    """Return 1 if the count is known."""
    return 1 if rules.bin[rule] > 0 else 0


@leaf_kernel
def put_name(name: UInt8s, rules: Rules, rule: int, slot: int) -> int:
    """Write in how many sampled occurrences of its source side the rule was seen.

    With leave-one-out, occurrences in the sentence itself do not count.
    """
    number = rules.bin[rule]
    return put(name, 0, BIN_NAMES, BIN_OFFSET[number], BIN_OFFSET[number + 1])
