"""Assignment of pairs to splits by a hash of the source, filters, samples."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence

from itersel.corpus.text import Bitext, split_words

# Out of 1000 sources, 28 are dev, 28 devtest and 56 test.
_BUCKETS = 1000
_HELD_OUT = (("dev", 28), ("devtest", 56), ("test", 112))


def digest(text: str) -> int:
    """Return a hash of a text that is the same on all machines."""
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest(), "big")


def split_of(source: str) -> str:
    """Return the split of a prepared source sentence; equal sentences are always in the same split."""
    bucket = digest(source) % _BUCKETS
    return next((name for name, end in _HELD_OUT if bucket < end), "train")


def unique(bitext: Bitext, by: str = "pairs") -> list[int]:
    """Return the indices of pairs without duplicates, keeping the first of each.

    Parameters
    ----------
    by
        What is the same in duplicates: ``pairs``, both sides; or ``source``.
    """
    first: dict[tuple[str, ...], int] = {}
    for index, pair in enumerate(zip(bitext.source, bitext.target, strict=True)):
        first.setdefault(pair if by == "pairs" else pair[:1], index)
    return list(first.values())


def sample(bitext: Bitext, count: int) -> list[int]:
    """Return the ascending indices of `count` pairs, chosen by a hash of both sides.

    A larger sample contains every smaller one, and the rank of a pair does not depend on the rest of the
    corpus.
    """
    pairs = zip(bitext.source, bitext.target, strict=True)
    digests = [digest(f"{source}\n{target}") for source, target in pairs]
    return sorted(sorted(range(bitext.size), key=lambda index: digests[index])[:count])


def trainable(bitext: Bitext, max_length: int, max_ratio: float) -> tuple[list[int], dict[str, int]]:
    """Return the indices of the pairs to train on, and the number of dropped pairs by reason.

    Parameters
    ----------
    max_length
        Maximum number of tokens of a side.
    max_ratio
        Maximum length ratio of the longer to the shorter side, in tokens.
    """
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


def of_tasks(tasks: Sequence[str], wanted: Collection[str]) -> list[int]:
    """Return the indices of the pairs whose task is one of `wanted`."""
    return [index for index, task in enumerate(tasks) if task in wanted]
