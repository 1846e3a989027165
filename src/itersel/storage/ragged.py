"""Ragged arrays: rows of unequal length, concatenated, with offsets."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itersel.storage.arrays import Bools, Float64s, Int64s

# The values of all rows, and where each row begins and the last one ends, int64 (rows + 1).
Ragged: TypeAlias = tuple[NDArray[Any], Int64s]


def offsets_of(lengths: ArrayLike) -> Int64s:
    """Return the offsets of concatenated rows of these lengths (n), int64 (n + 1)."""
    lengths = np.asarray(lengths, np.int64)
    offset = np.zeros(lengths.shape[0] + 1, np.int64)
    np.cumsum(lengths, out=offset[1:])
    return offset


def rows_of(offset: Int64s) -> Int64s:
    """Return the row of each value, given the offsets of rows (n + 1)."""
    return np.repeat(np.arange(offset.shape[0] - 1), np.diff(offset))


def places_of(offset: Int64s, rows: NDArray[np.integer]) -> tuple[Int64s, Int64s]:
    """Return where the values of `rows` (n) are, row after row, and their offsets, int64 (n + 1)."""
    lengths = np.diff(offset)[rows]
    begins = offsets_of(lengths)
    return np.arange(begins[-1]) + np.repeat(offset[rows] - begins[:-1], lengths), begins


def take_rows(values: NDArray[Any], offset: Int64s, rows: NDArray[np.integer]) -> Ragged:
    """Return the rows listed in `rows`, in that order, and their offsets; a row may be listed repeatedly."""
    place, begins = places_of(offset, rows)
    return values[place], begins


def sum_rows(values: Float64s, offset: Int64s) -> Float64s:
    """Return the sum of each row, added from left to right, float64 (n)."""
    # integers if there are no values
    return np.bincount(rows_of(offset), values, offset.shape[0] - 1).astype(np.float64)


def begins_run(*columns: NDArray[Any]) -> Bools:
    """Return whether each row of some columns, (n) each, differs from the row before it.

    In a sorted table, these are the first of all equal rows.
    """
    begins = np.zeros(columns[0].shape[0], np.bool_)
    begins[:1] = True
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    return begins
