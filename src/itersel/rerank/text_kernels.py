"""Kernels of dense features that count words: left without links, copied, repeated."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import kernel
from itersel.storage.arrays import Int32s, Int64s


@kernel
def words_without_links(
    link_source: Int32s, link_target: Int32s, link_offset: Int64s, source_size: Int64s, target_size: Int64s
) -> Int64s:
    """Return the source and the target words of each translation that have no links: int64 (H, 2).

    source_size, target_size: the number of words, int64 (H); for the links see `itersel.rerank.links`.
    """
    rows = source_size.shape[0]
    count = np.zeros((rows, 2), np.int64)
    longest = 1
    for row in range(rows):
        longest = max(longest, source_size[row], target_size[row])
    # the last translation that links the word
    source_seen = np.full(longest, -1, np.int64)
    target_seen = np.full(longest, -1, np.int64)

    for row in range(rows):
        count[row, 0] = source_size[row]
        count[row, 1] = target_size[row]
        for k in range(link_offset[row], link_offset[row + 1]):
            if source_seen[link_source[k]] != row:
                source_seen[link_source[k]] = row
                count[row, 0] -= 1
            if target_seen[link_target[k]] != row:
                target_seen[link_target[k]] = row
                count[row, 1] -= 1
    return count


@kernel
def changed_copies(
    source: Int32s, source_offset: Int64s, target: Int32s, target_offset: Int64s, lists: Int64s, words: int
) -> Int64s:
    """Return the words that are copied too rarely and too often: int64 (H, 2).

    source, target: words that must be copied, as numbers below `words`, int32, the source side by sentence;
    lists: the translations of each sentence, int64 (N + 1).
    """
    changes = np.zeros((target_offset.shape[0] - 1, 2), np.int64)
    left = np.zeros(words, np.int64)

    for sentence in range(lists.shape[0] - 1):
        begin, end = source_offset[sentence], source_offset[sentence + 1]
        for row in range(lists[sentence], lists[sentence + 1]):
            for i in range(begin, end):
                left[source[i]] += 1

            missing = end - begin
            for j in range(target_offset[row], target_offset[row + 1]):
                if left[target[j]] > 0:
                    left[target[j]] -= 1
                    missing -= 1
                else:
                    changes[row, 1] += 1

            changes[row, 0] = missing

            for i in range(begin, end):
                left[source[i]] = 0
    return changes


@kernel
def repeated_bigrams(word: Int32s, offset: Int64s) -> Int64s:
    """Return the bigrams of each translation that it has had before: int64 (H)."""
    count = np.zeros(offset.shape[0] - 1, np.int64)
    for row in range(count.shape[0]):
        for j in range(offset[row] + 1, offset[row + 1] - 1):
            for k in range(offset[row], j):
                if word[k] == word[j] and word[k + 1] == word[j + 1]:
                    count[row] += 1
                    break
    return count
