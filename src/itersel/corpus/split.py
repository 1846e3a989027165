"""Assignment of pairs to splits, filters, samples, and pairs that are in several splits."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from itersel.corpus.text import Bitext, concatenate_bitexts, split_words
from itersel.errors import InputError

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


class Cut:
    """Holds back the pairs with the smallest hashes of their sources, of all that are offered.

    Which pairs these are does not depend on their order. All pairs of a source stay together. `sizes` are the
    numbers of sentences of the held-out sets.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        # single pairs, by source
        self._held: dict[str, list[Bitext]] = {}
        # the sources of `_held`, the greatest hash first
        self._heap: list[tuple[int, str]] = []
        self._released: list[Bitext] = []

    def hold_back(self, pairs: Bitext, offered: Sequence[int]) -> Bitext:
        """Hold back some of the offered pairs, and return all others."""
        taken = set()
        for index in offered:
            source = pairs.source[index]
            if source in self._held or self._make_room(source):
                self._held[source].append(pairs.take([index]))
                taken.add(index)
        return pairs.take([index for index in range(pairs.size) if index not in taken])

    def _make_room(self, source: str) -> bool:
        """Take a source if its hash is small enough, and release the one with the greatest if need be."""
        entry = (-digest(source), source)
        if len(self._heap) < sum(self._sizes.values()):
            heapq.heappush(self._heap, entry)
        else:
            _, released = heapq.heappushpop(self._heap, entry)
            if released == source:
                return False
            self._released += self._held.pop(released)
        self._held[source] = []
        return True

    def released(self) -> Bitext:
        """Return the pairs for train that were held back at first."""
        return concatenate_bitexts(self._released)

    def sets(self) -> dict[str, Bitext]:
        """Return the held-out sets, with one pair of each source; an InputError if there are too few."""
        sources = [source for _, source in sorted(self._heap, reverse=True)]
        wanted = sum(self._sizes.values())
        if len(sources) < wanted:
            found = f"train has {len(sources):,} different sentences"
            raise InputError(f"{found}, too few to cut {wanted:,} for {', '.join(self._sizes)}")
        chosen = map(self._chosen, sources)
        return {name: concatenate_bitexts(islice(chosen, size)) for name, size in self._sizes.items()}

    def further(self) -> int:
        """Return the number of dropped pairs: all others of the sources in the held-out sets."""
        return sum(map(len, self._held.values())) - len(self._held)

    def _chosen(self, source: str) -> Bitext:
        """Return the pair of a source whose hash is the smallest, so that order makes no difference."""
        return min(self._held[source], key=lambda pair: (digest(pair.target[0]), pair.target[0]))


class Overlap(NamedTuple):
    """How many pairs of a held-out set are also in another split; as text, a warning."""

    split: str
    other: str
    pairs: int

    def __str__(self) -> str:
        pairs = "1 pair" if self.pairs == 1 else f"{self.pairs:,} pairs"
        return f"{pairs} of {self.split} also in {self.other}"


class HeldOutPairs:
    """The pairs of held-out sets; a pair with several references counts as one with each of them."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], dict[str, list[int]]] = {}
        self._sizes: Counter[str] = Counter()
        # numbers of the pairs of a split that are also in another
        self._shared: dict[tuple[str, str], set[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._places)

    def add(self, split: str, block: Bitext) -> None:
        """Add pairs of a held-out set, and compare them with the pairs of the sets before it."""
        for number, pairs in enumerate(_pairs(block), self._sizes[split]):
            for pair in pairs:
                places = self._places.setdefault(pair, {})
                for other in places.keys() - {split}:
                    self._shared.setdefault((split, other), set()).add(number)
                places.setdefault(split, []).append(number)
        self._sizes[split] += block.size

    def find(self, block: Bitext) -> list[str]:
        """Return for each pair of train the first held-out set in which it also occurs, or ''."""
        found = []
        for pairs in _pairs(block):
            places = self._places.get(pairs[0], {}) if pairs else {}
            for split, numbers in places.items():
                self._shared.setdefault((split, "train"), set()).update(numbers)
            found.append(next(iter(places), ""))
        return found

    def overlaps(self) -> list[Overlap]:
        """Return what has been found, in the order of the sets; a pair of sets is listed once."""
        order = {split: number for number, split in enumerate(self._sizes)}

        def place(pair: tuple[str, str]) -> tuple[int, int]:
            split, other = pair
            # train, which is not among the sets, comes first
            return order[split], order.get(other, -1)

        return [Overlap(*pair, len(self._shared[pair])) for pair in sorted(self._shared, key=place)]


def _pairs(block: Bitext) -> Iterator[list[tuple[str, str]]]:
    """Yield for each pair its source with each of its references, or nothing if it is empty."""
    further = block.further or [()] * block.size
    for source, target, others in zip(block.source, block.target, further, strict=True):
        references = dict.fromkeys((target, *others))
        yield [(source, reference) for reference in references if source and reference]
