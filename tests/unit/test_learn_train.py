"""Training on a shard for one epoch, with a decoder that ranks fixed lists of translations."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import learning as naive
from tests.naive import oracle

from itersel.config.learners import LEARNERS, UPDATES, Learner, MarginPerceptron, Mira, Perceptron
from itersel.errors import InputError
from itersel.learn.sentence_bleu import VARIANTS
from itersel.learn.train import TrainSettings, train_shard
from itersel.learn.weight_table import Start
from itersel.vectors.weights import make_weights

NAMES = [f"feature{i}" for i in range(8)]
RATE = 2.0**-6


def sentences(seed: int, count: int = 6, *, exact: bool = True) -> list[oracle.Sentence]:
    random = np.random.default_rng(seed)
    return [oracle.random_sentence(random, NAMES, exact=exact) for _ in range(count)]


def nonzero(weights: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in weights.items() if value}


@given(
    st.integers(0, 2**32),
    st.sampled_from(["perceptron", "margin-perceptron"]),
    st.sampled_from(UPDATES),
    st.sampled_from(sorted(naive.PAIRS)),
    st.sampled_from(sorted(VARIANTS)),
)
def test_equals_plain_python_exactly(seed: int, loss: str, update: str, pairs: str, bleu: str) -> None:
    corpus = sentences(seed)
    learner = LEARNERS[loss](update=update, pairs=pairs, bleu=bleu, learning_rate=RATE)
    how = TrainSettings(k_best=15, learner=learner)
    start = {"feature2": 0.25, "LanguageModel": -0.5, "of another shard": 0.125}
    shard = oracle.make_shard(corpus, NAMES)
    result = train_shard(shard, [oracle.OracleDecoder(corpus, shard)], Start(make_weights(start)), how)
    assert result.weights.to_dict() == nonzero(oracle.train(corpus, start, how))


def test_counts() -> None:
    corpus = [
        oracle.Sentence(((1, 2),), ((1, 2), (1, 3), (3,)), ({"feature0": 1.0}, {"feature1": 1.0}, {})),
        oracle.Sentence(((1, 2),), ((1, 2),), ({"feature0": 1.0},)),
    ]
    shard = oracle.make_shard(corpus, NAMES)
    settings = TrainSettings(learner=Perceptron(learning_rate=RATE, update="sequential"))
    result = train_shard(shard, [oracle.OracleDecoder(corpus, shard)], None, settings)
    # pairs 0 > 1, 0 > 2, 1 > 2: the second one has no loss after the first
    assert result[2:5] == (2, 3, 2)
    # Liang's BLEU of a perfect translation of 2 words, twice: 1/16 + 1/8
    assert result.mean_bleu == pytest.approx(3 / 16)
    assert result.weights.to_dict() == {"feature0": RATE}


def test_weights_are_sorted_and_none_is_zero() -> None:
    corpus = sentences(3)
    shard = oracle.make_shard(corpus, NAMES)
    start = make_weights({"feature1": 0.0, "of another shard": 0.0, "a third": 1.0})
    result = train_shard(shard, [oracle.OracleDecoder(corpus, shard)], Start(start), TrainSettings())
    key = result.weights.key
    assert (key[1:] > key[:-1]).all()
    assert (result.weights.value != 0).all()
    assert result.weights.to_dict()["a third"] == 1.0
    assert "of another shard" not in result.weights.to_dict()


def test_pro_depends_only_on_epoch_and_shard() -> None:
    corpus = sentences(5, exact=False)
    shard = oracle.make_shard(corpus, NAMES)

    def run(how: TrainSettings) -> dict[str, float]:
        return train_shard(shard, [oracle.OracleDecoder(corpus, shard)], None, how).weights.to_dict()

    how = TrainSettings(learner=Perceptron(pairs="pro"))
    assert run(how) == run(how)
    for other in ({"seed": 2}, {"epoch": 2}, {"shard": 2}):
        assert run(dataclasses.replace(how, **other)) != run(how)


def test_shard_without_references() -> None:
    shard = oracle.make_shard(sentences(1), NAMES)
    shard = dataclasses.replace(shard, reference_offset=np.zeros(0, np.int64))
    with pytest.raises(InputError, match="no references"):
        train_shard(shard, [oracle.OracleDecoder([], shard)], None, TrainSettings())


def test_dense_name_among_the_sparse_ones() -> None:
    corpus = sentences(1)
    shard = oracle.make_shard(corpus, [*NAMES, "WordPenalty"])
    with pytest.raises(InputError, match="'WordPenalty' is both a dense and a sparse feature"):
        train_shard(shard, [oracle.OracleDecoder(corpus, shard)], None, TrainSettings())


def test_two_names_of_one_key() -> None:
    corpus = sentences(1)
    shard = oracle.make_shard(corpus, NAMES)
    start = make_weights({"feature1": 1.0})
    start = start._replace(name=start.name._replace(data=start.name.data[::-1]))
    with pytest.raises(InputError, match="'feature1' and '1erutaef' have the same 64-bit key"):
        train_shard(shard, [oracle.OracleDecoder(corpus, shard)], Start(start), TrainSettings())


@pytest.mark.parametrize(
    ("learner", "start", "advice"),
    # MIRA takes large steps only if it has large weights to correct
    [
        (MarginPerceptron(learning_rate=1e308), 0.0, "learning rate"),
        (Mira(c=1e300, hope="oracle"), 1e12, "C"),
    ],
)
def test_overflow(learner: Learner, start: float, advice: str) -> None:
    corpus = sentences(1)
    shard = oracle.make_shard(corpus, NAMES)
    weights = Start(make_weights({name: start * (-1) ** i for i, name in enumerate(NAMES)}))
    decoders = [oracle.OracleDecoder(corpus, shard)]
    with pytest.raises(InputError, match=f"the weight of '.*' overflows; choose a smaller {advice}$"):
        train_shard(shard, decoders, weights, TrainSettings(learner=learner))
