"""The heap of cube pruning compared with sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import MANY

from itersel.decode.queue_kernels import make_queue, sift_down, sift_up
from itersel.jit import kernel


@kernel
def pop_all(queue, score, built, pushed, order):
    """Build a heap from the first corners at once, push the others, and pop all."""
    size = built
    for i in range(size):
        queue.heap[i], queue.heap_score[i] = i, score[i]
    for place in range((size >> 1) - 1, -1, -1):
        sift_down(queue, size, place, queue.heap[place], queue.heap_score[place])
    for i in range(built, built + pushed):
        sift_up(queue, size, i, score[i])
        size += 1
    for i in range(order.shape[0]):
        order[i] = queue.heap[0]
        size -= 1
        sift_down(queue, size, 0, queue.heap[size], queue.heap_score[size])


@MANY
@given(st.lists(st.integers(-3, 3), max_size=40), st.lists(st.integers(-3, 3), max_size=40))
def test_corners_are_popped_best_first_with_ties_by_age(built, pushed):
    scores = np.array([*built, *pushed], np.float64)
    queue = make_queue(scores.shape[0] + 1, 1)
    order = np.full(scores.shape[0], -1)
    pop_all(queue, scores, len(built), len(pushed), order)
    assert order.tolist() == sorted(range(scores.shape[0]), key=lambda i: (-scores[i], i))
