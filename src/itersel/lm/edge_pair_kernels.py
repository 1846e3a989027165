"""A table of pairs of language-model edges, with the results of composing them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import inline_kernel, leaf_kernel
from itersel.storage.arrays import Float32s, Int32s, Int64s, UInt32s
from itersel.storage.hash_kernels import GOLDEN_RATIO

# Kinds of pairs of edges.
LEFT_PAIR, RIGHT_PAIR = 1, 2
PAIR_SIZE = 4  # numbers of a pair
PAIR_BITS = 15  # of an edge in the key of a pair
# Numbers of a pair: the new left edge of a left pair; the change and the new right edge of a right pair.
NEW_LEFT = 1
CHANGE = 1
NEW_RIGHT = 2
LINE_BITS = np.uint64(2)
PLACE_SHIFT = np.uint64(32)


class EdgePairs(NamedTuple):
    """A hash table of pairs of edges, which remembers what becomes of them.

    The decoder looks up several pairs for each hypothesis, so they are small (four have the size of a cache
    line), and pairs of one edge with consecutively numbered edges, which items of a node often have, are
    neighbours.
    """

    # (`PAIR_SIZE` (power of two + 1)): the numbers of pairs. The first number of a pair is its key, 0 if
    # free. The last pair is always free: it is for those that are not remembered.
    key: UInt32s
    edge: Int32s  # the same memory, for the other numbers of a pair
    change: Float32s
    used: Int64s  # (1): number of pairs


def make_pairs(capacity: int) -> EdgePairs:
    """Allocate an empty table; the capacity is a power of two, at least 4."""
    key = np.zeros(PAIR_SIZE * (capacity + 1), np.uint32)
    return EdgePairs(key, key.view(np.int32), key.view(np.float32), np.zeros(1, np.int64))


@leaf_kernel
def forget_pairs(pairs: EdgePairs) -> None:
    """Empty the table."""
    for i in range(pairs.key.shape[0]):
        pairs.key[i] = 0
    pairs.used[0] = 0


@inline_kernel
def pair_key(kind: int, a: int, b: int) -> int:
    """Return the key of a pair of edges."""
    return int((np.int64(kind) << 2 * PAIR_BITS) | (np.int64(a) << PAIR_BITS) | np.int64(b))


@inline_kernel
def pair_place(pairs: EdgePairs, kind: int, a: int, b: int) -> int:
    """Return the place of a pair of edges, or the free place where it belongs."""
    spare = int(pairs.key.shape[0]) - PAIR_SIZE
    if (a | b) >> PAIR_BITS != 0:
        return spare

    key = pair_key(kind, a, b)
    mask = spare - 1
    line = ((np.uint64(key) >> LINE_BITS) * GOLDEN_RATIO) >> PLACE_SHIFT
    place = int(((np.int64(line) << 2) | (b & 3)) * PAIR_SIZE & mask)
    while pairs.key[place] != key and pairs.key[place] != 0:
        place = (place + PAIR_SIZE) & mask
    return place


@leaf_kernel
def remember(pairs: EdgePairs, kind: int, a: int, b: int, place: int) -> int:
    """Store the key of a pair at its free place; returns the place.

    When three quarters of the table are full, all pairs are forgotten. Pairs of edges whose numbers have more
    than `PAIR_BITS` bits are not remembered: some sentences have so many with very large pop limits.
    """
    spare = int(pairs.key.shape[0]) - PAIR_SIZE
    if place == spare:
        return place
    if 4 * PAIR_SIZE * pairs.used[0] >= 3 * spare:
        forget_pairs(pairs)

    pairs.used[0] += 1
    pairs.key[place] = pair_key(kind, a, b)
    return place
