"""Path following: against the pseudo-code, epoch by epoch as the workflow runs it; and where it stops."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.mixing import FIGURE_2, attributes_of, rows_of, run
from tests.naive import oracle, selection
from tests.naive.learning import PAIRS, Bleu
from tests.naive.selection import Vector

from itersel.config.learners import MarginPerceptron
from itersel.learn.feature_table import Start
from itersel.learn.state import has_stopped
from itersel.learn.train import TrainSettings, train_shard
from itersel.storage.hdf5 import read_header
from itersel.vectors.weights import FORMAT, make_weights, read_weights, write_weights

NAMES = [f"feature{i}" for i in range(12)]
HOW = TrainSettings(learner=MarginPerceptron(learning_rate=2.0**-7))
PATH = ["--mixing", "path-following"]


def attributes(path: Path) -> dict:
    with h5py.File(path) as stream:
        return read_header(stream, FORMAT, path).attributes


def loss(sentences: list[oracle.Sentence], weights: Vector) -> float:
    total, bleu = 0.0, Bleu(HOW.learner.bleu)
    for sentence in sentences:
        kbest = sentence.kbest(weights, HOW.k_best)
        scores = bleu.score_all([one.words for one in kbest], sentence.reference)
        for better, worse in PAIRS[HOW.learner.pairs](scores):
            total += max(0.0, 1.0 - (kbest[better].score - kbest[worse].score))
    return total


def follow(folder: Path, corpus: list[list[oracle.Sentence]], epochs: int, path: tuple) -> list[dict]:
    """Train and mix epoch by epoch, as the pipeline does; return what each v says of itself."""
    shards = [oracle.make_shard(sentences, NAMES) for sentences in corpus]
    limits = [word for name, value in zip(LIMITS, path, strict=True) for word in (name, str(value))]
    found, previous = [], []
    for epoch in range(1, epochs + 1):
        stopped = epoch > 1 and has_stopped(folder / "v.h5")
        for z, (sentences, shard) in enumerate(zip(corpus, shards, strict=True)):
            output = folder / f"shard{z}.h5"
            if stopped:
                write_weights(
                    output, read_weights(folder / "v.h5"), {**attributes_of(z, epoch), "stopped": 1}
                )
                continue
            start = None if epoch == 1 else Start(read_weights(folder / "v.h5"))
            decoder = oracle.OracleDecoder(sentences, shard)
            result = train_shard(shard, [decoder], start, HOW, measure_loss=True)
            write_weights(output, result.weights, {**attributes_of(z, epoch), "loss": result.loss})
        matrix = ["--matrix", str(folder / "W.h5")]
        assert run(folder, *PATH, *limits, "--epoch", str(epoch), *previous, *matrix) == 0
        previous = ["--previous", str(folder / "v.h5")]
        found.append({**attributes(folder / "v.h5"), "weights": read_weights(folder / "v.h5").to_dict()})
        assert attributes(folder / "W.h5")["stopped"] == found[-1]["stopped"]
    return found


LIMITS = ("--threshold", "--epsilon", "--minimum")


@pytest.mark.parametrize("epsilon", [10.0, 100.0, 1000.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_equals_the_pseudo_code(tmp_path, seed, epsilon):
    random = np.random.default_rng(seed)
    corpus = [[oracle.random_sentence(random, NAMES, exact=False) for _ in range(8)] for _ in range(3)]
    epochs, path = 7, (0.35, epsilon, 0.02)

    def train(sentences: list[oracle.Sentence], weights: Vector) -> Vector:
        return oracle.train(sentences, weights, HOW)

    weights, thresholds = selection.path_following(corpus, epochs, train, loss, path)
    found = follow(tmp_path, corpus, epochs, path)
    going = [one for one in found if not one["stopped"]]
    assert [one["threshold"] for one in going] == pytest.approx(thresholds)
    assert going == found[: len(going)]
    for one in found[len(thresholds) - 1 :]:
        assert one["weights"] == pytest.approx(weights, abs=1e-12)
    assert len(weights) > 1


def test_some_paths_fall_and_some_stop():
    """Or the test before this one would not test much."""
    kinds = set()
    for seed in (1, 2, 3):
        random = np.random.default_rng(seed)
        corpus = [[oracle.random_sentence(random, NAMES, exact=False) for _ in range(8)] for _ in range(3)]
        for epsilon in (10.0, 100.0, 1000.0):
            _, used = selection.path_following(
                corpus, 7, lambda s, w: oracle.train(s, w, HOW), loss, (0.35, epsilon, 0.02)
            )
            kinds.add(("falls" if used[-1] < used[0] else "is constant", len(used) < 7))
    assert kinds == {("falls", True), ("falls", False)}


@pytest.fixture
def shards(tmp_path):
    """Return what writes the weights of figure 2 as those of an epoch, with a loss for each shard."""

    def write(epoch: int, losses: tuple, **more: int) -> Path:
        for z, (weights, one) in enumerate(zip(rows_of(FIGURE_2[12]), losses, strict=True)):
            seen = {} if one is None else {"loss": one}
            nonzero = {name: value for name, value in weights.items() if value}
            path = tmp_path / f"shard{z}.h5"
            write_weights(path, make_weights(nonzero), {**attributes_of(z, epoch), **seen, **more})
        return tmp_path

    return write


def mix_epoch(folder: Path, epoch: int, *more: str) -> int:
    previous = ["--previous", str(folder / "v.h5")] if epoch > 1 else []
    limits = ["--threshold", "6", "--epsilon", "2", "--minimum", "1"]
    return run(folder, *PATH, *limits, "--epoch", str(epoch), *previous, *more)


def test_figure_2(shards):
    """Columns with norms 7 and 5: the threshold falls from 6 to 4, then to 0.5, which ends the path."""
    folder = shards(1, (10.0, 20.0, 30.0))
    assert mix_epoch(folder, 1) == 0
    assert read_weights(folder / "v.h5").to_dict() == pytest.approx({"x0": 11 / 3})
    shards(2, (12.0, 15.0, 25.0))
    assert mix_epoch(folder, 2) == 0
    assert attributes(folder / "v.h5")["threshold"] == (60 - 52) / 2
    both = {"x0": 11 / 3, "x1": 7 / 3}
    assert read_weights(folder / "v.h5").to_dict() == pytest.approx(both)
    shards(3, (12.0, 15.0, 24.0))
    assert mix_epoch(folder, 3) == 0
    found = attributes(folder / "v.h5")
    assert (found["threshold"], found["loss"], found["stopped"]) == (0.5, 51.0, 1)
    assert read_weights(folder / "v.h5").to_dict() == pytest.approx(both)


@pytest.mark.parametrize(
    ("losses", "more", "message"),
    [
        ((1.0, None, 1.0), {}, "shard1.h5: has no loss; train the shard with --measure-loss"),
        ((1.0, 1.0, 1.0), {"stopped": 1}, "shard0.h5: was not trained, but training goes on"),
        ((1.0, 1.0, -1.0), {}, "shard2.h5: damaged or not written by 'itersel train'"),
    ],
)
def test_shards_that_do_not_fit(shards, capsys, losses, more, message):
    folder = shards(1, losses, **more)
    assert mix_epoch(folder, 1) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "v.h5").exists()


def test_shard_that_was_trained_after_the_end(shards, capsys):
    folder = shards(1, (1.0, 1.0, 1.0))
    assert mix_epoch(folder, 1) == 0
    shards(2, (1.0, 1.0, 1.0))
    assert mix_epoch(folder, 2) == 0
    assert has_stopped(folder / "v.h5")
    shards(3, (1.0, 1.0, 1.0))
    assert mix_epoch(folder, 3) == 1
    assert (
        "shard0.h5: was trained, but training has stopped after the epoch before" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--threshold", "1"], "needs --threshold, --epsilon and --minimum alone"),
        (
            ["--select", "3", "--epsilon", "1", "--minimum", "0"],
            "needs --threshold, --epsilon and --minimum alone",
        ),
        (["--threshold", "1", "--epsilon", "1", "--minimum", "2"], "--minimum is above --threshold"),
    ],
)
def test_options_that_do_not_fit(shards, capsys, options, message):
    folder = shards(1, (1.0, 1.0, 1.0))
    assert run(folder, *PATH, "--epoch", "1", *options) == 1
    assert message in capsys.readouterr().err


def test_another_path(shards, capsys):
    folder = shards(1, (10.0, 20.0, 30.0))
    assert mix_epoch(folder, 1) == 0
    shards(2, (1.0, 1.0, 1.0))
    limits = ["--threshold", "6", "--epsilon", "3", "--minimum", "1"]
    assert run(folder, *PATH, *limits, "--epoch", "2", "--previous", str(folder / "v.h5")) == 1
    assert "v.h5: was mixed with another --epsilon; mix that epoch again" in capsys.readouterr().err
