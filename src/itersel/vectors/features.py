"""Features: a name, and a 64-bit key derived from it that is the same in every shard.

Shape: F features, whose keys are uint64 (F); a table of strings has their names, in the same order.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.storage.arrays import Bools, Int32s, Int64s, UInt64s
from itersel.storage.ragged import begins_run, offsets_of
from itersel.storage.strings import Strings, StringTable
from itersel.vectors.feature_kernels import hash_strings

V = TypeVar("V", bound=np.floating)

# These end the name and the value of a feature in grammars written as text.
SEPARATORS = tuple(b"=;")


def escaped(words: StringTable) -> StringTable:
    """Return words as they are in feature names: what ends a name or a value in text files becomes ``_``."""
    data = np.where(np.isin(words.data, SEPARATORS), np.uint8(ord("_")), words.data)
    return StringTable(data, np.array(words.offset, np.int64))


def feature_keys(names: StringTable) -> UInt64s:
    """Return the keys of feature names, uint64 (F): 64-bit FNV-1a with the finaliser of MurmurHash3."""
    return hash_strings(names.data, names.offset)


def names_with(prefix: str, name: StringTable) -> Int64s:
    """Return the rows of the names that begin with a prefix, ascending, int64."""
    begin = name.offset[:-1]
    letters = prefix.encode()
    found = np.flatnonzero(np.diff(name.offset) >= len(letters))
    for place, letter in enumerate(letters):
        found = found[name.data[begin[found] + place] == letter]
    return found


def unique_features(keys: UInt64s, names: StringTable) -> tuple[UInt64s, StringTable]:
    """Sort features by key and remove duplicates: returns ascending keys, and their names.

    Raises an `InputError` if two different names have the same key: their weights would be mixed up.
    """
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    names = names.take(order)
    is_first = begins_run(keys)
    again, kept = np.flatnonzero(~is_first), np.flatnonzero(is_first)
    _check_equal(names.take(again - 1), names.take(again))
    return keys[kept], names.take(kept)


def keep_features(
    feature: Int32s, value: NDArray[V], offset: Int64s, kept: Bools
) -> tuple[Int32s, NDArray[V], Int64s]:
    """Return sparse rows with only some features, given whether each (F) is kept.

    `feature` and `value` are those of all rows, and `offset` says where each row begins
    (`itersel.vectors.sparse_rows`).
    """
    number = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    is_kept = kept[feature]
    return number[feature[is_kept]], value[is_kept], offsets_of(is_kept)[offset]


def common_features(
    left_key: UInt64s, left_name: Strings, right_key: UInt64s, right_name: Strings
) -> tuple[Int64s, Int64s]:
    """Return the rows, left and right, of the m features that both tables (ascending keys) have: int64 (m).

    Raises an `InputError` if a key has different names in the two tables.
    """
    place = np.searchsorted(left_key, right_key)
    inside = np.flatnonzero(place < left_key.shape[0])
    right = inside[left_key[place[inside]] == right_key[inside]]
    left = place[right]
    _check_equal(left_name.take(left), right_name.take(right))
    return left, right


def refuse_shared(dense_key: UInt64s, dense_name: Strings, sparse_key: UInt64s, sparse_name: Strings) -> None:
    """Raise an `InputError` if a dense and a sparse feature (ascending keys) have the same name."""
    shared, _ = common_features(dense_key, dense_name, sparse_key, sparse_name)
    if shared.size:
        name = dense_name.get(int(shared[0]))
        raise InputError(f"'{name}' is both a dense and a sparse feature; rename one")


def first_difference(left: StringTable, right: StringTable) -> tuple[str, str] | None:
    """Return the names in the first row where two tables of the same length differ, if there is one."""
    if np.array_equal(left.offset, right.offset) and np.array_equal(left.data, right.data):
        return None
    rows = zip(left.to_list(), right.to_list(), strict=True)
    return next((row for row in rows if row[0] != row[1]), None)


def _check_equal(left: StringTable, right: StringTable) -> None:
    """Raise an InputError unless features with the same keys have the same names."""
    if names := first_difference(left, right):
        raise InputError(f"features '{names[0]}' and '{names[1]}' have the same 64-bit key; rename one")
