"""Lexical translation costs from relative frequencies of alignment links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.grammar.index_kernels import Links
from itersel.grammar.lexical_kernels import count_pairs, fill_table


def link_counts(
    source: NDArray[np.int32], target: NDArray[np.int32], forward: Links, back: Links
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Count how often words are linked; unaligned words count as linked to NULL.

    Parameters
    ----------
    source, target
        Words of the two sides of the corpus (sentence ends, word 0, are left out).
    forward, back
        The links of the source positions, and those of the target positions.

    Returns
    -------
    tuple
        Source words, target words and counts of the distinct pairs, sorted by pair.
    """
    pair, count = count_pairs(source, target, forward, back)
    order = np.flatnonzero(count)
    order = order[np.argsort(pair[order])]
    pair, count = pair[order], count[order]
    return (pair >> np.uint64(32)).astype(np.int32), pair.astype(np.uint32).astype(np.int32), count


def lexical_table(
    source: NDArray[np.int32], target: NDArray[np.int32], count: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    """Return the hash table of lexical costs, for `itersel.grammar.lexical_kernels`.

    p(f|e) = count(f, e) / sum over f' of count(f', e), where NULL is a word on either side.
    """
    cost = np.empty((count.shape[0], 2), np.float32)
    # differences of logarithms would not be exactly 0 where the probability is 1
    cost[:, 0] = -np.log10(count / np.bincount(target, count)[target]) + 0.0
    cost[:, 1] = -np.log10(count / np.bincount(source, count)[source]) + 0.0
    capacity = 1 << max(4, int(2 * count.shape[0]).bit_length())
    key, value = np.zeros(capacity, np.uint64), np.zeros((capacity, 2), np.float32)
    fill_table(source, target, cost, key, value)
    return key, value
