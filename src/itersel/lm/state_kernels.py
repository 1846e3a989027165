"""Language-model states of chart items: a monoid with memoised composition.

The *state* of a piece of a translation is all that the language model needs to know about it: the words at
its left edge whose scores a longer left context can still change, and the words at its right edge that can
still serve as context. Appending piece b to piece a changes the score by an amount that depends only on the
right edge of a and the left edge of b, and yields a new state. So the decoder needs a single operation,
``compose(a, b) -> (c, change)``, in `compose_kernels`. The same edges meet hundreds of times in a sentence,
so results are memoised (`edge_pair_kernels`): one look-up replaces several n-gram look-ups.

The left edge of the words w1 w2 ... is the longest w1..wk (k < order) such that every w1..wi is in the model
and extends to the left. If more words follow it, the edge is *full*: the first of those can only still be
charged the back-off weights of contexts that end in w1..wk. The right edge is the longest suffix (shorter
than the order) that is a context of the model. No longer edge could change a score (compare Li and Khudanpur
2008, Heafield 2011, section 4.1).

An edge is a row of int32: length, kind, words (in reading order, zero-padded); edges are numbered. A state is
one int64: number of the left edge in the upper 32 bits, number of the right edge below. State 0 is the empty
piece.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import inline_kernel, kernel, leaf_kernel
from itersel.lm.edge_pair_kernels import EdgePairs, forget_pairs, make_pairs
from itersel.lm.lookup_kernels import EXTENDS_LEFT, EXTENDS_RIGHT, ModelArrays, score_word
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.storage.hash_kernels import GOLDEN_RATIO

EMPTY_STATE = 0
LENGTH, KIND, WORDS = 0, 1, 2  # columns of a row
RIGHT, LEFT, FULL = 0, 1, 2  # kinds of edges
HASH_SHIFT = np.uint64(29)
EDGE_BITS = 32
EDGE_MASK = (1 << 30) - 1
FULL_BIT = 1 << 62  # of a state: its left edge is full
LEFT_HALF = ~((1 << EDGE_BITS) - 1)
FULL_EDGE = FULL_BIT >> EDGE_BITS  # the same bit in the number of a left edge
WHOLE_BIT = 1 << 31  # of a state: both edges contain all words


class States(NamedTuple):
    """Edges and memoised compositions of one sentence."""

    row: Int32s  # (E, 2 + order - 1): the edges
    slot: Int32s  # (power of two): hash table of rows, -1 if free
    left_score: Float64s  # (E): log10 probability of the words of a left edge, without context
    pairs: EdgePairs  # composed edges
    scratch: Int32s  # (4 (order + 1)): words being composed; in the second half, a new row
    # (2): edges, and whether there was no room for an edge (the sentence must be decoded again with larger
    # tables)
    counts: Int64s


def make_states(order: int, edge_capacity: int, pair_capacity: int) -> States:
    """Allocate tables; capacities are powers of two, that of pairs at least 4."""
    return States(
        row=np.zeros((edge_capacity, WORDS + max(order - 1, 1)), np.int32),
        slot=np.full(2 * edge_capacity, -1, np.int32),
        left_score=np.zeros(edge_capacity),
        pairs=make_pairs(pair_capacity),
        scratch=np.zeros(4 * (order + 1), np.int32),
        counts=np.zeros(2, np.int64),
    )


@kernel
def reset_states(states: States) -> None:
    """Remove all edges except number 0, the edge of the empty piece."""
    states.slot[:] = -1
    forget_pairs(states.pairs)
    states.row[0, :] = 0
    states.counts[0] = 1
    states.counts[1] = 0


@leaf_kernel
def clear_row(states: States) -> int:
    """Clear the second half of `scratch` for a new row; returns its position."""
    made = states.scratch.shape[0] // 2
    for i in range(made, made + states.row.shape[1]):
        states.scratch[i] = 0
    return made


@leaf_kernel
def intern_edge(model: ModelArrays, states: States) -> int:
    """Return the number of the edge whose row is in the second half of `scratch`."""
    begin = states.scratch.shape[0] // 2
    width = states.row.shape[1]
    mask = states.slot.shape[0] - 1

    key = np.uint64(0)
    for i in range(width):
        key = (key ^ np.uint64(states.scratch[begin + i])) * GOLDEN_RATIO
        key ^= key >> HASH_SHIFT

    place = np.int64(key & np.uint64(mask))
    while states.slot[place] >= 0:
        edge = states.slot[place]
        same = True
        for i in range(width):
            if states.row[edge, i] != states.scratch[begin + i]:
                same = False
                break

        if same:
            return np.int64(edge)
        place = (place + 1) & mask

    edge = states.counts[0]
    if edge >= states.row.shape[0]:
        states.counts[1] = 1
        return np.int64(0)

    score = 0.0
    if states.scratch[begin + KIND] != RIGHT:
        for i in range(states.scratch[begin + LENGTH]):
            states.scratch[i] = states.scratch[begin + WORDS + i]
            score += score_word(model, states.scratch, i, states.scratch[i])[0]

    for i in range(width):
        states.row[edge, i] = states.scratch[begin + i]
    states.left_score[edge] = score
    states.slot[place] = edge
    states.counts[0] = edge + 1
    return np.int64(edge)


@leaf_kernel
def word_state(model: ModelArrays, states: States, word: int) -> int:
    """Return the state of a single word; its score is ``model.unigram[word, 0]``."""
    flags = model.unigram_flags[word] if model.order > 1 else 0
    kind = LEFT if flags & EXTENDS_LEFT else FULL
    left = flagged_left(states, word_edge(model, states, kind, word, flags & EXTENDS_LEFT))
    right = word_edge(model, states, RIGHT, word, flags & EXTENDS_RIGHT)
    return flagged_whole(states, (left << EDGE_BITS) | right)


@leaf_kernel
def flagged_left(states: States, left: int) -> int:
    """Return a left edge, with `FULL_EDGE` if it is full."""
    if states.row[left, KIND] == FULL:
        return left | FULL_EDGE
    return left


@leaf_kernel
def flagged_whole(states: States, state: int) -> int:
    """Return a state, with `WHOLE_BIT` if both edges contain all its words."""
    if state & FULL_BIT:
        return state
    left = left_edge(state)
    right = state & EDGE_MASK
    if states.row[left, LENGTH] == states.row[right, LENGTH]:
        return state | WHOLE_BIT
    return state


@leaf_kernel
def word_edge(model: ModelArrays, states: States, kind: int, word: int, is_part: int) -> int:
    """Return an edge that consists of a single word, or is empty if the word is not part of it."""
    made = clear_row(states)
    states.scratch[made + KIND] = kind
    if is_part:
        states.scratch[made + LENGTH] = 1
        states.scratch[made + WORDS] = word
    return intern_edge(model, states)


@leaf_kernel
def begin_state(model: ModelArrays, states: States, begin_of_sentence: int) -> int:
    """Return the state of `<s>`, which has no left context."""
    left = flagged_left(states, word_edge(model, states, FULL, begin_of_sentence, 0))
    return (left << EDGE_BITS) | word_edge(model, states, RIGHT, begin_of_sentence, model.order - 1)


@inline_kernel
def left_edge(state: int) -> int:
    """Return the number of the left edge of a state."""
    return (state >> EDGE_BITS) & EDGE_MASK
