"""Features: a name, and a 64-bit key derived from it that is the same in every shard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.feature_kernels import hash_strings


def feature_keys(names: StringTable) -> NDArray[np.uint64]:
    """Return the keys of feature names: 64-bit FNV-1a with the finaliser of MurmurHash3."""
    return hash_strings(names.data, names.offset)


def feature_key(name: str) -> int:
    """Return the key of one feature name."""
    return int(feature_keys(string_table([name]))[0])


def unique_features(keys: NDArray[np.uint64], names: StringTable) -> tuple[NDArray[np.uint64], StringTable]:
    """Sort features by key and remove duplicates.

    Raises
    ------
    InputError
        If two different names have the same key; otherwise their weights would be silently mixed up.
    """
    order = np.argsort(keys, kind="stable")
    keys, names = keys[order], names.take(order)
    first = np.ones(keys.shape[0], bool)
    first[1:] = keys[1:] != keys[:-1]
    for i in np.flatnonzero(~first).tolist():
        if names.get(i) != names.get(i - 1):
            raise InputError(
                f"features '{names.get(i - 1)}' and '{names.get(i)}' have the same 64-bit key; rename one"
            )
    kept = np.flatnonzero(first)
    return keys[kept], names.take(kept)
