"""Splitting of compounds by corpus frequency (Koehn & Knight 2003, section 3.2).

A word is split into known words of at least three letters, with the filler letters ``s`` or ``es`` allowed
between them. The split whose parts have the highest geometric mean frequency wins; the unsplit word is one of
the candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from itersel.corpus.text import split_words

# Letters of the shortest part of a compound.
MINIMUM_LENGTH = 3
# Letters of the longest word that is split: the time grows with the cube of the length (8 s for 5,000).
MAXIMUM_LENGTH = 100
# Distinct words whose splits are kept, so a long stream of text does not fill the memory.
KEPT_WORDS = 100_000
FILLERS = ("", "s", "es")

# (product of the frequencies, parts); products of n frequencies are compared by their n-th roots
_Split = tuple[int, tuple[str, ...]]


@dataclass
class CompoundSplitter:
    """Splits words into parts that occur in the training corpus, with these frequencies."""

    frequency: dict[str, int]

    def __post_init__(self) -> None:
        self.split = lru_cache(KEPT_WORDS)(self._split)

    def split_sentence(self, sentence: str) -> str:
        """Split every compound of a tokenised sentence."""
        return " ".join(part for word in split_words(sentence) for part in self.split(word))

    def __reduce__(self) -> tuple[type, tuple[dict[str, int]]]:
        """Return how it is sent to another process: without the words that it has split."""
        return type(self), (self.frequency,)

    def _split(self, word: str) -> tuple[str, ...]:
        """Return the parts of a word, without fillers, or only the word itself if it is not split.

        Ties are broken by fewer parts, then by the shorter first part, so the result is deterministic.
        """
        if not word.isalpha() or len(word) > MAXIMUM_LENGTH:
            return (word,)
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
                if not (frequency := self.frequency.get(part, 0)):
                    continue

                rests = [table[end + len(filler)] for filler in FILLERS if word.startswith(filler, end)]
                if end == len(word):
                    rests = [{0: (1, ())}]
                for rest in rests:
                    for count, (product, parts) in rest.items():
                        known = table[start].get(count + 1)
                        if known is None or frequency * product > known[0]:
                            table[start][count + 1] = (frequency * product, (part, *parts))

        return table[0]
