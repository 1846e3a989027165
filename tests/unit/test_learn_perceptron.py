"""Updates from one sentence: by hand, and compared with plain Python with weights by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import MANY
from tests.learners import NAMES
from tests.naive import learning as naive
from tests.naive.learning import Hypothesis
from tests.naive.oracle import DENSE_NAMES, make_kbest, make_shard, random_sentence

from itersel.config.learners import LEARNERS, UPDATES
from itersel.learn.learners import Example, make_learner
from itersel.learn.weight_table import Start, WeightTable
from itersel.vectors.weights import make_weights

# A power of two: with features in multiples of 1/8, results are exact, and leads of 0 and 1 are common.
RATE = 2.0**-6


class Trained:
    """A perceptron that compares all translations, and its weights."""

    def __init__(self, weights: dict[str, float], loss: str, update: str, rate: float = RATE) -> None:
        settings = LEARNERS[loss](pairs="all", update=update, learning_rate=rate)  # type: ignore[call-arg]
        shard = make_shard([], NAMES)
        self.learner, self.names = make_learner(settings), shard.feature_name.to_list()
        self.table = WeightTable(Start(make_weights(weights)), settings, 0).open(shard, DENSE_NAMES)

    def learn(self, hypotheses: list[Hypothesis], bleu: list[float]) -> int:
        kbest, scratch = make_kbest(hypotheses, self.names), np.full(len(NAMES), -1, np.int32)
        example = Example(kbest, np.array(bleu), 1.0, self.table.rate, (1,), scratch)
        move = self.learner.learn(example)
        self.table.step(example, move.coefficient)
        return move.updates

    def weights(self) -> dict[str, float]:
        names = (*DENSE_NAMES, *self.names)
        return dict(zip(names, np.concatenate(self.table.vectors).tolist(), strict=True))


def hypotheses(*features: dict[str, float]) -> list[Hypothesis]:
    return [Hypothesis((), one, 0.0) for one in features]


@pytest.mark.parametrize(("update", "updates"), [("sequential", 1), ("sentence", 2)])
def test_sequential_pairs_see_the_update_before(update: str, updates: int) -> None:
    # Pair 0 > 2 teaches feature0 = 1/64, which ranks 1 above 2 as well: no update for it.
    trained = Trained({}, "perceptron", update)
    assert trained.learn(hypotheses({"feature0": 1.0}, {"feature0": 1.0}, {}), [0.5, 0.5, 0.0]) == updates
    assert {name: value for name, value in trained.weights().items() if value} == {"feature0": updates * RATE}


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
    trained = Trained({"feature1": lead}, loss, update)
    kbest = [Hypothesis((), {"feature1": 1.0}, lead), Hypothesis((), {}, 0.0)]
    assert trained.learn(kbest, [1.0, 0.0]) == updates
    assert trained.weights()["feature1"] == lead + updates * RATE


def test_updates_that_cancel_restore_the_start() -> None:
    # In floating point, 3 steps of 0.1 up and 3 down again do not end at 0.
    trained = Trained({"feature0": 0.7}, "perceptron", "sentence", rate=0.1)
    for bleu in [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3:
        assert trained.learn(hypotheses({"feature0": 1.0}, {}), bleu) == 1
    assert trained.weights()["feature0"] == 0.7


@MANY
@given(st.integers(0, 2**32), st.sampled_from(["perceptron", "margin-perceptron"]), st.sampled_from(UPDATES))
def test_equals_plain_python_exactly(seed: int, loss: str, update: str) -> None:
    random = np.random.default_rng(seed)
    sentence = random_sentence(random, NAMES, exact=True)
    weights = {name: float(random.integers(-2, 3)) / 16 for name in (*NAMES, *DENSE_NAMES)}
    kbest = sentence.kbest(weights, 100)
    bleu = random.integers(6, size=len(kbest)).tolist()
    expected, updates = naive.update_pairs(weights, kbest, naive.all_pairs(bleu), loss, update, RATE)
    trained = Trained(weights, loss, update)
    assert trained.learn(kbest, bleu) == updates
    assert trained.weights() == expected


def test_shifted_feature_with_different_values() -> None:
    # In most translations, with different values in nearly all: more entries after the shift than before.
    kbest = hypotheses(*({"feature3": float(1 + i)} if i < 6 else {} for i in range(10)))
    trained, bleu = Trained({}, "perceptron", "sentence"), [float(i) for i in range(10)]
    weights, updates = naive.update_pairs({}, kbest, naive.all_pairs(bleu), "perceptron", "sentence", RATE)
    assert trained.learn(kbest, bleu) == updates == 45
    assert trained.weights()["feature3"] == weights["feature3"]
