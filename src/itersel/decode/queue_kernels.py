"""The queue of cube pruning: corners of the cubes of one node, the best of them first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import inline_kernel
from itersel.decode.hypothesis_kernels import GLUE_FACTOR
from itersel.storage.arrays import Float64s, Int32s, Int64s

# So many rules of every bundle are scored with the language model before the first corner is taken: the order
# of rules is without context, and the second may well be the best one in context. docs/decoder.md has the
# figures.
FIRST_RULES = 20

# A corner is a row of 64 bytes, a cache line. Its int32 columns: bundle, ranks of the rule and of the
# antecedent items, the rule and these items.
BUNDLE, RANK, FIRST_RANK, SECOND_RANK, RULE, FIRST, SECOND = range(7)
# Its float64 columns: score with the language model; the corner's own contribution to the language model.
SCORE, LM = 4, 5
# Its int64 column: language-model state of the hypothesis.
STATE = 6
# Columns of a row: of int32, and of float64 or int64.
INTEGERS = 16
NUMBERS = 8


class Queue(NamedTuple):
    """Corners of the cubes of one node: a pool, and a binary heap of indices into the pool."""

    corner: Int32s  # (pool * INTEGERS): rows of corners
    number: Float64s  # (pool * NUMBERS): the same memory
    state: Int64s  # (pool * NUMBERS): the same memory
    heap: Int32s  # (pool): indices of corners, in heap order
    heap_score: Float64s  # (pool): their scores
    # (power of two): hash table from states to items; slots with items of earlier nodes are free
    slot: Int32s


def make_queue(bundles: int, pop_limit: int) -> Queue:
    """Allocate a queue for nodes of at most `bundles` bundles; a corner has at most three neighbours."""
    pops = GLUE_FACTOR * pop_limit
    corners = FIRST_RULES * bundles + 3 * pops

    # rows begin where cache lines do
    number = np.empty((corners + 1) * NUMBERS)
    skipped = -number.ctypes.data // number.itemsize % NUMBERS
    number = number[skipped : skipped + corners * NUMBERS]

    return Queue(
        corner=number.view(np.int32),
        number=number,
        state=number.view(np.int64),
        heap=np.empty(corners, np.int32),
        heap_score=np.empty(corners),
        slot=np.empty(1 << (2 * pops).bit_length(), np.int32),
    )


@inline_kernel
def goes_before(score: float, candidate: int, other_score: float, other: int) -> bool:
    """Whether a corner precedes another: the higher score, else the older one."""
    return score > other_score or (score == other_score and candidate < other)


@inline_kernel
def sift_up(queue: Queue, place: int, candidate: int, score: float) -> None:
    """Insert a corner into the heap at `place`, a leaf, and sift it up."""
    heap = queue.heap
    heap_score = queue.heap_score

    while place > 0:
        parent = (place - 1) >> 1
        if not goes_before(score, candidate, heap_score[parent], heap[parent]):
            break

        heap[place] = heap[parent]
        heap_score[place] = heap_score[parent]
        place = parent

    heap[place] = candidate
    heap_score[place] = score


@inline_kernel
def sift_down(queue: Queue, size: int, place: int, candidate: int, score: float) -> None:
    """Insert a corner into the heap of `size` elements at `place`, and sift it down."""
    heap = queue.heap
    heap_score = queue.heap_score

    while True:
        child = 2 * place + 1
        if child >= size:
            break

        if child + 1 < size and goes_before(
            heap_score[child + 1], heap[child + 1], heap_score[child], heap[child]
        ):
            child += 1

        if goes_before(score, candidate, heap_score[child], heap[child]):
            break

        heap[place] = heap[child]
        heap_score[place] = heap_score[child]
        place = child

    heap[place] = candidate
    heap_score[place] = score
