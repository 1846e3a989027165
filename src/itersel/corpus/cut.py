"""Held-out sets that are cut from the training corpus: the sentences whose hashes are the smallest."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from itersel.corpus.split import digest
from itersel.corpus.text import Bitext
from itersel.errors import InputError


class _Row(NamedTuple):
    """A pair of a block: its columns, and its target side before lowercasing."""

    columns: tuple[Any, ...]
    cased: str


class Cut:
    """Holds back the pairs with the smallest hashes of their sources, of all that are offered.

    Which pairs these are does not depend on their order. All pairs of a source stay together.

    Parameters
    ----------
    sizes
        Number of sentences of each held-out set.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._rows: dict[str, list[_Row]] = {}
        # the sources of `_rows`, the greatest hash first
        self._heap: list[tuple[int, str]] = []
        self._released: list[_Row] = []

    def hold_back(self, block: Bitext, cased: Sequence[str], offered: Sequence[int]) -> list[int]:
        """Hold back some of the offered pairs of a block, and return the indices of all others."""
        held = set()
        for index in offered:
            source = block.source[index]
            if source not in self._rows and not self._make_room(source):
                continue
            columns = tuple(None if column is None else column[index] for column in block)
            self._rows[source].append(_Row(columns, cased[index]))
            held.add(index)
        return [index for index in range(block.size) if index not in held]

    def _make_room(self, source: str) -> bool:
        """Take a source if its hash is small enough, and release the one with the greatest if need be."""
        entry = (-digest(source), source)
        if len(self._heap) < sum(self._sizes.values()):
            heapq.heappush(self._heap, entry)
        else:
            _, released = heapq.heappushpop(self._heap, entry)
            if released == source:
                return False
            self._released += self._rows.pop(released)
        self._rows[source] = []
        return True

    def released(self) -> tuple[Bitext, list[str]]:
        """Return the pairs for train that were held back at first, and their sides before lowercasing."""
        return _bitext(self._released), [row.cased for row in self._released]

    def sets(self) -> dict[str, Bitext]:
        """Return the held-out sets, with one pair of each source.

        Raises
        ------
        InputError
            If there are too few sources.
        """
        sources = [source for _, source in sorted(self._heap, reverse=True)]
        wanted = sum(self._sizes.values())
        if len(sources) < wanted:
            raise InputError(
                f"train has {len(sources):,} different sentences, too few to cut {wanted:,} for "
                f"{', '.join(self._sizes)}"
            )
        found, begin = {}, 0
        for name, size in self._sizes.items():
            found[name] = _bitext([self._chosen(source) for source in sources[begin : begin + size]])
            begin += size
        return found

    def further(self) -> int:
        """Return the number of pairs of the sources in the held-out sets that are in no set."""
        return sum(map(len, self._rows.values())) - len(self._rows)

    def _chosen(self, source: str) -> _Row:
        """Return the pair of a source whose hash is the smallest, so that order makes no difference."""
        target = Bitext._fields.index("target")
        return min(self._rows[source], key=lambda row: (digest(row.columns[target]), row.columns[target]))


def _bitext(rows: Sequence[_Row]) -> Bitext:
    if not rows:
        return Bitext([], [])
    columns = [list(column) for column in zip(*(row.columns for row in rows), strict=True)]
    return Bitext(*(None if column[0] is None else column for column in columns))  # type: ignore[arg-type]
