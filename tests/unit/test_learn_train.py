"""Training on a shard for an epoch: counts, errors, and what is kept from part to part, epoch to epoch."""

import dataclasses
from itertools import chain
from unittest import mock

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.damage import set_attributes
from tests.naive import oracle
from tests.refusals import input_error
from tests.steps import settings
from tests.systems import itersel
from tests.text_grammars import write
from tests.unit.test_learn_learners import NAMES, START, assert_same, close, keys_of, sentences, train

from itersel.api import train_epoch
from itersel.cli.main import main
from itersel.config.learners import LEARNERS
from itersel.config.learning_steps import TrainSettings
from itersel.config.numbered import REGULARIZATIONS
from itersel.learn.learners.adagrad import AdaGrad
from itersel.learn.learners.perceptron import Perceptron
from itersel.learn.schedules import SCHEDULES
from itersel.learn.train import Part, train_parts, train_shard
from itersel.learn.training import write_training
from itersel.vectors.shard_weights import Memory, ShardState, read_start
from itersel.vectors.weights import make_weights, write_itersel_weights


def test_counts() -> None:
    corpus = [
        oracle.Sentence(((1, 2),), ((1, 2), (1, 3), (3,)), ({"feature0": 1.0}, {"feature1": 1.0}, {})),
        oracle.Sentence(((1, 2),), ((1, 2),), ({"feature0": 1.0},)),
    ]
    learner = Perceptron(learning_rate=2.0**-6, update="sequential", sentence_bleu="liang")
    result = train(corpus, learner, ShardState(make_weights({})))
    # pairs 0 > 1, 0 > 2, 1 > 2: the second one has no loss after the first
    assert result[2:5] == (2, 3, 2)
    # Liang's BLEU of a perfect translation of 2 words, twice: 1/16 + 1/8
    assert result.mean_quality_points == pytest.approx(100 * 3 / 16)
    assert result.weights.to_dict() == {"feature0": 2.0**-6}


def test_weights_are_sorted_and_none_is_zero() -> None:
    start = make_weights({"feature1": 0.0, "of another shard": 0.0, "a third": 1.0})
    found = train(sentences(3), Perceptron(), ShardState(start)).weights
    assert (found.key[1:] > found.key[:-1]).all()
    assert (found.value != 0).all()
    assert found.to_dict()["a third"] == 1.0
    assert "of another shard" not in found.to_dict()


def test_pro_depends_only_on_seed_epoch_and_shard() -> None:
    def run(**options: int):
        return train(sentences(5), Perceptron(sentence_bleu="lin", pairs="pro"), **options).weights.to_dict()

    assert run() == run()
    for other in ({"seed": 2}, {"epoch": 2}, {"shard_number": 2}):
        assert run(**other) != run()


def test_features_with_the_same_name_or_key() -> None:
    corpus, start = sentences(1), make_weights({"feature1": 1.0})
    decoder = oracle.OracleDecoder(corpus, oracle.make_grammars(corpus, NAMES))
    with input_error("'WordPenalty'"):
        train_shard(oracle.make_grammars(corpus, [*NAMES, "WordPenalty"]), [decoder], None, TrainSettings())
    start = start._replace(name=start.name._replace(data=start.name.data[::-1]))
    with input_error("'feature1'", "'1erutaef'"):
        train(corpus, Perceptron(), ShardState(start))


def load(corpus: list[oracle.Sentence]) -> Part:
    """Return a part whose table has only the features of its own sentences."""
    used = {name for one in corpus for features in one.features for name in features}
    grammars = oracle.make_grammars(corpus, sorted(used.difference(oracle.DENSE_NAMES)))
    return Part(grammars.sentence_count, lambda: (grammars, [oracle.OracleDecoder(corpus, grammars)]))


@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(0, 3), min_size=1, max_size=4),
    name=st.sampled_from(sorted(LEARNERS)),
    regularization=st.sampled_from(tuple(REGULARIZATIONS)),
    schedule=st.sampled_from(tuple(SCHEDULES)),
    average=st.booleans(),
    sentence_bleu=st.sampled_from(["nakov", "chiang"]),
)
def test_equals_one_part_with_all_sentences(seed, sizes, name, **options):
    """Results are bit-identical over two consecutive epochs."""
    random = np.random.default_rng(seed)
    # each part lacks some features
    parts = [
        [oracle.random_sentence(random, NAMES[place : place + 6], exact=False) for _ in range(size)]
        for place, size in enumerate(sizes)
    ]
    options |= {"pairs": "pro"} if name == "perceptron" else {}
    learner = LEARNERS[name](**keys_of(name, **options, strength_per_epoch=0.05))
    one = separate = ShardState(make_weights(START))
    for epoch in (1, 2):
        how = TrainSettings(k_best=15, learner=learner, epoch=epoch, measure_loss=True)
        expected = train_parts([load(list(chain(*parts)))], one, how)
        found = train_parts([load(part) for part in parts], separate, how)
        assert_same(found, expected)
        assert found.loss == expected.loss
        one = expected.state or ShardState(expected.weights)
        separate = found.state or ShardState(found.weights)


