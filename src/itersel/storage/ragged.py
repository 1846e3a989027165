"""Rows of unequal length, laid end to end: where each begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def offsets_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where rows of these lengths (n) begin when they lie end to end: int64 (n + 1)."""
    lengths = np.asarray(lengths, np.int64)
    offset = np.zeros(lengths.shape[0] + 1, np.int64)
    np.cumsum(lengths, out=offset[1:])
    return offset
