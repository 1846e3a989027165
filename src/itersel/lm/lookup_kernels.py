"""N-gram look-up and word scoring, for the scorer, the compiler and the decoder.

An n-gram is found by its key, a 62-bit hash of its words, built from the last word leftwards: the key of
"a b c" comes from that of "b c", so each longer n-gram that ends in the same word costs one more step. The
words themselves are not stored. The probability that a word sequence outside the model hits a stored key is
(number of n-grams) / 2^62 per look-up, as in KenLM's probing model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.storage.arrays import Float32s, Float64s, Int32s, Int64s, UInt8s, UInt64s

# Flags of an n-gram: the two low bits of its stored key, and `ModelArrays.unigram_flags`.
EXTENDS_LEFT, EXTENDS_RIGHT = 1, 2

FIRST_KEY = np.uint64(0x9E3779B97F4A7C14)
_WORD_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_MIX_FACTOR = np.uint64(0xFF51AFD7ED558CCD)
_MIX_SHIFT = np.uint64(32)
_ONE = np.uint64(1)
_LEFT_BIT = np.uint64(EXTENDS_LEFT)
_FLAG_BITS = np.uint64(2)
_KEY_MASK = np.uint64(0xFFFFFFFFFFFFFFFC)
_SMALLEST_KEY = np.uint64(4)
_NOTHING = np.uint64(0)


class ModelArrays(NamedTuple):
    """A language model as arrays for kernels; V words, all probabilities in log10."""

    order: int  # length of the longest n-grams
    unigram: Float32s  # (V, 2): probability and backoff of each word; row 0 is the unknown word
    unigram_flags: UInt8s  # (V): `EXTENDS_LEFT` and `EXTENDS_RIGHT` of each word
    # (capacity, 2): open addressing with linear probing, capacity a power of two. Column 0 is key | flags, 0
    # in an empty slot; column 1 contains probability and backoff as two float32.
    slots: UInt64s
    values: Float32s  # (capacity, 4): the same memory; columns 2 and 3 are probability and backoff


@leaf_kernel
def extend_key(key: np.uint64, word: int) -> np.uint64:
    """Return the key of `word` followed by the n-gram of `key`."""
    mixed = np.uint64(key) ^ ((np.uint64(word) + _ONE) * _WORD_FACTOR)
    mixed = (mixed ^ (mixed >> _MIX_SHIFT)) * _MIX_FACTOR
    return max((mixed ^ (mixed >> _MIX_SHIFT)) & _KEY_MASK, _SMALLEST_KEY)


@kernel
def ngram_keys(words: Int32s) -> UInt64s:
    """Return the keys of n-grams, the rows of `words` (n-grams, order)."""
    keys = np.empty(words.shape[0], np.uint64)
    for i in range(words.shape[0]):
        key = FIRST_KEY
        for j in range(words.shape[1] - 1, -1, -1):
            key = extend_key(key, words[i, j])
        keys[i] = key
    return keys


@leaf_kernel
def first_slot(key: np.uint64, mask: np.uint64) -> int:
    """Return the first slot where an n-gram may be; `mask` is the number of slots less one."""
    return np.int64((np.uint64(key) >> _FLAG_BITS) & mask)


@kernel
def insert(slots: UInt64s, rows: UInt64s) -> int:
    """Store n-grams; `rows` (n-grams, 2) have the columns of `ModelArrays.slots`.

    Returns -1, or the first row whose key is already in the table; it and all later rows are not stored.
    """
    mask = np.uint64(slots.shape[0] - 1)
    for i in range(rows.shape[0]):
        key = rows[i, 0] & _KEY_MASK
        slot = first_slot(key, mask)
        while slots[slot, 0] != _NOTHING:
            if slots[slot, 0] & _KEY_MASK == key:
                return i
            slot = (slot + 1) & np.int64(mask)
        slots[slot, 0] = rows[i, 0]
        slots[slot, 1] = rows[i, 1]
    return -1


@leaf_kernel
def find(model: ModelArrays, key: np.uint64) -> int:
    """Return the row in ``model.slots`` of an n-gram of two or more words, -1 if it is not listed."""
    slots = model.slots
    mask = np.uint64(slots.shape[0] - 1)
    slot = first_slot(key, mask)
    while slots[slot, 0] != _NOTHING:
        if slots[slot, 0] & _KEY_MASK == key:
            return slot
        slot = (slot + 1) & np.int64(mask)
    return -1


@leaf_kernel
def score_word(model: ModelArrays, context: Int32s, length: int, word: int) -> tuple[float, int]:
    """Score a word after the words ``context[:length]``, the most recent last.

    Returns the log10 probability, and the length of the matched n-gram, 1 to ``model.order``.
    """
    most = min(length, model.order - 1)
    score = np.float64(model.unigram[word, 0])
    extends = model.unigram_flags[word] & EXTENDS_LEFT != 0
    key = extend_key(FIRST_KEY, word)
    used = 1

    while extends and used <= most:
        key = extend_key(key, context[length - used])
        row = find(model, key)
        if row < 0:
            break

        score = np.float64(model.values[row, 2])
        extends = model.slots[row, 0] & _LEFT_BIT != _NOTHING
        used += 1
    return score + backoff_sum(model, context, length, used), used


@leaf_kernel
def backoff_sum(model: ModelArrays, context: Int32s, length: int, least: int) -> float:
    """Sum the backoffs of the last `least` or more words of ``context[:length]``, if listed."""
    total = 0.0
    most = min(length, model.order - 1)
    if least > most:
        return total
    last = context[length - 1]

    if least == 1:
        total += np.float64(model.unigram[last, 1])
    extends = model.unigram_flags[last] & EXTENDS_LEFT != 0
    key = extend_key(FIRST_KEY, last)

    for n in range(2, most + 1):
        if not extends:
            break
        key = extend_key(key, context[length - n])

        if n >= least:
            row = find(model, key)
            if row < 0:
                break
            total += np.float64(model.values[row, 3])
            extends = model.slots[row, 0] & _LEFT_BIT != _NOTHING
    return total


@kernel
def score_sentences(model: ModelArrays, words: Int32s, offset: Int64s) -> Float64s:
    """Return the log10 probabilities of sentences: ``words[offset[i]:offset[i + 1]]``, from <s> to </s>."""
    result = np.zeros(offset.shape[0] - 1, np.float64)
    for i in range(result.shape[0]):
        sentence = words[offset[i] : offset[i + 1]]
        for j in range(1, sentence.shape[0]):
            result[i] += score_word(model, sentence, j, sentence[j])[0]
    return result
