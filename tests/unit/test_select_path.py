"""Path following compared with the pseudo-code, epoch by epoch as in the workflow, and its end."""

import functools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.damage import set_attributes
from tests.mixing import FIGURE_2, command, rows_of, run, write_shards
from tests.naive import oracle, selection
from tests.naive.learning import PAIRS, Bleu

from itersel.cli.main import main
from itersel.config.learners import LEARNERS
from itersel.config.learning_steps import TrainSettings
from itersel.config.settings import as_json
from itersel.learn.learners.margin_perceptron import MarginPerceptron
from itersel.learn.train import train_shard
from itersel.learn.training import provenance
from itersel.storage.hdf5 import read_arrays
from itersel.vectors.shard_weights import ShardState
from itersel.vectors.weights import (
    FORMAT,
    has_stopped,
    make_weights,
    read_itersel_weights,
    write_itersel_weights,
)

NAMES = [f"feature{i}" for i in range(12)]
# Not papineni: most of these translations would have BLEU 0, and those with the same BLEU are ranked by
# model scores, of which some are equal but for rounding. Means here and in the step round differently.
LEARNER = MarginPerceptron(learning_rate=2.0**-7, sentence_bleu="liang")
HOW = TrainSettings(learner=LEARNER, measure_loss=True)
LIMITS = ("first_threshold", "epsilon", "minimum_threshold")
# threshold of the first epoch, minimum
FIRST, LAST = 0.35, 0.02
EPOCHS = 7


def attributes(path):
    return read_arrays(path, FORMAT)[1]


def loss(sentences, weights):
    total, bleu = 0.0, Bleu(HOW.learner.sentence_bleu)
    for sentence in sentences:
        kbest = sentence.kbest(weights, HOW.k_best)
        quality = bleu.of_all([one.words for one in kbest], *sentence.references)
        for better, worse in PAIRS[HOW.learner.pairs](quality):
            total += max(0.0, 1.0 - (kbest[better].score - kbest[worse].score))
    return total


def random_corpus(seed):
    random = np.random.default_rng(seed)
    how = {"exact": False, "references": 1}
    return [[oracle.random_sentence(random, NAMES, **how) for _ in range(8)] for _ in range(3)]


def pass_on(folder, shard, epoch):
    """Run the step on weights of a path that has ended; reads neither shard nor model."""
    place = ["--settings", as_json(HOW), "--epoch", str(epoch), "--shard-number", str(shard)]
    files = ["--sentences", "none", "--language-model", "none", "--start", str(folder / "v.h5")]
    assert main(["train", *files, *place, "--output", str(folder / f"shard{shard}.h5")]) == 0


def follow(folder, corpus, path):
    """Train and mix epoch by epoch, as the workflow does; return the attributes of each v."""
    shards = [oracle.make_grammars(sentences, NAMES) for sentences in corpus]
    mixing = {"name": "path-following", **dict(zip(LIMITS, path, strict=True))}
    found, previous = [], []
    for epoch in range(1, EPOCHS + 1):
        for z, (sentences, shard) in enumerate(zip(corpus, shards, strict=True)):
            if found and found[-1]["stopped"]:
                pass_on(folder, z, epoch)
                continue
            start = None if epoch == 1 else ShardState(read_itersel_weights(folder / "v.h5"))
            decoder = oracle.OracleDecoder(sentences, shard)
            result = train_shard(shard, [decoder], start, HOW)
            place = provenance(replace(HOW, epoch=epoch, shard_number=z))
            write_itersel_weights(folder / f"shard{z}.h5", result.weights, {**place, "loss": result.loss})
        matrix = ["--matrix", str(folder / "W.h5")]
        assert run(folder, "--epoch", str(epoch), *previous, *matrix, **mixing) == 0
        previous = ["--previous", str(folder / "v.h5")]
        weights = read_itersel_weights(folder / "v.h5").to_dict()
        found.append({**attributes(folder / "v.h5"), "weights": weights})
        # the matrix has the same weights
        selected = {
            name: value for name, value in read_itersel_weights(folder / "W.h5").to_dict().items() if value
        }
        assert selected == weights
        assert attributes(folder / "W.h5") == {**attributes(folder / "v.h5"), "kind": "shard-matrix"}
    return found


# seeds of corpora, and epsilons: paths that end early, and paths that do not
@pytest.mark.parametrize(("seed", "epsilon", "ends"), [(1, 10.0, False), (2, 100.0, True), (3, 1000.0, True)])
def test_equals_the_pseudo_code(tmp_path, seed, epsilon, ends):
    corpus, path = random_corpus(seed), (FIRST, epsilon, LAST)
    train = functools.partial(oracle.train, how=HOW)
    weights, thresholds = selection.path_following(corpus, EPOCHS, train, loss, path)
    assert thresholds[-1] < thresholds[0]
    assert (len(thresholds) < EPOCHS) == ends
    found = follow(tmp_path, corpus, path)
    going = [one for one in found if not one["stopped"]]
    assert [one["epoch_threshold"] for one in going] == pytest.approx(thresholds)
    assert going == found[: len(going)]
    for one in found[len(thresholds) - 1 :]:
        assert one["weights"] == pytest.approx(weights, abs=1e-12)
        assert one["epoch_threshold"] == going[-1]["epoch_threshold"]
    assert len(weights) > 1


