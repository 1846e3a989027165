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
from itersel.learn.bleu_kernels import best_bleu
from itersel.tune.mira import mean_weights, start_state, tune_mira
from itersel.tune.mira_kernels import mira_pass, score_rows


@given(st.integers(0, 2**32), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([0.5, 0.999, 1.0]))
def test_equals_plain_python(seed: int, limit: float, decay: float) -> None:
    sentences = random_sentences(seed)
    pool, sparse = make_pool(sentences)
    start = {name: 0.5 - i for i, name in enumerate((*DENSE_NAMES, *SPARSE_NAMES))}
    names = [*DENSE_NAMES, *sparse.name.to_list()]
    state = start_state(np.array([start[name] for name in names]))
    plain = naive.Mira(start, limit, decay)
    random = np.random.default_rng(seed)
    for _ in range(3):
        order = random.permutation(len(sentences))
        mira_pass(pool, sparse, state, order, limit, decay)
        for i in order:
            plain.step(sentences[i])
        weights, expected = mean_weights(state), plain.mean()
        found = dict(zip(names, weights.tolist(), strict=True))
        assert found == pytest.approx({**start, **expected}, rel=1e-9, abs=1e-9)
        bleu = best_bleu(score_rows(pool.dense, sparse, weights), pool.sentence_offset, pool.statistics)
        assert bleu == pytest.approx(naive.bleu_of_weights(sentences, found), abs=1e-12)


def test_separable_lists_are_separated() -> None:
    good = Translation((6, 5, 4, 3), 6, {"feature1": 1.0})
    bad = Translation((1, 0, 0, 0), 6, {"feature2": 1.0})
    pool, sparse = make_pool([Sentence((6,), [bad, good])] * 3)
    names = [*DENSE_NAMES, *sparse.name.to_list()]
    start = np.where(np.array(names) == "feature2", 1.0, 0.0)
    weights, bleu = tune_mira(pool, sparse, start, KBestMira(), (1,))
    assert bleu == pytest.approx(1.0)
    assert weights[names.index("feature1")] > weights[names.index("feature2")]


@given(st.integers(0, 2**32))
def test_the_best_pass_is_kept(seed: int) -> None:
    pool, sparse = make_pool(random_sentences(seed))
    start = np.zeros(len(DENSE_NAMES) + sparse.key.shape[0])
    passes = [tune_mira(pool, sparse, start, KBestMira(passes=n), (seed,)) for n in (1, 2, 3, 4)]
    assert [bleu for _, bleu in passes] == sorted(bleu for _, bleu in passes)
    again = tune_mira(pool, sparse, start, KBestMira(passes=4), (seed,))
    assert again[0].tolist() == passes[-1][0].tolist()
