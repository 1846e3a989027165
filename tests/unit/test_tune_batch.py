"""The batch tuners: MERT's line search against all intervals between crossings, and its outer search; k-best
MIRA against plain Python that stores the weights of every step; PRO: sampling, objective, gradient, optimum.
"""

import itertools
import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.examples import MANY
from tests.naive import learning
from tests.naive import tuning as naive
from tests.naive.tuning import Sentence, Translation
from tests.refusals import input_error
from tests.tuning import DENSE_NAMES, SPARSE_NAMES, dense, make_table, random_sentences

from itersel.bleu.bleu_kernels import Statistics, best_bleu
from itersel.bleu.names import LIST_BLEUS
from itersel.errors import InputError
from itersel.tune.line_kernels import bleu_along_line, envelope_bends
from itersel.tune.mert import ListLineSearch, choose_point, move, tune_mert
from itersel.tune.mira_kernels import mean_weights, mira_lists, mira_pass, score_rows, start_state
from itersel.tune.problem import ListProblem
from itersel.tune.ranking import Objective, draw_pairs, fit_ranking, pair_matrix
from itersel.tune.tuners.kbest_mira import KBestMira
from itersel.tune.tuners.pro import Pro
from itersel.vectors.weights import make_weights

START = np.array([1.0, -0.5, 0.25])
GOOD = (6, 5, 4, 3)
small = st.integers(-4, 4)
vector = st.lists(small, min_size=3, max_size=3)


def line_search_of(sentences: list[Sentence]) -> ListLineSearch:
    return ListLineSearch(make_table(sentences))


@MANY
@given(st.integers(0, 2**32), vector, vector)
def test_line_search_equals_brute_force(seed: int, weights: list[int], direction: list[int]) -> None:
    """In all intervals; of equal lines, the first counts."""
    sentences = random_sentences(seed, count=4, most=8)
    begin, bleu = line_search_of(sentences).intervals(np.array(weights, float), np.array(direction, float))
    points, expected = zip(*naive.bleu_along_line(sentences, named(weights), named(direction)), strict=True)
    interval = np.searchsorted(begin, np.array(points, float), side="right") - 1
    assert bleu[interval] == pytest.approx(expected, abs=1e-12)
    assert bleu.max() == pytest.approx(max(expected), abs=1e-12)
    # adjacent intervals have different counts, so there are no more intervals than points
    assert begin.shape[0] <= len(expected)


def named(values: list[int]) -> dict[str, float]:
    return dict(zip(DENSE_NAMES, map(float, values), strict=True))


@MANY
@given(st.lists(st.tuples(small, small), min_size=1, max_size=9))
def test_envelope_is_convex_and_above_all_lines(lines: list[tuple[int, int]]) -> None:
    intercept, slope = (np.array([line[i] for line in lines], float) for i in range(2))
    start, place, pairs = envelope_bends(intercept, slope, np.array([0, len(lines)]))
    walked = [int(start[0]), *pairs[:, 1].tolist()]
    assert pairs[:, 0].tolist() == walked[:-1]
    assert (np.diff(slope[walked]) > 0).all()
    assert (np.diff(place) > 0).all()
    for x, pair in zip(place, pairs, strict=True):
        height = (intercept + slope * x).max()
        assert intercept[pair] + slope[pair] * x == pytest.approx([height] * 2)


def test_many_bends_need_larger_tables() -> None:
    # tangents of a parabola, all on the envelope
    slope = np.arange(-50.0, 50.0)
    start, place, _ = envelope_bends(-(slope**2), slope, np.array([0, 100]))
    assert start.tolist() == [0]
    assert place.tolist() == (2 * slope[:-1] + 1).tolist()


def test_bends_at_the_same_point_are_merged() -> None:
    # two sentences change at x = 0, with no point in between
    matches = np.array([[1, 1, 1, 1], [4, 4, 4, 4]] * 2, np.int32)
    statistics = Statistics(matches, *np.array([[7] * 4] * 2, np.int32))
    start, place, pairs = envelope_bends(np.zeros(4), np.array([0.0, 1.0] * 2), np.array([0, 2, 4]))
    begin, bleu = bleu_along_line(start, place, pairs, statistics)
    assert begin.tolist() == [-np.inf, 0.0]
    assert bleu[1] == pytest.approx((4 / 7 * 4 / 6 * 4 / 5) ** 0.25)


@pytest.mark.parametrize(
    ("begin", "bleu", "point"),
    [
        ([], [0.5], 0.0),
        ([1.0, 3.0], [0.1, 0.5, 0.2], 2.0),
        ([1.0, 3.0], [0.5, 0.2, 0.1], 0.0),  # contains 0: do not move
        ([-3.0, -1.0], [0.5, 0.2, 0.1], -4.0),
        ([1.0, 3.0], [0.1, 0.2, 0.5], 4.0),
        ([-4.0, -2.0, 1.0, 3.0], [0.1, 0.5, 0.2, 0.5, 0.1], 2.0),  # the nearer of two
        ([1.0, 1.0 + 1e-12, 3.0], [0.1, 0.9, 0.5, 0.2], 2.0),  # too narrow to be true
        ([-np.inf, 1.0, 3.0], [0.9, 0.1, 0.5, 0.2], 2.0),
    ],
)
def test_choice_of_a_point(begin: list[float], bleu: list[float], point: float) -> None:
    assert choose_point(np.array([-np.inf, *begin]), np.array(bleu))[0] == pytest.approx(point)


