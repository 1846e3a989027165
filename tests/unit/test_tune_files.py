"""k-best list files: merging, and damaged or inconsistent files."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.damage import changed, put, set_attributes, unsealed
from tests.naive import oracle
from tests.naive.learning import closest, counts, mean_length
from tests.naive.tuning import Sentence, Translation
from tests.refusals import input_error
from tests.tuning import LIST_TUNERS, tune_command, write_file, write_run

from itersel.config.learning_steps import TuneSettings
from itersel.config.search import KBestSettings
from itersel.config.tuners import TUNERS
from itersel.lists.headers import TuningFile
from itersel.lists.joining import find_tuning_files, join_files
from itersel.storage.strings import string_table
from itersel.tune.forest_line_search import read_line_search
from itersel.tune.generate_lists import generate_lists
from itersel.tune.iteration import tune
from itersel.tune.tuners.kbest_mira import KBestMira
from itersel.vectors.weights import make_weights

NAMES = [f"feature{i}" for i in range(8)]


@given(seed=st.integers(0, 2**32), k=st.integers(2, 9))
def test_lists_of_all_iterations_are_merged(tmp_path_factory, seed, k):
    folder = tmp_path_factory.mktemp("lists")
    random = np.random.default_rng(seed)
    corpus = [oracle.random_sentence(random, NAMES, exact=True) for _ in range(4)]
    # so that BLEU is not 0
    words = ((1, 2, 3, 4),)
    corpus.append(oracle.Sentence(words, words, (dict.fromkeys(oracle.DENSE_NAMES, 0.5),)))
    grammars = dataclasses.replace(oracle.make_grammars(corpus, NAMES), vocabulary=string_table("abcde"))
    weights = [{name: float(random.normal()) for name in oracle.DENSE_NAMES} for _ in range(3)]
    paths = []
    for iteration, one in enumerate(weights, 1):
        paths.append(folder / f"{iteration}.h5")
        decoder = oracle.OracleDecoder(corpus, grammars)
        generate_lists(
            paths[-1], grammars, decoder, make_weights(one), KBestSettings(k_best=k, iteration=iteration)
        )
    files = find_tuning_files(paths[::-1], 1, range(1, 4))
    table = join_files(files)
    sparse = table.sparse.take(np.arange(table.translation_count))
    row = 0
    for number, sentence in enumerate(corpus):
        expected = {}
        for one in weights:
            for found in sentence.kbest(one, k):
                expected[found.words, tuple(sorted(found.features.items()))] = None
        assert table.offset[number + 1] - table.offset[number] == len(expected)
        lengths = list(map(len, sentence.references))
        assert table.longest_reference[number] == max(lengths)
        assert table.mean_reference[number] == pytest.approx(mean_length(sentence.references))
        for words, features in expected:
            values = dict(zip(files[0].dense_names, table.dense[row].tolist(), strict=True))
            begin, end = sparse.offset[row : row + 2]
            for i, value in zip(sparse.feature[begin:end], sparse.value[begin:end], strict=True):
                values[sparse.name.get(int(i))] = float(value)
            assert values == dict(features)
            assert table.statistics.length[row] == len(words)
            assert table.statistics.closest_length[row] == closest(len(words), lengths)
            assert table.statistics.matches[row].tolist() == counts(words, *sentence.references)[0]
            row += 1
    named = make_weights({name: float(random.integers(5)) for name in NAMES})
    weight_of = named.to_dict()
    products = sparse.value * [weight_of[sparse.name.get(i)] for i in sparse.feature.tolist()]
    expected_scores = [sum(products[a:b]) for a, b in itertools.pairwise(sparse.offset.tolist())]
    assert table.sparse.scores(named).tolist() == expected_scores


# a change to the last file, and the error
BAD = [
    (lambda path: path.unlink(), "1.2.h5"),
    (lambda path: path.write_bytes(path.read_bytes()[:1000]), "1.2.h5"),
    (lambda path: path.write_text("text"), ("1.2.h5", "HDF5")),
    (put("dense", (0, 0), 99.0, unsealed), ("1.2.h5", "'dense'")),
    (put("dense", (0, 1), np.nan), ("1.2.h5", "'dense'")),
    (put("dense", (0, 1), np.inf), ("1.2.h5", "'dense'")),
    (put("matches", (0, 0), 99), "1.2.h5"),
    (changed(lambda stream: stream.move("feature_key", "x")), "'feature_key'"),
    (put("sentence_offset", 1, 0), "1.2.h5"),
    (put("reference_length", 0, 50), "1.2.h5"),
    (set_attributes(iteration=1), (1, 2, 4)),
    (set_attributes(settings="{}"), "1.2.h5"),
    (set_attributes(settings="["), "1.2.h5"),
    (set_attributes(sentence_digest="others"), "1.1.h5"),
    (set_attributes(dense_names='["a", "b", "c"]'), "1.2.h5:"),
    (set_attributes(dense_names="["), "1.2.h5"),
]


@pytest.mark.parametrize(("change", "facts"), BAD)
def test_bad_files(tmp_path, refused, change, facts):
    paths = write_run(tmp_path, sparse=False)
    change(paths[-1])
    refused(tune_command(tmp_path, paths), facts)


@pytest.mark.parametrize("name", ["feature", "feature_value"])
def test_bad_sparse_features(tmp_path, refused, name):
    paths = write_run(tmp_path)
    put(name, 0, 99 if name == "feature" else np.nan)(paths[0])
    command = tune_command(tmp_path, paths, tuner="kbest-mira")
    refused(command, ("0.1.h5", f"'{name}'"))


def test_wrong_number_of_files(tmp_path, refused):
    paths = write_run(tmp_path, sparse=False)
    for given_paths, iteration, facts in (
        (paths[:-1], 2, (1, 2, 3, 4)),
        ([*paths, paths[0]], 2, (f"{paths[0]}:", paths[0])),
        (paths, 1, ("0.2.h5", 0, 2, 1)),
        ([paths[0], ""], 2, "lists:2:"),
    ):
        refused(tune_command(tmp_path, given_paths, iteration=iteration), facts)


def test_empty_tuning_set(tmp_path):
    nothing = write_file(tmp_path / "none.h5", [])
    worthless = [Sentence((6,), [Translation((6, 5, 4, 0), 6, {}), Translation((1, 0, 0, 0), 6, {})])]
    without = write_file(tmp_path / "without.h5", worthless)
    for name in LIST_TUNERS:
        for path, facts in (nothing, ()), (without, ("BLEU", 0, 4)):
            with input_error(path, facts):
                tune(TuneSettings(TUNERS[name]()), [path], tmp_path / "out.h5")


def test_forests_without_the_feature_of_the_language_model(tmp_path):
    file = TuningFile(tmp_path / "forests.h5", 0, 1, {}, "", ("Glue", "WordPenalty"))
    with input_error("forests.h5", "'LanguageModel'"):
        read_line_search([file])


def test_a_feature_that_is_dense_and_sparse(tmp_path):
    one = Translation((6, 5, 4, 3), 6, {"Glue": 1.0, "Other": 1.0})
    path = write_file(tmp_path / "a.h5", [Sentence((6,), [one])])
    set_attributes(dense_names=json.dumps(["LanguageModel", "Other", "Glue"]))(path)
    with input_error("'Other'"):
        tune(TuneSettings(KBestMira()), [path], tmp_path / "out.h5")
