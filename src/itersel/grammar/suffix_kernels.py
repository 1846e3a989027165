"""Kernels of suffix sorting by induction (Nong, Zhang & Chan 2009, SA-IS).

Shapes: n = length of the text, K = size of its alphabet. Behind the text is an end that is smaller than any
symbol. A suffix is of type S if it is smaller than the one after it, otherwise of type L. An S whose
predecessor is an L is leftmost (LMS): the order of these suffixes determines that of all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.jit import leaf_kernel

EMPTY = -1


@leaf_kernel
def mark_smaller(text: NDArray[np.int32], smaller: NDArray[np.bool_]) -> None:
    """Set smaller (n), preset to False, where a suffix is of type S."""
    for i in range(text.shape[0] - 2, -1, -1):
        smaller[i] = text[i] < text[i + 1] or (text[i] == text[i + 1] and smaller[i + 1])


@leaf_kernel
def induce(
    text: NDArray[np.int32],
    smaller: NDArray[np.bool_],
    leftmost: NDArray[np.int32],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    order: NDArray[np.int32],
) -> None:
    """Fill order (n), preset to `EMPTY`, with all suffixes, given the LMS suffixes in their order.

    begin, end: int64 (K), where the suffixes that begin with each symbol are in `order`; scratch.
    If the LMS suffixes are in any order, their substrings up to the next LMS become sorted.
    """
    size = text.shape[0]
    for k in range(leftmost.shape[0] - 1, -1, -1):
        symbol = text[leftmost[k]]
        end[symbol] -= 1
        order[end[symbol]] = leftmost[k]
    # an L is larger than the suffix after it; the first is the last symbol, which the end follows
    order[begin[text[size - 1]]] = size - 1
    begin[text[size - 1]] += 1
    for i in range(size):
        before = order[i] - 1
        if before >= 0 and not smaller[before]:
            symbol = text[before]
            order[begin[symbol]] = before
            begin[symbol] += 1
    # an S is smaller than the suffix after it: filled from the end of a symbol; `begin` is where its S begin
    for symbol in range(end.shape[0]):
        end[symbol] = begin[symbol]
    for i in range(size):
        if smaller[i]:
            end[text[i]] += 1
    for i in range(size - 1, -1, -1):
        before = order[i] - 1
        if before >= 0 and smaller[before]:
            symbol = text[before]
            end[symbol] -= 1
            order[end[symbol]] = before


@leaf_kernel
def name_substrings(
    text: NDArray[np.int32], smaller: NDArray[np.bool_], order: NDArray[np.int32], name: NDArray[np.int32]
) -> int:
    """Give each distinct substring from one LMS to the next a number; returns how many there are.

    order: (n), with these substrings sorted. name: int32 (n // 2 + 1), the number of the substring that
    begins at position p becomes name[p // 2], as no two are adjacent.
    """
    size, count, last = text.shape[0], 0, -1
    for i in range(size):
        here = order[i]
        if here < 1 or not smaller[here] or smaller[here - 1]:
            continue
        same, k = last >= 0, 0
        while same:
            # one that reaches the end is unlike any other
            a, b = last + k, here + k
            if max(a, b) == size or text[a] != text[b] or smaller[a] != smaller[b]:
                same = False
            elif k > 0 and smaller[b] and not smaller[b - 1]:
                break
            k += 1
        if not same:
            count += 1
        name[here // 2] = count - 1
        last = here
    return count
