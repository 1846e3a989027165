"""Template Count, how many sampled occurrences of its source side a rule was seen in: ``Count:3-4``.

The bins are 1, 2, 3-4, 5-8, ... With leave-one-out, occurrences in the sentence itself do not count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.name_kernels import COLON, DIGIT_0, Rules, put
from itersel.jit import leaf_kernel

COUNT = np.array([67, 111, 117, 110, 116], np.uint8)  # Count
DASH = 45
# Bins by number: 0 is none, n > 1 ends at 2^(n-1).
MAX_BIN = 21


@leaf_kernel
def count_slots(rules: Rules, rule: int) -> int:
    """Return 1 if the rule's count is known, else 0."""
    return 1 if rules.bin[rule] > 0 else 0


@leaf_kernel
def put_number(name: NDArray[np.uint8], length: int, number: int) -> int:
    """Append a positive number; returns the length."""
    digits, rest = 0, number
    while rest > 0:
        digits, rest = digits + 1, rest // 10
    for place in range(length + digits - 1, length - 1, -1):
        name[place] = DIGIT_0 + number % 10
        number //= 10
    return length + digits


@leaf_kernel
def put_count(name: NDArray[np.uint8], rules: Rules, rule: int) -> int:
    """Write ``Count:1``, ``Count:2``, ``Count:3-4``, ...; returns the length."""
    length = put(name, 0, COUNT, 0, COUNT.shape[0])
    name[length] = COLON
    last = 1 << (int(rules.bin[rule]) - 1)
    length += 1
    if last > 2:
        length = put_number(name, length, last // 2 + 1)
        name[length] = DASH
        length += 1
    return put_number(name, length, last)
