"""`itersel kbest` and `itersel tune`: files, merging, provenance, bad input."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.damage import resealed
from tests.naive import oracle
from tests.naive.tuning import Sentence, Translation, corpus_bleu
from tests.tuning import DENSE_NAMES, random_sentences, write_file

from itersel.cli.main import main
from itersel.config.tuners import TUNERS, KBestMira, Mert, Pro
from itersel.decode.decoder import Decoder, KBest
from itersel.errors import InputError
from itersel.grammar.build import Rule, make_shard
from itersel.grammar.shard import read_shard, write_shard
from itersel.lm.binary import load_model
from itersel.storage.hdf5 import open_hdf5, read_arrays, read_header
from itersel.storage.strings import string_table
from itersel.tune.accumulate import find_files, merge_lists, read_sparse, sparse_scores
from itersel.tune.generate import DIGITS, START, ListSettings, generate_lists
from itersel.tune.lists import FORMAT
from itersel.tune.pro import fit_ranking, pair_matrix, sample_pairs
from itersel.tune.tuner import tune
from itersel.vectors.weights import FORMAT as WEIGHTS
from itersel.vectors.weights import make_weights, read_weights

NAMES = [f"feature{i}" for i in range(8)]
# MERT over forests has tests of its own: test_tune_forest.py
LIST_TUNERS = sorted({*TUNERS} - {"forest-mert"})
MODEL_TEXT = "a b c d e f\nb c d e\nx y z\n"


def dense(sentences: Sequence[Sentence]) -> list[Sentence]:
    return [
        Sentence(
            s.reference_length, [t._replace(features={n: t.features[n] for n in DENSE_NAMES}) for t in s[1]]
        )
        for s in sentences
    ]


def write_run(
    folder: Path, seed: int = 1, shards: int = 2, iterations: int = 2, sparse: bool = True
) -> list[Path]:
    """Write the files of a run: in every iteration the same sentences, and other translations."""
    paths = []
    for shard in range(shards):
        whole = random_sentences(seed + shard, count=4)
        for iteration in range(1, iterations + 1):
            random = np.random.default_rng((seed, shard, iteration))
            part = [
                Sentence(s[0], [t for t in s[1][:-1] if random.random() < 0.7] + [s[1][-1]]) for s in whole
            ]
            path = folder / f"{shard}.{iteration}.h5"
            paths.append(write_file(path, part if sparse else dense(part), shard, iteration))
    return paths


def run(folder: Path, paths: Sequence[Path], *options: str, tuner: str = "mert", iteration: int = 2) -> int:
    (folder / "lists").write_text("".join(f"{path}\n" for path in paths))
    shards = ["--shards", "2", "--iteration", str(iteration)]
    if iteration > 1 and "--previous" not in options:
        (folder / "previous").write_text("".join(f"{name} {value}\n" for name, value in START.items()))
        shards += ["--previous", str(folder / "previous")]
    files = ["--lists", str(folder / "lists"), "--output", str(folder / "out.h5")]
    return main(["tune", "--tuner", tuner, *shards, *files, *options])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), k=st.integers(1, 9))
def test_lists_of_all_iterations_are_merged(
    tmp_path_factory: pytest.TempPathFactory, seed: int, k: int
) -> None:
    folder = tmp_path_factory.mktemp("lists")
    random = np.random.default_rng(seed)
    corpus = [oracle.random_sentence(random, NAMES, exact=True) for _ in range(4)]
    # so that BLEU is not 0
    corpus.append(oracle.Sentence((1, 2, 3, 4), ((1, 2, 3, 4),), (dict.fromkeys(oracle.DENSE_NAMES, 0.5),)))
    shard = dataclasses.replace(oracle.make_shard(corpus, NAMES), vocabulary=string_table("abcde"))
    weights = [{name: float(random.normal()) for name in oracle.DENSE_NAMES} for _ in range(3)]
    paths = []
    for iteration, one in enumerate(weights, 1):
        paths.append(folder / f"{iteration}.h5")
        decoder = oracle.OracleDecoder(corpus, shard)
        generate_lists(paths[-1], shard, decoder, make_weights(one), ListSettings(k), iteration)
    files = find_files(paths[::-1], 1, range(1, 4))
    pool = merge_lists(files)
    sparse = read_sparse(files, pool.origin)
    row = 0
    for number, sentence in enumerate(corpus):
        expected: dict[object, None] = {}
        for one in weights:
            for found in sentence.kbest(one, k):
                expected[found.words, tuple(sorted(found.features.items()))] = None
        assert pool.sentence_offset[number + 1] - pool.sentence_offset[number] == len(expected)
        assert pool.reference_length[number] == len(sentence.reference)
        for words, features in expected:
            values = dict(zip(pool.dense_names, pool.dense[row].tolist(), strict=True))
            begin, end = sparse.offset[row : row + 2]
            for i, value in zip(sparse.feature[begin:end], sparse.value[begin:end], strict=True):
                values[sparse.name.get(int(i))] = float(value)
            assert values == dict(features)
            assert pool.length[row] == len(words)
            assert pool.matches[row].tolist() == oracle_matches(words, sentence.reference)
            row += 1
    named = make_weights({name: float(random.integers(5)) for name in NAMES})
    expected_scores = [
        sum(named.to_dict()[sparse.name.get(int(sparse.feature[i]))] * sparse.value[i] for i in range(a, b))
        for a, b in itertools.pairwise(sparse.offset.tolist())
    ]
    assert sparse_scores(files, pool.origin, named).tolist() == expected_scores


def oracle_matches(words: Sequence[int], reference: Sequence[int]) -> list[int]:
    from tests.naive.learning import counts

    return counts(words, reference)[0]


@pytest.mark.parametrize("tuner", LIST_TUNERS)
def test_same_bytes_for_any_order_of_files(tmp_path: Path, tuner: str) -> None:
    paths = write_run(tmp_path, sparse=tuner != "mert")
    found = set()
    for order in itertools.islice(itertools.permutations(paths), 0, None, 7):
        assert run(tmp_path, order, tuner=tuner) == 0
        found.add((tmp_path / "out.h5").read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize("tuner", ["pro", "kbest-mira"])
def test_seed_decides(tmp_path: Path, tuner: str) -> None:
    paths = write_run(tmp_path)
    values = []
    for seed in ("1", "2"):
        assert run(tmp_path, paths, "--seed", seed, tuner=tuner) == 0
        values.append(read_weights(tmp_path / "out.h5").to_dict())
    assert values[0] != values[1]


def test_provenance(tmp_path: Path) -> None:
    assert run(tmp_path, write_run(tmp_path), "--passes", "3", tuner="kbest-mira") == 0
    with open_hdf5(tmp_path / "out.h5") as stream:
        found = read_header(stream, WEIGHTS, tmp_path / "out.h5").attributes
    assert json.loads(found["settings"]) == {
        "tuner": "kbest-mira",
        "seed": 1,
        "passes": 3,
        "c": 0.01,
        "decay": 0.999,
        "lists": {"features": "all", "k_best": 10},
    }
    assert (found["kind"], found["tuner"], found["iteration"]) == ("mixed-weights", "kbest-mira", 2)
    assert (found["shards"], found["sentences"]) == (2, 8)
    assert 0 < found["bleu"] <= 100


def test_weights_that_the_lists_do_not_know(tmp_path: Path) -> None:
    paths = write_run(tmp_path)
    (tmp_path / "before").write_text("elsewhere 2\nGlue 0.5\n")
    for tuner, expected in (("kbest-mira", 2.0), ("pro", 1.5)):
        options = ["--interpolation", "0.25"] if tuner == "pro" else []
        assert run(tmp_path, paths, "--previous", str(tmp_path / "before"), *options, tuner=tuner) == 0
        assert read_weights(tmp_path / "out.h5").to_dict()["elsewhere"] == expected


def test_a_set_of_one_sentence(tmp_path: Path) -> None:
    # It is tuned on as any other: corpus BLEU is that of the sentence.
    values = ((1.0, 1.0, 0.0), (2.0, -1.0, 1.0))
    good, bad = (dict(zip(DENSE_NAMES, each, strict=True)) for each in values)
    every = [Translation((6, 1, 1, 1), 6, bad), Translation((6, 5, 4, 3), 6, good)]
    path = write_file(tmp_path / "lists.h5", [Sentence(6, every)])
    for name in LIST_TUNERS:
        tune(TUNERS[name](), [path], tmp_path / "out.h5", shards=1, iteration=1)
        weights = read_weights(tmp_path / "out.h5")
        assert weights.key.shape[0] > 0
        assert np.isfinite(weights.value).all()


Change = Callable[[Path], object]


def attributes(**values: object) -> Change:
    def change(path: Path) -> None:
        with resealed(path) as stream:
            stream.attrs.update(values)

    return change


def put(name: str, row: object, value: float) -> Change:
    def change(path: Path) -> None:
        with resealed(path) as stream:
            stream[name][row] = value

    return change


def flip(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        stream["dense"][0, 0] += 1.0


# what was done to the last file, and what is said of it
BAD = [
    (lambda path: path.unlink(), "1.2.h5: no such file"),
    (lambda path: path.write_bytes(path.read_bytes()[:1000]), "1.2.h5: damaged or truncated"),
    (lambda path: path.write_text("text"), "1.2.h5: damaged or truncated HDF5 file, or another kind of file"),
    (flip, "1.2.h5: damaged: array 'dense' does not match its checksum"),
    (put("dense", (0, 1), np.nan), "1.2.h5: damaged: array 'dense' holds"),
    (put("dense", (0, 1), np.inf), "1.2.h5: damaged: array 'dense' holds"),
    (put("matches", (0, 0), 99), "1.2.h5: damaged: more matches than n-grams"),
    (put("sentence_offset", 1, 0), "1.2.h5: damaged: a sentence has no translations"),
    (put("reference_length", 0, 50), "1.2.h5: damaged: is of other sentences than it says"),
    (
        attributes(iteration=1),
        "there is no file of shard 1, iteration 2 among 4 files; 2 shards and 2 iterations",
    ),
    (attributes(settings="{}"), "1.2.h5: differs from"),
    (attributes(sentences="others"), "1.1.h5 in its sentences"),
    (attributes(dense_names='["a", "b", "c"]'), "in its dense names"),
    (attributes(dense_names="["), "1.2.h5: damaged: the attributes are incomplete"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Change, said: str) -> None:
    paths = write_run(tmp_path, sparse=False)
    change(paths[-1])
    assert run(tmp_path, paths) == 1
    message = capsys.readouterr().err
    assert said in message
    assert message.count("\n") == 1
    assert not (tmp_path / "out.h5").exists()


@pytest.mark.parametrize("name", ["feature", "feature_value"])
def test_bad_sparse_features(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    paths = write_run(tmp_path)
    put(name, 0, 99 if name == "feature" else np.nan)(paths[0])
    assert run(tmp_path, paths, tuner="kbest-mira") == 1
    assert f"0.1.h5: damaged: array '{name}' holds" in capsys.readouterr().err


def test_wrong_number_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_run(tmp_path, sparse=False)
    assert run(tmp_path, paths[:-1]) == 1
    assert (
        "there is no file of shard 1, iteration 2 among 3 files; 2 shards and 2 iter"
        in capsys.readouterr().err
    )
    assert run(tmp_path, [*paths, paths[0]]) == 1
    assert "is of the same shard and iteration as" in capsys.readouterr().err
    assert run(tmp_path, paths, iteration=1) == 1
    assert (
        "0.2.h5: is of shard 0, iteration 2; wanted are shards 0 to 1, iterations 1"
        in capsys.readouterr().err
    )
    (tmp_path / "empty").write_text("a\n\n")
    assert run(tmp_path, paths, "--lists", str(tmp_path / "empty")) == 1
    assert "empty:2: empty line; every line names a file" in capsys.readouterr().err


def test_nothing_to_tune_on(tmp_path: Path) -> None:
    nothing = write_file(tmp_path / "none.h5", [])
    worthless = [Sentence(6, [Translation((6, 5, 4, 0), 6, {}), Translation((1, 0, 0, 0), 6, {})])]
    without = write_file(tmp_path / "without.h5", worthless)
    for name in LIST_TUNERS:
        for path, said in ((nothing, "holds no sentences"), (without, "BLEU is 0 for all weights.* 4-gram")):
            with pytest.raises(InputError, match=said):
                tune(TUNERS[name](), [path], tmp_path / "out.h5", shards=1, iteration=1)


def test_mert_takes_no_sparse_features(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, write_run(tmp_path)) == 1
    assert "MERT tunes dense features alone, and the lists have sparse ones" in capsys.readouterr().err


def test_options_of_another_tuner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, write_run(tmp_path), "--passes", "3", tuner="pro") == 2
    assert "unrecognized arguments: --passes 3" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["nan", "inf", "1e300"])
def test_bad_weights_before(tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str) -> None:
    (tmp_path / "before").write_text(f"Glue {value}\n")
    assert run(tmp_path, write_run(tmp_path), "--previous", str(tmp_path / "before"), tuner="kbest-mira") == 1
    message = capsys.readouterr().err
    assert "the weight of 'Glue'" in message
    assert message.count("\n") == 1


def test_overflow_of_a_tuner(tmp_path: Path) -> None:
    """Features a millionth in size and steps without a limit: weights that no file may hold."""
    good, bad = (dict.fromkeys(DENSE_NAMES, value) for value in (0.0, 1e-14))
    lists = [Sentence(6, [Translation((6, 1, 1, 1), 6, bad), Translation((6, 5, 4, 3), 6, good)])]
    path = write_file(tmp_path / "a.h5", lists)
    with pytest.raises(InputError, match=r"^the weight of '\w+' of --tuner kbest-mira is -?[0-9.e+]+; "):
        tune(KBestMira(c=1e300), [path], tmp_path / "out.h5", shards=1, iteration=1)
    assert not (tmp_path / "out.h5").exists()


@pytest.mark.parametrize("tuner", ["mert", "kbest-mira"])
def test_later_iterations_need_the_weights_before(tmp_path: Path, tuner: str) -> None:
    with pytest.raises(InputError, match="iteration 2 needs --previous"):
        tune(TUNERS[tuner](), write_run(tmp_path), tmp_path / "out.h5", shards=2, iteration=2)


def test_sparse_weights_are_not_dropped(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.h5", dense(random_sentences(1)))
    before = make_weights({"Glue": 1.0, "EgivenFCoherent": -1.0, "RuleShape:x": 0.5})
    with pytest.raises(InputError, match="the weights before have a sparse feature, 'RuleShape:x'"):
        tune(Mert(), [path], tmp_path / "out.h5", shards=1, iteration=1, before=before)


def test_no_weights_have_a_bleu(tmp_path: Path) -> None:
    """The only translation with a 4-gram lies within the hull of others: no weights choose it."""
    points = ((-1.0, -1.0, 0), (1.0, -1.0, 0), (0.0, 1.5, 0), (0.0, 0.0, 3))
    every = [
        Translation((6, 5, 4, fours), 6, {"LanguageModel": x, "WordPenalty": y, "Glue": 0.0})
        for x, y, fours in points
    ]
    path = write_file(tmp_path / "a.h5", [Sentence(6, every)])
    with pytest.raises(InputError, match="BLEU is 0 for all weights that were tried"):
        tune(Mert(), [path], tmp_path / "out.h5", shards=1, iteration=1)
    assert not (tmp_path / "out.h5").exists()


def test_pro_is_fitted_and_interpolated(tmp_path: Path) -> None:
    """What the command writes, from its parts: pairs of all sentences, a fit, and the weights before."""
    paths, how = write_run(tmp_path), Pro(interpolation=0.25)
    before = {"Glue": 0.5, "feature1": 2.0, "elsewhere": -1.0}
    found = tune(how, paths, tmp_path / "out.h5", shards=2, iteration=2, before=make_weights(before), seed=3)
    files = find_files(paths, 2, range(1, 3))
    pool = merge_lists(files)
    pairs = sample_pairs(pool, how, (3, 2))
    rows = np.unique(pairs)
    sparse = read_sparse(files, pool.origin[rows])
    fitted = fit_ranking(pair_matrix(pool, sparse, rows, pairs), how.strength)
    names = [*pool.dense_names, *sparse.name.to_list()]
    expected = {name: 0.75 * before.get(name, 0.0) + 0.25 * w for name, w in zip(names, fitted, strict=True)}
    expected["elsewhere"] = -0.75
    assert found.weights.to_dict() == pytest.approx({name: w for name, w in expected.items() if w})
    # the score of its best translations, sparse features included
    whole = read_sparse(files, pool.origin)
    scores = pool.dense @ [found.weights.to_dict().get(name, 0.0) for name in pool.dense_names]
    scores += sparse_scores(files, pool.origin, found.weights)
    assert whole.offset.shape[0] == scores.shape[0] + 1
    chosen = [
        begin + int(np.argmax(scores[begin:end])) for begin, end in itertools.pairwise(pool.sentence_offset)
    ]
    ngrams = np.maximum(0, pool.length[chosen][:, None] - np.arange(4)).sum(axis=0)
    matches, length = pool.matches[chosen].sum(axis=0), int(pool.reference_length.sum())
    bleu = min(1.0, np.exp(1 - length / ngrams[0])) * np.prod(matches / ngrams) ** 0.25
    assert found.bleu == pytest.approx(100 * bleu)


def test_seeds_of_sentences_differ(tmp_path: Path) -> None:
    one = random_sentences(4, count=1, most=40)[0]
    pool = merge_lists(find_files([write_file(tmp_path / "a.h5", [one, one])], 1, range(1, 2)))
    pairs = sample_pairs(pool, Pro(), (1, 1))
    middle = pool.sentence_offset[1]
    first, second = pairs[pairs[:, 0] < middle], pairs[pairs[:, 0] >= middle] - middle
    assert first.tolist() != second.tolist()


def test_sums_in_another_order_are_the_same_features(decodable: Path, tmp_path: Path) -> None:
    """Features are written without the digits that depend on the order of a sum."""
    shard, weights = read_shard(decodable / "shard.h5"), make_weights(START)
    decoder = Decoder(shard, load_model(decodable / "model"))
    written = []
    for noise in (0.0, 1e-15):

        class Noisy:
            dense_names = decoder.dense_names

            def decode(self, *arguments: Any) -> KBest:
                found = decoder.decode(*arguments)
                return found._replace(dense=found.dense + noise)  # noqa: B023

        path = tmp_path / f"{noise}.h5"
        generate_lists(path, shard, Noisy(), weights, ListSettings())
        written.append(path.read_bytes())
        dense_values = read_arrays(path, FORMAT, ("dense", "sentence_offset"))[0]["dense"]
        assert (dense_values == np.round(dense_values, DIGITS)).all()
    assert written[0] == written[1]


def test_a_feature_that_is_dense_and_sparse(tmp_path: Path) -> None:
    one = Translation((6, 5, 4, 3), 6, {"Glue": 1.0, "Other": 1.0})
    path = write_file(tmp_path / "a.h5", [Sentence(6, [one])])
    with resealed(path) as stream:
        stream.attrs["dense_names"] = json.dumps(["LanguageModel", "Other", "Glue"])
    with pytest.raises(InputError, match="'Other' is a dense and a sparse feature"):
        tune(KBestMira(), [path], tmp_path / "out.h5", shards=1, iteration=1)


@pytest.fixture(scope="module")
def decodable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a shard, one without references, and a language model."""
    folder = tmp_path_factory.mktemp("decodable")
    rules = [Rule((s,), (t,), {"EgivenFCoherent": v}, ((0, 0),)) for s, t, v in
             (("a", "x", 0.5), ("a", "y", 0.25), ("b", "y", 0.125), ("b", "z", 1.0))]  # fmt: skip
    sentences = [("a", "b", "a", "b", "b"), ("b", "a", "a", "b")]
    references = [("x", "y", "x", "y", "z"), ("y", "x", "x", "y")]
    write_shard(folder / "shard.h5", make_shard(sentences, references, [rules, rules]))
    write_shard(folder / "plain.h5", make_shard(sentences, None, [rules, rules]))
    (folder / "text").write_text(MODEL_TEXT)
    lm = ["lm", "estimate", "--order", "3", "--input", str(folder / "text"), "--output", str(folder / "arpa")]
    assert main(lm) == 0
    assert main(["lm", "compile", "--input", str(folder / "arpa"), "--output", str(folder / "model")]) == 0
    return folder


