"""Updates from one sentence: by hand, and compared with plain Python with weights by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import MANY
from tests.naive import learning as naive
from tests.naive.learning import Hypothesis
from tests.naive.oracle import DENSE_NAMES, make_kbest, random_sentence

from itersel.config.learners import LEARNERS, UPDATES
from itersel.decode.decoder import KBest
from itersel.learn.learner import Example
from itersel.learn.parameters import Parameters, Steps, make_coordinates
from itersel.learn.train import make_learner
from itersel.learn.update_kernels import gram_matrix, make_columns

NAMES = [f"feature{i}" for i in range(8)]
# A power of two: with features in multiples of 1/8, results are exact, and leads of 0 and 1 are common.
RATE = 2.0**-6
LOSSES = ("perceptron", "margin-perceptron")


class Trained:
    """A perceptron that compares all translations, and its weights."""

    def __init__(self, weights: dict[str, float], loss: str, update: str, rate: float = RATE) -> None:
        settings = LEARNERS[loss](pairs="all", update=update, learning_rate=rate)  # type: ignore[call-arg]
        self.learner = make_learner(settings)
        vectors = (np.array([weights.get(name, 0.0) for name in names]) for names in (DENSE_NAMES, NAMES))
        dense, sparse = (make_coordinates(vector, 0) for vector in vectors)
        self.parameters = Parameters(dense, sparse, Steps(settings))

    def learn(self, kbest: KBest, bleu: list[float]) -> int:
        scratch = np.full(len(NAMES), -1, np.int32)
        example = Example(kbest, np.array(bleu), 1.0, self.parameters.rate, (1,), scratch)
        move = self.learner.learn(example)
        self.parameters.step(None if move.coefficient is None else example.columns, move.coefficient)
        return move.updates

    @property
    def sparse(self) -> list[float]:
        found: list[float] = self.parameters.sparse.tolist()
        return found

    def weights(self) -> dict[str, float]:
        dense = zip(DENSE_NAMES, self.parameters.dense.tolist(), strict=True)
        return dict(dense) | dict(zip(NAMES, self.sparse, strict=True))


def hypotheses(*features: dict[str, float]) -> list[Hypothesis]:
    return [Hypothesis((), one, 0.0) for one in features]


def test_sequential_pairs_see_the_update_before() -> None:
    # Pair 0 > 2 teaches feature0 = 1/64, which ranks 1 above 2 as well: no update for it.
    kbest = make_kbest(hypotheses({"feature0": 1.0}, {"feature0": 1.0}, {}), NAMES)
    trained = Trained({}, "perceptron", "sequential")
    assert trained.learn(kbest, [0.5, 0.5, 0.0]) == 1
    assert trained.sparse == [RATE] + [0.0] * 7


def test_sentence_pairs_see_the_scores_of_the_decoder() -> None:
    kbest = make_kbest(hypotheses({"feature0": 1.0}, {"feature0": 1.0}, {}), NAMES)
    trained = Trained({}, "perceptron", "sentence")
    assert trained.learn(kbest, [0.5, 0.5, 0.0]) == 2
    assert trained.sparse == [2 * RATE] + [0.0] * 7


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize(
    ("loss", "lead", "updates"),
    [
        ("perceptron", -0.125, 1),
        ("perceptron", 0.0, 1),
        ("perceptron", 0.125, 0),
        ("margin-perceptron", 0.875, 1),
        ("margin-perceptron", 1.0, 0),
    ],
)
def test_margin(loss: str, lead: float, updates: int, update: str) -> None:
    kbest = make_kbest([Hypothesis((), {"feature1": 1.0}, lead), Hypothesis((), {}, 0.0)], NAMES)
    trained = Trained({"feature1": lead}, loss, update)
    assert trained.learn(kbest, [1.0, 0.0]) == updates
    assert trained.sparse[1] == lead + updates * RATE


def test_updates_that_cancel_restore_the_start() -> None:
    # In floating point, 3 steps of 0.1 up and 3 down again do not end at 0.
    trained = Trained({"feature0": 0.7}, "perceptron", "sentence", rate=0.1)
    kbest = make_kbest(hypotheses({"feature0": 1.0}, {}), NAMES)
    for bleu in [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3:
        assert trained.learn(kbest, bleu) == 1
    assert trained.sparse[0] == 0.7


def test_no_pairs_no_update() -> None:
    kbest = make_kbest(hypotheses({"feature0": 1.0}), NAMES)
    assert Trained({}, "perceptron", "sequential").learn(kbest, [0.5]) == 0


@MANY
@given(st.integers(0, 2**32), st.sampled_from(LOSSES), st.sampled_from(UPDATES))
def test_equals_plain_python_exactly(seed: int, loss: str, update: str) -> None:
    random = np.random.default_rng(seed)
    sentence = random_sentence(random, NAMES, exact=True)
    weights = {name: float(random.integers(-2, 3)) / 16 for name in (*NAMES, *DENSE_NAMES)}
    kbest = sentence.kbest(weights, 100)
    bleu = random.integers(6, size=len(kbest)).tolist()
    expected, updates = naive.update_pairs(weights, kbest, naive.all_pairs(bleu), loss, update, RATE)
    trained = Trained(weights, loss, update)
    assert trained.learn(make_kbest(kbest, NAMES), bleu) == updates
    assert trained.weights() == expected


@given(st.integers(0, 2**32))
def test_gram_matrix_of_differences(seed: int) -> None:
    # Shifting a feature changes inner products, but not the differences that determine margins.
    sentence = random_sentence(np.random.default_rng(seed), NAMES, exact=True)
    kbest = make_kbest(sentence.kbest({}, 100), NAMES)
    scratch = np.full(len(NAMES), -1, np.int32)
    gram = gram_matrix(
        make_columns(kbest.dense, kbest.feature, kbest.feature_value, kbest.feature_offset, scratch)
    )
    assert (scratch == -1).all()
    plain = np.array(
        [
            [naive.dot(a.features, b.features) for b in sentence.kbest({}, 100)]
            for a in sentence.kbest({}, 100)
        ]
    )
    count = len(plain)
    i, j, a, b = np.random.default_rng(seed).integers(count, size=(4, 50))
    found = gram[i, a] - gram[j, a] - gram[i, b] + gram[j, b]
    assert found.tolist() == (plain[i, a] - plain[j, a] - plain[i, b] + plain[j, b]).tolist()


def test_shifted_feature_with_different_values() -> None:
    # In most translations, with different values in nearly all: more entries after the shift than before.
    features = [{"feature3": float(1 + i)} if i < 6 else {} for i in range(10)]
    kbest = make_kbest(hypotheses(*features), NAMES)
    trained = Trained({}, "perceptron", "sentence")
    bleu = [float(i) for i in range(10)]
    weights, updates = naive.update_pairs(
        {}, hypotheses(*features), naive.all_pairs(bleu), "perceptron", "sentence", RATE
    )
    assert trained.learn(kbest, bleu) == updates == 45
    assert trained.sparse[3] == weights["feature3"]