@pytest.mark.parametrize(
    ("regularization", "schedule"),
    [("none", "constant"), ("none", "1/t"), ("l1", "constant"), ("l1-cumulative", "constant")],
)
@pytest.mark.parametrize("name", ["perceptron", "adagrad"])
def test_training_continues_across_epochs(name: str, regularization: str, schedule: str) -> None:
    """Two consecutive epochs over the same sentences equal one epoch over all of them twice."""
    corpus = sentences(9, 5)
    options = keys_of(name, regularization=regularization, strength_per_epoch=0.005, schedule=schedule)
    learner = LEARNERS[name](pairs="all", average=True, sentence_bleu="nakov", learning_rate=0.05, **options)
    first = train(corpus, learner)
    second = train(corpus, learner, first.state, epoch=2)
    if "strength_per_epoch" in options:
        # the whole is one epoch with the sentences of two
        learner = dataclasses.replace(learner, strength_per_epoch=2 * options["strength_per_epoch"])
    whole = train(corpus * 2, learner)
    assert close(second.state.weights.to_dict(), whole.state.weights.to_dict())
    halves = [part.weights.to_dict() for part in (first, second)]
    mean = {name: sum(part.get(name, 0.0) for part in halves) / 2 for name in halves[0] | halves[1]}
    assert close(mean, whole.weights.to_dict())


@pytest.mark.parametrize("name", ["perceptron", "adagrad"])
def test_cumulative_l1_counts_from_the_mixed_weights(name: str, tmp_path) -> None:
    """Penalties of epochs before the last mixing are not due again, in files either."""
    corpus = sentences(9, 5)
    how = {"pairs": "all", "sentence_bleu": "nakov", "learning_rate": 0.05, "regularization": "l1-cumulative"}
    learner = LEARNERS[name](**how, strength_per_epoch=0.05)
    mixed = ShardState(make_weights(START))
    second = train(corpus, learner, mixed, epoch=2)
    write_training(tmp_path / "0.h5", second, TrainSettings(learner=learner, epoch=2))
    state = read_start(tmp_path / "0.h5", 3)
    assert state.memory.owed == 0.05

    third = train(corpus, learner, state, epoch=3)
    whole = train(corpus * 2, dataclasses.replace(learner, strength_per_epoch=0.1), mixed)
    assert close(third.weights.to_dict(), whole.weights.to_dict())


def test_an_epoch_without_sentences_owes_nothing() -> None:
    learner = Perceptron(regularization="l1-cumulative", strength_per_epoch=0.5)
    assert train([], learner).state.memory.owed == 0
    assert train(sentences(2), learner).state.memory.owed == 0.5


def test_state_of_adagrad() -> None:
    """Sums of squares are kept for features that are not in the shard, and for zero weights."""
    weights = make_weights({"elsewhere": 0.0, "feature1": 0.5})
    squares = np.array([4.0 * (name == "elsewhere") for name in weights.name.to_list()])
    state = train(sentences(2), AdaGrad(pairs="all"), ShardState(weights, Memory(squares, np.zeros(2)))).state
    found = dict(zip(state.weights.name.to_list(), state.memory.squares.tolist(), strict=True))
    assert found["elsewhere"] == 4.0
    assert found["feature1"] > 0
    assert "elsewhere" not in train(sentences(2), Perceptron(), ShardState(weights)).weights.to_dict()


