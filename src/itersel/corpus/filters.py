"""Which pairs of a split are kept: filters by length, one of equal pairs, and samples."""

from __future__ import annotations

from collections import Counter

from itersel.corpus.split import digest
from itersel.corpus.text import Bitext, split_words


def unique(bitext: Bitext, by: str = "pairs") -> list[int]:
    """Return the indices of the first of equal pairs (``pairs``), or of pairs with equal ``source``."""
    first: dict[tuple[str, ...], int] = {}
    for index, pair in enumerate(zip(bitext.source, bitext.target, strict=True)):
        first.setdefault(pair if by == "pairs" else pair[:1], index)
    return list(first.values())


def sample_pairs(bitext: Bitext, count: int) -> list[int]:
    """Return the ascending indices of `count` pairs, chosen by a hash of both sides.

    A larger sample contains every smaller one, whatever the rest of the corpus.
    """
    pairs = zip(bitext.source, bitext.target, strict=True)
    digests = [digest(f"{source}\n{target}") for source, target in pairs]
    return sorted(sorted(range(bitext.size), key=lambda index: digests[index])[:count])


def trainable(bitext: Bitext, max_length: int, max_ratio: float) -> tuple[list[int], dict[str, int]]:
    """Return the indices of pairs within the bounds on tokens, and the number of dropped pairs by reason."""
    kept = []
    dropped: Counter[str] = Counter({"empty": 0, "too long": 0, "length ratio": 0})

    for index in range(bitext.size):
        short, long = sorted((len(split_words(bitext.source[index])), len(split_words(bitext.target[index]))))
        if short == 0:
            dropped["empty"] += 1
        elif long > max_length:
            dropped["too long"] += 1
        elif long > max_ratio * short:
            dropped["length ratio"] += 1
        else:
            kept.append(index)

    return kept, dict(dropped)
