"""Splitting of compounds by corpus frequency (Koehn & Knight 2003, section 3.2).

Of all ways to write a word as a sequence of known words of at least three letters, with the filler letters
``s`` or ``es`` allowed between them, the one with the greatest geometric mean of the frequencies of its
parts is taken; the word itself, unsplit, is one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from itersel.corpus.text import split_words

MINIMUM_LENGTH = 3
FILLERS = ("", "s", "es")

# (product of the frequencies, parts); a product of n frequencies is compared by its n-th root
_Split = tuple[int, tuple[str, ...]]


class CompoundSplitter:
    """Splits words into parts that a corpus knows.

    Parameters
    ----------
    frequency
        How often each word occurs in the training corpus.
    """

    def __init__(self, frequency: Mapping[str, int]) -> None:
        self.frequency = dict(frequency)
        self._parts: dict[str, tuple[str, ...]] = {}

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

    def split(self, word: str) -> tuple[str, ...]:
        """Return the parts of a word, without fillers; the word alone if it is not to be split.

        Ties go to fewer parts, then to the shorter first part, so that the result is always the same.
        """
        if word not in self._parts:
            self._parts[word] = self._best(word) if word.isalpha() else (word,)
        return self._parts[word]

    def _best(self, word: str) -> tuple[str, ...]:
        best: _Split = (self.frequency.get(word, 0), (word,))
        for _, split in sorted(self._splits(word).items()):
            # Integers, not logarithms: equal means must compare as equal.
            if split[0] ** len(best[1]) > best[0] ** len(split[1]):
                best = split
        return best[1]

    def _splits(self, word: str) -> dict[int, _Split]:
        """Return the best split of a word into n known parts, for every n that there is.

        A table over suffixes: with n fixed, the best split of a suffix is part of the best split of all
        that ends with it.
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
        """Put `first`, which covers start to end, before all that can follow it."""
        rests = [table[end + len(filler)] for filler in FILLERS if word.startswith(filler, end)]
        if end == len(word):
            rests = [{0: (1, ())}]
        for rest in rests:
            for count, (product, parts) in rest.items():
                known = table[start].get(count + 1)
                if known is None or first[0] * product > known[0]:
                    table[start][count + 1] = (first[0] * product, first[1] + parts)
