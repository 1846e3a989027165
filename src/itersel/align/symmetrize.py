"""Symmetrisation: combines the alignments of both directions.

Och & Ney 2003 (union, intersection, refined); Koehn, Axelrod, Mayne, Callison-Burch, Osborne & Talbot
2005 (the grow-diag family). Points are added in the same order as in cdec's ``atools``: candidates are the
points of the union, visited by ascending source, then target position, in rounds until a round adds nothing;
an added point immediately affects the candidates after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from itersel.corpus.pharaoh import Point

# forward: each target word has at most one link; reverse: each source word
DIRECTIONS = ("forward", "reverse")
_STRAIGHT = ((-1, 0), (0, -1), (0, 1), (1, 0))
_ALL_AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class _Alignment:
    """The points so far, and the aligned words on both sides."""

    def __init__(self, points: Iterable[Point]) -> None:
        self.points = set(points)
        self.sources = {i for i, _ in self.points}
        self.targets = {j for _, j in self.points}

    def add(self, i: int, j: int) -> None:
        self.points.add((i, j))
        self.sources.add(i)
        self.targets.add(j)

    def is_new(self, i: int, j: int) -> bool:
        """Return whether either word is unaligned."""
        return i not in self.sources or j not in self.targets

    def is_new_on_both_sides(self, i: int, j: int) -> bool:
        """Return whether both words are unaligned."""
        return i not in self.sources and j not in self.targets

    def grow(self, candidates: Iterable[Point], neighbours: Sequence[Point]) -> None:
        """Add candidates that neighbour an existing point, if either of their words is unaligned."""
        waiting, size = sorted(set(candidates) - self.points), -1
        while waiting and len(self.points) != size:
            size, rest = len(self.points), []
            for i, j in waiting:
                beside = any((i + di, j + dj) in self.points for di, dj in neighbours)
                if beside and self.is_new(i, j):
                    self.add(i, j)
                else:
                    rest.append((i, j))
            waiting = rest

    def finish(self, candidates: Iterable[Point], wanted: Callable[[int, int], bool]) -> None:
        """Visit the candidates in order, and add those that are wanted when visited."""
        for i, j in sorted(candidates):
            if wanted(i, j):
                self.add(i, j)


def _grown(forward: set[Point], reverse: set[Point], neighbours: Sequence[Point]) -> _Alignment:
    alignment = _Alignment(forward & reverse)
    alignment.grow(forward | reverse, neighbours)
    return alignment


def _grow_diag_final(forward: set[Point], reverse: set[Point]) -> set[Point]:
    alignment = _grown(forward, reverse, _ALL_AROUND)
    alignment.finish(forward, alignment.is_new)
    alignment.finish(reverse, alignment.is_new)
    return alignment.points


def _grow_diag_final_and(forward: set[Point], reverse: set[Point]) -> set[Point]:
    alignment = _grown(forward, reverse, _ALL_AROUND)
    alignment.finish(forward, alignment.is_new_on_both_sides)
    alignment.finish(reverse, alignment.is_new_on_both_sides)
    return alignment.points


HEURISTICS: dict[str, Callable[[set[Point], set[Point]], set[Point]]] = {
    "grow-diag-final-and": _grow_diag_final_and,
    "grow-diag-final": _grow_diag_final,
    "grow-diag": lambda forward, reverse: _grown(forward, reverse, _ALL_AROUND).points,
    "grow": lambda forward, reverse: _grown(forward, reverse, _STRAIGHT).points,
    "intersection": lambda forward, reverse: forward & reverse,
    "union": lambda forward, reverse: forward | reverse,
    "forward": lambda forward, reverse: forward,
    "reverse": lambda forward, reverse: reverse,
}


def symmetrize(forward: Iterable[Point], reverse: Iterable[Point], heuristic: str) -> list[Point]:
    """Combine the alignments of one sentence pair.

    Parameters
    ----------
    forward
        Points (source, target) of the model that generates the target: each target word has at most one.
    reverse
        Points (source, target) of the model that generates the source: each source word has at most one.
    heuristic
        A key of `HEURISTICS`.

    Returns
    -------
    Points sorted by source, then target position.
    """
    return sorted(HEURISTICS[heuristic](set(forward), set(reverse)))