@given(st.integers(0, 2**32))
def test_never_worse_than_the_start_and_as_good_as_reported(seed: int) -> None:
    sentences = random_sentences(seed)
    line_search = line_search_of(sentences)
    weights, bleu = tune_mert(line_search, START, 3, 2, (seed,))
    found = dict(zip(DENSE_NAMES, weights.tolist(), strict=True))
    assert bleu == pytest.approx(naive.bleu_of_weights(dense(sentences), found), abs=1e-12)
    assert bleu >= line_search.quality_of_best(START)
    assert np.abs(weights).sum() == pytest.approx(1.0)


@given(st.integers(0, 2**32))
def test_best_of_a_grid_is_reached_in_two_dimensions(seed: int) -> None:
    # Scores depend only on the angle of two weights, so all intervals of a circle can be tried.
    sentences = random_sentences(seed, count=3, most=5)
    for one in itertools.chain(*(sentence.translations for sentence in sentences)):
        one.features["Glue"] = 0.0
    line_search = line_search_of(sentences)
    angles = np.linspace(0, 2 * np.pi, 500)
    most = max(line_search.quality_of_best(np.array([np.cos(a), np.sin(a), 0.0])) for a in angles)
    _, bleu = tune_mert(line_search, np.array([1.0, 1.0, 0.0]), 8, 8, (1,))
    assert bleu >= most - 1e-12


def test_a_feature_that_never_varies_keeps_its_weight() -> None:
    sentences = [Sentence((6,), [t._replace(features={**t.features, "Glue": 3.0}) for t in s[1]])
                 for s in random_sentences(3)]  # fmt: skip
    line_search = line_search_of(sentences)
    assert line_search.deviation[2] == 0.0
    weights, _ = tune_mert(line_search, np.array([1.0, 1.0, 0.5]), 12, 0, (1,))
    assert weights[2] > 0
    alone = Translation(GOOD, 6, dict.fromkeys(DENSE_NAMES, 1.0))
    with input_error():
        tune_mert(line_search_of([Sentence((6,), [alone])]), START, 12, 5, (1,))


def test_flat_bleu_does_not_move_the_weights() -> None:
    # every translation has the same counts, so no weights are better
    same = [Translation(GOOD, 7, named([*bits])) for bits in itertools.product((0, 1), repeat=3)]
    start = np.array([0.5, 0.25, -0.25])
    weights, _ = tune_mert(line_search_of([Sentence((7,), same)]), start, 12, 5, (1,))
    assert weights.tolist() == start.tolist()


def line_searches(count: int = 25) -> list[ListLineSearch]:
    return [line_search_of(random_sentences(seed)) for seed in range(count)]


@pytest.mark.parametrize("more", [{"random_directions": 12}, {"restarts": 5}], ids=str)
def test_more_search_finds_more(more: dict[str, int]) -> None:
    none = {"random_directions": 0, "restarts": 0}
    few = [tune_mert(line_search, START, **none, seed=(1,))[1] for line_search in line_searches()]
    many = [
        tune_mert(line_search, START, **{**none, **more}, seed=(1,))[1] for line_search in line_searches()
    ]
    assert sum(b > a + 1e-6 for a, b in zip(few, many, strict=True)) >= 5
    if "restarts" in more:
        # the first climb is the same
        assert all(b >= a for a, b in zip(few, many, strict=True))


def test_intervals_that_are_too_narrow_are_not_chosen() -> None:
    begin, value = np.array([-np.inf, 1.0, 1.0 + 1e-12]), np.array([-3.0, -1.5, -2.0])
    assert choose_point(begin, value) == (pytest.approx(2.0), -2.0)


def test_no_axis_improves_the_end() -> None:
    rounds = 0
    for line_search in line_searches():
        weights, bleu = tune_mert(line_search, START, 0, 0, (1,))
        first = START
        for axis in np.eye(3):
            point, expected = choose_point(*line_search.intervals(weights, axis))
            # an improvement due to rounding is not real
            assert (
                expected <= bleu + 1e-7 or line_search.quality_of_best(weights + point * axis) <= bleu + 1e-7
            )
            first, reached = move(
                line_search, first, line_search.quality_of_best(first), axis / line_search.deviation
            )
        rounds += reached < bleu - 1e-6
    assert rounds > 0  # some need a second round


def test_units_of_features_do_not_matter() -> None:
    unit = np.array([1.0, 2.0**10, 2.0**-6])
    for seed in range(5):
        table = make_table(random_sentences(seed))
        other = table._replace(dense=table.dense * unit)
        weights, bleu = tune_mert(ListLineSearch(table), START, 4, 2, (1,))
        again, same = tune_mert(ListLineSearch(other), START / unit, 4, 2, (1,))
        assert same == bleu
        assert again * unit / np.abs(again * unit).sum() == pytest.approx(weights)