@pytest.fixture
def shards(tmp_path):
    """Return a function that writes the weights of figure 2 for an epoch, with a loss for each shard."""

    def write(epoch, losses, **more):
        paths = write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch, **more)
        for path, loss in zip(paths, losses, strict=True):
            if loss is not None:
                set_attributes(loss=loss)(Path(path))
        return tmp_path

    return write


def mixing(folder, epoch, *more, **changes):
    """Return the command that mixes an epoch, without an output of the epoch before."""
    previous = ["--previous", str((folder / "v.h5").rename(folder / "previous.h5"))] if epoch > 1 else []
    path = {"name": "path-following", "first_threshold": 6, "epsilon": 2, "minimum_threshold": 1} | changes
    return command(folder, "--epoch", str(epoch), *previous, *more, **path)


def test_figure_2(shards):
    """Columns with norms 7 and 5: the threshold falls from 6 to 4, and to 0.5, which ends the path."""
    folder = shards(1, (10.0, 20.0, 30.0))
    assert main(mixing(folder, 1)) == 0
    assert read_itersel_weights(folder / "v.h5").to_dict() == pytest.approx({"x0": 11 / 3})
    shards(2, (12.0, 15.0, 25.0))
    assert main(mixing(folder, 2)) == 0
    found = attributes(folder / "v.h5")
    assert json.loads(found["mixing"])["first_threshold"] == 6
    assert found["epoch_threshold"] == (60 - 52) / 2
    both = {"x0": 11 / 3, "x1": 7 / 3}
    assert read_itersel_weights(folder / "v.h5").to_dict() == pytest.approx(both)
    shards(3, (12.0, 15.0, 24.0))
    assert main(mixing(folder, 3)) == 0
    found = attributes(folder / "v.h5")
    assert (found["epoch_threshold"], found["loss"], found["stopped"]) == (4.0, 51.0, 1)
    assert read_itersel_weights(folder / "v.h5").to_dict() == pytest.approx(both)


@pytest.mark.parametrize(
    ("losses", "stopped", "facts"),
    [
        ((1.0, None, 1.0), 0, ("shard1.h5", "measure_loss")),
        ((1.0, 1.0, 1.0), 1, "shard0.h5"),
        ((1.0, 1.0, -1.0), 0, ("shard2.h5", "'itersel train'")),
    ],
)
def test_inconsistent_shards(shards, refused, losses, stopped, facts):
    refused(mixing(shards(1, losses, stopped=stopped), 1), facts)


def test_shard_that_was_trained_after_the_end(shards, refused):
    for epoch in (1, 2):
        folder = shards(epoch, (1.0, 1.0, 1.0))
        assert main(mixing(folder, epoch)) == 0
    assert has_stopped(folder / "v.h5")
    shards(3, (1.0, 1.0, 1.0))
    refused(mixing(folder, 3), "shard0.h5")


@pytest.mark.parametrize(
    ("changed", "value"),
    [("first_threshold", 7), ("epsilon", 3), ("minimum_threshold", 2), ("norm", "l0"), ("keep", ["dense"])],
)
def test_another_path(shards, refused, changed, value):
    folder = shards(1, (10.0, 20.0, 30.0))
    assert main(mixing(folder, 1)) == 0
    shards(2, (1.0, 1.0, 1.0))
    facts = ("previous.h5", changed)
    refused(mixing(folder, 2, **{changed: value}), facts)


def test_threshold_that_nothing_exceeds(shards, refused):
    """Without weights, the next epoch would not learn anything either."""
    folder = shards(1, (10.0, 20.0, 30.0))
    facts = 7
    refused(mixing(folder, 1, "--matrix", str(folder / "W.h5"), first_threshold=7), facts)
    assert main(mixing(folder, 1, keep=["x1"], first_threshold=7)) == 0


@pytest.mark.parametrize("name", ["epoch_threshold", "loss"])
@pytest.mark.parametrize("value", [None, "x", -1.0, float("inf"), 3])
def test_weights_without_the_state_of_the_path(shards, refused, name, value):
    folder = shards(1, (10.0, 20.0, 30.0))
    assert main(mixing(folder, 1)) == 0
    found = attributes(folder / "v.h5")
    del found[name]
    if value is not None:
        found[name] = value
    write_itersel_weights(folder / "v.h5", read_itersel_weights(folder / "v.h5"), found)
    shards(2, (1.0, 1.0, 1.0))
    refused(mixing(folder, 2), "previous.h5")


@pytest.mark.parametrize("name", ["adagrad", "margin-perceptron"])
def test_losses_of_two_epochs_are_of_the_same_pairs(name):
    """Also sampled pairs, so that unchanged weights have the same loss in every epoch."""
    [sentences, *_] = random_corpus(4)
    shard = oracle.make_grammars(sentences, NAMES)
    start = ShardState(make_weights({"feature1": 0.5, "WordPenalty": -0.25}))
    losses = set()
    for epoch in (1, 2, 3):
        how = TrainSettings(learner=LEARNERS[name](pairs="pro"), epoch=epoch, measure_loss=True)
        decoder = oracle.OracleDecoder(sentences, shard)
        losses.add(train_shard(shard, [decoder], start, how).loss)
    assert len(losses) == 1
