"""Symmetrisation: hand-worked examples, and properties of every result."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from itersel.align.symmetrize import HEURISTICS, symmetrize

Points = set[tuple[int, int]]

# Forward links each target word once, reverse each source word once. Intersection: 0-0 and 3-3.
FORWARD = {(0, 0), (1, 1), (3, 3), (5, 4)}
REVERSE = {(0, 0), (2, 1), (3, 3), (4, 5), (5, 6)}


def test_forward_and_reverse_are_unchanged() -> None:
    assert symmetrize(FORWARD, REVERSE, "forward") == sorted(FORWARD)
    assert symmetrize(FORWARD, REVERSE, "reverse") == sorted(REVERSE)


def test_intersection_and_union() -> None:
    assert symmetrize(FORWARD, REVERSE, "intersection") == [(0, 0), (3, 3)]
    assert symmetrize(FORWARD, REVERSE, "union") == sorted(FORWARD | REVERSE)


def test_grow_adds_only_horizontal_and_vertical_neighbours() -> None:
    # 1-1 is diagonal to 0-0; 2-1 is next to 1-1, which is not in the alignment.
    assert symmetrize(FORWARD, REVERSE, "grow") == [(0, 0), (3, 3)]
    assert symmetrize({(0, 0), (0, 1)}, {(0, 0)}, "grow") == [(0, 0), (0, 1)]


def test_grow_diag_grows_in_chains() -> None:
    # 0-0 gives 1-1, which gives 2-1 (source 2 is new). 4-5 and 5-4 touch no point.
    assert symmetrize(FORWARD, REVERSE, "grow-diag") == [(0, 0), (1, 1), (2, 1), (3, 3)]


def test_grow_diag_needs_further_rounds_for_points_before_the_seed() -> None:
    # Only 2-2 is in both; 1-1 is next to it, 0-0 next to 1-1 but visited earlier.
    assert symmetrize({(2, 2), (1, 1)}, {(2, 2), (0, 0)}, "grow-diag") == [(0, 0), (1, 1), (2, 2)]


def test_grow_diag_skips_points_whose_words_are_both_aligned() -> None:
    forward, reverse = {(0, 0), (1, 1), (0, 1)}, {(0, 0), (1, 1)}
    assert symmetrize(forward, reverse, "grow-diag") == [(0, 0), (1, 1)]


def test_final_adds_points_with_one_new_word() -> None:
    # 5-4 (forward) first; then 4-5; 5-6 has an aligned source but a new target.
    expected = [(0, 0), (1, 1), (2, 1), (3, 3), (4, 5), (5, 4), (5, 6)]
    assert symmetrize(FORWARD, REVERSE, "grow-diag-final") == expected


def test_final_and_adds_points_with_two_new_words() -> None:
    expected = [(0, 0), (1, 1), (2, 1), (3, 3), (4, 5), (5, 4)]
    assert symmetrize(FORWARD, REVERSE, "grow-diag-final-and") == expected


def test_final_prefers_forward_points() -> None:
    assert symmetrize({(0, 1)}, {(0, 0)}, "grow-diag-final-and") == [(0, 1)]
    assert symmetrize({(1, 0)}, {(0, 0)}, "grow-diag-final-and") == [(1, 0)]


def test_no_points() -> None:
    for heuristic in HEURISTICS:
        assert symmetrize([], [], heuristic) == []


def directions() -> st.SearchStrategy[tuple[Points, Points]]:
    position = st.integers(0, 6)
    by_word = st.dictionaries(position, position)
    return st.tuples(
        by_word.map(lambda links: {(i, j) for j, i in links.items()}),
        by_word.map(lambda links: set(links.items())),
    )


@given(directions())
def test_grown_alignments_lie_between_intersection_and_union(pair: tuple[Points, Points]) -> None:
    forward, reverse = pair
    result = {name: set(symmetrize(forward, reverse, name)) for name in HEURISTICS}
    assert result["intersection"] <= result["grow"] <= result["union"]
    assert result["intersection"] <= result["grow-diag"] <= result["grow-diag-final-and"] <= result["union"]
    assert result["grow-diag"] <= result["grow-diag-final"] <= result["union"]


@given(directions())
def test_final_aligns_every_word_that_either_direction_aligns(pair: tuple[Points, Points]) -> None:
    forward, reverse = pair
    result = symmetrize(forward, reverse, "grow-diag-final")
    for side in (0, 1):
        assert {point[side] for point in result} == {point[side] for point in forward | reverse}


@given(directions())
def test_final_and_leaves_no_point_of_two_unaligned_words(pair: tuple[Points, Points]) -> None:
    forward, reverse = pair
    result = symmetrize(forward, reverse, "grow-diag-final-and")
    sources, targets = {i for i, _ in result}, {j for _, j in result}
    assert all(i in sources or j in targets for i, j in forward | reverse)
