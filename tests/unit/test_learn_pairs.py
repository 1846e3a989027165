"""Preference pairs: counts from the papers, and a plain Python version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import learning as naive

from itersel.learn.pairs import make_pairs, pro_pairs


@pytest.mark.parametrize(
    ("strategy", "count", "pairs"),
    [
        ("all", 100, 100 * 99 // 2),
        ("multipartite", 100, 10 * 80 + 10 * 10 + 80 * 10),
        # a tenth is rounded and at least one
        ("multipartite", 1, 0),
        ("multipartite", 2, 1),
        ("multipartite", 3, 3),
        ("multipartite", 14, 25),
        ("multipartite", 15, 2 * 11 * 2 + 4),
    ],
)
def test_number_of_pairs_of_different_scores(strategy: str, count: int, pairs: int) -> None:
    bleu = np.random.default_rng(count).permutation(count) / count
    assert len(make_pairs(strategy, bleu, (1,))) == pairs


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7]), min_size=1, max_size=40))
def test_equal_plain_python_in_order(bleu: list[float]) -> None:
    for strategy, plain in naive.PAIRS.items():
        found = make_pairs(strategy, np.array(bleu), (1,))
        assert (found.dtype, found.shape) == (np.int64, (len(found), 2))
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


def test_pro_drops_close_pairs_and_keeps_50() -> None:
    assert len(pro_pairs(np.array([0.5, 0.549]), (1,))) == 0
    assert pro_pairs(np.array([0.5, 0.551]), (1,)).tolist() == [[1, 0]] * 50
