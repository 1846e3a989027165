"""Files of n-best lists: divided, made, and used instead of a decoder's."""

import itertools
import json

import numpy as np
import pytest
from tests.declared import redeclare
from tests.given_lists import LISTS, REFERENCES, divide, import_file, write_given
from tests.naive import oracle
from tests.refusals import input_error
from tests.steps import TEXT_LANGUAGES, settings, step
from tests.systems import itersel
from tests.text_grammars import write
from tests.unit.test_learn_learners import ALL_NAMES, START, close, eager, sentences

from itersel.config.learners import LEARNERS
from itersel.corpus.dividing import equal_groups
from itersel.corpus.statistics import read_statistics
from itersel.decode.list_decoder import ListDecoder
from itersel.decode.translations import WeightVectors
from itersel.lists.dividing import divide_lists
from itersel.lists.files import read_list_table
from itersel.lists.folders import find_lists
from itersel.lists.lines import listed_translations
from itersel.lists.summary import summarise
from itersel.storage.files import read_lines
from itersel.storage.hdf5 import header_of
from itersel.vectors.weights import FORMAT, find_named, find_weights, make_weights, read_itersel_weights

MANY = " ".join(f"f{number}=1" for number in range(65))


@pytest.fixture
def folder(tmp_path):
    return write_given(tmp_path)


def test_divide(folder):
    """Into the files that parallel text would be divided into; all have the same dense features."""
    divide(folder, files=2, seed=7)
    ids = [list(map(int, read_lines(folder / f"cut/{file}.ids"))) for file in range(2)]
    assert ids == [part.tolist() for part in equal_groups(4, 2, 7)]
    every = [line for lines in LISTS for line in lines]
    sentence = [0, 0, 2, 1, 0, 3]
    for file, own in enumerate(ids):
        wanted = [line for line, number in zip(every, sentence, strict=True) if number in own]
        assert read_lines(folder / f"cut/{file}.lists.gz") == wanted
        assert read_lines(folder / f"cut/{file}.target.gz") == [REFERENCES[number] for number in own]
    assert read_lines(folder / "cut/dense.txt") == ["LM"]


def test_labels_choose_sentences(folder):
    labels = ["--labels", write(folder / "labels", "x", "y", "x", "z")]
    divide(folder, *labels, name="labelled", labels={"y": 1, "x": 1})
    assert read_lines(folder / "cut/0.ids") == ["1"]
    assert sorted(read_lines(folder / "cut/1.ids")) == ["0", "2"]
    assert read_lines(folder / "cut/0.lists.gz") == [LISTS[1][0]]


def test_lines_wait_in_memory_only_up_to_a_limit(folder, monkeypatch):
    def written():
        return {path.name: read_lines(path) for path in (folder / "cut").iterdir()}

    divide(folder, files=2)
    at_once = written()
    (folder / "cut").rename(folder / "before")
    monkeypatch.setattr("itersel.lists.dividing.WAITING_CHARACTERS", 1)
    divide(folder, files=2)
    assert written() == at_once


def best_of_list(table, weights, k):
    """Return the k best translations of the first sentence."""
    given = make_weights(weights)
    dense, sparse = find_named(given, table.dense_names), find_weights(given, table.feature_key)
    return ListDecoder(table).candidates(0, WeightVectors(dense, sparse), k)


def test_file_of_lists(folder):
    divide(folder)
    table = read_list_table(import_file(folder), has_text=True)
    assert table.offset.tolist() == [0, 2, 3, 4, 5]  # the double translation counts once
    assert (table.dense_names, table.dense.tolist()[2:4]) == (("LM",), [[1.0], [3.0]])
    sparse = table.sparse_rows
    assert sparse.name.take(sparse.feature).to_list() == ["w_the", "TM_1", "w_the"]
    assert sparse.value.tolist() == [1.0, 1.0, -1.0]
    assert [table.text.get(row) for row in (0, 4)] == ["the cat", "no ?"]
    assert table.reference_lengths(0).each.tolist() == [3]
    assert table.statistics.length.tolist() == [2, 2, 2, 1, 2]
    assert table.statistics.matches[0].tolist() == [2, 1, 0, 0]
    # with the weights of only some features, and ties in the order of the list
    best = best_of_list(table, {"LM": -1.0, "w_the": 4.0, "of another": 1.0}, k=1)
    assert (best.score.tolist(), best.dense.tolist()) == ([5.0], [[-1.0]])
    assert best_of_list(table, {}, k=5).dense[:, 0].tolist() == [-1, -2]
    dense = read_list_table(folder / "0.h5", with_sparse=False)
    assert (dense.sparse.is_empty, dense.feature_key.shape[0]) == (True, 0)
    assert best_of_list(dense, {}, k=5).score.shape == (2,)


