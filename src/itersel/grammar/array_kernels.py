"""Small array kernels shared by other kernels."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Float64s, Int32s, Int64s

Number = TypeVar("Number", bound=np.generic)

# rows that are sorted by insertion before they are merged
RUN = 16


@kernel
def doubled(array: Int32s) -> Int32s:
    """Return a copy of a vector with twice the capacity."""
    larger = np.empty(2 * array.shape[0], np.int32)
    for i in range(array.shape[0]):
        larger[i] = array[i]
    return larger


@kernel
def grown(array: NDArray[Number], size: int) -> NDArray[Number]:
    """Return a matrix, or a larger copy if it has fewer than `size` rows."""
    if size <= array.shape[0]:
        return array
    larger = np.empty((max(size, 2 * array.shape[0]), array.shape[1]), array.dtype)
    # loops compile five times faster than slice assignment
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            larger[i, j] = array[i, j]
    return larger


@leaf_kernel
def accumulate(count: Int64s) -> None:
    """Replace counts by their cumulative sums (compiles ten times faster than np.cumsum)."""
    for i in range(1, count.shape[0]):
        count[i] += count[i - 1]


@leaf_kernel
def run_end(column: Int32s, start: int, stop: int) -> int:
    """Return the end of the run of values equal to column[start], at most `stop`."""
    end = start + 1
    while end < stop and column[end] == column[start]:
        end += 1
    return end


@leaf_kernel
def sort_stably(order: Int64s, key: Float64s, other: Int64s, size: int) -> None:
    """Sort the first `size` rows of `order` by their keys, ascending; rows with equal keys keep their order.

    Compiles much faster than np.argsort, which is compiled anew for every type of key.
    order: (at least size); key: of each row number, not NaN; other: space of the shape of `order`.
    """
    for begin in range(0, size, RUN):
        for i in range(begin + 1, min(begin + RUN, size)):
            row = order[i]
            k = i
            while k > begin and key[order[k - 1]] > key[row]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = row

    width = RUN
    while width < size:
        for begin in range(0, size, 2 * width):
            middle = min(begin + width, size)
            end = min(begin + 2 * width, size)
            left = begin
            right = middle

            for i in range(begin, end):
                if right == end or (left < middle and key[order[left]] <= key[order[right]]):
                    other[i] = order[left]
                    left += 1
                else:
                    other[i] = order[right]
                    right += 1

        for i in range(size):
            order[i] = other[i]
        width *= 2
