"""Symmetrisation: hand-worked examples, and properties of every result."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.align.symmetrize import HEURISTICS, symmetrize

Points = set[tuple[int, int]]

# Forward links each target word once, reverse each source word once. Intersection: 0-0 and 3-3.
FORWARD = {(0, 0), (1, 1), (3, 3), (5, 4)}
REVERSE = {(0, 0), (2, 1), (3, 3), (4, 5), (5, 6)}
INTERSECTION, UNION = {(0, 0), (3, 3)}, FORWARD | REVERSE
links = st.dictionaries(st.integers(0, 6), st.integers(0, 6))


@pytest.mark.parametrize(
    ("heuristic", "forward", "reverse", "expected"),
    [
        ("forward", FORWARD, REVERSE, FORWARD),
        ("reverse", FORWARD, REVERSE, REVERSE),
        ("intersection", FORWARD, REVERSE, INTERSECTION),
        ("union", FORWARD, REVERSE, UNION),
        # 1-1 is diagonal to 0-0; 2-1 is next to 1-1, which is not in the alignment.
        ("grow", FORWARD, REVERSE, INTERSECTION),
        ("grow", {(0, 0), (0, 1)}, {(0, 0)}, {(0, 0), (0, 1)}),
        # 0-0 gives 1-1, which gives 2-1 (source 2 is new). 4-5 and 5-4 touch no point.
        ("grow-diag", FORWARD, REVERSE, INTERSECTION | {(1, 1), (2, 1)}),
        # Only 2-2 is in both; 1-1 is next to it, 0-0 next to 1-1 but visited earlier: a second round.
        ("grow-diag", {(2, 2), (1, 1)}, {(2, 2), (0, 0)}, {(0, 0), (1, 1), (2, 2)}),
        # Both words of 0-1 are aligned.
        ("grow-diag", {(0, 0), (1, 1), (0, 1)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1)}),
        # 5-4 (forward) first; then 4-5; 5-6 has an aligned source but a new target.
        ("grow-diag-final", FORWARD, REVERSE, UNION),
        ("grow-diag-final-and", FORWARD, REVERSE, UNION - {(5, 6)}),
        # Forward points come first.
        ("grow-diag-final-and", {(0, 1)}, {(0, 0)}, {(0, 1)}),
        ("grow-diag-final-and", {(1, 0)}, {(0, 0)}, {(1, 0)}),
        *((heuristic, set(), set(), set()) for heuristic in HEURISTICS),
    ],
)
def test_worked_by_hand(heuristic: str, forward: Points, reverse: Points, expected: Points) -> None:
    assert symmetrize(forward, reverse, heuristic) == sorted(expected)


@given(links, links)
def test_properties(by_target: dict[int, int], by_source: dict[int, int]) -> None:
    forward, reverse = {(i, j) for j, i in by_target.items()}, set(by_source.items())
    result = {name: set(symmetrize(forward, reverse, name)) for name in HEURISTICS}
    assert result["intersection"] <= result["grow"] <= result["union"]
    assert result["intersection"] <= result["grow-diag"] <= result["grow-diag-final-and"] <= result["union"]
    assert result["grow-diag"] <= result["grow-diag-final"] <= result["union"]
    # final aligns every word that either direction aligns
    for side in (0, 1):
        aligned = {point[side] for point in result["grow-diag-final"]}
        assert aligned == {point[side] for point in result["union"]}
    # final-and leaves no point of two unaligned words
    sources, targets = ({point[side] for point in result["grow-diag-final-and"]} for side in (0, 1))
    assert all(i in sources or j in targets for i, j in forward | reverse)
