"""Test sentences in groups by length and by their rarest word."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from itersel.corpus.text import split_words
from itersel.grammar.index import FORMAT
from itersel.storage.arrayfile import map_arrays
from itersel.storage.strings import StringTable

# The least values of the groups.
LENGTHS, FREQUENCIES, COPIED = (1, 11, 21, 31, 41, 61), (0, 1, 2, 10, 100), (0, 1, 2, 3, 5)


class Frequency(NamedTuple):
    """How often a word occurs in the training text."""

    source: int
    target: int


class Grouping(NamedTuple):
    """Sentences by a measure: the group of each, or for each sentence the group of each system."""

    title: str
    labels: list[str]
    groups: list[int] | list[list[int]]


def read_frequencies(index: Path) -> Mapping[str, Frequency] | None:
    """Return the words of the training text, from its index; None if that does not exist yet."""
    return _frequencies(index, index.stat().st_mtime_ns) if index.is_file() else None


@cache
def _frequencies(index: Path, changed: int) -> Mapping[str, Frequency]:
    arrays, _ = map_arrays(index, FORMAT)
    words = StringTable(arrays["words_data"], arrays["words_offset"]).to_list()
    source = np.diff(arrays["word_begin"]).tolist()
    target = np.bincount(arrays["target"], minlength=len(words)).tolist()
    return dict(zip(words, map(Frequency, source, target), strict=True))


def group_sentences(
    sources: Sequence[str], translations: Sequence[Sequence[str]], frequencies: Mapping[str, Frequency] | None
) -> Iterator[Grouping]:
    """Yield groupings of sentences, given the tokens of the source and of the translations of each system."""
    tokens = list(map(split_words, sources))
    lengths = [_place(len(words), LENGTHS) for words in tokens]
    yield Grouping("Length of the source (words)", _labels(LENGTHS), lengths)

    if frequencies is None:
        return

    unknown = Frequency(0, 0)
    most = FREQUENCIES[-1]
    # numbers and punctuation may well be rare
    texts = [[word for word in words if any(map(str.isalpha, word))] for words in tokens]
    rarest = [min((frequencies.get(word, unknown).source for word in text), default=most) for text in texts]
    title = "Frequency of the rarest source word in the training text"
    yield Grouping(title, _labels(FREQUENCIES), [_place(count, FREQUENCIES) for count in rarest])

    # names and words of both languages are not left untranslated
    foreign = [Counter(word for word in text if not frequencies.get(word, unknown).target) for text in texts]
    copied = [
        [_place((Counter(split_words(line)) & words).total(), COPIED) for line in lines]
        for words, *lines in zip(foreign, *translations, strict=True)
    ]
    yield Grouping("Source words passed through by A or B", _labels(COPIED), copied)


def _place(value: int, least: Sequence[int]) -> int:
    return max(bisect_right(least, value) - 1, 0)


def _labels(least: Sequence[int]) -> list[str]:
    ranges = [str(low) if high == low + 1 else f"{low} to {high - 1}" for low, high in pairwise(least)]
    return [*ranges, f"{least[-1]} or more"]
