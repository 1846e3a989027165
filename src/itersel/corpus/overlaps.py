"""Pairs of held-out sets that are also in other splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from itersel.corpus.text import Bitext


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
