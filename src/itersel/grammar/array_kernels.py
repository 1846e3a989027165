"""Small array kernels shared by other kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel, leaf_kernel


@kernel
def grown(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Return the array, or a larger copy if it has fewer than `size` rows."""
    if size <= array.shape[0]:
        return array
    larger = np.empty((max(size, 2 * array.shape[0]), array.shape[1]), array.dtype)
    # loops compile five times faster than slice assignment
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            larger[i, j] = array[i, j]
    return larger


@leaf_kernel
def accumulate(count: NDArray[np.int64]) -> None:
    """Replace counts by their cumulative sums (compiles ten times faster than np.cumsum)."""
    for i in range(1, count.shape[0]):
        count[i] += count[i - 1]


@leaf_kernel
def run_end(column: NDArray[np.int32], start: int, stop: int) -> int:
    """Return the end of the run of values equal to column[start], at most `stop`."""
    end = start + 1
    while end < stop and column[end] == column[start]:
        end += 1
    return end
