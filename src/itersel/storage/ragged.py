"""Ragged arrays: concatenated rows of unequal length, with offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def offsets_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return the offsets of concatenated rows of these lengths (n), int64 (n + 1)."""
    lengths = np.asarray(lengths, np.int64)
    offset = np.zeros(lengths.shape[0] + 1, np.int64)
    np.cumsum(lengths, out=offset[1:])
    return offset


def places_of(
    offset: NDArray[np.int64], rows: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the values of `rows` (n) are, row after row, and their offsets, int64 (n + 1)."""
    lengths = np.diff(offset)[rows]
    begins = offsets_of(lengths)
    return np.arange(begins[-1]) + np.repeat(offset[rows] - begins[:-1], lengths), begins


def take_rows(
    values: NDArray[Any], offset: NDArray[np.int64], rows: NDArray[np.integer]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the rows listed in `rows`, in that order, and their offsets; a row may be listed repeatedly."""
    place, begins = places_of(offset, rows)
    return values[place], begins
