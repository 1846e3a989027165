"""Assignment of pairs to splits: by a hash of the source, or by cutting held-out sets from train."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Mapping, Sequence
from itertools import islice

from itersel.corpus.text import Bitext, concatenate_bitexts
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
