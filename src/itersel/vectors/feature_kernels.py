"""Hashes of feature names, computed from their bytes: their keys, and a second, independent hash.

If two features have the same key but not the same second hash, their names differ. The opposite is missed
with a probability of 2^-64 for two names with the same key, so of 2^-128 for any two names.
"""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Int64s, UInt8s, UInt64s

FNV_OFFSET = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)
MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)
SHIFT = np.uint64(33)
# Constants of fasthash (Zilong Tan, https://github.com/ztanml/fast-hash).
MULTIPLIER = np.uint64(0x880355F21E6D1965)
MIX = np.uint64(0x2127599BF4325C37)
LOW = np.uint64(23)
HIGH = np.uint64(47)


@leaf_kernel
def hash_bytes(state: np.uint64, data: UInt8s, begin: int, end: int) -> np.uint64:
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
def hash_strings(data: UInt8s, offset: Int64s) -> UInt64s:
    """Return the key of each string of a table."""
    count = offset.shape[0] - 1
    key = np.empty(count, np.uint64)
    for i in range(count):
        key[i] = finish(hash_bytes(FNV_OFFSET, data, offset[i], offset[i + 1]))
    return key


@leaf_kernel
def read_word(data: UInt8s, begin: np.uint64) -> np.uint64:
    """Return the 8 bytes that begin at `begin` as a little-endian number; compiled to a single load."""
    word = np.uint64(0)
    for place in range(np.uint64(8)):
        word |= np.uint64(data[begin + np.uint64(place)]) << np.uint64(8 * place)
    return word


@leaf_kernel
def add_word(state: np.uint64, word: np.uint64) -> np.uint64:
    """Feed 8 bytes to a running hash.

    They are mixed first. Otherwise, as the last words overlap, changes of two letters could cancel: one in
    the last byte of a word would change few bits of the state.
    """
    mixed = (word ^ (word >> LOW)) * MIX
    return (state ^ mixed ^ (mixed >> HIGH)) * MULTIPLIER


@kernel
def hash_names(data: UInt8s, offset: Int64s, check: UInt64s) -> bool:
    """Write the second hash of each name to `check` (n).

    Returns whether the n + 1 offsets rise within `data`; if not, `check` is incomplete.

    Eight bytes at a time, four times as fast as one by one: the last eight may overlap those before them, and
    names of fewer bytes are one number.
    """
    for i in range(check.shape[0]):
        if not 0 <= offset[i] < offset[i + 1] <= data.shape[0]:
            return False

        begin, end = np.uint64(offset[i]), np.uint64(offset[i + 1])
        # without the multiplication, a change of the length could cancel one of the first letter
        state = (end - begin) * MULTIPLIER

        if end - begin < np.uint64(8):
            word = np.uint64(0)
            for position in range(begin, end):
                word = word << np.uint64(8) | np.uint64(data[position])
            check[i] = add_word(state, word)
            continue

        last = end - np.uint64(8)
        while begin < last:
            state = add_word(state, read_word(data, begin))
            begin += np.uint64(8)
        check[i] = add_word(state, read_word(data, last))
    return True
