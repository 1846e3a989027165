"""Pairs, online learners, steps and regularisers, compared with plain Python that updates all weights."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.examples import MANY
from tests.naive import learning, oracle
from tests.naive.learning import PAIRS, Bleu, EagerWeights, Hypothesis, Vector, counts, formulas_of
from tests.refusals import input_error

from itersel.bleu.names import SENTENCE_BLEUS
from itersel.config.learners import LEARNERS, Online
from itersel.config.learning_steps import TrainSettings
from itersel.config.numbered import REGULARIZATIONS
from itersel.keys import name_in
from itersel.learn.learner_kernels import logistic_coefficients, solve_constraints
from itersel.learn.learners.adagrad import AdaGrad
from itersel.learn.learners.margin_perceptron import MarginPerceptron
from itersel.learn.learners.mira import Mira
from itersel.learn.learners.perceptron import UPDATES, Perceptron
from itersel.learn.pairs import make_pairs, pro_pairs
from itersel.learn.schedules import SCHEDULES
from itersel.learn.train import train_shard
from itersel.learn.training import Training
from itersel.vectors.shard_weights import ShardState
from itersel.vectors.weights import make_weights

RATE = 2.0**-6
NAMES = [f"feature{i}" for i in range(8)]
ALL_NAMES = [*oracle.DENSE_NAMES, *NAMES]
# "elsewhere" is not a feature of the grammars
START = {"feature2": 0.25, "LanguageModel": -0.5, "feature5": -0.0625, "elsewhere": 0.75}
# the better translation has the first features
ONE_PAIR = oracle.Sentence(((1, 2),), ((1, 2), (3,)), ({"feature0": 1.0}, {}))
STEEP = {"learning_rate": 1e308, "regularization": "l2", "strength_per_epoch": 0.1, "pairs": "all"}


def sentences(seed: int, count: int = 6, *, exact: bool = False) -> list[oracle.Sentence]:
    random = np.random.default_rng(seed)
    return [oracle.random_sentence(random, NAMES, exact=exact) for _ in range(count)]


def train(corpus, learner, start=None, threads=1, **options) -> Training:
    grammars = oracle.make_grammars(corpus, NAMES)
    decoders = [oracle.OracleDecoder(corpus, grammars) for _ in range(threads)]
    how = TrainSettings(k_best=15, learner=learner, **options)
    return train_shard(grammars, decoders, start or ShardState(make_weights(START)), how)


def assert_same(found: Training, expected: Training) -> None:
    """Check that all but the measured loss is identical."""
    assert found.weights.to_dict() == expected.weights.to_dict()
    for name in ("sentences", "pairs", "updates", "mean_quality_points", "stopped"):
        assert getattr(found, name) == getattr(expected, name), name
    assert (found.state is None) == (expected.state is None)
    if found.state is not None:
        assert found.state.weights.to_dict() == expected.state.weights.to_dict()
        ours, theirs = (
            [np.asarray(kept).tolist() for kept in one.state.memory or ()] for one in (found, expected)
        )
        assert ours == theirs


def close(found: Vector, expected: Vector) -> bool:
    """Whether lazy weights equal eager ones up to the rounding of sums of a few dozen terms."""
    return {name: found.get(name, 0.0) for name in expected} == pytest.approx(expected, rel=1e-9, abs=1e-12)


def eager(corpus: list[oracle.Sentence], learner, exact: bool = False) -> EagerWeights:
    """Train on a shard with weights that are always up to date."""
    state, bleu = (
        EagerWeights(START, [*ALL_NAMES, "elsewhere"], learner, len(corpus)),
        Bleu(learner.sentence_bleu),
    )
    for first in range(0, len(corpus), learner.delay):
        weights = dict(state.weights)
        for sentence in corpus[first : first + learner.delay]:
            kbest = sentence.kbest(weights, 15)
            words = bleu.words(*sentence.references)
            quality = bleu.of_all([one.words for one in kbest], *sentence.references)
            if not exact:
                assume(not is_close_call(sentence.kbest(weights, 100), sentence.references, weights))
            state.step(formulas_of(name_in(LEARNERS, learner)).direction(learner, kbest, quality, words))
    return state


def is_close_call(kbest: list[Hypothesis], references: tuple[tuple[int, ...], ...], weights: Vector) -> bool:
    """Whether rounding could decide which of two different translations leads or is better."""
    bleu = [Bleu("nakov").of(one.words, *references) for one in kbest]
    matches = [counts(one.words, *references) for one in kbest]
    return any(
        (any(weights.values()) and abs(one.score - other.score) < 1e-9 and one.features != other.features)
        or (bleu[i] > 0 and abs(bleu[i] - bleu[j]) < 1e-9 and matches[i] != matches[j])
        for (i, one), (j, other) in itertools.combinations(enumerate(kbest), 2)
    )


def keys_of(name: str, **wanted):
    """Return those of the wanted keys that a learner has, and that have an effect together."""
    known = {item.name for item in dataclasses.fields(LEARNERS[name])}
    if "regularization" in wanted:
        known -= {"strength_per_epoch" if wanted["regularization"] == "none" else "schedule"}
    return {key: value for key, value in wanted.items() if key in known}


@MANY
@given(
    seed=st.integers(0, 2**32),
    name=st.sampled_from(sorted(LEARNERS)),
    regularization=st.sampled_from(tuple(REGULARIZATIONS)),
    strength_per_epoch=st.sampled_from([1e-12, 2.0**-7, 2.0**-4, 0.1, 2.0]),
    schedule=st.sampled_from(tuple(SCHEDULES)),
    delay=st.integers(1, 4),
    average=st.booleans(),
    hope=st.sampled_from(["cost-diminished", "oracle"]),
    fear=st.sampled_from(["cost-augmented", "prediction"]),
)
def test_equals_plain_python(seed, name, **options) -> None:
    corpus = sentences(seed)
    learner = LEARNERS[name](
        **keys_of(name, **options, pairs="all", learning_rate=RATE, sentence_bleu="nakov")
    )
    expected, found = eager(corpus, learner), train(corpus, learner)
    assert close(found.weights.to_dict(), expected.average() if learner.average else expected.weights)
    if learner.average:
        assert close(found.state.weights.to_dict(), expected.weights)


@pytest.mark.parametrize("bleu", ["nakov", "chiang"])
@pytest.mark.parametrize("delay", [1, 3])
@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_loss_of_the_start(name: str, delay: int, bleu: str) -> None:
    """It covers all sentences with the start weights, and measuring it has no other effect."""
    corpus = sentences(7, 12)
    learner = LEARNERS[name](sentence_bleu=bleu, delay=delay, **keys_of(name, pairs="all"))
    found = train(corpus, learner, measure_loss=True)
    metric, expected = Bleu(bleu), 0.0
    for sentence in corpus:
        kbest, words = sentence.kbest(START, 15), metric.words(*sentence.references)
        quality = metric.of_all([one.words for one in kbest], *sentence.references)
        expected += formulas_of(name).loss(learner, kbest, quality, words)
    assert found.loss == pytest.approx(expected)
    assert found.loss > 0
    without = train(corpus, learner)
    assert without.loss is None
    assert_same(found, without)


@given(st.integers(0, 2**32), st.sampled_from(["l1", "l1-cumulative"]))
def test_lazy_equals_eager_to_the_last_bit(seed: int, regularization: str) -> None:
    """Without rounding, because rate and penalty of a step are powers of two, results must be identical."""
    corpus = sentences(seed, exact=True)
    learner = Perceptron(
        pairs="all",
        learning_rate=RATE,
        sentence_bleu="liang",
        regularization=regularization,
        strength_per_epoch=2.0**-8 * len(corpus),
    )
    expected = {name: value for name, value in eager(corpus, learner, exact=True).weights.items() if value}
    assert train(corpus, learner).weights.to_dict() == expected


@MANY
@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([0.001, 0.1, 10.0]))
def test_constraints_of_mira_are_satisfied_optimally(seed: int, count: int, c: float) -> None:
    """The Karush-Kuhn-Tucker conditions, which only the optimal update satisfies."""
    random = np.random.default_rng(seed)
    features, weights, cost = random.normal(size=(count, 5)), random.normal(size=5), random.random(count)
    score, hope = features @ weights, int(np.argmin(cost))
    coefficient, _ = solve_constraints(features @ features.T, score, cost, hope, c)
    dual = -coefficient
    dual[hope] = c - coefficient[hope]
    assert (dual >= -1e-12).all()
    assert dual.sum() == pytest.approx(c)
    after = features @ (weights + coefficient @ features)
    missed = cost - cost[hope] - (after[hope] - after)
    # only the most violated constraints contribute to the update
    assert missed[dual > 1e-9 * c].min() >= missed.max() - 1e-6


@pytest.mark.parametrize("c", [0.01, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_all_constraints_of_a_sentence(seed: int, c: float) -> None:
    [sentence] = sentences(seed, 1)
    kbest = sentence.kbest(START, 15)
    score = np.array([one.score for one in kbest])
    cost = np.array([1 - Bleu("nakov").of(one.words, *sentence.references) for one in kbest])
    rows = np.array([[one.features.get(name, 0.0) for name in ALL_NAMES] for one in kbest])
    coefficient, _ = solve_constraints(rows @ rows.T, score, cost, int(np.argmax(score - cost)), c)
    found = train([sentence], Mira(constraints="all", sentence_bleu="nakov", c=c)).weights.to_dict()
    step = [found.get(name, 0.0) - START.get(name, 0.0) for name in ALL_NAMES]
    assert step == pytest.approx(coefficient @ rows, abs=1e-4)


def test_leads_for_which_exp_overflows() -> None:
    coefficient, wrong = logistic_coefficients(np.array([1e4, 0.0]), np.array([[0, 1], [1, 0]]))
    assert (coefficient.tolist(), wrong) == ([-1.0, 1.0], 1)


@pytest.mark.parametrize("lead", [300.0, 350.0, 373.0, 400.0, 744.0, 1000.0])
def test_gradients_whose_square_underflows(lead: float) -> None:
    """A pair with such a lead is learned: AdaGrad takes no step, not an infinite one."""
    corpus = [oracle.Sentence(((1,),), ((1,), (2,)), ({"feature3": 1.0}, {}))]
    start, learner = {"feature3": lead}, AdaGrad(regularization="none", pairs="all", sentence_bleu="nakov")
    found = train(corpus, learner, ShardState(make_weights(start))).weights.to_dict()
    step = learner.learning_rate if math.exp(-lead) ** 2 > 0 else 0.0
    assert found == pytest.approx({"feature3": lead + step}, abs=1e-9, rel=0)


@pytest.mark.parametrize("name", LEARNERS)
def test_translations_without_bleu_teach_nothing(name: str) -> None:
    features = ({"feature0": 1.0}, {"feature1": 1.0}, {"feature2": 1.0})
    one = oracle.Sentence(((1, 2, 3, 4),), ((1, 2, 3), (4,), (0, 0, 0, 0, 0)), features)
    result = train([one], LEARNERS[name](sentence_bleu="papineni", regularization="none"))
    assert result.updates == 0
    assert result.weights.to_dict() == START


@pytest.mark.parametrize("name", LEARNERS)
def test_threads_make_no_difference(name: str) -> None:
    large = formulas_of(name).large_steps
    corpus, learner = sentences(5, 10), LEARNERS[name](delay=4, sentence_bleu="nakov", **large)
    one = train(corpus, learner).weights.to_dict()
    assert one == train(corpus, learner, threads=3).weights.to_dict()
    other = train(corpus, dataclasses.replace(learner, delay=1)).weights.to_dict()
    assert one != other, "the delay changes nothing: name larger steps in NAIVE of tests/naive/learning.py"


@pytest.mark.parametrize(
    ("learner", "value", "advice"),
    [
        *((LEARNERS[name](**STEEP), 1e300, "rate") for name in LEARNERS if keys_of(name, **STEEP) == STEEP),
        # MIRA takes large steps only if it takes large weights to make up for a cost
        (Mira(c=1e300), 1e-150, "C"),
    ],
)
def test_overflow_names_sentence_and_feature(learner: Online, value: float, advice: str) -> None:
    corpus = [oracle.Sentence(((1,),), ((2,), (1,)), ({"feature3": -value}, {"feature3": value}))]
    facts = (1, "'feature3'", advice)
    with input_error(facts):
        train(corpus, learner, ShardState(make_weights({})))


@MANY
@given(
    st.integers(0, 2**32),
    st.sampled_from(["perceptron", "margin-perceptron"]),
    st.sampled_from(UPDATES),
    st.sampled_from(sorted(PAIRS)),
    st.sampled_from(sorted(SENTENCE_BLEUS)),
)
def test_perceptrons_equal_plain_python_exactly(seed, name, update, pairs, bleu) -> None:
    """With features in multiples of 1/8 and a power of two as rate, leads of 0 and 1 are common."""
    corpus, random = sentences(seed, exact=True), np.random.default_rng(seed)
    start = {name: float(random.integers(-2, 3)) / 16 for name in (*ALL_NAMES, "elsewhere")}
    learner = LEARNERS[name](update=update, pairs=pairs, sentence_bleu=bleu, learning_rate=RATE)
    expected = oracle.train(corpus, start, TrainSettings(k_best=15, learner=learner))
    found = train(corpus, learner, ShardState(make_weights(start))).weights.to_dict()
    assert found == {name: value for name, value in expected.items() if value}


@pytest.mark.parametrize("lead", [0.875, 1.0])
def test_a_lead_of_the_margin_is_enough(lead: float) -> None:
    found = train(
        [ONE_PAIR], MarginPerceptron(learning_rate=RATE), ShardState(make_weights({"feature0": lead}))
    )
    assert found.weights.to_dict() == {"feature0": lead + (RATE if lead < 1 else 0)}


def test_updates_that_cancel_restore_the_start() -> None:
    # In floating point, 3 steps of 0.1 up and 3 down again do not end at 0.
    corpus = [ONE_PAIR] * 3 + [ONE_PAIR._replace(references=((3,),))] * 3
    found = train(corpus, MarginPerceptron(learning_rate=0.1), ShardState(make_weights({"feature0": 0.7})))
    assert found.updates == 6
    assert found.weights.to_dict() == {"feature0": 0.7}


def test_shifted_feature_with_different_values() -> None:
    # In most translations, with different values in nearly all: more entries after the shift than before.
    features = tuple({"feature3": float(1 + i)} if i < 6 else {} for i in range(10))
    sentence = oracle.Sentence((tuple(range(10)),), tuple(tuple(range(i)) for i in range(10)), features)
    learner = Perceptron(pairs="all", learning_rate=RATE, sentence_bleu="nakov")
    found = train([sentence], learner, ShardState(make_weights({})))
    assert found.updates == 45
    expected = oracle.train([sentence], {}, TrainSettings(k_best=15, learner=learner))
    assert found.weights.to_dict() == expected


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7]), min_size=1, max_size=40))
def test_equal_plain_python_in_order(bleu: list[float]) -> None:
    for strategy, plain in learning.PAIRS.items():
        found = make_pairs(strategy, np.array(bleu), (1,))
        assert found.flags.c_contiguous  # as kernels are compiled for
        assert (found.dtype, found.shape) == (np.int64, (len(found), 2))
        assert [tuple(pair) for pair in found.tolist()] == plain(bleu)


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.06, 0.2, 1.0]),
)
@example([0.5, 0.549], 1, 1.0)
@example([0.5, 0.551], 1, 1.0)
def test_pro_equals_plain_python(bleu: list[float], seed: int, most: float) -> None:
    raw = np.random.PCG64([seed]).random_raw(10_000).tolist()
    found = pro_pairs(np.array(bleu), (seed,), most)
    assert [tuple(pair) for pair in found.tolist()] == learning.pro_pairs(bleu, raw, most)
