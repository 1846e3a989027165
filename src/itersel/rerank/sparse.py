"""Sparse features of translations: n-grams, and pairs of linked words, of their shapes, and of phrases."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from itersel.corpus.tokenization import text_of_token
from itersel.corpus.vocabulary import WordNumbers
from itersel.errors import InputError
from itersel.lm.ngrams import END, START
from itersel.rerank.links import Links
from itersel.rerank.sparse_kernels import PARTS, ListArrays, features_of_list
from itersel.rerank.words import ListWords
from itersel.storage.arrays import Float64s, Int32s, Int64s, UInt64s
from itersel.storage.ragged import begins_run, offsets_of
from itersel.storage.strings import string_table
from itersel.vectors.feature_names import text_prefix
from itersel.vectors.features import escaped, feature_keys, first_difference
from itersel.vectors.sparse_rows import SparseRows, sparse_rows

# The template of shapes.
SHAPE = "LexShape"


class _Pattern(NamedTuple):
    """A template, and the numbers of source and target words that its features name."""

    template: str
    source: int
    target: int


# By the number of a template in `itersel.rerank.sparse_kernels`.
_PATTERNS = (
    _Pattern("Ngram1", 0, 1),
    _Pattern("Ngram2", 0, 2),
    _Pattern("Ngram3", 0, 3),
    _Pattern("Lex", 1, 1),
    _Pattern("Del", 1, 0),
    _Pattern("Ins", 0, 1),
    _Pattern("Phrase", 1, 2),
    _Pattern("Phrase", 2, 1),
    _Pattern("Phrase", 2, 2),
    _Pattern(SHAPE, 1, 1),
)


class Shapes(NamedTuple):
    """The shapes of words."""

    number: Int32s  # of the shape of each word
    shapes: list[str]


class _Entries(NamedTuple):
    """Features of some translations: E entries of F features."""

    size: Int64s  # number of entries of each translation
    feature: Int64s  # (E)
    value: Int32s  # (E)
    parts: Int32s  # (F, PARTS)


def shape_of(word: str) -> str:
    """Return the shape of a word: a letter for each run of capitals, other letters, digits, or the rest."""
    kinds = (
        "A" if one.isupper() else "a" if one.isalpha() else "0" if one.isdigit() else "-"
        for one in text_of_token(word)
    )
    return "".join(kind for kind, _ in groupby(kinds))


def shapes_of(words: Sequence[str]) -> Shapes:
    """Return the shapes of words."""
    numbers = WordNumbers()
    number = np.array([numbers[shape_of(word)] for word in words], np.int32)
    return Shapes(number, list(numbers))


def text_rows(words: ListWords, links: Links, templates: Collection[str]) -> SparseRows:
    """Return the sparse features of all translations that tell translations of a sentence apart.

    Raises an InputError if two features have the same key.
    """
    sides = words.source_words, words.target_words
    shapes = [shapes_of(side if SHAPE in templates else [""] * len(side)) for side in sides]
    found = _entries(words, links, templates, shapes)
    names = string_table(_names(words, found.parts, shapes))
    keys = feature_keys(names)
    unique, first, number = np.unique(keys, return_index=True, return_inverse=True)

    rows = np.repeat(np.arange(found.size.shape[0]), found.size)
    feature = number[found.feature]
    value = found.value.astype(np.float64)

    # words that contain what separates words in names can give two features the same name
    if unique.shape[0] < keys.shape[0]:
        if pair := first_difference(names.take(first[number]), names):
            why = "have the same 64-bit key; leave out their template"
            raise InputError(f"features '{pair[0]}' and '{pair[1]}' {why}")
        rows, feature, value = _summed(rows, feature, value)

    offset = offsets_of(np.bincount(rows, minlength=found.size.shape[0]))
    return sparse_rows(feature, value, offset, unique, names.take(first))


def _entries(
    words: ListWords, links: Links, templates: Collection[str], shapes: Sequence[Shapes]
) -> _Entries:
    """Return the features of all translations, of which those that occur in several lists have one number."""
    wanted = np.array([one.template in templates for one in _PATTERNS], np.uint8)
    source_shapes, target_shapes = shapes
    lists = ListArrays(
        source=words.source.words,
        source_offset=words.source.offset,
        target=words.target.words,
        target_offset=words.target.offset,
        link_source=links.source,
        link_target=links.target,
        link_offset=links.offset,
        source_shape=source_shapes.number,
        target_shape=target_shapes.number,
    )

    sizes = [np.zeros(0, np.int64)]
    features = [np.zeros(0, np.int64)]
    values = [np.zeros(0, np.int32)]
    codes = [np.zeros(0, np.uint64)]
    parts = [np.zeros((0, PARTS), np.int32)]
    count = 0
    for sentence, (begin, end) in enumerate(pairwise(words.offset.tolist())):
        size, feature, value, code, part = features_of_list(lists, sentence, begin, end, wanted)
        sizes.append(size)
        features.append(feature.astype(np.int64) + count)
        values.append(value)
        codes.append(code)
        parts.append(part)
        count += code.shape[0]

    part_rows = np.concatenate(parts)
    first, number = _unified(np.concatenate(codes), part_rows)
    return _Entries(
        size=np.concatenate(sizes),
        feature=number[np.concatenate(features)],
        value=np.concatenate(values),
        parts=part_rows[first],
    )


def _unified(code: UInt64s, parts: Int32s) -> tuple[Int64s, Int64s]:
    """Return the first position of each different feature, and the number of each feature among these."""
    # the hash comes first: almost always, it decides
    order = np.lexsort((*parts.T[::-1], code))
    is_new = begins_run(code[order], *parts[order].T)
    number = np.empty(order.shape[0], np.int64)
    number[order] = np.cumsum(is_new) - 1
    return order[is_new], number


def _names(words: ListWords, parts: Int32s, shapes: Sequence[Shapes]) -> list[str]:
    """Return the name of each feature."""
    of_words = [escaped(string_table(side)).to_list() for side in (words.source_words, words.target_words)]
    of_shapes = [one.shapes for one in shapes]

    names = []
    for template, *numbers in parts.tolist():
        pattern = _PATTERNS[template]
        source_words, target_words = of_shapes if pattern.template == SHAPE else of_words
        end = pattern.source + pattern.target
        source = [source_words[number] for number in numbers[: pattern.source]]
        target = [target_words[number] for number in numbers[pattern.source : end]]
        names.append(_name(pattern, source, target))
    return names


def _name(pattern: _Pattern, source: Sequence[str], target: Sequence[str]) -> str:
    """Return the name of a feature of these words; empty ones of an n-gram are its edges."""
    if pattern.source == 0 and pattern.target > 1:
        target = [target[0] or START, *target[1:-1], target[-1] or END]

    separator = ":" if source and target and pattern.template == "Phrase" else "_"
    sides = [side for side in ("_".join(source), "_".join(target)) if side]
    return text_prefix(pattern.template) + separator.join(sides)


def _summed(rows: Int64s, feature: Int64s, value: Float64s) -> tuple[Int64s, Int64s, Float64s]:
    """Add up the values of entries of the same translation and feature."""
    order = np.lexsort((feature, rows))
    rows, feature = rows[order], feature[order]
    is_new = begins_run(rows, feature)
    # integers if there are no values
    total = np.bincount(np.cumsum(is_new) - 1, value[order]).astype(np.float64)
    return rows[is_new], feature[is_new], total
