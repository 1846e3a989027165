"""What a learner keeps from epoch to epoch besides the weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.learners import close, sentences, train

from itersel.cli.main import main
from itersel.config.learners import LEARNERS, AdaGrad, Perceptron
from itersel.learn.state import read_start, training_attributes, write_training
from itersel.learn.train import TrainSettings
from itersel.learn.weight_table import Memory, Start
from itersel.vectors.weights import make_weights


@pytest.mark.parametrize(
    ("regularization", "schedule"),
    [("none", "constant"), ("none", "1/t"), ("l1", "constant"), ("l1-cumulative", "constant")],
)
@pytest.mark.parametrize("name", ["perceptron", "adagrad"])
def test_training_continues_across_epochs(name: str, regularization: str, schedule: str) -> None:
    """Two consecutive epochs over the same sentences equal one epoch over all of them twice."""
    corpus = sentences(9, 5)
    learner = LEARNERS[name](
        pairs="all",
        average=True,
        bleu="nakov",
        regularization=regularization,
        strength=0.001,
        schedule=schedule,
        learning_rate=0.05,
    )
    first = train(corpus, learner)
    second = train(corpus, learner, first.state, epoch=2)
    whole = train(corpus * 2, learner)
    assert first.state is not None
    assert second.state is not None
    assert whole.state is not None
    assert close(second.state.weights.to_dict(), whole.state.weights.to_dict())
    halves = [part.weights.to_dict() for part in (first, second)]
    mean = {name: sum(part.get(name, 0.0) for part in halves) / 2 for name in halves[0] | halves[1]}
    assert close(mean, whole.weights.to_dict())


def test_state_of_adagrad() -> None:
    """Sums of squares are kept for features that are not in the shard, and for zero weights."""
    weights = make_weights({"elsewhere": 0.0, "feature1": 0.5})
    order = [name == "elsewhere" for name in weights.name.to_list()]
    memory = Memory(np.where(order, 4.0, 0.0), np.zeros(2))
    state = train(sentences(2), AdaGrad(pairs="all"), Start(weights, memory)).state
    assert state is not None
    assert state.memory is not None
    found = dict(zip(state.weights.name.to_list(), state.memory.squares.tolist(), strict=True))
    assert found["elsewhere"] == 4.0
    assert found["feature1"] > 0
    assert "elsewhere" not in train(sentences(2), Perceptron(), Start(weights)).weights.to_dict()


def test_adagrad_continues_from_a_file_but_not_from_mixed_weights(tmp_path: Path) -> None:
    """A shard that continues alone keeps its sums of squares; after mixing, they start at zero again."""
    learner = AdaGrad(pairs="all", bleu="nakov")
    result = train(sentences(3), learner)
    how = TrainSettings(k_best=15, learner=learner)
    write_training(tmp_path / "0.h5", result, training_attributes(how, result))
    found = read_start(tmp_path / "0.h5")
    assert result.state is not None
    assert result.state.memory is not None
    assert found.memory is not None
    assert found.steps == result.state.steps == 6
    assert found.memory.squares.tolist() == result.state.memory.squares.tolist()
    assert found.memory.squares.max() > 0
    expected = train(sentences(4), learner, result.state, epoch=2).weights.to_dict()
    assert train(sentences(4), learner, found, epoch=2).weights.to_dict() == expected
    (tmp_path / "list").write_text(f"{tmp_path / '0.h5'}\n")
    mix = ["mix", "--inputs", str(tmp_path / "list"), "--shards", "1", "--epoch", "1", "--mixing", "mean"]
    assert main([*mix, "--output", str(tmp_path / "v.h5"), "--matrix", str(tmp_path / "W.h5")]) == 0
    mixed = read_start(tmp_path / "v.h5")
    assert mixed.memory is None
    assert mixed.weights.to_dict() == result.weights.to_dict()
    assert train(sentences(4), learner, mixed, epoch=2).weights.to_dict() != expected
