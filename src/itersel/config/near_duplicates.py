"""Sentences of held-out sets that hardly differ from one of train: only in numbers, or in one name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# Shorter sentences are often alike.
LEAST_WORDS = 4
# Of more held-out sentences with the same half, only so many are compared: boilerplate would take too long.
MOST_ALIKE = 50
# A number, and what stands for it.
_NUMBER, PLACE = re.compile(r"(?<!\S)[\d.,:/%-]*\d[\d.,:/%-]*(?!\S)"), "\0"
# The number of words of a sentence, which half of it this is, and the text of the half.
Half = tuple[int, int, str]


class NearDuplicates:
    """Compares train with held-out sets, all of which come first."""

    def __init__(self) -> None:
        # sentences with their sets, by `_halves`
        self._held_out: dict[Half, list[tuple[str, str]]] = {}
        # those that have a near-duplicate in train, by set
        self._found: dict[str, set[str]] = {}

    def hold_out(self, name: str, sentences: Sequence[str]) -> None:
        """Add sentences of a held-out set."""
        for sentence in dict.fromkeys(sentences):
            for half in _halves(sentence):
                same = self._held_out.setdefault(half, [])
                if len(same) < MOST_ALIKE:
                    same.append((name, sentence))

    def compare(self, sentences: Sequence[str]) -> None:
        """Compare sentences of train with those held out."""
        for sentence in sentences:
            for half in _halves(sentence):
                for name, other in self._held_out.get(half, ()):
                    if _is_near(sentence, other):
                        self._found.setdefault(name, set()).add(other)

    def count(self, name: str) -> int:
        """Return how many different sentences of a held-out set have a near-duplicate in train."""
        return len(self._found.get(name, ()))


def _words(sentence: str) -> list[str]:
    return _NUMBER.sub(PLACE, sentence).split()


def _halves(sentence: str) -> Iterator[Half]:
    """Yield the halves of a sentence without its numbers; near-duplicates have one of them in common."""
    words = _words(sentence)
    if len(words) >= LEAST_WORDS:
        middle = len(words) // 2
        yield len(words), 0, " ".join(words[:middle])
        yield len(words), 1, " ".join(words[middle:])


def _is_near(sentence: str, other: str) -> bool:
    """Return whether two sentences of as many words differ, and only in numbers or in one name."""
    pairs = zip(_words(sentence), _words(other), strict=True)
    different = [pair for pair in pairs if pair[0] != pair[1]]
    is_name = len(different) == 1 and all(word[0].isupper() for word in different[0])
    return sentence != other and (not different or is_name)
