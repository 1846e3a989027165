"""MERT's line search, compared with evaluating all intervals between crossings, and its outer search."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import MANY
from tests.naive import tuning as naive
from tests.naive.tuning import Sentence, Translation
from tests.tuning import DENSE_NAMES, dense, make_pool, random_sentences

from itersel.config.tuners import Mert
from itersel.errors import InputError
from itersel.tune.bleu_kernels import Statistics
from itersel.tune.line_kernels import bleu_along_line, envelope_bends, project
from itersel.tune.mert import Intervals, ListSearch, choose_point, move, tune_mert

small = st.integers(-4, 4)


def lines_of(sentences: list[Sentence], weights: list[int], direction: list[int]) -> list[list[naive.Line]]:
    def product(vector: list[int], one: Translation) -> Fraction:
        values = (Fraction(one.features.get(name, 0.0)) for name in DENSE_NAMES)
        return sum((Fraction(v) * value for v, value in zip(vector, values, strict=True)), Fraction(0))

    return [[(product(weights, one), product(direction, one)) for one in s.translations] for s in sentences]


@MANY
@given(
    st.integers(0, 2**32),
    st.lists(small, min_size=3, max_size=3),
    st.lists(small, min_size=3, max_size=3),
)
def test_line_search_equals_brute_force(seed: int, weights: list[int], direction: list[int]) -> None:
    sentences = random_sentences(seed, count=4, most=8)
    pool, _ = make_pool(sentences)
    found = ListSearch(pool).intervals(np.array(weights, float), np.array(direction, float))
    lists = lines_of(sentences, weights, direction)
    expected = []
    for x in naive.points_between(naive.crossings(lists)):
        chosen = [s.translations[i] for s, i in zip(sentences, naive.highest_lines(lists, x), strict=True)]
        expected.append(naive.corpus_bleu(chosen, naive.reference_length(sentences, chosen)))
        interval = np.searchsorted(found.begin, float(x), side="right") - 1
        assert found.bleu[interval] == pytest.approx(expected[-1], abs=1e-12)
    assert found.bleu.max() == pytest.approx(max(expected), abs=1e-12)
    # adjacent intervals have different counts, so there are no more intervals than points
    assert found.begin.shape[0] <= len(expected)


@MANY
@given(st.lists(st.tuples(small, small), min_size=1, max_size=9))
def test_envelope_is_convex_and_above_all_lines(lines: list[tuple[int, int]]) -> None:
    intercept, slope = (np.array([line[i] for line in lines], float) for i in range(2))
    start, place, pairs = envelope_bends(intercept, slope, np.array([0, len(lines)]))
    walked = [int(start[0]), *pairs[:, 1].tolist()]
    assert pairs[:, 0].tolist() == walked[:-1]
    assert (np.diff(slope[walked]) > 0).all()
    assert (np.diff(place) > 0).all()
    for x, (a, b) in zip(place, pairs, strict=True):
        height = (intercept + slope * x).max()
        assert intercept[a] + slope[a] * x == pytest.approx(height)
        assert intercept[b] + slope[b] * x == pytest.approx(height)


def test_many_bends_need_larger_tables() -> None:
    # tangents of a parabola, all on the envelope
    slope = np.arange(-50.0, 50.0)
    start, place, _ = envelope_bends(-(slope**2), slope, np.array([0, 100]))
    assert start.tolist() == [0]
    assert place.tolist() == (2 * slope[:-1] + 1).tolist()


def test_equal_lines_count_as_the_first() -> None:
    ones, offset = np.ones(3), np.array([0, 3])
    start, place, _ = envelope_bends(ones, ones, offset)
    assert (start.tolist(), place.shape) == ([0], (0,))


def test_bends_at_the_same_point_are_merged() -> None:
    # two sentences change at x = 0, with no point in between
    matches = np.array([[1, 1, 1, 1], [4, 4, 4, 4]] * 2, np.int32)
    statistics = Statistics(matches, *np.array([[7] * 4] * 2, np.int32))
    start, place, pairs = envelope_bends(np.zeros(4), np.array([0.0, 1.0] * 2), np.array([0, 2, 4]))
    begin, bleu = bleu_along_line(start, place, pairs, np.arange(2), statistics)
    assert begin.tolist() == [-np.inf, 0.0]
    assert bleu[1] == pytest.approx((4 / 7 * 4 / 6 * 4 / 5) ** 0.25)


@pytest.mark.parametrize(
    ("begin", "bleu", "point"),
    [
        ([-np.inf], [0.5], 0.0),
        ([-np.inf, 1.0, 3.0], [0.1, 0.5, 0.2], 2.0),
        ([-np.inf, 1.0, 3.0], [0.5, 0.2, 0.1], 0.0),  # contains 0: do not move
        ([-np.inf, -3.0, -1.0], [0.5, 0.2, 0.1], -4.0),
        ([-np.inf, 1.0, 3.0], [0.1, 0.2, 0.5], 4.0),
        ([-np.inf, -4.0, -2.0, 1.0, 3.0], [0.1, 0.5, 0.2, 0.5, 0.1], 2.0),  # the nearer of two
        ([-np.inf, 1.0, 1.0 + 1e-12, 3.0], [0.1, 0.9, 0.5, 0.2], 2.0),  # too narrow to be true
        ([-np.inf, -np.inf, 1.0, 3.0], [0.9, 0.1, 0.5, 0.2], 2.0),
    ],
)
def test_choice_of_a_point(begin: list[float], bleu: list[float], point: float) -> None:
    assert choose_point(Intervals(np.array(begin), np.array(bleu)))[0] == pytest.approx(point)


@given(st.integers(0, 2**32))
def test_never_worse_than_the_start_and_as_good_as_reported(seed: int) -> None:
    sentences = random_sentences(seed)
    pool, _ = make_pool(sentences)
    search, start = ListSearch(pool), np.array([1.0, -0.5, 0.25])
    weights, bleu = tune_mert(search, start, Mert(directions=3, restarts=2), (seed,))
    named = dict(zip(DENSE_NAMES, weights.tolist(), strict=True))
    assert bleu == pytest.approx(naive.bleu_of_weights(dense(sentences), named), abs=1e-12)
    assert bleu >= search.bleu(start)
    assert np.abs(weights).sum() == pytest.approx(1.0)


@given(st.integers(0, 2**32))
def test_best_of_a_grid_is_reached_in_two_dimensions(seed: int) -> None:
    # Scores depend only on the angle of two weights, so all intervals of a circle can be tried.
    sentences = random_sentences(seed, count=3, most=5)
    for sentence in sentences:
        for one in sentence.translations:
            one.features["Glue"] = 0.0
    pool, _ = make_pool(sentences)
    search = ListSearch(pool)
    angles = np.linspace(0, 2 * np.pi, 500)
    most = max(search.bleu(np.array([np.cos(a), np.sin(a), 0.0])) for a in angles)
    _, bleu = tune_mert(search, np.array([1.0, 1.0, 0.0]), Mert(directions=8, restarts=8), (1,))
    assert bleu >= most - 1e-12


def test_separable_lists_are_separated() -> None:
    good, bad = Translation((6, 5, 4, 3), 6, {}), Translation((1, 0, 0, 0), 6, {})
    sentences = [
        Sentence(
            (6,), [bad._replace(features=features(2, -1, -3)), good._replace(features=features(1, 1, -2))]
        ),
        Sentence(
            (6,), [good._replace(features=features(-1, 3, 0)), bad._replace(features=features(0, 1, 1))]
        ),
    ]
    search = ListSearch(make_pool(sentences)[0])
    _, bleu = tune_mert(search, np.array([1.0, -1.0, 0.0]), Mert(), (1,))
    assert bleu == pytest.approx(1.0)


def features(*values: float) -> dict[str, float]:
    return dict(zip(DENSE_NAMES, map(float, values), strict=True))


def test_a_feature_that_never_varies_keeps_its_weight() -> None:
    sentences = [Sentence((6,), [t._replace(features={**t.features, "Glue": 3.0}) for t in s[1]])
                 for s in random_sentences(3)]  # fmt: skip
    search = ListSearch(make_pool(sentences)[0])
    assert search.scale[2] == 0.0
    weights, _ = tune_mert(search, np.array([1.0, 1.0, 0.5]), Mert(restarts=0), (1,))
    assert weights[2] > 0


def test_nothing_varies() -> None:
    sentences = [Sentence((6,), [Translation((6, 5, 4, 3), 6, features(1, 1, 1))])]
    with pytest.raises(InputError, match="no sentence has translations with different features"):
        tune_mert(ListSearch(make_pool(sentences)[0]), np.ones(3), Mert(), (1,))


def test_projection() -> None:
    random = np.random.default_rng(1)
    matrix, vector = random.normal(size=(3, 50)), random.normal(size=3)
    assert project(matrix, vector) == pytest.approx(vector @ matrix)


def test_flat_bleu_does_not_move_the_weights() -> None:
    # every translation has the same counts, so no weights are better
    same = [Translation((6, 5, 4, 3), 7, features(*values)) for values in itertools.product((0, 1), repeat=3)]
    search = ListSearch(make_pool([Sentence((7,), same)])[0])
    start = np.array([0.5, 0.25, -0.25])
    weights, _ = tune_mert(search, start, Mert(), (1,))
    assert weights.tolist() == start.tolist()


START = np.array([1.0, -0.5, 0.25])


def searches(count: int = 25) -> list[ListSearch]:
    return [ListSearch(make_pool(random_sentences(seed))[0]) for seed in range(count)]


@pytest.mark.parametrize("more", [{"directions": 12}, {"restarts": 5}], ids=str)
def test_more_search_finds_more(more: dict[str, int]) -> None:
    none = {"directions": 0, "restarts": 0}
    few = [tune_mert(search, START, Mert(**none), (1,))[1] for search in searches()]
    many = [tune_mert(search, START, Mert(**{**none, **more}), (1,))[1] for search in searches()]
    better = [b > a + 1e-6 for a, b in zip(few, many, strict=True)]
    assert sum(better) >= 5
    if "restarts" in more:
        # the first climb is the same
        assert all(b >= a for a, b in zip(few, many, strict=True))


def test_no_axis_improves_the_end() -> None:
    rounds = 0
    for search in searches():
        weights, bleu = tune_mert(search, START, Mert(directions=0, restarts=0), (1,))
        for axis in np.eye(3):
            point, expected = choose_point(search.intervals(weights, axis))
            # an improvement due to rounding is not real
            assert expected <= bleu + 1e-7 or search.bleu(weights + point * axis) <= bleu + 1e-7
        first = START
        for axis in np.eye(3):
            first, reached = move(search, first, search.bleu(first), axis / search.scale)
        rounds += reached < bleu - 1e-6
    assert rounds > 0  # some need a second round


def test_units_of_features_do_not_matter() -> None:
    unit = np.array([1.0, 2.0**10, 2.0**-6])
    for seed in range(5):
        pool = make_pool(random_sentences(seed))[0]
        other = pool._replace(dense=pool.dense * unit)
        weights, bleu = tune_mert(ListSearch(pool), START, Mert(directions=4, restarts=2), (1,))
        again, same = tune_mert(ListSearch(other), START / unit, Mert(directions=4, restarts=2), (1,))
        assert same == bleu
        assert again * unit / np.abs(again * unit).sum() == pytest.approx(weights)
