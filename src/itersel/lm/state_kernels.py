"""Language-model states of chart items, as a monoid: states are interned, and composed with a memo.

The language model sees a piece of a translation through its *state*: the words at its left edge that a
longer left context can still change, and the words at its right edge that can still serve as context.
Laying piece b to the right of piece a changes the score by an amount that depends on the two states
alone, and gives a new state. So all that the decoder ever asks is ``compose(a, b) -> (c, change)``, and
because the same pairs come back hundreds of times in a sentence, the answer is remembered: one look-up
in place of several n-gram look-ups.

Left edge of the words w1 w2 ...: the longest w1..wk (k < order) for which every w1..wi is in the model
and extends to the left. If words follow that are not part of it, the state is *full*: the first of those
will still be charged the back-off weights of contexts that end in w1..wk, and nothing else. Right edge: the
longest suffix (shorter than the order) that is a context of the model. Anything longer could not change a
score (compare Li and Khudanpur 2008, Heafield 2011, section 4.1).

A state is a row of int32: left length, full, right length, left words, right words (reading order, zeros
behind). State 0 is the empty piece.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel, leaf_kernel
from itersel.lm.kernels import (
    EXTENDS_LEFT,
    EXTENDS_RIGHT,
    FIRST_KEY,
    ModelArrays,
    extend_key,
    find,
    score_word,
)

EMPTY_STATE = 0
LEFT_LENGTH, FULL, RIGHT_LENGTH, WORDS = 0, 1, 2, 3  # columns of a row
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
HASH_SHIFT = np.uint64(29)
PAIR_SHIFT = np.uint64(32)


class States(NamedTuple):
    """Interned states and remembered compositions of one sentence.

    Attributes
    ----------
    row
        int32 (S, 3 + 2 (order - 1)): the states.
    slot
        int32 (power of two): hash table of rows, -1 where free.
    left_score
        float64 (S): log10 probability of the words at the left edge, without context.
    pair
        uint64 (power of two, 2): hash table of composed pairs. Column 0 is ``a << 32 | b``, 0 where free;
        column 1 holds the composed state and the change in log10 probability: one cache line a look-up.
    pair_state, pair_change
        int32, float32 (power of two, 4): the same memory, columns 2 and 3.
    scratch
        int32 (8 (order + 1)): words being composed; in the second half the row being made.
    counts
        int64 (3): states, pairs, and whether a table was too small (the sentence has to start again
        with larger ones).
    """

    row: NDArray[np.int32]
    slot: NDArray[np.int32]
    left_score: NDArray[np.float64]
    pair: NDArray[np.uint64]
    pair_state: NDArray[np.int32]
    pair_change: NDArray[np.float32]
    scratch: NDArray[np.int32]
    counts: NDArray[np.int64]


def make_states(order: int, state_capacity: int, pair_capacity: int) -> States:
    """Allocate tables; capacities are powers of two."""
    width = WORDS + 2 * max(order - 1, 1)
    pair = np.zeros((pair_capacity, 2), np.uint64)
    return States(
        row=np.zeros((state_capacity, width), np.int32),
        slot=np.full(2 * state_capacity, -1, np.int32),
        left_score=np.zeros(state_capacity),
        pair=pair,
        pair_state=pair.view(np.int32),
        pair_change=pair.view(np.float32),
        scratch=np.zeros(8 * (order + 1), np.int32),
        counts=np.zeros(3, np.int64),
    )


@kernel
def reset_states(states: States) -> None:
    """Forget all states but the empty one."""
    states.slot[:] = -1
    states.pair[:, 0] = np.uint64(0)
    states.row[0, :] = 0
    states.counts[0] = 1
    states.counts[1] = 0
    states.counts[2] = 0


@leaf_kernel
def intern_state(model: ModelArrays, states: States) -> int:
    """Return the number of the state whose row stands in the second half of `scratch`."""
    begin = states.scratch.shape[0] // 2
    width = states.row.shape[1]
    mask = states.slot.shape[0] - 1
    key = np.uint64(0)
    for i in range(width):
        key = (key ^ np.uint64(states.scratch[begin + i])) * HASH_MULTIPLIER
        key ^= key >> HASH_SHIFT
    place = np.int64(key & np.uint64(mask))
    while states.slot[place] >= 0:
        state = states.slot[place]
        same = True
        for i in range(width):
            if states.row[state, i] != states.scratch[begin + i]:
                same = False
                break
        if same:
            return np.int64(state)
        place = (place + 1) & mask
    state = states.counts[0]
    if state >= states.row.shape[0]:
        states.counts[2] = 1
        return EMPTY_STATE
    score = 0.0
    for i in range(states.scratch[begin + LEFT_LENGTH]):
        states.scratch[i] = states.scratch[begin + WORDS + i]
        score += score_word(model, states.scratch, i, states.scratch[i])[0]
    for i in range(width):
        states.row[state, i] = states.scratch[begin + i]
    states.left_score[state] = score
    states.slot[place] = state
    states.counts[0] = state + 1
    return np.int64(state)


@leaf_kernel
def word_state(model: ModelArrays, states: States, word: int) -> int:
    """Return the state of a single word; its score is ``model.unigram[word, 0]``."""
    width = states.row.shape[1]
    row = states.scratch
    made = row.shape[0] // 2
    for i in range(made, made + width):
        row[i] = 0
    flags = model.unigram_flags[word]
    if model.order > 1 and flags & EXTENDS_LEFT:
        row[made + LEFT_LENGTH] = 1
        row[made + WORDS] = word
    else:
        row[made + FULL] = 1
    if model.order > 1 and flags & EXTENDS_RIGHT:
        row[made + RIGHT_LENGTH] = 1
        row[made + WORDS + (width - WORDS) // 2] = word
    return intern_state(model, states)


@leaf_kernel
def begin_state(model: ModelArrays, states: States, begin_of_sentence: int) -> int:
    """Return the state of `<s>`: nothing to its left can matter."""
    width = states.row.shape[1]
    row = states.scratch
    made = row.shape[0] // 2
    for i in range(made, made + width):
        row[i] = 0
    row[made + FULL] = 1
    if model.order > 1:
        row[made + RIGHT_LENGTH] = 1
        row[made + WORDS + (width - WORDS) // 2] = begin_of_sentence
    return intern_state(model, states)


@leaf_kernel
def ngram_flags(model: ModelArrays, words: NDArray[np.int32], begin: int, end: int) -> int:
    """Return the flags of the n-gram ``words[begin:end]``, -1 if the model does not have it."""
    if end - begin == 1:
        return np.int64(model.unigram_flags[words[begin]])
    key = FIRST_KEY
    for i in range(end - 1, begin - 1, -1):
        key = extend_key(key, words[i])
    place = find(model, key)
    if place < 0:
        return -1
    return np.int64(model.slots[place, 0] & np.uint64(EXTENDS_LEFT | EXTENDS_RIGHT))


@leaf_kernel
def backoff_sum(model: ModelArrays, words: NDArray[np.int32], end: int, shortest: int) -> float:
    """Return the summed back-off weights of contexts that end at `end`, of length `shortest` or more."""
    total = 0.0
    key = FIRST_KEY
    for length in range(1, min(end, model.order - 1) + 1):
        word = words[end - length]
        key = extend_key(key, word)
        if length == 1:
            backoff = model.unigram[word, 1]
        else:
            place = find(model, key)
            if place < 0:
                break
            backoff = model.values[place, 3]
        if length >= shortest:
            total += backoff
    return total


@leaf_kernel
def compose(model: ModelArrays, states: States, a: int, b: int) -> tuple[int, float]:
    """Lay piece b to the right of piece a: the state of the whole, and the change in log10 probability."""
    if a == EMPTY_STATE:
        return b, 0.0
    if b == EMPTY_STATE:
        return a, 0.0
    key = (np.uint64(a) << PAIR_SHIFT) | np.uint64(b)
    mask = states.pair.shape[0] - 1
    place = np.int64(((key * HASH_MULTIPLIER) >> PAIR_SHIFT) & np.uint64(mask))
    while states.pair[place, 0] != key:
        if states.pair[place, 0] == np.uint64(0):
            return compose_new(model, states, a, b, key, place)
        place = (place + 1) & mask
    return np.int64(states.pair_state[place, 2]), np.float64(states.pair_change[place, 3])


@leaf_kernel
def compose_new(
    model: ModelArrays, states: States, a: int, b: int, key: np.uint64, place: int
) -> tuple[int, float]:
    """Compose a pair for the first time, and remember it at `place`."""
    change = np.float32(composed_change(model, states, a, b))
    state = composed_state(model, states, a, b)
    if 2 * states.counts[1] >= states.pair.shape[0]:
        states.counts[2] = 1
    else:
        states.counts[1] += 1
        states.pair[place, 0] = key
        states.pair_state[place, 2] = state
        states.pair_change[place, 3] = change
    return np.int64(state), np.float64(change)


@leaf_kernel
def composed_change(model: ModelArrays, states: States, a: int, b: int) -> float:
    """Score the left edge of b again, now in the context of a."""
    right = WORDS + (states.row.shape[1] - WORDS) // 2
    words = states.scratch
    length = np.int64(states.row[a, RIGHT_LENGTH])
    for i in range(length):
        words[i] = states.row[a, right + i]
    change = -states.left_score[b]
    for i in range(states.row[b, LEFT_LENGTH]):
        word = states.row[b, WORDS + i]
        change += score_word(model, words, length, word)[0]
        words[length] = word
        length += 1
    if states.row[b, FULL] and states.row[b, LEFT_LENGTH] < model.order - 1:
        change += backoff_sum(model, words, length, states.row[b, LEFT_LENGTH] + 1)
    return change


@leaf_kernel
def composed_state(model: ModelArrays, states: States, a: int, b: int) -> int:
    """Return the state of a followed by b."""
    width = states.row.shape[1]
    row, words = states.row, states.scratch
    longest = model.order - 1
    right = WORDS + (width - WORDS) // 2
    made = words.shape[0] // 2  # where the new row stands
    for i in range(made, made + width):
        words[i] = 0

    length = np.int64(row[a, LEFT_LENGTH])
    for i in range(length):
        words[made + WORDS + i] = row[a, WORDS + i]
    full = row[a, FULL]
    if not full:
        full = row[b, FULL]
        for i in range(row[b, LEFT_LENGTH]):
            if length == longest:
                full = 1
                break
            words[made + WORDS + length] = row[b, WORDS + i]
            flags = ngram_flags(model, words, made + WORDS, made + WORDS + length + 1)
            if flags < 0 or not flags & EXTENDS_LEFT:
                words[made + WORDS + length] = 0
                full = 1
                break
            length += 1
    words[made + LEFT_LENGTH], words[made + FULL] = length, full

    length = np.int64(row[b, RIGHT_LENGTH])
    if not row[b, FULL] and length == row[b, LEFT_LENGTH]:
        # all of b is context: the context may reach into a
        from_a = np.int64(row[a, RIGHT_LENGTH])
        for i in range(from_a):
            words[i] = row[a, right + i]
        for i in range(length):
            words[from_a + i] = row[b, right + i]
        end = from_a + length
        for longer in range(length + 1, min(end, longest) + 1):
            flags = ngram_flags(model, words, end - longer, end)
            if flags < 0:
                break
            if flags & EXTENDS_RIGHT:
                length = longer
        for i in range(length):
            words[made + right + i] = words[end - length + i]
    else:
        for i in range(length):
            words[made + right + i] = row[b, right + i]
    words[made + RIGHT_LENGTH] = length
    return intern_state(model, states)
