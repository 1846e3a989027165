"""Equal translations of a sentence: the same words and features."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import xxhash

from itersel.lists.table import ListTable
from itersel.storage.arrays import Int64s, UInt64s
from itersel.storage.ragged import begins_run

# Sums of the same values in a different order differ only after these decimal places.
EQUAL_DIGITS = 6


def hash_rows(table: ListTable) -> UInt64s:
    """Return hashes of words and features (XXH3, 128 bits) of a table with text, uint64 (H, 2).

    Keys, not numbers, of sparse features are hashed, so hashes are the same in all files.
    """
    sparse, text = table.sparse_rows, table.text
    # + 0.0 turns -0.0 into 0.0
    dense, value = (np.round(values, EQUAL_DIGITS) + 0.0 for values in (table.dense, sparse.value))
    key = sparse.key[sparse.feature]

    hashes = np.empty((dense.shape[0], 2), np.uint64)
    bounds = zip(pairwise(text.offset.tolist()), pairwise(sparse.offset.tolist()), strict=True)
    for row, (of_text, (begin, end)) in enumerate(bounds):
        hasher = xxhash.xxh3_128(text.data[slice(*of_text)].tobytes() + b"\0")
        hasher.update(dense[row].tobytes())
        hasher.update(key[begin:end].tobytes())
        hasher.update(value[begin:end].tobytes())
        hashes[row] = np.frombuffer(hasher.digest(), ">u8")
    return hashes


def first_of_equal(sentence: Int64s, hashes: UInt64s) -> Int64s:
    """Return the first of all equal translations: rows by sentence, then in the given order, int64."""
    # the last key is the primary one
    order = np.lexsort((hashes[:, 1], hashes[:, 0], sentence))
    kept = np.sort(order[begins_run(sentence[order], *hashes[order].T)])
    return kept[np.argsort(sentence[kept], kind="stable")]
