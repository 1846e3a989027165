"""Preference pairs: counts from the papers, a plain Python version, and PRO's sampling."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import learning as naive

from itersel.learn.pairs import all_pairs, make_pairs, multipartite_pairs, pro_pairs

SEED = (1, 2, 3, 4)


def shuffled(count: int) -> np.ndarray:
    return np.random.default_rng(count).permutation(count) / count


def test_multipartite_of_100_different_scores() -> None:
    # 10 * 80 + 10 * 10 + 80 * 10
    assert multipartite_pairs(shuffled(100)).shape == (1700, 2)


def test_all_pairs_of_100_different_scores() -> None:
    assert all_pairs(shuffled(100)).shape == (100 * 99 // 2, 2)


def test_multipartite_levels() -> None:
    bleu = shuffled(100)
    level = np.ones(100, int)
    level[bleu >= 0.9], level[bleu < 0.1] = 2, 0
    pairs = multipartite_pairs(bleu)
    counts = dict.fromkeys(itertools.product(range(3), repeat=2), 0)
    for better, worse in pairs:
        counts[level[better], level[worse]] += 1
        assert bleu[better] > bleu[worse]
    assert {key: n for key, n in counts.items() if n} == {(2, 1): 800, (2, 0): 100, (1, 0): 800}


@pytest.mark.parametrize(("count", "pairs"), [(1, 0), (2, 1), (3, 3), (14, 25), (15, 2 * 11 * 2 + 4)])
def test_a_tenth_is_rounded_and_at_least_one(count: int, pairs: int) -> None:
    assert len(multipartite_pairs(shuffled(count))) == pairs


@pytest.mark.parametrize("strategy", ["multipartite", "all", "pro"])
def test_equal_scores_form_no_pair(strategy: str) -> None:
    assert make_pairs(strategy, np.full(100, 0.5), SEED).shape == (0, 2)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7]), min_size=1, max_size=40))
def test_equal_plain_python_in_order(bleu: list[float]) -> None:
    for strategy, plain in naive.PAIRS.items():
        found = make_pairs(strategy, np.array(bleu), SEED)
        assert [tuple(pair) for pair in found.tolist()] == plain(bleu)


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.06, 0.2, 1.0]),
)
def test_pro_equals_plain_python(bleu: list[float], seed: int, most: float) -> None:
    raw = np.random.PCG64([seed]).random_raw(10_000).tolist()
    found = pro_pairs(np.array(bleu), (seed,), most)
    assert [tuple(pair) for pair in found.tolist()] == naive.pro_pairs(bleu, raw, most)


def test_pro_keeps_the_50_widest() -> None:
    bleu = shuffled(100)
    pairs = pro_pairs(bleu, SEED)
    assert pairs.shape == (50, 2)
    width = bleu[pairs[:, 0]] - bleu[pairs[:, 1]]
    assert (np.diff(width) <= 0).all()
    # Half of all pairs of 100 are drawn at least once; the 50 widest of 5000 are wider than 0.85.
    assert width.min() > 0.85


def test_pro_threshold() -> None:
    assert len(pro_pairs(np.array([0.5, 0.549]), SEED)) == 0
    assert pro_pairs(np.array([0.5, 0.551]), SEED).tolist() == [[1, 0]] * 50


def test_pro_samples_depend_only_on_the_seed() -> None:
    bleu = shuffled(100)
    first = pro_pairs(bleu, SEED)
    assert pro_pairs(bleu, SEED).tolist() == first.tolist()
    for place in range(4):
        other = tuple(value + (i == place) for i, value in enumerate(SEED))
        assert pro_pairs(bleu, other).tolist() != first.tolist()


def test_pro_draws_uniformly() -> None:
    # Two scores: 5000 draws, a quarter each of 00, 01, 10, 11. Of 3 scores in two classes 4 in 9 differ.
    bleu = np.array([0.0, 1.0, 1.0])
    found = np.concatenate([pro_pairs(bleu, (1, i)) for i in range(200)])
    share = np.bincount(found[:, 0], minlength=3) / len(found)
    assert share == pytest.approx([0, 0.5, 0.5], abs=0.03)