@pytest.mark.parametrize("trained", [1, 2])
def test_state_starts_only_the_next_epoch(tmp_path, capsys, trained) -> None:
    """Cumulative l1 would count from a different step than the penalties paid so far."""
    learner = Perceptron(regularization="l1-cumulative", strength_per_epoch=0.003)
    path = tmp_path / "0.h5"
    write_training(path, train(sentences(3), learner), TrainSettings(learner=learner, epoch=trained))
    assert read_start(path, trained + 1).steps
    for epoch in (1, 2, 3, 4):
        if epoch == trained + 1:
            continue
        with input_error("0.h5", trained, epoch):
            read_start(path, epoch)
        files = ["--sentences", tmp_path / "none", "--output", tmp_path / "x.h5", "--start", path]
        assert main(["train", *map(str, files), "--epoch", str(epoch)]) != 0
        assert "0.h5" in capsys.readouterr().err
    state = train(sentences(3), learner).state
    second, again = (train(sentences(4), learner, state, epoch=epoch).weights for epoch in (2, 1))
    assert second.to_dict() == again.to_dict()


@pytest.mark.parametrize(
    "damage", [{"steps": "6"}, {"steps": -1}, {"owed": "none"}, {"owed": -0.1}, {"owed": np.nan}]
)
def test_damaged_state(tmp_path, damage) -> None:
    learner = AdaGrad(pairs="all")
    path = tmp_path / "0.h5"
    write_training(path, train(sentences(3), learner), TrainSettings(learner=learner))
    set_attributes(**damage)(path)
    with input_error("0.h5"):
        read_start(path, 2)


def test_adagrad_continues_from_a_file_but_not_from_mixed_weights(tmp_path) -> None:
    """A shard that continues alone keeps its sums of squares; after mixing, they start at zero again."""
    learner = AdaGrad(pairs="all", sentence_bleu="nakov")
    result = train(sentences(3), learner)
    write_training(tmp_path / "0.h5", result, TrainSettings(k_best=15, learner=learner))
    found = read_start(tmp_path / "0.h5", 2)
    assert found.steps == result.state.steps == 6
    assert found.memory.squares.tolist() == result.state.memory.squares.tolist()
    assert found.memory.squares.max() > 0
    expected = train(sentences(4), learner, result.state, epoch=2).weights.to_dict()
    assert train(sentences(4), learner, found, epoch=2).weights.to_dict() == expected
    files = ["--inputs", write(tmp_path / "list", f"{tmp_path / '0.h5'}"), "--output", tmp_path / "v.h5"]
    itersel("step", "mix", *files, "--matrix", tmp_path / "W.h5", *settings(mixing={"name": "mean"}))
    mixed = read_start(tmp_path / "v.h5", 2)
    assert mixed.memory is None
    assert mixed.weights.to_dict() == result.weights.to_dict()
    assert train(sentences(4), learner, mixed, epoch=2).weights.to_dict() != expected


@pytest.mark.parametrize("stopped", [0, 1])
@pytest.mark.parametrize("epoch", [1, 2])
@pytest.mark.parametrize("measure_loss", [False, True])
def test_a_path_that_has_ended_starts_no_epoch(tmp_path, stopped, epoch, measure_loss) -> None:
    """Except the first, which may start from another experiment; Python passes the weights on, too."""
    path, how = tmp_path / "v.h5", TrainSettings(epoch=epoch, measure_loss=measure_loss)
    write_itersel_weights(path, make_weights({"feature0": 0.5}), {"stopped": stopped})
    start = read_start(path, how.epoch, follows_path=how.measure_loss)
    assert start.weights.to_dict() == {"feature0": 0.5}
    assert start.stopped == (stopped == 1 and epoch > 1 and measure_loss)
    if start.stopped:
        passed = train_epoch(None, None, path, how)
        write_training(tmp_path / "0.h5", passed, how)
        files = [
            "--sentences",
            "none",
            "--language-model",
            "none",
            "--start",
            path,
            "--output",
            tmp_path / "1.h5",
        ]
        place = ["--epoch", epoch, *settings(measure_loss=True)]
        itersel("train", *files, *place)
        assert (tmp_path / "0.h5").read_bytes() == (tmp_path / "1.h5").read_bytes()


@pytest.mark.parametrize("has_state", [False, True])
@pytest.mark.parametrize("measure_loss", [False, True])
def test_start_weights_are_opened_once(tmp_path, monkeypatch, has_state, measure_loss) -> None:
    learner = AdaGrad(pairs="all") if has_state else Perceptron()
    path, how = tmp_path / "0.h5", TrainSettings(learner=learner, measure_loss=measure_loss)
    write_training(path, train(sentences(3), learner), how)
    opening = mock.Mock(side_effect=h5py.File)
    monkeypatch.setattr(h5py, "File", opening)
    start = read_start(path, 2, follows_path=how.measure_loss)
    assert (start.memory is not None) == has_state
    assert opening.call_count == 1
