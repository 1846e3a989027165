"""Symmetrisation: combines the alignments of both directions.

Och & Ney 2003 (union, intersection, refined); Koehn, Axelrod, Mayne, Callison-Burch, Osborne & Talbot
2005 (the grow-diag family). Points are added in the same order as in cdec's ``atools``: candidates are the
points of the union, visited by ascending source, then target position, in rounds until a round adds nothing;
an added point immediately affects the candidates after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from itersel.corpus.alignments import Point

# forward: each target word has at most one link; reverse: each source word
FORWARD, REVERSE = "forward", "reverse"
DIRECTIONS = (FORWARD, REVERSE)
_STRAIGHT = ((-1, 0), (0, -1), (0, 1), (1, 0))
_ALL_AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


def _grown(
    forward: set[Point],
    reverse: set[Point],
    neighbours: Sequence[Point],
    final: Callable[[Iterable[bool]], bool] | None = None,
) -> set[Point]:
    """Grow the intersection by neighbours of its points that have an unaligned word.

    Then, if `final` is `any` (or `all`), add the other points of each direction one (or both) of whose words
    are unaligned.
    """
    points = forward & reverse
    sources, targets = {i for i, _ in points}, {j for _, j in points}

    def add(candidates: Sequence[Point], is_new: Callable[[Iterable[bool]], bool], is_growth: bool) -> None:
        """Add candidates whose words are new when they are visited, in order."""
        for i, j in candidates:
            if is_new((i not in sources, j not in targets)) and (
                not is_growth or any((i + di, j + dj) in points for di, dj in neighbours)
            ):
                points.add((i, j))
                sources.add(i)
                targets.add(j)

    size = -1
    while len(points) != size:
        size = len(points)
        add(sorted((forward | reverse) - points), any, True)
    if final:
        add(sorted(forward), final, False)
        add(sorted(reverse), final, False)
    return points


HEURISTICS: dict[str, Callable[[set[Point], set[Point]], set[Point]]] = {
    "grow-diag-final-and": partial(_grown, neighbours=_ALL_AROUND, final=all),
    "grow-diag-final": partial(_grown, neighbours=_ALL_AROUND, final=any),
    "grow-diag": partial(_grown, neighbours=_ALL_AROUND),
    "grow": partial(_grown, neighbours=_STRAIGHT),
    "intersection": lambda forward, reverse: forward & reverse,
    "union": lambda forward, reverse: forward | reverse,
    FORWARD: lambda forward, reverse: forward,
    REVERSE: lambda forward, reverse: reverse,
}
# Also that of links for features of text, which kernels combine (`itersel.rerank.link_kernels`).
DEFAULT_HEURISTIC = "grow-diag-final-and"


def symmetrize(forward: Iterable[Point], reverse: Iterable[Point], heuristic: str) -> list[Point]:
    """Combine the alignments of one sentence pair; returns points sorted by source, then target position.

    Points are (source, target); see `DIRECTIONS`. `heuristic` is a key of `HEURISTICS`.
    """
    return sorted(HEURISTICS[heuristic](set(forward), set(reverse)))