def kbest(folder: Path, output: Path, *options: str, shard: str = "shard.h5") -> int:
    files = ["--shard", str(folder / shard), "--model", str(folder / "model"), "--output", str(output)]
    return main(["kbest", *files, *options])


@pytest.mark.parametrize("features", ["all", "dense"])
def test_decode_tune_decode(decodable: Path, tmp_path: Path, features: str) -> None:
    lists = tmp_path / "1.h5"
    assert kbest(decodable, lists, "--features", features) == 0
    arrays, found = read_arrays(lists, FORMAT)
    assert found["iteration"] == 1
    assert json.loads(found["settings"]) == {
        "features": features,
        "k_best": 100,
        "max_span": 15,
        "pop_limit": 200,
    }
    assert (arrays["feature"].size > 0) == (features == "all")
    assert arrays["length"].tolist() == [5] * 100 + [4] * 3**4
    first = lists.read_bytes()
    assert kbest(decodable, lists, "--features", features) == 0
    assert lists.read_bytes() == first
    (tmp_path / "lists").write_text(f"{lists}\n")
    tuner = "mert" if features == "dense" else "kbest-mira"
    one = ["--lists", str(tmp_path / "lists"), "--shards", "1", "--iteration", "1"]
    assert main(["tune", "--tuner", tuner, *one, "--output", str(tmp_path / "w.h5")]) == 0
    assert (
        kbest(decodable, tmp_path / "2.h5", "--features", features, "--weights", str(tmp_path / "w.h5")) == 0
    )
    decode = ["decode", "--shard", str(decodable / "shard.h5"), "--model", str(decodable / "model")]
    output = tmp_path / "out"
    assert main([*decode, "--weights", str(tmp_path / "w.h5"), "--output", str(output)]) == 0
    translations = [line.split() for line in output.read_text().splitlines()]
    references = [["x", "y", "x", "y", "z"], ["y", "x", "x", "y"]]
    chosen = [
        Translation(tuple(oracle_matches(words, reference)), len(words), {})
        for words, reference in zip(translations, references, strict=True)
    ]
    with open_hdf5(tmp_path / "w.h5") as stream:
        bleu = read_header(stream, WEIGHTS, tmp_path / "w.h5").attributes["bleu"]
    # all translations are in the lists, so that the best of the lists are the best
    assert corpus_bleu(chosen, 9) == pytest.approx(bleu / 100)
    assert translations == references or features == "dense"
    assert bleu > 50


def test_shard_without_references(
    decodable: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kbest(decodable, tmp_path / "1.h5", shard="plain.h5") == 1
    assert "plain.h5: has no references to tune on" in capsys.readouterr().err
    assert not (tmp_path / "1.h5").exists()


def test_features_that_are_not_finite(tmp_path: Path) -> None:
    sentence = oracle.Sentence((1, 2), ((1, 2),), ({"LanguageModel": np.nan},))
    shard = oracle.make_shard([sentence], NAMES)
    decoder = oracle.OracleDecoder([sentence], shard)
    with pytest.raises(
        InputError, match="sentence 1: feature 'LanguageModel' of a translation is not finite"
    ):
        generate_lists(tmp_path / "1.h5", shard, decoder, make_weights({}), ListSettings())
    assert list(tmp_path.iterdir()) == []
