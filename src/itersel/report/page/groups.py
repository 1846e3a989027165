"""What tells two systems apart: the kinds of sentences that each translates better, and n-grams.

The groups follow compare-mt (Neubig et al. 2019).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import chain, pairwise
from operator import or_
from pathlib import Path
from typing import NamedTuple

import numpy as np

from itersel.corpus.text import split_words
from itersel.grammar.index import FORMAT
from itersel.storage.arrayfile import map_arrays
from itersel.storage.strings import StringTable

# The least values of the groups.
LENGTHS, FREQUENCIES, COPIED = (1, 11, 21, 31, 41, 61), (0, 1, 2, 10, 100), (0, 1, 2, 3, 5)
# Longest n-grams, and the number of those that the page keeps.
LONGEST, MOST = 4, 1000


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
    unknown, most = Frequency(0, 0), FREQUENCIES[-1]
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


def count_matches(
    references: Sequence[Sequence[str]], translations: Sequence[Sequence[str]]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return the n-grams that some system translates more often than another, those that differ most first.

    `references` and `translations` are tokens: for each reference or system, a line per sentence. With each
    n-gram comes how often the translations of each system share it with a reference, at most as often as the
    reference that has it most often. The order is that of the ratio of counts, each plus one, as in
    compare-mt.
    """
    # the union of counters takes the larger of two counts
    expected = [
        reduce(or_, (Counter(_ngrams(line)) for line in lines)) for lines in zip(*references, strict=True)
    ]
    total = Counter(chain.from_iterable(one.elements() for one in expected))
    matches: dict[str, list[int]] = {}
    for system, lines in enumerate(translations):
        for one, line in zip(expected, lines, strict=True):
            for ngram, count in (Counter(_ngrams(line)) & one).items():
                # otherwise it cannot differ by two
                if total[ngram] > 1:
                    matches.setdefault(ngram, [0] * len(translations))[system] += count
    found = [
        (-(max(counts) + 1) / (min(counts) + 1), min(counts) - max(counts), ngram)
        for ngram, counts in matches.items()
        if max(counts) - min(counts) > 1
    ]
    return [(ngram, tuple(matches[ngram])) for *_, ngram in sorted(found)[:MOST]]


def _ngrams(line: str) -> Iterator[str]:
    words = split_words(line)
    for length in range(1, LONGEST + 1):
        for begin in range(len(words) - length + 1):
            yield " ".join(words[begin : begin + length])