def test_prepared_for_bleu(folder, capsys):
    """Learners see tokenised lowercased words, and translations come out as they went in."""
    write(folder / "lists/0.gz", "0 ||| It rains. ||| LM= -1", "2 ||| x ||| LM= 0")
    write(folder / "lists/1.gz", "1 ||| A dog! ||| LM= 1", "3 ||| No? ||| LM= 1")
    divide(folder)
    path = import_file(folder, tokenized=False, target_language="en", protected=[r"No\?"])
    table = read_list_table(path)
    # it rains . | a dog ! | x | No?
    assert table.statistics.length.tolist() == [3, 3, 1, 1]
    assert table.statistics.matches[:, 0].tolist() == [0, 2, 0, 0]
    capsys.readouterr()
    itersel("decode", "--sentences", path, "--weights", write(folder / "weights", "LM 1"))
    assert capsys.readouterr().out.splitlines() == ["It rains.", "A dog!", "x", "No?"]


def test_qualities_are_learned_from(folder, monkeypatch):
    """Instead of BLEU, which is not computed; the lowest of the whole text is 0, the highest 1."""
    monkeypatch.setattr("itersel.bleu.sentence.SentenceBleu.of_matches", None)
    quality = write(folder / "quality", "2", "4", "3", "2", "2", "3")
    divide_lists([folder / "lists"], lambda n: equal_groups(n, 1, None), folder / "cut", quality=quality)
    assert read_list_table(import_file(folder)).quality.tolist() == [0.0, 1.0, 0.0, 0.5, 0.5]
    for learner in LEARNERS:
        pairs = {"pairs": "all"} if hasattr(LEARNERS[learner], "pairs") else {}
        how = settings(learner={"name": learner, **pairs})
        itersel("train", "--sentences", folder / "0.h5", *how, "--output", folder / "w")
        # 'a cat', of higher quality than 'the cat', has no sparse feature and less LM
        found = read_itersel_weights(folder / "w").to_dict()
        assert max(found["w_the"], found["LM"]) < 0


def write_text_lists(folder, corpus):
    """Write lists and references of words w0, w1, ... as another decoder would; returns the references."""

    def text(words):
        return " ".join(f"w{word}" for word in words)

    lines = []
    for number, sentence in enumerate(corpus):
        for words, features in zip(sentence.translations, sentence.features, strict=True):
            values = " ".join(f"{name}={value!r}" for name, value in features.items())
            lines.append(f"{number} ||| {text(words)} ||| {values}")
    write(folder / "lists", *lines)
    columns = itertools.zip_longest(*(one.references for one in corpus), fillvalue=())
    return [write(folder / f"reference{i}", *map(text, column)) for i, column in enumerate(columns)]


@pytest.mark.parametrize(
    ("name", "regularization", "delay"),
    [("perceptron", "none", 1), ("perceptron", "l1", 2), ("adagrad", "l1-cumulative", 1), ("mira", "l2", 3)],
)
def test_an_epoch_equals_plain_python(tmp_path, name, regularization, delay):
    """Of each file: lists are divided, and the 15 best translations of each sentence are learned from."""
    folder, corpus = tmp_path, sentences(3)
    references = ["--reference", *write_text_lists(folder, corpus)]
    files = ["--nbest", folder / "lists", *references, "--output", folder / "cut"]
    itersel("step", "divide", *files, *settings(dense_names=oracle.DENSE_NAMES, division={"files": 2}))
    start = write(folder / "start", *(f"{feature} {value!r}" for feature, value in START.items()))
    chosen = {"regularization": regularization, "delay": delay, "sentence_bleu": "nakov"}
    if regularization != "none":
        chosen["strength_per_epoch"] = 0.03
    if name != "mira":
        chosen |= {"pairs": "all", "learning_rate": 2.0**-6}
    learner = LEARNERS[name](**chosen)
    for file in range(2):
        weights = folder / "weights.h5"
        files = ["--sentences", import_file(folder, file), "--start", start, "--output", weights]
        itersel("train", *files, *settings(learner={"name": name, **chosen}, k_best=15))
        own = [corpus[int(line)] for line in read_lines(folder / f"cut/{file}.ids")]
        found = read_itersel_weights(weights).to_dict()
        assert close(found, eager(own, learner, exact=True).weights)
        # nothing of a search made them
        recorded = json.loads(header_of(weights, FORMAT).attributes["settings"])
        assert recorded.keys() == {"features", "k_best", "seed", "learner"}
        assert found.keys() <= {*ALL_NAMES, "elsewhere"}


