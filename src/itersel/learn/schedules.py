"""The schedules of the learning rate, by the names of the key `schedule`: its factor in each step.

Reading a config imports this module, because learners declare the key with these names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping


def constant(step: int) -> float:
    """Return 1: the learning rate stays the same."""
    return 1.0


def inverse(step: int) -> float:
    """Return 1/t in step t, from 1 (Robbins & Monro 1951)."""
    return 1.0 / step


def inverse_root(step: int) -> float:
    """Return 1/sqrt(t) in step t, from 1 (Zinkevich 2003)."""
    return 1.0 / math.sqrt(step)


SCHEDULES: Mapping[str, Callable[[int], float]] = {
    "constant": constant,
    "1/t": inverse,
    "1/sqrt(t)": inverse_root,
}