@given(st.integers(0, 2**32), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([0.5, 0.999, 1.0]))
def test_mira_equals_plain_python(seed: int, limit: float, decay: float) -> None:
    sentences = random_sentences(seed)
    table = make_table(sentences)
    sparse = table.sparse_rows
    start = {name: 0.5 - i for i, name in enumerate((*DENSE_NAMES, *SPARSE_NAMES))}
    names = [*DENSE_NAMES, *sparse.name.to_list()]
    state = start_state(np.array([start[name] for name in names]))
    plain = naive.Mira(start, limit, decay)
    random = np.random.default_rng(seed)
    for _ in range(3):
        order = random.permutation(len(sentences))
        mira_pass(mira_lists(table), sparse, state, order, limit, decay)
        for i in order:
            plain.step(sentences[i])
        weights, expected = mean_weights(state), plain.mean()
        found = dict(zip(names, weights.tolist(), strict=True))
        assert found == pytest.approx({**start, **expected}, rel=1e-9, abs=1e-9)
        bleu = best_bleu(score_rows(table.dense, sparse, weights), table.offset, table.statistics)
        assert bleu == pytest.approx(naive.bleu_of_weights(sentences, found), abs=1e-12)


@given(st.integers(0, 2**32))
def test_the_best_pass_is_kept(seed: int) -> None:
    problem = ListProblem.of_table(make_table(random_sentences(seed)), make_weights({}), seed=(seed,))
    passes = [KBestMira(passes=n).tune(problem) for n in (1, 2, 3, 4)]
    assert [one.quality for one in passes] == sorted(one.quality for one in passes)
    again = KBestMira(passes=4).tune(problem)
    assert again.weights.to_dict() == passes[-1].weights.to_dict()


def plain_bleu(one: Translation, reference_lengths: tuple[int, ...], variant: str) -> float:
    """Return sentence BLEU of words with these counts, by the naive implementation."""
    counts = list(one.matches), [max(0, one.length - n) for n in range(4)]
    with mock.patch.object(learning, "counts", return_value=counts):
        return learning.Bleu(variant).of(range(one.length), *map(range, reference_lengths))


@given(st.integers(0, 2**32), st.sampled_from(LIST_BLEUS), st.sampled_from([1.0, 0.3]))
def test_pairs_differ_by_the_bleu_of_the_settings(seed: int, variant: str, most: float) -> None:
    sentences = random_sentences(seed)
    table = make_table(sentences)
    bleu = [plain_bleu(one, s.reference_lengths, variant) for s in sentences for one in s.translations]
    sentence = np.repeat(np.arange(len(sentences)), np.diff(table.offset))
    try:
        pairs = draw_pairs(table, Pro(sentence_bleu=variant, max_difference=100 * most), (seed,))
    except InputError:
        pairs = np.zeros((0, 2), np.int64)
    assert (np.bincount(sentence[pairs[:, 0]], minlength=1) <= 50).all()
    for better, worse in pairs:
        assert sentence[better] == sentence[worse]
        assert 0.05 - 1e-9 <= bleu[better] - bleu[worse] <= most + 1e-9


def test_differences_of_pairs() -> None:
    sentences = random_sentences(4)
    every = [one for sentence in sentences for one in sentence.translations]
    table = make_table(sentences)
    sparse = table.sparse_rows
    pairs = draw_pairs(table, Pro(), (1,))
    found = pair_matrix(table, sparse, np.arange(len(every)), pairs).toarray()
    for row, (better, worse) in zip(found, pairs, strict=True):
        for name, value in zip((*DENSE_NAMES, *sparse.name.to_list()), row, strict=True):
            assert value == every[better].features.get(name, 0.0) - every[worse].features.get(name, 0.0)


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 3.0]))
def test_objective_and_gradient(seed: int, strength: float) -> None:
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(7, 4)) * (random.random((7, 4)) < 0.6)
    weights = random.normal(size=4)
    objective = Objective(csr_array(matrix), strength)
    # both signs of every pair, as in the paper: (x, 1) and (-x, 0)
    margins = [sign * (sign * float(x @ weights)) for x in matrix for sign in (1, -1)]
    expected = sum(math.log1p(math.exp(-margin)) for margin in margins)
    value, gradient = objective(weights)
    assert value == pytest.approx(expected + strength / 2 * float(weights @ weights))
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-5
        slope = (objective(weights + step)[0] - objective(weights - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_the_gradient_is_zero_at_the_optimum() -> None:
    matrix = csr_array(np.random.default_rng(2).normal(size=(200, 6)))
    weights = fit_ranking(matrix, 0.5)
    assert np.abs(weights).min() > 0
    assert Objective(matrix, 0.5)(weights)[1] == pytest.approx(0.0, abs=1e-2)


def test_large_margins_do_not_overflow() -> None:
    value, gradient = Objective(csr_array(np.array([[1e6]])), 1.0)(np.array([-1e3]))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_nothing_to_rank() -> None:
    table = make_table([Sentence((6,), [Translation(GOOD, 6, {})] * 5)])
    with input_error():
        draw_pairs(table, Pro(), (1,))
