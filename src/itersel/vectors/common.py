"""Features common to two tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.storage.strings import Strings


def common_features(
    left_key: NDArray[np.uint64],
    left_name: Strings,
    right_key: NDArray[np.uint64],
    right_name: Strings,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows, left and right, of the features that both tables (ascending keys) have.

    Raises
    ------
    InputError
        If a key has different names in the two tables.
    """
    place = np.searchsorted(left_key, right_key)
    inside = np.flatnonzero(place < left_key.shape[0])
    right = inside[left_key[place[inside]] == right_key[inside]]
    left = place[right]
    ours, theirs = left_name.take(left), right_name.take(right)
    if not (np.array_equal(ours.offset, theirs.offset) and np.array_equal(ours.data, theirs.data)):
        for a, b in zip(ours.to_list(), theirs.to_list(), strict=True):
            if a != b:
                raise InputError(f"features '{a}' and '{b}' have the same 64-bit key; rename one")
    return left, right
