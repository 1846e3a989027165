"""Composition of language-model states; `itersel.lm.state_kernels` says what a state is."""

from __future__ import annotations

import numpy as np

from itersel.compile.jit import inline_kernel, leaf_kernel, prefetch
from itersel.lm.edge_pair_kernels import (
    CHANGE,
    LEFT_PAIR,
    NEW_LEFT,
    NEW_RIGHT,
    RIGHT_PAIR,
    pair_place,
    remember,
)
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
from itersel.lm.state_kernels import (
    EDGE_BITS,
    EDGE_MASK,
    EMPTY_STATE,
    FULL,
    FULL_BIT,
    KIND,
    LEFT_HALF,
    LENGTH,
    WHOLE_BIT,
    WORDS,
    States,
    clear_row,
    flagged_left,
    flagged_whole,
    intern_edge,
    left_edge,
)
from itersel.storage.arrays import Int32s


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
    row = states.row
    words = states.scratch
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

    words[made + LENGTH] = length
    words[made + KIND] = kind
    return intern_edge(model, states)


@leaf_kernel
def composed_right(model: ModelArrays, states: States, right_a: int, right_b: int) -> int:
    """Return the right edge of a followed by b, if the right edge of b contains all of b."""
    row = states.row
    words = states.scratch
    made = clear_row(states)
    from_a = np.int64(row[right_a, LENGTH])
    length = np.int64(row[right_b, LENGTH])

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
