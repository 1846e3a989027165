"""PRO: sampling; the objective compared with its formula, its gradient with differences; the optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.naive import learning
from tests.naive.tuning import Sentence, Translation
from tests.tuning import DENSE_NAMES, make_pool, random_sentences

from itersel.config.tuners import LIST_BLEUS, Pro
from itersel.errors import InputError
from itersel.tune.pro import Objective, fit_ranking, pair_matrix, sample_pairs


def plain_bleu(one: Translation, reference_lengths: tuple[int, ...], variant: str) -> float:
    """Return sentence BLEU of words with these counts, by the naive implementation."""

    class Counted(learning.Bleu):
        def score(self, hypothesis: object, reference: object) -> float:
            learning_counts = learning.counts
            learning.counts = lambda *_: (list(one.matches), [max(0, one.length - n) for n in range(4)])
            try:
                return super().score(range(one.length), *map(range, reference_lengths))
            finally:
                learning.counts = learning_counts

    return Counted(variant).score(None, None)


@given(st.integers(0, 2**32), st.sampled_from(LIST_BLEUS), st.sampled_from([1.0, 0.3]))
def test_pairs_differ_by_the_bleu_of_the_settings(seed: int, variant: str, most: float) -> None:
    sentences = random_sentences(seed)
    pool, _ = make_pool(sentences)
    bleu = [plain_bleu(one, s.reference_lengths, variant) for s in sentences for one in s.translations]
    sentence = np.repeat(np.arange(len(sentences)), np.diff(pool.sentence_offset))
    try:
        pairs = sample_pairs(pool, Pro(bleu=variant, max_difference=most), (seed,))
    except InputError:
        pairs = np.zeros((0, 2), np.int64)
    assert (np.bincount(sentence[pairs[:, 0]], minlength=1) <= 50).all()
    for better, worse in pairs:
        assert sentence[better] == sentence[worse]
        assert 0.05 - 1e-9 <= bleu[better] - bleu[worse] <= most + 1e-9


def test_differences_of_pairs() -> None:
    sentences = random_sentences(4)
    every = [one for sentence in sentences for one in sentence.translations]
    pool, sparse = make_pool(sentences)
    pairs = sample_pairs(pool, Pro(), (1,))
    found = pair_matrix(pool, sparse, np.arange(len(every)), pairs).toarray()
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
    expected = sum(
        math.log1p(math.exp(-sign * (sign * float(x @ weights)))) for x in matrix for sign in (1, -1)
    )
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
    pool, _ = make_pool([Sentence((6,), [Translation((6, 5, 4, 3), 6, {})] * 5)])
    with pytest.raises(InputError, match="no two translations of a sentence are at least"):
        sample_pairs(pool, Pro(), (1,))
