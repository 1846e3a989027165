"""Copying strings in tables of concatenated strings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel, leaf_kernel


@leaf_kernel
def copy_strings(
    data: NDArray[np.uint8],
    offset: NDArray[np.int64],
    rows: NDArray[np.int64],
    result: NDArray[np.uint8],
    result_offset: NDArray[np.int64],
) -> None:
    """Copy the strings at `rows` (n) of a table to result[result_offset[i] : result_offset[i + 1]].

    Positions are unsigned so that the loop compiles to vector instructions, four times as fast.
    """
    for i in range(rows.shape[0]):
        begin, to = np.uint64(offset[rows[i]]), np.uint64(result_offset[i])
        for position in range(np.uint64(offset[rows[i] + 1]) - begin):
            result[to + np.uint64(position)] = data[begin + np.uint64(position)]


@kernel
def take_strings(
    data: NDArray[np.uint8], offset: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return a table of the strings at `rows` of a table: uint8, int64 (rows + 1)."""
    result_offset = np.zeros(rows.shape[0] + 1, np.int64)
    for i in range(rows.shape[0]):
        result_offset[i + 1] = result_offset[i] + offset[rows[i] + 1] - offset[rows[i]]
    result = np.empty(result_offset[rows.shape[0]], np.uint8)
    copy_strings(data, offset, rows, result, result_offset)
    return result, result_offset
