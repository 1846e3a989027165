"""Rows of unequal length, laid end to end: where each begins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def offsets_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where rows of these lengths (n) begin when they lie end to end: int64 (n + 1)."""
    lengths = np.asarray(lengths, np.int64)
    offset = np.zeros(lengths.shape[0] + 1, np.int64)
    np.cumsum(lengths, out=offset[1:])
    return offset


def take_rows(
    values: NDArray[Any], offset: NDArray[np.int64], rows: NDArray[np.integer]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return some rows, in the order of `rows`, and where they begin; a row may be taken more than once."""
    lengths = np.diff(offset)[rows]
    begins = offsets_of(lengths)
    place = np.arange(begins[-1]) + np.repeat(offset[rows] - begins[:-1], lengths)
    return values[place], begins
