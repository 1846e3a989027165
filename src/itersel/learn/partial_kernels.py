"""Partial translations: which n-grams of the references they contain, and the words at their edges.

Shapes: G = distinct n-grams of all references, R = their distinct words, P = partial translations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.bleu.order import ORDER
from itersel.bleu.references import References
from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt8s

# Words at the edge of a partial translation that n-grams across the edge can contain.
MARGIN = ORDER - 1
# Counts of an n-gram in a reference are capped at this, so that they fit in a byte.
MAX_NGRAM_COUNT = 255
ROOT = 0


class ReferenceNgrams(NamedTuple):
    """The n-grams of references as a trie from the last word to the first: a child adds a word in front."""

    number: Int32s  # (words of the vocabulary): number of each word in the references, from 1, or 0
    child: Int32s  # (G + 1, R + 1): child by node and number of the word in front; 0 is none
    available: UInt8s  # (G + 1): maximum count of the n-gram in any reference
    offset: Int64s  # (ORDER + 1): the nodes of n-grams of n words start at offset[n - 1]


class Partials(NamedTuple):
    """Partial translations; the last row is scratch."""

    edge: Int32s  # (P)
    first: Int32s  # (P): the partial translations of the edge's antecedents, -1 for none
    second: Int32s
    model: Float64s  # (P): model score
    objective: Float64s  # (P): what is maximised
    length: Int32s  # (P): number of words
    left: Int32s  # (P, MARGIN): numbers of the words at the edge, outermost first; then 0
    right: Int32s
    matched: UInt8s  # (P, G + 1): counts of the reference n-grams, clipped to `available`
    rank: Int32s  # (P): the rows that an item keeps, best first, from item * beam on
    size: Int32s  # (items): number of these rows


@kernel
def index_references(references: References, words: int) -> ReferenceNgrams:
    """Return the n-grams of the references of a sentence; `words` is the size of the vocabulary."""
    length = references.word.shape[0]
    number = np.zeros(words, np.int32)
    distinct = 0

    for word in references.word:
        if number[word] == 0:
            distinct += 1
            number[word] = distinct

    child = np.zeros((ORDER * length + 1, distinct + 1), np.int32)
    available = np.zeros(ORDER * length + 1, np.uint8)
    count = np.zeros(ORDER * length + 1, np.uint8)
    offset = np.zeros(ORDER + 1, np.int64)

    # for each position, the node of the n-gram that ends there
    node = np.full(length, ROOT, np.int64)
    nodes = 1

    for n in range(ORDER):
        offset[n] = nodes
        for one in range(references.offset.shape[0] - 1):
            begin, stop = references.offset[one] + n, references.offset[one + 1]
            for end in range(begin, stop):
                before = number[references.word[end - n]]
                if child[node[end], before] == ROOT:
                    child[node[end], before] = nodes
                    nodes += 1
                node[end] = child[node[end], before]
                count[node[end]] = min(MAX_NGRAM_COUNT, np.int64(count[node[end]]) + 1)

            for end in range(begin, stop):
                available[node[end]] = max(available[node[end]], count[node[end]])
                count[node[end]] = 0

    offset[ORDER] = nodes
    return ReferenceNgrams(number, child[:nodes], available[:nodes], offset)


def make_partials(items: int, beam: int, nodes: int) -> Partials:
    """Allocate partial translations for `items` items."""
    rows = items * beam + 1
    return Partials(
        np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows, np.int32), np.empty(rows),
        np.empty(rows), np.empty(rows, np.int32), np.empty((rows, MARGIN), np.int32),
        np.empty((rows, MARGIN), np.int32), np.empty((rows, nodes), np.uint8), np.empty(rows, np.int32),
        np.zeros(items, np.int32),
    )  # fmt: skip


@leaf_kernel
def append_word(ngrams: ReferenceNgrams, partials: Partials, row: int, word: int, least: int) -> None:
    """Append a word (its number) to a partial translation, counting n-grams of at least `least` words."""
    length = partials.length[row]
    node = np.int64(ngrams.child[ROOT, word])
    for n in range(1, ORDER + 1):
        if node == ROOT:
            break

        if n >= least and partials.matched[row, node] < ngrams.available[node]:
            partials.matched[row, node] += np.uint8(1)
        if n > length or n == ORDER:
            break
        node = np.int64(ngrams.child[node, partials.right[row, n - 1]])

    if length < MARGIN:
        partials.left[row, length] = word

    for i in range(MARGIN - 1, 0, -1):
        partials.right[row, i] = partials.right[row, i - 1]
    partials.right[row, 0] = word
    partials.length[row] = length + 1


@leaf_kernel
def append_partial(ngrams: ReferenceNgrams, partials: Partials, row: int, part: int) -> None:
    """Append a partial translation to another."""
    for node in range(1, ngrams.available.shape[0]):
        both = np.int64(partials.matched[row, node]) + np.int64(partials.matched[part, node])
        partials.matched[row, node] = min(both, np.int64(ngrams.available[node]))
    length = partials.length[part]
    for i in range(min(length, MARGIN)):
        # n-grams inside the part have been counted
        append_word(ngrams, partials, row, partials.left[part, i], i + 2)
    if length > MARGIN:
        partials.length[row] += length - MARGIN
        for i in range(MARGIN):
            partials.right[row, i] = partials.right[part, i]


@leaf_kernel
def is_better(partials: Partials, a: int, b: int) -> bool:
    """Whether a row precedes another: the larger objective, else the larger model score."""
    if partials.objective[a] != partials.objective[b]:
        return bool(partials.objective[a] > partials.objective[b])
    return bool(partials.model[a] > partials.model[b])


@leaf_kernel
def is_equivalent(partials: Partials, a: int, b: int) -> bool:
    """Whether any two translations that extend two rows in the same way have equal BLEU."""
    if partials.length[a] != partials.length[b]:
        return False
    for i in range(MARGIN):
        if partials.left[a, i] != partials.left[b, i] or partials.right[a, i] != partials.right[b, i]:
            return False
    for node in range(1, partials.matched.shape[1]):
        if partials.matched[a, node] != partials.matched[b, node]:
            return False
    return True


@leaf_kernel
def copy_row(partials: Partials, source: int, target: int) -> None:
    """Copy a row to another."""
    partials.edge[target] = partials.edge[source]
    partials.first[target] = partials.first[source]
    partials.second[target] = partials.second[source]
    partials.model[target] = partials.model[source]
    partials.objective[target] = partials.objective[source]
    partials.length[target] = partials.length[source]
    for i in range(MARGIN):
        partials.left[target, i] = partials.left[source, i]
        partials.right[target, i] = partials.right[source, i]
    for node in range(partials.matched.shape[1]):
        partials.matched[target, node] = partials.matched[source, node]


@leaf_kernel
def keep_row(partials: Partials, item: int, beam: int, row: int) -> None:
    """Keep a copy of a row if it is among an item's best; of equivalent rows, only the best is kept."""
    begin = item * beam
    size = partials.size[item]
    place = 0
    while place < size and not is_equivalent(partials, partials.rank[begin + place], row):
        place += 1

    if place == size and size < beam:
        partials.rank[begin + size] = begin + size
        partials.size[item] = size + 1
    else:
        # it competes with its equivalent, or else with the worst
        place = min(place, size - 1)
        if not is_better(partials, row, partials.rank[begin + place]):
            return

    copy_row(partials, row, partials.rank[begin + place])
    while place > 0 and is_better(partials, partials.rank[begin + place], partials.rank[begin + place - 1]):
        other = partials.rank[begin + place - 1]
        partials.rank[begin + place - 1] = partials.rank[begin + place]
        partials.rank[begin + place] = other
        place -= 1
