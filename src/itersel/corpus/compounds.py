"""Compound splitting by corpus frequency (Koehn & Knight 2003, section 3.2).

A word is split into known words of at least three letters, with the filler letters ``s`` or ``es`` allowed
between them. The split whose parts have the highest geometric mean frequency wins; the unsplit word is one of
the candidates. Words of more than 100 letters are not split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from itersel.corpus.text import split_words

MINIMUM_LENGTH = 3
# The time to split a word grows with the cube of its length: 8 s for 5,000 letters.
MAXIMUM_LENGTH = 100
# Distinct words whose splits are kept, so a long stream of text does not fill the memory.
KEPT_WORDS = 100_000
FILLERS = ("", "s", "es")

# (product of the frequencies, parts); products of n frequencies are compared by their n-th roots
_Split = tuple[int, tuple[str, ...]]


class CompoundSplitter:
    """Splits words into parts that occur in a corpus.

    Parameters
    ----------
    frequency
        How often each word occurs in the training corpus.
    """

    def __init__(self, frequency: Mapping[str, int]) -> None:
        self.frequency = dict(frequency)
        self._parts = lru_cache(KEPT_WORDS)(self._find_parts)

    @classmethod
    def learn(cls, sentences: Iterable[str]) -> CompoundSplitter:
        """Count the words of tokenised text."""
        frequency: Counter[str] = Counter()
        for sentence in sentences:
            frequency.update(split_words(sentence))
        return cls(frequency)

    def split_sentence(self, sentence: str) -> str:
        """Split every compound of a tokenised sentence."""
        return " ".join(part for word in split_words(sentence) for part in self.split(word))

    def __reduce__(self) -> tuple[type, tuple[dict[str, int]]]:
        """Return how it is sent to another process: without the words that it has split."""
        return type(self), (self.frequency,)

    def split(self, word: str) -> tuple[str, ...]:
        """Return the parts of a word, without fillers, or only the word itself if it is not split.

        Ties are broken by fewer parts, then by the shorter first part, so the result is deterministic.
        """
        return self._parts(word)

    def _find_parts(self, word: str) -> tuple[str, ...]:
        return self._best(word) if word.isalpha() and len(word) <= MAXIMUM_LENGTH else (word,)

    def _best(self, word: str) -> tuple[str, ...]:
        best: _Split = (self.frequency.get(word, 0), (word,))
        for _, split in sorted(self._splits(word).items()):
            # Integers, not logarithms: equal means must compare as equal.
            if split[0] ** len(best[1]) > best[0] ** len(split[1]):
                best = split
        return best[1]

    def _splits(self, word: str) -> dict[int, _Split]:
        """Return the best split of a word into n known parts, for every possible n.

        Dynamic programming over suffixes: for a fixed n, the best split of a string contains the best split
        of its suffix.
        """
        table: list[dict[int, _Split]] = [{} for _ in range(len(word) + 1)]
        for start in range(len(word) - MINIMUM_LENGTH, -1, -1):
            for end in range(start + MINIMUM_LENGTH, len(word) + 1):
                part = word[start:end]
                if count := self.frequency.get(part, 0):
                    self._extend(table, start, word, end, (count, (part,)))
        return table[0]

    @staticmethod
    def _extend(table: list[dict[int, _Split]], start: int, word: str, end: int, first: _Split) -> None:
        """Prepend `first`, which covers start to end, to every split of the rest of the word."""
        rests = [table[end + len(filler)] for filler in FILLERS if word.startswith(filler, end)]
        if end == len(word):
            rests = [{0: (1, ())}]
        for rest in rests:
            for count, (product, parts) in rest.items():
                known = table[start].get(count + 1)
                if known is None or first[0] * product > known[0]:
                    table[start][count + 1] = (first[0] * product, first[1] + parts)