def test_mean_length_without_references(folder):
    divide(folder)
    table = read_list_table(import_file(folder))._replace(reference_length=np.zeros(0, np.int64))
    assert table.mean_reference.tolist() == [2, 2, 1, 2]
    assert not table.can_be_learned_from


def test_texts_of_a_run(folder, refused):
    """References are copied, and translations are scored as they are, in capitals and not tokenised."""
    second, labels = folder / "second", write(folder / "labels", "x", "y", "x", "y")
    write(second, "The Cat", "", "it rains !", "No.")
    files = [
        "--reference",
        folder / "references",
        "--reference",
        second,
        "--labels",
        labels,
        "--output",
        folder,
    ]
    command = ["corpus", "references", *files, "--source-language=de", "--target-language=en"]
    itersel(*command, "--split=train")
    assert read_lines(folder / "train.target.1.gz") == read_lines(second)
    assert read_lines(folder / "train.labels.gz") == ["x", "y", "x", "y"]
    [split] = read_statistics([folder / "train.statistics.json"]).splits.values()
    assert (split["sentences"], split["source"]["tokens"], split["target"]["tokens"]) == (4, 0, 8)
    restored = ["--preparation", folder / "preparation.json", "--recaser", folder / "recaser.json"]
    itersel("detokenize", *restored, "--input", second, "--output", folder / "out")
    assert read_lines(folder / "out") == read_lines(second)
    write(labels, "x")
    refused([*command, "--split=test"], "labels", 4, 1)


@pytest.mark.parametrize(
    ("line", "dense"),
    [
        ("0 ||| a ||| LM= 1 TM= 1 2 w_1=1 x=1 ||| 0", ["LM", "TM_0", "TM_1"]),
        ("0 ||| a ||| 1 2 w_1=1", ["F_0", "F_1"]),
        ("0 ||| a ||| LanguageModel_OOV=1 P_0=1 R:x=1 n=1 w_a=1 w_1_2=3", ["LanguageModel_OOV", "P_0", "n"]),
        ("0 ||| a ||| ||| -1", ["score"]),
        ('{"id": 0, "text": "a", "features": {"lm": 1, "w:a": 2}}', ["lm"]),
    ],
)
def test_dense_features(tmp_path, line, dense):
    path = write(tmp_path / "list", line)
    features = summarise(listed_translations([path]), [path]).features
    assert features.dense([], path) == dense
    assert features.dense(dense[-1:], path) == dense[-1:]


