"""Sentences of held-out sets that differ from one of train only in numbers, or in one capitalised word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Shorter sentences are often alike.
MIN_WORDS = 4
# Maximum number of sentences of a set with the same half that are compared: boilerplate would take too long.
MAX_SENTENCES_PER_HALF = 50
# A number, and what stands for it.
_NUMBER = re.compile(r"(?<!\S)[\d.,:/%-]*\d[\d.,:/%-]*(?!\S)")
PLACEHOLDER = "\0"
# The number of words of a sentence, which half of it this is, and the text of the half.
Half = tuple[int, int, str]


class Sentence(NamedTuple):
    """A sentence, and its words without numbers."""

    text: str
    words: list[str]


class NearDuplicates:
    """Compares train with held-out sets, all of which come first."""

    def __init__(self) -> None:
        # by set: sentences with their words, by `_halves`
        self._held_out: dict[str, dict[Half, list[Sentence]]] = {}
        # those that have a near-duplicate in train
        self._found: dict[str, set[str]] = {}

    def hold_out(self, name: str, sentences: Sequence[str]) -> None:
        """Add sentences of a held-out set."""
        halves = self._held_out.setdefault(name, {})
        for sentence in map(_sentence, dict.fromkeys(sentences)):
            for half in _halves(sentence.words):
                same = halves.setdefault(half, [])
                if len(same) < MAX_SENTENCES_PER_HALF:
                    same.append(sentence)

    def compare(self, sentences: Sequence[str]) -> None:
        """Compare sentences of train with those held out."""
        for sentence in map(_sentence, sentences):
            for half in _halves(sentence.words):
                for name, halves in self._held_out.items():
                    found = self._found.setdefault(name, set())
                    for other in halves.get(half, ()):
                        if other.text not in found and _is_near(sentence, other):
                            found.add(other.text)

    def count(self, name: str) -> int:
        """Return how many different sentences of a held-out set have a near-duplicate in train."""
        return len(self._found.get(name, ()))


def _sentence(text: str) -> Sentence:
    return Sentence(text, _NUMBER.sub(PLACEHOLDER, text).split())


def _halves(words: Sequence[str]) -> Iterator[Half]:
    """Yield the halves of a sentence; near-duplicates have one of them in common."""
    if len(words) >= MIN_WORDS:
        middle = len(words) // 2
        yield len(words), 0, " ".join(words[:middle])
        yield len(words), 1, " ".join(words[middle:])


def _is_near(sentence: Sentence, other: Sentence) -> bool:
    """Return whether sentences of as many words differ, and only in numbers or in one capitalised word."""
    if sentence.text == other.text:
        return False
    different = [pair for pair in zip(sentence.words, other.words, strict=True) if pair[0] != pair[1]]
    return not different or (len(different) == 1 and all(word[0].isupper() for word in different[0]))
