"""Kernels of the aligner: Gibbs sampling of the link of each word.

Shapes: S = sentence pairs; T = words of the generated side of all sentences; V = different words of the given
side, word 0 being NULL; K = samplers. Each generated word is linked to a given word of its sentence, whose
position + 1 is its link, or to NULL, which is link 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import inline_kernel, leaf_kernel, prefetch
from itersel.storage.arrays import Float32s, Float64s, Int16s, Int32s, Int64s, UInt64s
from itersel.storage.hash_kernels import GOLDEN_RATIO, mixed

# Jumps of more words, and fertilities of more links, are counted together; the latter do not occur.
LONGEST_JUMP = 200
LARGEST_FERTILITY = 7
# What is added to the number of links of a pair of words.
LEXICAL_PRIOR = 0.001
# The weight of NULL.
NULL = 0.125
# How often DECIDE samples the links of a sentence.
SWEEPS = 2

# What a pass over the text does: the models that it samples from, each with the features of those before it;
# DECIDE takes the links that are most probable on average over the samplers.
RANDOM, IBM1, HMM, FERTILE, DECIDE = range(5)

_11 = np.uint64(11)
_32 = np.uint64(32)
_EMPTY = np.uint64(0)
_ONE = np.uint64(1)


class SentencePairs(NamedTuple):
    """Sentence pairs as word numbers, from 1. Pairs with an empty side are ignored."""

    given: Int32s  # the words of all sentences
    given_start: Int64s  # (S + 1): begin of each sentence
    generated: Int32s
    generated_start: Int64s


class Model(NamedTuple):
    """What is counted of the links of all sentences, for each sampler."""

    # (slots, a power of 2): a hash table of the pairs of words that are linked: the given word times 2^32,
    # plus the generated one; 0 is an empty slot
    pairs: UInt64s
    pair_links: Int32s  # (slots + 1, K): links of each pair; the last row is 0
    links: Int32s  # (V, K): links of each given word
    prior: float  # what is added to the number of links of a given word
    scale: Float64s  # (V, K): 1 / (links + prior)
    jumps: Float64s  # (K, 2 * LONGEST_JUMP + 1): number of jumps by distance, plus the prior
    all_jumps: Float64s  # (K): their sum
    # (V, LARGEST_FERTILITY + 1, K): how much more probable one more link of a word is, by the number of its
    # links
    ratio: Float32s


class Room(NamedTuple):
    """Arrays for a sentence pair of at most n given and m generated words."""

    # (m * (n + 1)): the slots of the pairs of its words, those of a generated word side by side
    slot: Int64s
    probability: Float64s  # likewise, the probabilities of the links, added up over samplers
    total: Float64s  # (n + 1): the scores of the links of one word, added up from the left
    fertility: Int64s  # (n): links of each given word
    next: Int64s  # (m): given position of the next link to the right of each generated word


class Pass(NamedTuple):
    """A pass over the text."""

    stage: int  # RANDOM, which is the first, IBM1, HMM, FERTILE or DECIDE
    seed: int  # of the generator; passes need different ones
    # Whether the links count in the model; otherwise, it does not change, and all sentences get the same
    # numbers from the generator, so that the links of one do not depend on its place.
    is_counted: bool


@inline_kernel
def pair_of(given: int, generated: int) -> np.uint64:
    """Return the key of a pair of words."""
    return (np.uint64(given) << _32) | np.uint64(generated)


@inline_kernel
def home_of(pairs: UInt64s, pair: np.uint64) -> np.uint64:
    """Return the slot where the search for a pair begins."""
    return mixed(pair) & np.uint64(pairs.shape[0] - 1)


@inline_kernel
def slot_of_pair(pairs: UInt64s, pair: np.uint64, slot: np.uint64) -> int:
    """Return the slot of a pair, or the empty one where it belongs; `slot` is its home."""
    while pairs[slot] != pair and pairs[slot] != _EMPTY:
        slot = (slot + _ONE) & np.uint64(pairs.shape[0] - 1)
    return np.int64(slot)  # type: ignore[return-value]  # for numba, other numbers are signed


@inline_kernel
def distance(start: int, end: int) -> int:
    """Return the column of a jump in `Model.jumps`."""
    return min(max(end - start, -LONGEST_JUMP), LONGEST_JUMP) + LONGEST_JUMP


@leaf_kernel
def find_slots(model: Model, text: SentencePairs, sentence: int, room: Room) -> None:
    """Set the slots of the pairs of a sentence; the row of zeros for those without links."""
    first = text.given_start[sentence]
    width = text.given_start[sentence + 1] - text.given_start[sentence] + 1
    begin, end = text.generated_start[sentence], text.generated_start[sentence + 1]
    cell = 0
    for j in range(begin, end):
        for i in range(width):
            word = text.given[first + i - 1] if i else 0
            home = np.int64(home_of(model.pairs, pair_of(word, text.generated[j])))
            prefetch(model.pairs, home)
            room.slot[cell + i] = home
        cell += width

    cell = 0
    for j in range(begin, end):
        for i in range(width):
            word = text.given[first + i - 1] if i else 0
            slot = slot_of_pair(model.pairs, pair_of(word, text.generated[j]), np.uint64(room.slot[cell + i]))
            room.slot[cell + i] = slot if model.pairs[slot] != _EMPTY else model.pairs.shape[0]
        cell += width


@leaf_kernel
def add_pair(model: Model, text: SentencePairs, sentence: int, room: Room, word: int, generated: int) -> int:
    """Give a pair a slot, wherever it occurs in the sentence; returns the slot."""
    pair = pair_of(word, generated)
    slot = slot_of_pair(model.pairs, pair, home_of(model.pairs, pair))
    model.pairs[slot] = pair

    first = text.given_start[sentence]
    width = text.given_start[sentence + 1] - text.given_start[sentence] + 1
    cell = 0
    for j in range(text.generated_start[sentence], text.generated_start[sentence + 1]):
        if text.generated[j] == generated:
            for i in range(width):
                if (text.given[first + i - 1] if i else 0) == word:
                    room.slot[cell + i] = slot
        cell += width
    return slot


@inline_kernel
def count_link(model: Model, sampler: int, slot: int, word: int, number: int) -> None:
    """Add 1 or -1 link of a pair, whose given word is `word`."""
    model.pair_links[slot, sampler] += number
    model.links[word, sampler] += number
    model.scale[word, sampler] = 1.0 / (model.prior + model.links[word, sampler])


@inline_kernel
def count_jumps(model: Model, sampler: int, before: int, link: int, after: int, number: int) -> None:
    """Add 1 or -1 times the jumps between the links around a word, by its own unless that is NULL."""
    if link:
        model.jumps[sampler, distance(before, link - 1)] += number
        model.jumps[sampler, distance(link - 1, after)] += number
        model.all_jumps[sampler] += 2 * number
    else:
        model.jumps[sampler, distance(before, after)] += number
        model.all_jumps[sampler] += number


@inline_kernel
def add_scores(
    model: Model,
    text: SentencePairs,
    first: int,
    size: int,
    room: Room,
    row: int,
    sampler: int,
    stage: int,
    before: int,
    after: int,
) -> float:
    """Set the cumulative scores of the links of a word, NULL first; returns their sum.

    The slots of its pairs begin at `row`; its neighbours are linked to the positions `before` and `after`.
    """
    total: float = (
        NULL * model.scale[0, sampler] * (LEXICAL_PRIOR + model.pair_links[room.slot[row], sampler])
    )
    if stage >= HMM:
        # instead of dividing the two jumps of other links by this sum
        total *= model.jumps[sampler, distance(before, after)] * model.all_jumps[sampler]
    room.total[0] = total

    for i in range(size):
        word = text.given[first + i]
        score = model.scale[word, sampler] * (
            LEXICAL_PRIOR + model.pair_links[room.slot[row + i + 1], sampler]
        )
        if stage >= HMM:
            score *= model.jumps[sampler, distance(before, i)] * model.jumps[sampler, distance(i, after)]
        if stage >= FERTILE:
            score *= model.ratio[word, min(room.fertility[i], LARGEST_FERTILITY), sampler]
        total += score
        room.total[i + 1] = total
    return total


@leaf_kernel
def sample_sentence(
    model: Model,
    text: SentencePairs,
    sentence: int,
    links: Int16s,
    room: Room,
    sampler: int,
    one_pass: Pass,
    sweep: int,
) -> int:
    """Sample the links of a sentence with one sampler; returns the number of pairs that got a slot.

    In the last sweep of DECIDE, the links are the most probable ones so far.
    """
    first = text.given_start[sentence]
    size = text.given_start[sentence + 1] - text.given_start[sentence]
    begin, end = text.generated_start[sentence], text.generated_start[sentence + 1]

    for i in range(size):
        room.fertility[i] = 0

    after = size
    for j in range(end - 1, begin - 1, -1):
        room.next[j - begin] = after
        if links[j, sampler]:
            after = links[j, sampler] - 1
            room.fertility[after] += 1

    place = sentence if one_pass.is_counted else 0
    number = (place * SWEEPS + sweep) * links.shape[1] + sampler
    state = mixed(np.uint64(one_pass.seed) * GOLDEN_RATIO + np.uint64(number))
    before = -1
    row = 0
    added = 0

    for j in range(begin, end):
        after = room.next[j - begin]
        old = links[j, sampler]
        if old:
            room.fertility[old - 1] -= 1

        if one_pass.is_counted:
            count_jumps(model, sampler, before, old, after, -1)
        if one_pass.is_counted and one_pass.stage != RANDOM:
            word = text.given[first + old - 1] if old else 0
            count_link(model, sampler, room.slot[row + old], word, -1)

        state += GOLDEN_RATIO
        drawn = np.float64(mixed(state) >> _11) / 9007199254740992.0

        new = 0
        if one_pass.stage == RANDOM:
            if drawn >= NULL:
                new = int((drawn - NULL) / (1.0 - NULL) * size) + 1
        else:
            total = add_scores(model, text, first, size, room, row, sampler, one_pass.stage, before, after)
            if one_pass.stage == DECIDE:
                room.probability[row] += room.total[0] / total
                for i in range(1, size + 1):
                    room.probability[row + i] += (room.total[i] - room.total[i - 1]) / total

            if one_pass.stage == DECIDE and sweep == SWEEPS - 1:
                for i in range(1, size + 1):
                    if room.probability[row + i] > room.probability[row + new]:
                        new = i
            else:
                drawn *= total
                while new < size and room.total[new] <= drawn:
                    new += 1

        links[j, sampler] = new
        if one_pass.is_counted:
            word = text.given[first + new - 1] if new else 0
            slot = room.slot[row + new]
            if slot == model.pairs.shape[0]:
                slot = add_pair(model, text, sentence, room, word, text.generated[j])
                added += 1
            count_link(model, sampler, slot, word, 1)
            count_jumps(model, sampler, before, new, after, 1)

        if new:
            room.fertility[new - 1] += 1
            before = new - 1
        row += size + 1
    return added


@leaf_kernel
def sample(
    model: Model, text: SentencePairs, links: Int16s, room: Room, one_pass: Pass, begin: int, free: int
) -> tuple[int, int]:
    """Sample the links of all sentences from `begin` with all samplers.

    links: int16 (T, K), the links of each sampler; changed. After DECIDE, those of the last one are the most
    probable ones. free: how many pairs may get slots.

    Returns the sentence with which to go on when there is room, or S; and the number of pairs that got slots.
    """
    added = 0
    for sentence in range(begin, text.given_start.shape[0] - 1):
        width = text.given_start[sentence + 1] - text.given_start[sentence] + 1
        length = text.generated_start[sentence + 1] - text.generated_start[sentence]
        if width == 1 or length == 0:
            continue
        if added + SWEEPS * length * links.shape[1] > free:
            return sentence, added

        find_slots(model, text, sentence, room)

        for cell in range(length * width if one_pass.stage == DECIDE else 0):
            room.probability[cell] = 0.0

        for sweep in range(SWEEPS if one_pass.stage == DECIDE else 1):
            for sampler in range(links.shape[1]):
                added += sample_sentence(model, text, sentence, links, room, sampler, one_pass, sweep)
    return text.given_start.shape[0] - 1, added


@leaf_kernel
def count_fertilities(text: SentencePairs, links: Int16s, room: Room, counts: Float64s) -> None:
    """Add up how often each given word has how many links: float64 (V, LARGEST_FERTILITY + 1, K)."""
    for sentence in range(text.given_start.shape[0] - 1):
        first = text.given_start[sentence]
        size = text.given_start[sentence + 1] - text.given_start[sentence]
        begin, end = text.generated_start[sentence], text.generated_start[sentence + 1]
        for sampler in range(links.shape[1] if begin < end else 0):
            for i in range(size):
                room.fertility[i] = 0
            for j in range(begin, end):
                if links[j, sampler]:
                    room.fertility[links[j, sampler] - 1] += 1
            for i in range(size):
                counts[text.given[first + i], min(room.fertility[i], LARGEST_FERTILITY), sampler] += 1.0


@leaf_kernel
def move_pairs(pairs: UInt64s, pair_links: Int32s, new_pairs: UInt64s, new_links: Int32s) -> int:
    """Copy the pairs that have links to an empty table; returns their number."""
    moved = 0
    for slot in range(pairs.shape[0]):
        has_links = False
        for sampler in range(pair_links.shape[1]):
            has_links |= pair_links[slot, sampler] != 0
        if has_links:
            place = slot_of_pair(new_pairs, pairs[slot], home_of(new_pairs, pairs[slot]))
            new_pairs[place] = pairs[slot]
            for sampler in range(pair_links.shape[1]):
                new_links[place, sampler] = pair_links[slot, sampler]
            moved += 1
    return moved
