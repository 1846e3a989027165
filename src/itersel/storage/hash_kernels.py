"""Hashes of numbers, for tables with open addressing and for random numbers."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import inline_kernel

# 2^64 divided by the golden ratio, an odd number. The high bits of its product with a number depend on all
# bits of the number (Fibonacci hashing; Knuth, TAOCP 3, section 6.4); splitmix64 adds it to its state.
GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)

_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)


@inline_kernel
def mixed(number: np.uint64) -> np.uint64:
    """Return a hash of a 64-bit number: that of splitmix64 (Steele, Lea & Flood 2014)."""
    number ^= number >> _30
    number *= _FIRST
    number ^= number >> _27
    number *= _SECOND
    return number ^ (number >> _31)