def test_files_of_folders(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("a/2", "a/10", "a/.hidden", "b"):
        write(tmp_path / name, "x")
    found = find_lists([tmp_path / "b", tmp_path / "a"])
    assert found == [str(tmp_path / name) for name in ("b", "a/10", "a/2")]
    (tmp_path / "empty").mkdir()
    with input_error("empty:"):
        list(listed_translations([tmp_path / "empty"]))


@pytest.mark.parametrize(
    ("change", "how", "facts"),
    [
        ({"lists/0.gz": "0 ||| a"}, {}, "lists/0.gz:1:"),
        ({"lists/1.gz": "1 ||| a ||| LM= 1 2"}, {}, ("lists/1.gz:1:", "'LM'", 2, 1)),
        ({"lists/1.gz": "1 ||| a |||"}, {}, ("lists:", 3, 0)),
        ({"references": "a"}, {}, ("lists:", 3, 1)),
        (
            {"lists/0.gz": "\n".join(f"{number} ||| a ||| {MANY}" for number in range(4)), "lists/1.gz": ""},
            {},
            ("lists:", 65, "'f64'"),
        ),
        ({}, {"dense_names": ["x", "y"]}, ("lists:", "'x'")),
        ({}, {"division": {"files": 5}}, ("lists:", 4, 5)),
        ({"quality": "1"}, {}, ("quality:", 1, 6)),
        # read before the lists, which take longest
        ({"quality": "x", "lists/0.gz": "0 ||| a"}, {}, "quality:1:"),
    ],
)
def test_bad_lists(folder, refused, monkeypatch, change, how, facts):
    monkeypatch.chdir(folder)
    for name, line in change.items():
        write(folder / name, line)
    words = ["step", "divide", "--nbest", "lists", "--reference", "references", "--output", "out"]
    words += ["--quality", *(name for name in change if name == "quality")]
    refused([*words, *settings(**{"division": {"files": 2}, **how})], facts)


def test_references_are_not_the_target_of_a_text(folder, refused):
    """`--target` belongs to `--source`, `--reference` to `--nbest`, which had `--target`, too."""
    text, how = folder / "references", [*settings(division={"files": 2}), "--output", folder / "cut"]
    refused(
        ["step", "divide", "--nbest", folder / "lists", "--target", text, *how],
        ("--nbest", "--target", "--reference"),
    )
    refused(
        ["step", "divide", "--source", text, "--target", text, "--reference", text, *how],
        ("--reference", "--nbest"),
    )


@pytest.mark.parametrize(
    ("name", "lines", "options", "facts"),
    [
        ("0.ids", "0124", "", "0.lists.gz"),
        ("0.ids", "0122", "", "0.lists.gz"),
        ("0.ids", "01", "", ("0.target.gz", 4, 2)),
        ("0.ids", "x1", "", ("0.ids:1:", "'x'")),
        ("0.target.gz", "ab", "", ("0.target.gz", 2, 4)),
        ("0.ids", "0123", step("", **TEXT_LANGUAGES, tokenized=True, protected=["x"]), "'protected'"),
        ("0.ids", "0123", "--file-number 1", "1.ids"),
    ],
)
def test_bad_divisions(folder, refused, name, lines, options, facts):
    divide(folder)
    write(folder / "cut" / name, *lines)
    redeclare(folder / "cut")
    files = ["--divided-lists", folder / "cut", "--file-number", 0, "--output", folder / "out.h5"]
    words = ["step", "lists", *files, *settings(**TEXT_LANGUAGES)]
    refused([*words, *options.split()], facts)


@pytest.mark.parametrize(
    ("name", "lines", "facts"),
    [("0.scaled-quality.gz", "x", "0.scaled-quality.gz:1:"), ("0.target.gz", "ab", ("0.target.gz", 2, 4))],
)
def test_other_files_are_read_before_the_lists(folder, refused, name, lines, facts):
    divide(folder)
    write(folder / "cut/0.lists.gz", "not a list")
    write(folder / "cut" / name, *lines)
    redeclare(folder / "cut")
    files = ["--divided-lists", folder / "cut", "--file-number", 0, "--output", folder / "out.h5"]
    words = ["step", "lists", *files, *settings(**TEXT_LANGUAGES)]
    refused(words, facts)


def test_numbers_that_an_earlier_version_divided(folder, refused):
    quality = write(folder / "quality", "2", "4", "3", "2", "2", "3")
    divide_lists([folder / "lists"], lambda n: equal_groups(n, 1, None), folder / "cut", quality=quality)
    (folder / "cut/0.scaled-quality.gz").rename(folder / "cut/0.quality.gz")
    redeclare(folder / "cut")
    words = [
        "step",
        "lists",
        "--divided-lists",
        folder / "cut",
        "--file-number",
        0,
        "--output",
        folder / "out.h5",
    ]
    refused([*words, *settings(**TEXT_LANGUAGES)], ("cut/0.quality.gz:", "0.scaled-quality.gz"))


def test_labels_are_read_before_the_lists(folder, refused):
    write(folder / "lists/0.gz", "not a list")
    labels = ["--labels", write(folder / "labels", "x", "y y")]
    files = ["--nbest", folder / "lists", "--reference", folder / "references", "--output", folder / "cut"]
    labelled = settings(division={"name": "labelled", "labels": {"x": 1}})
    refused(["step", "divide", *files, *labels, *labelled], f"{folder / 'labels'}:2:")


def test_what_needs_a_decoder(folder, refused):
    divide(folder)
    sentences, weights = import_file(folder), write(folder / "weights", "LM 1")
    refused(["decode", "--sentences", sentences, "--weights", weights, "--k-best=3"], "--k-best")
    forest = [*settings(learner={"name": "mira", "candidates": "forest"}), "--output", folder / "w"]
    refused(["train", "--sentences", sentences, *forest], f"{sentences}:")
    searched = [*settings(k_best=5, pop_limit=5), "--output", folder / "w"]
    refused(["train", "--sentences", sentences, *searched], "'pop_limit'")
    refused(["decode", "--sentences", sentences, "--weights", weights, *settings(max_span=5)], "'max_span'")
    refused(["decode", "--sentences", weights, "--weights", weights], f"{weights}:")
