"""Language-model states of chart items: a monoid with memoised composition.

The *state* of a piece of a translation is all that the language model needs to know about it: the words at
its left edge whose scores a longer left context can still change, and the words at its right edge that can
still serve as context. Appending piece b to piece a changes the score by an amount that depends only on the
right edge of a and the left edge of b, and yields a new state. So the decoder needs a single operation,
``compose(a, b) -> (c, change)``. The same edges meet hundreds of times in a sentence, so results are
memoised: one look-up replaces several n-gram look-ups.

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

from itersel.compile.jit import inline_kernel, kernel, leaf_kernel, prefetch
from itersel.lm.lookup_kernels import (
    EXTENDS_LEFT,
    EXTENDS_RIGHT,
    FIRST_KEY,
    ModelArrays,
    backoff_sum,
    extend_key,
    find,
    first_slot,
    score_word,
)
from itersel.storage.arrays import Float32s, Float64s, Int32s, Int64s, UInt32s

EMPTY_STATE = 0
LENGTH, KIND, WORDS = 0, 1, 2  # columns of a row
RIGHT, LEFT, FULL = 0, 1, 2  # kinds of edges
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
HASH_SHIFT = np.uint64(29)
EDGE_BITS = 32
EDGE_MASK = (1 << 30) - 1
FULL_BIT = 1 << 62  # of a state: its left edge is full
LEFT_HALF = ~((1 << EDGE_BITS) - 1)
FULL_EDGE = FULL_BIT >> EDGE_BITS  # the same bit in the number of a left edge
WHOLE_BIT = 1 << 31  # of a state: both edges contain all words

# Kinds of pairs of edges.
LEFT_PAIR, RIGHT_PAIR = 1, 2
PAIR_SIZE = 4  # numbers of a pair
PAIR_BITS = 15  # of an edge in the key of a pair
# Numbers of a pair: the new left edge of a left pair; the change and the new right edge of a right pair.
NEW_LEFT, CHANGE, NEW_RIGHT = 1, 1, 2
LINE_BITS = np.uint64(2)
PLACE_SHIFT = np.uint64(32)


class EdgePairs(NamedTuple):
    """A hash table of pairs of edges, which remembers what becomes of them.

    The decoder looks up several pairs for each hypothesis, so they are small (four have the size of a cache
    line), and pairs of one edge with consecutively numbered edges, which items of a node often have, are
    neighbours.
    """

    # (`PAIR_SIZE` (power of two + 1)): the numbers of pairs. The first number of a pair is its key, 0 if
    # free. The last pair is always free: it is for those that are not remembered.
    key: UInt32s
    edge: Int32s  # the same memory, for the other numbers of a pair
    change: Float32s
    used: Int64s  # (1): number of pairs


@leaf_kernel
def forget_pairs(pairs: EdgePairs) -> None:
    """Empty the table."""
    for i in range(pairs.key.shape[0]):
        pairs.key[i] = 0
    pairs.used[0] = 0


@inline_kernel
def pair_key(kind: int, a: int, b: int) -> int:
    """Return the key of a pair of edges."""
    return int((np.int64(kind) << 2 * PAIR_BITS) | (np.int64(a) << PAIR_BITS) | np.int64(b))


@inline_kernel
def pair_place(pairs: EdgePairs, kind: int, a: int, b: int) -> int:
    """Return the place of a pair of edges, or the free place where it belongs."""
    spare = int(pairs.key.shape[0]) - PAIR_SIZE
    if (a | b) >> PAIR_BITS != 0:
        return spare
    key = pair_key(kind, a, b)
    mask = spare - 1
    line = ((np.uint64(key) >> LINE_BITS) * HASH_MULTIPLIER) >> PLACE_SHIFT
    place = int(((np.int64(line) << 2) | (b & 3)) * PAIR_SIZE & mask)
    while pairs.key[place] != key and pairs.key[place] != 0:
        place = (place + PAIR_SIZE) & mask
    return place


@leaf_kernel
def remember(pairs: EdgePairs, kind: int, a: int, b: int, place: int) -> int:
    """Store the key of a pair at its free place; returns the place.

    When three quarters of the table are full, all pairs are forgotten. Pairs of edges whose numbers have more
    than `PAIR_BITS` bits are not remembered: some sentences have so many with very large pop limits.
    """
    spare = int(pairs.key.shape[0]) - PAIR_SIZE
    if place == spare:
        return place
    if 4 * PAIR_SIZE * pairs.used[0] >= 3 * spare:
        forget_pairs(pairs)
    pairs.used[0] += 1
    pairs.key[place] = pair_key(kind, a, b)
    return place


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
    key = np.zeros(PAIR_SIZE * (pair_capacity + 1), np.uint32)
    return States(
        row=np.zeros((edge_capacity, WORDS + max(order - 1, 1)), np.int32),
        slot=np.full(2 * edge_capacity, -1, np.int32),
        left_score=np.zeros(edge_capacity),
        pairs=EdgePairs(key, key.view(np.int32), key.view(np.float32), np.zeros(1, np.int64)),
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
        key = (key ^ np.uint64(states.scratch[begin + i])) * HASH_MULTIPLIER
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
    left, right = left_edge(state), state & EDGE_MASK
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


@leaf_kernel
def ngram_flags(model: ModelArrays, words: Int32s, begin: int, end: int) -> int:
    """Return the flags of the n-gram ``words[begin:end]``, -1 if it is not in the model."""
    if end - begin == 1:
        return np.int64(model.unigram_flags[words[begin]])
    key = FIRST_KEY
    for i in range(end - 1, begin - 1, -1):
        key = extend_key(key, words[i])
    place = find(model, key)
    if place < 0:
        return np.int64(-1)
    return np.int64(model.slots[place, 0] & np.uint64(EXTENDS_LEFT | EXTENDS_RIGHT))


@inline_kernel
def compose(model: ModelArrays, states: States, a: int, b: int) -> tuple[int, float]:
    """Append piece b to piece a; returns the new state and the change in log10 probability."""
    if a == EMPTY_STATE:
        return b, 0.0
    if b == EMPTY_STATE:
        return a, 0.0

    left_b = left_edge(b)
    place = pair_place(states.pairs, RIGHT_PAIR, a & EDGE_MASK, left_b)
    if states.pairs.key[place] == 0:
        place = compose_right(model, states, a, b, place)
    change = np.float64(states.pairs.change[place + CHANGE])
    right = b & EDGE_MASK if b & FULL_BIT else np.int64(states.pairs.edge[place + NEW_RIGHT])

    if a & FULL_BIT:
        return (a & LEFT_HALF) | right, change

    left_a = left_edge(a)
    place = pair_place(states.pairs, LEFT_PAIR, left_a, left_b)
    if states.pairs.key[place] == 0:
        left = flagged_left(states, composed_left(model, states, left_a, left_b))
        place = remember(states.pairs, LEFT_PAIR, left_a, left_b, place)
        states.pairs.edge[place + NEW_LEFT] = left
    return flagged_whole(states, (np.int64(states.pairs.edge[place + NEW_LEFT]) << EDGE_BITS) | right), change


@inline_kernel
def left_edge(state: int) -> int:
    """Return the number of the left edge of a state."""
    return (state >> EDGE_BITS) & EDGE_MASK


@leaf_kernel
def compose_right(model: ModelArrays, states: States, a: int, b: int, place: int) -> int:
    """Fill a free place with the change and the new right edge of a followed by b; returns the place.

    Both depend only on the right edge of a and the left edge of b: if that is not full, it contains all of b.
    If it is full, the right edge is that of b, which other pieces with the same left edge need not share.
    """
    right_a = a & EDGE_MASK
    left_b = left_edge(b)
    change = composed_change(model, states, right_a, left_b)
    right = b & EDGE_MASK
    if b & WHOLE_BIT:
        # the context may extend into a
        right = composed_right(model, states, right_a, right)
    place = remember(states.pairs, RIGHT_PAIR, right_a, left_b, place)
    states.pairs.change[place + CHANGE] = change
    states.pairs.edge[place + NEW_RIGHT] = right
    return place


@inline_kernel
def prefetch_change(model: ModelArrays, states: States, right_a: int, left_b: int) -> None:
    """Prefetch the n-grams that `composed_change` looks up, so that it waits for all of them at once."""
    row = states.row
    mask = np.uint64(model.slots.shape[0] - 1)
    from_a = row[right_a, LENGTH]
    for i in range(row[left_b, LENGTH]):
        key = extend_key(FIRST_KEY, row[left_b, WORDS + i])
        for used in range(1, min(from_a + i, model.order - 1) + 1):
            at = i - used
            word = row[left_b, WORDS + at] if at >= 0 else row[right_a, WORDS + from_a + at]
            key = extend_key(key, word)
            prefetch(model.slots, first_slot(key, mask))


@leaf_kernel
def composed_change(model: ModelArrays, states: States, right_a: int, left_b: int) -> float:
    """Rescore the left edge of b in the context of a."""
    prefetch_change(model, states, right_a, left_b)
    words = states.scratch
    length = np.int64(states.row[right_a, LENGTH])
    for i in range(length):
        words[i] = states.row[right_a, WORDS + i]

    change = -states.left_score[left_b]
    for i in range(states.row[left_b, LENGTH]):
        word = states.row[left_b, WORDS + i]
        change += score_word(model, words, length, word)[0]
        words[length] = word
        length += 1

    if states.row[left_b, KIND] == FULL and states.row[left_b, LENGTH] < model.order - 1:
        change += backoff_sum(model, words, length, states.row[left_b, LENGTH] + 1)
    return change


@leaf_kernel
def composed_left(model: ModelArrays, states: States, left_a: int, left_b: int) -> int:
    """Return the left edge of a followed by b, if the left edge of a contains all of a."""
    row, words = states.row, states.scratch
    made = clear_row(states)
    length = np.int64(row[left_a, LENGTH])
    for i in range(length):
        words[made + WORDS + i] = row[left_a, WORDS + i]

    kind = row[left_b, KIND]
    for i in range(row[left_b, LENGTH]):
        if length == model.order - 1:
            kind = FULL
            break

        words[made + WORDS + length] = row[left_b, WORDS + i]
        flags = ngram_flags(model, words, made + WORDS, made + WORDS + length + 1)
        if flags < 0 or not flags & EXTENDS_LEFT:
            words[made + WORDS + length] = 0
            kind = FULL
            break
        length += 1

    words[made + LENGTH], words[made + KIND] = length, kind
    return intern_edge(model, states)


@leaf_kernel
def composed_right(model: ModelArrays, states: States, right_a: int, right_b: int) -> int:
    """Return the right edge of a followed by b, if the right edge of b contains all of b."""
    row, words = states.row, states.scratch
    made = clear_row(states)
    from_a, length = np.int64(row[right_a, LENGTH]), np.int64(row[right_b, LENGTH])

    for i in range(from_a):
        words[i] = row[right_a, WORDS + i]
    for i in range(length):
        words[from_a + i] = row[right_b, WORDS + i]

    end = from_a + length
    for longer in range(length + 1, min(end, model.order - 1) + 1):
        flags = ngram_flags(model, words, end - longer, end)
        if flags < 0:
            break
        if flags & EXTENDS_RIGHT:
            length = longer

    for i in range(length):
        words[made + WORDS + i] = words[end - length + i]
    words[made + LENGTH] = length
    return intern_edge(model, states)
