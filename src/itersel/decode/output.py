"""Translations as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from itersel.decode.decoder import KBest
from itersel.storage.strings import StringTable

DIGITS = 6  # as cdec prints features


def text_of(found: KBest, rank: int, words: Sequence[str]) -> str:
    """Return a translation as words with single blanks between them."""
    begin, end = found.word_offset[rank : rank + 2]
    return " ".join(words[i] for i in found.word[begin:end])


def best_line(found: KBest, words: Sequence[str]) -> str:
    """Return the best translation."""
    return text_of(found, 0, words)


def kbest_lines(
    sentence: int, found: KBest, words: Sequence[str], dense_names: Sequence[str], sparse_names: StringTable
) -> Iterator[str]:
    """Yield a line ``id ||| text ||| name=value ... ||| score`` for each translation, zeros left out."""
    for rank, score in enumerate(found.score):
        values = [(name, value) for name, value in zip(dense_names, found.dense[rank], strict=True) if value]
        begin, end = found.feature_offset[rank : rank + 2]
        values += [
            (sparse_names.get(i), value)
            for i, value in zip(found.feature[begin:end], found.feature_value[begin:end], strict=True)
        ]
        features = " ".join(f"{name}={value:.{DIGITS}g}" for name, value in values)
        yield f"{sentence} ||| {text_of(found, rank, words)} ||| {features} ||| {score:.{DIGITS}g}"
