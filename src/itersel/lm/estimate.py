"""Interpolated modified Kneser-Ney estimation (Chen & Goodman 1998), with the same numbers as KenLM's lmplz.

The method is described in Heafield et al. 2013 ("Scalable modified Kneser-Ney language model estimation"):
adjusted counts, discounts from counts of counts, and interpolation of each order with the next lower one, and
of unigrams with the uniform distribution. Nothing is pruned.

An n-gram is represented by the row of its first n - 1 words among the n-grams of order n - 1, and by its last
word, so each order needs one sort of integers, however long its n-grams. Rows sorted in this way keep the
n-grams with the same context together.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.corpus.text import read_tokenized
from itersel.errors import InputError
from itersel.lm.arpa import END, START, UNKNOWN, Arpa, NGrams

# Numbers of the special words.
UNKNOWN_ID, START_ID, END_ID = 0, 1, 2

# lmplz --discount_fallback
FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)


class Text(NamedTuple):
    """Sentences as word numbers.

    Attributes
    ----------
    words
        The vocabulary: ``<unk>``, ``<s>``, ``</s>``, then the others in order of first occurrence.
    tokens
        int64: all sentences, each between ``<s>`` and ``</s>``, concatenated.
    """

    words: list[str]
    tokens: NDArray[np.int64]


class Estimate(NamedTuple):
    """An estimated model.

    Attributes
    ----------
    model
        The n-grams, sorted by word number.
    discounts
        float64 (order, 3): discounts of counts 1, 2, and 3 or more.
    fallback
        The orders whose discounts could not be estimated, which use `FALLBACK_DISCOUNTS`.
    """

    model: Arpa
    discounts: NDArray[np.float64]
    fallback: list[int]


class _Types(NamedTuple):
    """The distinct n-grams of one order, sorted by first words, then last word."""

    context: NDArray[np.int64]  # row of the first words in the next lower order
    word: NDArray[np.int64]  # last word
    suffix: NDArray[np.int64]  # row of the last words in the next lower order
    occurrences: NDArray[np.int64]
    starts: NDArray[np.bool_]  # whether the first word is <s>


def read_text(
    paths: Sequence[str | os.PathLike[str]],
    vocabulary: str | os.PathLike[str] | None = None,
    left_out: Collection[int] = (),
) -> Text:
    """Read tokenised text, one sentence per line.

    Parameters
    ----------
    paths
        Text files, which may be compressed; ``-`` is standard input.
    vocabulary
        A text file; words that do not occur in it are replaced by ``<unk>``.
    left_out
        Lines of the first text to leave out, counted from 0.

    Raises
    ------
    InputError
        If a file is empty or contains invalid characters (see `itersel.corpus.text.read_tokenized`); if
        `vocabulary` has no words; if a line to leave out does not exist.
    """
    allowed = None if vocabulary is None else _words_of(vocabulary)
    ids: defaultdict[str, int] = defaultdict()
    ids.default_factory = ids.__len__
    for mark in (UNKNOWN, START, END):
        ids[mark]
    tokens: list[int] = []
    for number, path in enumerate(paths):
        sentences = read_tokenized(path)
        if number == 0 and left_out:
            sentences = _without(sentences, left_out, path)
        for words in sentences:
            if allowed is not None:
                words = [word if word in allowed else UNKNOWN for word in words]
            tokens.append(START_ID)
            tokens.extend(map(ids.__getitem__, words))
            tokens.append(END_ID)
    return Text(list(ids), np.array(tokens, np.int64))


def _without(
    sentences: list[list[str]], left_out: Collection[int], path: str | os.PathLike[str]
) -> list[list[str]]:
    if max(left_out) >= len(sentences):
        raise InputError(
            f"has {len(sentences)} lines, but line {max(left_out) + 1} is to be left out; the first text "
            "must be the one that was split into shards",
            path,
        )
    return [words for number, words in enumerate(sentences) if number not in left_out]


def _words_of(path: str | os.PathLike[str]) -> set[str]:
    words = set().union(*read_tokenized(path))
    if not words:
        raise InputError("is not a vocabulary: it contains no words", path)
    return words


def estimate(text: Text, order: int) -> Estimate:
    """Estimate a model of the given order (at least 1).

    The probability of ``<unk>`` is its share of the uniform distribution, unless the text contains it.
    ``<s>``, which is never predicted, gets the same number, as in lmplz.
    """
    size = len(text.words)
    types = _ngram_types(text.tokens, size, order)
    counts = _adjusted_counts(types)
    discounts, fallback = _all_discounts(counts)
    ngrams: list[NGrams] = []
    probability = np.full(1, 1.0 / (size - 1))
    words = np.empty((1, 0), np.int32)
    for kind, count, discount in zip(types, counts, discounts, strict=True):
        taken = discount[np.minimum(count, 3)]
        total = np.bincount(kind.context, count, probability.shape[0])
        # Avoids 0 / 0 for contexts that never occur: no n-gram uses them, and their backoff is 0 below.
        left = np.bincount(kind.context, taken, probability.shape[0]) / np.maximum(total, 1)
        if ngrams:
            np.log10(left, out=ngrams[-1].backoff, where=left > 0)
        probability = (count - taken) / total[kind.context] + left[kind.context] * probability[kind.suffix]
        words = np.column_stack([words[kind.context], kind.word]).astype(np.int32)
        ngrams.append(NGrams(words, np.log10(probability), np.zeros(probability.shape[0])))
    return Estimate(Arpa(text.words, ngrams), discounts[:, 1:], fallback)


def _ngram_types(tokens: NDArray[np.int64], size: int, order: int) -> list[_Types]:
    """Find the distinct n-grams of every order; unigram rows are word numbers."""
    sentence_end = np.flatnonzero(tokens == END_ID)
    position = np.arange(tokens.shape[0])
    remaining = np.repeat(sentence_end, np.diff(sentence_end, prepend=-1)) - position + 1
    zero, word = np.zeros(size, np.int64), np.arange(size)
    types = [_Types(zero, word, zero, np.bincount(tokens, minlength=size), word == START_ID)]
    row = tokens  # row of the n-gram that begins at each position, among those of its order
    for n in range(2, order + 1):
        position = position[remaining[position] >= n]
        codes, first, inverse, count = np.unique(
            row[position] * size + tokens[position + n - 1],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        context = codes // size
        suffix = row[position[first] + 1]
        types.append(_Types(context, codes % size, suffix, count, types[-1].starts[context]))
        row = np.full(tokens.shape[0], -1)
        row[position] = inverse
    return types


def _adjusted_counts(types: list[_Types]) -> list[NDArray[np.int64]]:
    """Return the counts from which probabilities are computed.

    For the highest order, and for n-grams that begin with <s> (nothing can precede them), this is the number
    of occurrences; for others, the number of distinct words to their left.
    """
    result = []
    for kind, longer in itertools.pairwise(types):
        extensions = np.bincount(longer.suffix, minlength=kind.occurrences.shape[0])
        result.append(np.where(kind.starts, kind.occurrences, extensions))
    result.append(types[-1].occurrences.copy())
    result[0][START_ID] = 0  # <s> is never predicted
    return result


def _all_discounts(
    counts: Iterable[NDArray[np.int64]],
) -> tuple[NDArray[np.float64], list[int]]:
    """Return the discounts of counts 0, 1, 2 and 3+ by order, and the orders with fallback discounts."""
    rows, fallback = [], []
    for order, count in enumerate(counts, 1):
        row = _discounts(np.bincount(np.minimum(count, 5), minlength=6)[1:5])
        if row is None:
            row = FALLBACK_DISCOUNTS
            fallback.append(order)
        rows.append((0.0, *row))
    return np.array(rows), fallback


def _discounts(occurring: NDArray[np.int64]) -> tuple[float, ...] | None:
    """Estimate the discounts of counts 1, 2, 3+; None where they are undefined or out of range.

    `occurring` are the numbers of n-grams that occur 1, 2, 3 and 4 times (Chen & Goodman 1998,
    equation 26). Unlike in lmplz, zero is out of range, because it could lead to a backoff of log 0.
    """
    n = [int(value) for value in occurring]
    if 0 in n[:3]:
        return None
    y = n[0] / (n[0] + 2 * n[1])
    result = tuple(j - (j + 1) * y * n[j] / n[j - 1] for j in (1, 2, 3))
    return result if all(0 < d <= j for j, d in enumerate(result, 1)) else None
