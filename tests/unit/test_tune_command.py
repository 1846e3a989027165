"""`itersel step kbest` and `itersel step tune`: files, merging, provenance, bad input."""

import itertools
import json

import numpy as np
import pytest
from tests.naive.tuning import Sentence, Translation, bleu_of_weights
from tests.refusals import input_error
from tests.tuning import DENSE_NAMES, LIST_TUNERS, random_sentences, tune_command, write_file, write_run

from itersel.cli.main import main
from itersel.config.learning_steps import TuneSettings
from itersel.config.tuners import TUNERS
from itersel.lists.joining import find_tuning_files, join_files
from itersel.storage.hdf5 import read_arrays
from itersel.tune.iteration import tune
from itersel.tune.ranking import draw_pairs, fit_ranking, pair_matrix
from itersel.tune.tuners.kbest_mira import KBestMira
from itersel.tune.tuners.mert import Mert
from itersel.tune.tuners.pro import Pro
from itersel.vectors.weights import FORMAT as WEIGHTS
from itersel.vectors.weights import make_weights, read_itersel_weights

NOT_DENSE = ("'Words'", "LanguageModel", "WordPenalty")
RETUNED = {"retune": True}


@pytest.mark.parametrize("tuner", LIST_TUNERS)
def test_same_bytes_for_any_order_of_files(tmp_path, tuner):
    paths = write_run(tmp_path, sparse=not TUNERS[tuner].searches_lines)
    found = set()
    for order in itertools.islice(itertools.permutations(paths), 0, None, 7):
        assert main(tune_command(tmp_path, order, tuner=tuner)) == 0
        found.add((tmp_path / "out.h5").read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize("tuner", ["pro", "kbest-mira"])
def test_seed_decides(tmp_path, tuner):
    paths = write_run(tmp_path)
    values = []
    for seed in (1, 2):
        assert main(tune_command(tmp_path, paths, tuner=tuner, more={"seed": seed})) == 0
        values.append(read_itersel_weights(tmp_path / "out.h5").to_dict())
    assert values[0] != values[1]


def test_provenance(tmp_path):
    assert main(tune_command(tmp_path, write_run(tmp_path), tuner="kbest-mira", passes=3)) == 0
    found = read_arrays(tmp_path / "out.h5", WEIGHTS)[1]
    settings = {"tuner": "kbest-mira", "seed": 1, "passes": 3, "c": 0.01, "decay": 0.999}
    assert json.loads(found["settings"]) == {**settings, "lists": {"features": "all", "k_best": 10}}
    assert (found["kind"], found["tuner"], found["iteration"]) == ("tuned-weights", "kbest-mira", 2)
    assert (found["files"], found["sentences"]) == (2, 8)
    assert 0 < found["quality"] <= 100


def test_weights_of_features_that_are_not_in_the_lists(tmp_path):
    paths = write_run(tmp_path)
    (tmp_path / "start").write_text("elsewhere 2\nGlue 0.5\n")
    options = ["--start", str(tmp_path / "start")]
    for tuner, keys, expected in (("kbest-mira", {}, 2.0), ("pro", {"interpolation": 0.25}, 1.5)):
        assert main(tune_command(tmp_path, paths, *options, tuner=tuner, **keys)) == 0
        assert read_itersel_weights(tmp_path / "out.h5").to_dict()["elsewhere"] == expected


def write_good_and_bad(folder, good, bad):
    """Write a list of two translations with these features."""
    every = [Translation((6, 1, 1, 1), 6, bad), Translation((6, 5, 4, 3), 6, good)]
    return write_file(folder / "lists.h5", [Sentence((6,), every)])


def test_a_set_of_one_sentence(tmp_path):
    # It is an ordinary tuning set, whose corpus BLEU is that of the sentence.
    values = ((1.0, 1.0, 0.0), (2.0, -1.0, 1.0))
    path = write_good_and_bad(tmp_path, *(dict(zip(DENSE_NAMES, each, strict=True)) for each in values))
    for name in LIST_TUNERS:
        tune(TuneSettings(TUNERS[name]()), [path], tmp_path / "out.h5")
        weights = read_itersel_weights(tmp_path / "out.h5")
        assert weights.key.shape[0] > 0
        assert np.isfinite(weights.value).all()


@pytest.mark.parametrize(
    ("tuner", "iteration", "options", "keys", "facts"),
    [
        ("mert", 2, [], {}, "mert"),
        ("kbest-mira", 2, ["--start", "nan"], {}, "'Glue'"),
        ("kbest-mira", 2, ["--start", "inf"], {}, "'Glue'"),
        ("kbest-mira", 2, ["--start", "1e300"], {}, "'Glue'"),
        ("line-search", 1, [], {"more": RETUNED}, ("retune", "--start")),
        ("mert", 2, ["--epoch-start", "1"], {"more": RETUNED}, "--epoch-start"),
        ("line-search", 2, ["--epoch-start", "1"], {}, "--epoch-start"),
        ("line-search", 2, ["--epoch-start", "1"], {"more": RETUNED}, "--epoch-start"),
        ("line-search", 2, [], {"more": RETUNED, "directions": ["Words"]}, NOT_DENSE),
        ("none", 2, [], {}, "'tuner.name'"),
    ],
)
def test_bad_options(tmp_path, refused, monkeypatch, tuner, iteration, options, keys, facts):
    monkeypatch.chdir(tmp_path)
    for value in ("nan", "inf", "1e300", "1"):
        (tmp_path / value).write_text(f"Glue {value}\n")
    how = {"tuner": tuner, "iteration": iteration, **keys}
    refused(tune_command(tmp_path, write_run(tmp_path), *options, **how), facts)


def test_overflow_of_a_tuner(tmp_path):
    """Features of the size of a millionth and unlimited steps lead to weights that no file may contain."""
    path = write_good_and_bad(tmp_path, *({"feature0": value} for value in (0.0, 1e-14)))
    with input_error("kbest-mira", "1e+12"):
        tune(TuneSettings(KBestMira(c=1e300)), [path], tmp_path / "out.h5")
    assert not (tmp_path / "out.h5").exists()


@pytest.mark.parametrize("tuner", ["mert", "kbest-mira"])
def test_later_iterations_need_the_previous_weights(tmp_path, tuner):
    settings = TuneSettings(TUNERS[tuner](), files=2, iteration=2)
    with input_error(2, "--start"):
        tune(settings, write_run(tmp_path), tmp_path / "out.h5")


def test_sparse_weights_are_not_dropped(tmp_path):
    paths = write_run(tmp_path, files=1, iterations=1, sparse=False)
    start_weights = make_weights({"Glue": 1.0, "EgivenFCoherent": -1.0, "RuleShape:x": 0.5})
    with input_error("'RuleShape:x'"):
        tune(TuneSettings(Mert()), paths, tmp_path / "out.h5", start_weights=start_weights)


def test_no_weights_have_a_bleu(tmp_path):
    """The only translation with a matching 4-gram is inside the hull of others, so no weights choose it."""
    every = []
    for x, y, fours in ((-1.0, -1.0, 0), (1.0, -1.0, 0), (0.0, 1.5, 0), (0.0, 0.0, 3)):
        features = {"LanguageModel": x, "WordPenalty": y, "Glue": 0.0}
        every.append(Translation((6, 5, 4, fours), 6, features))
    path = write_file(tmp_path / "a.h5", [Sentence((6,), every)])
    with input_error("BLEU", 0):
        tune(TuneSettings(Mert()), [path], tmp_path / "out.h5")
    assert not (tmp_path / "out.h5").exists()


def test_pro_is_fitted_and_interpolated(tmp_path):
    """The output of the command equals its parts: pairs of all sentences, a fit, and the start weights."""
    sentences, how = random_sentences(1), Pro(interpolation=0.25)
    path = write_file(tmp_path / "a.h5", sentences)
    start_weights = {"Glue": 0.5, "feature1": 2.0, "elsewhere": -1.0}
    settings = TuneSettings(how, seed=3)
    found = tune(settings, [path], tmp_path / "out.h5", start_weights=make_weights(start_weights))
    table = join_files(find_tuning_files([path], 1, range(1, 2)))
    pairs = draw_pairs(table, how, (3, 1))
    rows = np.unique(pairs)
    sparse = table.sparse.take(rows)
    fitted = fit_ranking(pair_matrix(table, sparse, rows, pairs), how.strength)
    names = [*DENSE_NAMES, *sparse.name.to_list()]
    expected = {
        name: 0.75 * start_weights.get(name, 0.0) + 0.25 * w for name, w in zip(names, fitted, strict=True)
    }
    expected["elsewhere"] = -0.75
    weights = found.weights.to_dict()
    assert weights == pytest.approx({name: w for name, w in expected.items() if w})
    assert found.quality == pytest.approx(bleu_of_weights(sentences, weights))


def test_seeds_of_sentences_differ(tmp_path):
    one = random_sentences(4, count=1, most=40)[0]
    table = join_files(find_tuning_files([write_file(tmp_path / "a.h5", [one, one])], 1, range(1, 2)))
    pairs = draw_pairs(table, Pro(), (1, 1))
    middle = table.offset[1]
    first, second = pairs[pairs[:, 0] < middle], pairs[pairs[:, 0] >= middle] - middle
    assert first.tolist() != second.tolist()
