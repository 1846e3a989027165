"""Kernels of a hash table of n-grams, with a slot for each n-gram: its hash.

Two n-grams with the same 64-bit hash would count as one.
"""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import leaf_kernel
from itersel.storage.arrays import Int32s, UInt64s
from itersel.storage.hash_kernels import GOLDEN_RATIO, mixed


@leaf_kernel
def hash_with(state: np.uint64, number: int) -> np.uint64:
    """Return a hash of a hash and a number; never 0, which marks an empty slot."""
    return mixed((state ^ np.uint64(number)) + GOLDEN_RATIO) | np.uint64(1)


@leaf_kernel
def hash_ngram(token: Int32s, place: int, n: int) -> np.uint64:
    """Return the hash of the n-gram that begins at a place."""
    hashed = np.uint64(n)
    for position in range(place, place + n):
        hashed = hash_with(hashed, token[position])
    return hashed


@leaf_kernel
def slot_of(key: UInt64s, hashed: np.uint64) -> int:
    """Return the slot of a hash, or the empty slot where it belongs."""
    mask = key.shape[0] - 1
    slot = np.int64(hashed >> np.uint64(1)) & mask
    while key[slot] != hashed and key[slot] != 0:
        slot = (slot + 1) & mask
    return int(slot)
