"""Keys of feature names, computed from their bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel, leaf_kernel

FNV_OFFSET = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)
MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)
SHIFT = np.uint64(33)


@leaf_kernel
def hash_bytes(state: np.uint64, data: NDArray[np.uint8], begin: int, end: int) -> np.uint64:
    """Feed bytes to a running FNV-1a hash; start with `FNV_OFFSET`, end with `finish`."""
    for position in range(begin, end):
        state = (state ^ np.uint64(data[position])) * FNV_PRIME
    return state


@leaf_kernel
def finish(state: np.uint64) -> np.uint64:
    """Mix the bits of a running hash (the finaliser of MurmurHash3)."""
    state = (state ^ (state >> SHIFT)) * MIX_1
    state = (state ^ (state >> SHIFT)) * MIX_2
    return state ^ (state >> SHIFT)


@kernel
def hash_strings(data: NDArray[np.uint8], offset: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the key of each string of a table."""
    count = offset.shape[0] - 1
    key = np.empty(count, np.uint64)
    for i in range(count):
        key[i] = finish(hash_bytes(FNV_OFFSET, data, offset[i], offset[i + 1]))
    return key
