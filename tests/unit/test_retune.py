"""Retuning mixed weights: summed sparse features, line searches along given directions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import tuning as naive
from tests.naive.tuning import Sentence
from tests.refusals import input_error
from tests.tuning import DENSE_NAMES, SPARSE_NAMES, random_sentences, write_file

from itersel.config.learning_steps import TuneSettings
from itersel.config.tuners import TUNERS
from itersel.lists.joining import find_tuning_files, join_files
from itersel.tune.iteration import tune
from itersel.tune.problem import ListProblem
from itersel.tune.sums import sparse_sums
from itersel.tune.tuners.line_search import LineSearch
from itersel.vectors.weights import make_weights, read_itersel_weights

PERFECT = naive.Translation((60, 59, 58, 57), 60, dict.fromkeys(DENSE_NAMES, 0.0))
TUNED = [kind() for kind in TUNERS.values() if not kind.reads_forests]
TUNED += [LineSearch(), LineSearch(("dense", "step"))]


def random_weights(seed):
    """Return weights in multiples of 1/16, so that scores are exact."""
    values = np.random.default_rng(seed).integers(-16, 17, len(DENSE_NAMES) + len(SPARSE_NAMES))
    weights = dict(zip((*DENSE_NAMES, *SPARSE_NAMES), (values / 16).tolist(), strict=True))
    return {name: value for name, value in weights.items() if value} | {"elsewhere": 0.5}


def tuned(folder, how, sentences, start_weights, epoch_start=None):
    """Return the weights of retuning on lists, and the BLEU that it reports for them, 0 to 1."""
    path = write_file(folder / "lists.h5", sentences)
    weights = {
        "start_weights": make_weights(start_weights),
        "epoch_start": None if epoch_start is None else make_weights(epoch_start),
    }
    found = tune(TuneSettings(how, retune=True), [path], folder / "out.h5", **weights)
    return read_itersel_weights(folder / "out.h5").to_dict(), found.quality


@given(seed=st.integers(0, 2**32), how=st.sampled_from(TUNED), has_step=st.booleans())
def test_weights_have_the_reported_bleu(tmp_path_factory, seed, how, has_step):
    sentences = random_sentences(seed, count=6)
    start_weights, epoch_start = random_weights(seed), random_weights(seed + 1) if has_step else None
    folder = tmp_path_factory.mktemp("tuned")
    if how.searches_lines and naive.bleu_of_weights(sentences, start_weights) == 0.0:
        sentences = [*sentences, Sentence((60,), [PERFECT])]
    weights, bleu = tuned(folder, how, sentences, start_weights, epoch_start)
    # if translations have equal scores up to rounding, either may be chosen
    scores = [
        sorted((naive.dot(weights, one.features) for one in each.translations), reverse=True)
        for each in sentences
    ]
    if all(len(each) == 1 or each[0] - each[1] > 1e-6 for each in scores):
        assert naive.bleu_of_weights(sentences, weights) == pytest.approx(bleu, abs=1e-12)
    if how.searches_lines:
        assert bleu >= naive.bleu_of_weights(sentences, start_weights) - 1e-9


@pytest.mark.parametrize("how", [kind for kind in TUNED if kind != LineSearch(("dense", "step"))], ids=str)
def test_sparse_weights_keep_their_ratios(tmp_path, how):
    start_weights = random_weights(5)
    weights, _ = tuned(tmp_path, how, random_sentences(5, count=8), start_weights)
    sparse = [name for name in start_weights if name not in DENSE_NAMES]
    factors = {weights.get(name, 0.0) / start_weights[name] for name in sparse}
    assert max(factors) == pytest.approx(min(factors))


@given(seed=st.integers(0, 2**32))
def test_line_search_finds_the_best_point_of_a_line(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("line")
    sentences, start_weights = random_sentences(seed), random_weights(seed)
    expected = max(bleu for _, bleu in naive.bleu_along_line(sentences, start_weights, {"WordPenalty": 1.0}))
    if expected == 0.0:
        with input_error("BLEU", 0):
            tuned(folder, LineSearch(("WordPenalty",)), sentences, start_weights)
        return
    weights, bleu = tuned(folder, LineSearch(("WordPenalty",)), sentences, start_weights)
    others = {name: value for name, value in weights.items() if name != "WordPenalty"}
    assert others == {name: value for name, value in start_weights.items() if name != "WordPenalty"}
    assert bleu == pytest.approx(expected, abs=1e-7)


def test_the_step_from_the_previous_weights(tmp_path):
    # the good translation has the feature that only the previous epoch favoured
    zeros = dict.fromkeys(DENSE_NAMES, 0.0)
    good = naive.Translation((6, 5, 4, 3), 6, {**zeros, "feature0": 1.0})
    bad = naive.Translation((6, 2, 1, 1), 6, {**zeros, "feature1": 1.0})
    sentences = [Sentence((6,), [bad, good])]
    start_weights, epoch_start = {"feature1": 1.0}, {"feature0": 1.0}
    weights, bleu = tuned(tmp_path, LineSearch(("step",)), sentences, start_weights, epoch_start)
    assert bleu == 1.0
    # points on the line are w = (-x) epoch_start + (1 + x) start_weights
    assert weights["feature0"] + weights["feature1"] == pytest.approx(1.0)
    assert weights["feature0"] > weights["feature1"]
    unmoved, bleu = tuned(tmp_path, LineSearch(("step",)), sentences, start_weights)
    assert unmoved == start_weights
    assert bleu < 1.0


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 2.0]))
def test_columns_score_the_same_as_their_weights(tmp_path_factory, seed, factor, start_factor):
    sentences = random_sentences(seed)
    start_weights, epoch_start = (make_weights(random_weights(one)) for one in (seed, seed + 1))
    sums = sparse_sums(start_weights, epoch_start)
    files = find_tuning_files([write_file(tmp_path_factory.mktemp("x") / "a.h5", sentences)], 1, range(1, 2))
    problem = ListProblem.of_table(join_files(files), start_weights, sums)
    value = problem.start
    assert value[-2:].tolist() == [1.0, 0.0]
    value[-2:] = factor, start_factor
    named = problem.weights(value).to_dict()
    scores = [naive.dot(named, one.features) for each in sentences for one in each.translations]
    # duplicate translations are merged
    assert set((problem.table.dense @ value).tolist()) == set(scores)


def test_a_line_without_bends(tmp_path):
    one = naive.Translation((6, 5, 4, 3), 6, dict.fromkeys(DENSE_NAMES, 1.0))
    start_weights = {"WordPenalty": -0.25, "feature0": 1.0}
    weights, bleu = tuned(tmp_path, LineSearch(("dense",)), [Sentence((8,), [one])], start_weights)
    assert weights == start_weights
    assert bleu == pytest.approx(math.exp(1 - 8 / 6) * math.prod([1.0] * 4))
