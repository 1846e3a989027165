"""Decoder output as text: translations and k-best lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from itersel.decode.translations import KBest
from itersel.storage.strings import Strings

DIGITS = 6  # as cdec prints features


def text_of(kbest: KBest, rank: int, words: Sequence[str]) -> str:
    """Return a translation as words separated by single spaces."""
    begin, end = kbest.word_offset[rank : rank + 2]
    return " ".join(words[i] for i in kbest.word[begin:end])


def feature_values(
    kbest: KBest, rank: int, dense_names: Sequence[str], sparse_names: Strings
) -> list[tuple[str, float]]:
    """Return the names and non-zero values of the features of a translation."""
    dense = zip(dense_names, kbest.dense[rank].tolist(), strict=True)
    row = slice(*kbest.feature_offset[rank : rank + 2])
    sparse = zip(kbest.feature[row].tolist(), kbest.feature_value[row].tolist(), strict=True)
    return [
        *((name, value) for name, value in dense if value),
        *((sparse_names.get(feature), value) for feature, value in sparse),
    ]


def kbest_lines(
    sentence: int,
    kbest: KBest,
    ranks: Sequence[int],
    words: Sequence[str],
    dense_names: Sequence[str],
    sparse_names: Strings,
) -> Iterator[str]:
    """Yield a line ``id ||| text ||| name=value ... ||| score`` for each of some translations.

    Values of zero are left out.
    """
    for rank in ranks:
        score = kbest.score[rank]
        values = feature_values(kbest, rank, dense_names, sparse_names)
        named_values = " ".join(f"{name}={value:.{DIGITS}g}" for name, value in values)
        yield f"{sentence} ||| {text_of(kbest, rank, words)} ||| {named_values} ||| {score:.{DIGITS}g}"
