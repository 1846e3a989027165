"""The priority queue of cube pruning: corners of the cubes of one node, best first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.jit import inline_kernel

# A corner is a row of 64 bytes, a cache line. Its int32 columns: bundle, ranks of the rule and of the
# antecedent items, the rule and these items.
BUNDLE, RANK, FIRST_RANK, SECOND_RANK, RULE, FIRST, SECOND = range(7)
# Its float64 columns: score with the language model; the corner's own contribution to the language model.
SCORE, MODEL = 4, 5
# Its int64 column: language-model state of the hypothesis.
STATE = 6
INTEGERS, NUMBERS = 16, 8  # columns of a row


class Queue(NamedTuple):
    """Corners of the cubes of one node: a pool, and a binary heap of indices into the pool.

    Attributes
    ----------
    corner, number, state
        int32 (pool * `INTEGERS`), float64 and int64 (pool * `NUMBERS`): the same memory, the rows of corners.
    heap, heap_score
        int32, float64 (pool): indices of corners and their scores, in heap order.
    slot
        int32 (power of two): hash table from states to items; slots with items of earlier nodes are free.
    """

    corner: NDArray[np.int32]
    number: NDArray[np.float64]
    state: NDArray[np.int64]
    heap: NDArray[np.int32]
    heap_score: NDArray[np.float64]
    slot: NDArray[np.int32]


def make_queue(corners: int, pops: int) -> Queue:
    """Allocate a queue for a node with at most `corners` corners, of which `pops` are popped."""
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
    heap, heap_score = queue.heap, queue.heap_score
    while place > 0:
        parent = (place - 1) >> 1
        if not goes_before(score, candidate, heap_score[parent], heap[parent]):
            break
        heap[place], heap_score[place] = heap[parent], heap_score[parent]
        place = parent
    heap[place], heap_score[place] = candidate, score


@inline_kernel
def sift_down(queue: Queue, size: int, place: int, candidate: int, score: float) -> None:
    """Insert a corner into the heap of `size` elements at `place`, and sift it down."""
    heap, heap_score = queue.heap, queue.heap_score
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
        heap[place], heap_score[place] = heap[child], heap_score[child]
        place = child
    heap[place], heap_score[place] = candidate, score
