"""k-best MIRA against plain Python that stores the weights of every step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import tuning as naive
from tests.naive.tuning import Sentence, Translation
from tests.tuning import DENSE_NAMES, SPARSE_NAMES, make_pool, random_sentences

from itersel.config.tuners import KBestMira
from itersel.tune.accumulate import SparseRows
from itersel.tune.bleu_kernels import best_bleu
from itersel.tune.mira import mean_weights, start_state, tune_mira
from itersel.tune.mira_kernels import mira_pass, score_rows


def by_name(dense: np.ndarray, weights: np.ndarray, sparse: SparseRows) -> dict[str, float]:
    return dict(zip(DENSE_NAMES, dense.tolist(), strict=True)) | dict(
        zip(sparse.name.to_list(), weights.tolist(), strict=True)
    )


@given(st.integers(0, 2**32), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([0.5, 0.999, 1.0]))
def test_equals_plain_python(seed: int, limit: float, decay: float) -> None:
    sentences = random_sentences(seed)
    pool, sparse = make_pool(sentences)
    start = {name: 0.5 - i for i, name in enumerate((*DENSE_NAMES, *SPARSE_NAMES))}
    dense_start = np.array([start[name] for name in DENSE_NAMES])
    sparse_start = np.array([start[name] for name in sparse.name.to_list()])
    state = start_state(dense_start, sparse_start)
    plain = naive.Mira(start, limit, decay)
    random = np.random.default_rng(seed)
    for _ in range(3):
        order = random.permutation(len(sentences))
        mira_pass(pool, sparse, state, order, limit, decay)
        for i in order:
            plain.step(sentences[i])
        found, expected = by_name(*mean_weights(state), sparse), plain.mean()
        assert found == pytest.approx(
            {name: expected.get(name, start[name]) for name in found}, rel=1e-9, abs=1e-9
        )
        score = score_rows(pool.dense, sparse, *mean_weights(state))
        bleu = best_bleu(score, pool.sentence_offset, pool.statistics)
        assert bleu == pytest.approx(naive.bleu_of_weights(sentences, found), abs=1e-12)


def test_separable_lists_are_separated_and_the_best_pass_is_kept() -> None:
    good, bad = (
        Translation((6, 5, 4, 3), 6, {"feature1": 1.0}),
        Translation((1, 0, 0, 0), 6, {"feature2": 1.0}),
    )
    pool, sparse = make_pool([Sentence((6,), [bad, good])] * 3)
    start = np.zeros(3), np.where(np.array(sparse.name.to_list()) == "feature2", 1.0, 0.0)
    _, weights, bleu = tune_mira(pool, sparse, *start, KBestMira(), (1,))
    assert bleu == pytest.approx(1.0)
    found = dict(zip(sparse.name.to_list(), weights.tolist(), strict=True))
    assert found["feature1"] > found["feature2"]


@given(st.integers(0, 2**32))
def test_best_of_all_passes(seed: int) -> None:
    sentences = random_sentences(seed)
    pool, sparse = make_pool(sentences)
    start = np.zeros(3), np.zeros(sparse.key.shape[0])
    passes = [tune_mira(pool, sparse, *start, KBestMira(passes=n), (seed,)) for n in (1, 2, 3, 4)]
    assert [found[2] for found in passes] == sorted(found[2] for found in passes)
    assert tune_mira(pool, sparse, *start, KBestMira(passes=4), (seed,))[0].tolist() == passes[-1][0].tolist()
