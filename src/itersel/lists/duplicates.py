"""Equal translations of a sentence: the same words and features."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xxhash

from itersel.lists.table import ListTable
from itersel.storage.arrays import Float64s, Int64s, UInt64s

# Sums of the same values in a different order differ only after these decimal places.
EQUAL_DIGITS = 6


def hash_translations(
    texts: Iterable[str], dense: Float64s, key: UInt64s, value: Float64s, offset: Int64s
) -> UInt64s:
    """Return hashes of words and features (XXH3, 128 bits), uint64 (H, 2).

    `dense` is float64 (H, C), `key`, `value` and `offset` the keys and values of sparse features. Keys, not
    numbers, are hashed, so hashes are the same in all files.
    """
    # + 0.0 turns -0.0 into 0.0
    dense, value = np.round(dense, EQUAL_DIGITS) + 0.0, np.round(value, EQUAL_DIGITS) + 0.0
    hashes = np.empty((dense.shape[0], 2), np.uint64)
    ends = offset.tolist()
    for row, text in enumerate(texts):
        begin, end = ends[row], ends[row + 1]
        hasher = xxhash.xxh3_128(text.encode() + b"\0")
        hasher.update(dense[row].tobytes())
        hasher.update(key[begin:end].tobytes())
        hasher.update(value[begin:end].tobytes())
        hashes[row] = np.frombuffer(hasher.digest(), ">u8")
    return hashes


def hash_rows(table: ListTable) -> UInt64s:
    """Return the hashes of the translations of a table with text, uint64 (H, 2)."""
    sparse = table.sparse_rows
    key = sparse.key[sparse.feature]
    texts = map(table.text.get, range(table.text.count))
    return hash_translations(texts, table.dense, key, sparse.value, sparse.offset)


def first_of_equal(sentence: Int64s, hashes: UInt64s) -> Int64s:
    """Return the first of all equal translations: rows by sentence, then in the given order, int64."""
    # the last key is the primary one
    order = np.lexsort((hashes[:, 1], hashes[:, 0], sentence))
    is_first = np.ones(order.shape[0], bool)
    is_first[1:] = (hashes[order[1:]] != hashes[order[:-1]]).any(axis=1) | (np.diff(sentence[order]) != 0)
    kept = np.sort(order[is_first])
    return kept[np.argsort(sentence[kept], kind="stable")]
