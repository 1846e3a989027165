"""Choosing the epoch of a system, on all sentences or those of a task, and joining translations by task."""

import gzip
import os
from collections import Counter

import pytest
from tests.scored import sacrebleu, write_detokenizer
from tests.steps import settings

from itersel.cli.main import main
from itersel.evaluate.epochs import index_of_best
from itersel.storage import files
from itersel.system.chosen import read_system
from itersel.vectors.weights import make_weights, read_itersel_weights, write_itersel_weights

LABELS = ["base", "calc", "math", "calc", "base", "base"]


def numbered(name):
    return [f"{name} {line}" for line in range(len(LABELS))]


@pytest.fixture
def joining(tmp_path, text_file):
    """Return a function that returns the command which joins translations of tasks."""

    def command(labels, translations):
        files = {task: text_file(f"model-{task}", lines) for task, lines in translations.items()}
        arguments = ["--labels", text_file("labels", labels), *settings(translations=files)]
        return ["step", "join", *arguments, "--output", str(tmp_path / "joined")]

    return command


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (["calc", "base"], ["base 0", "calc 1", "", "calc 3", "base 4", "base 5"]),
        (["base", "calc"], ["base 0", "calc 1", "", "calc 3", "base 4", "base 5"]),
        # a task without a sentence
        (["draw"], [""] * 6),
    ],
)
def test_join(tmp_path, joining, tasks, expected):
    assert main(joining(LABELS, {task: numbered(task) for task in tasks})) == 0
    assert (tmp_path / "joined").read_text() == "".join(f"{line}\n" for line in expected)


def test_packed_labels(tmp_path, text_file):
    labels = tmp_path / "labels.gz"
    labels.write_bytes(gzip.compress("\n".join(f"{label} " for label in LABELS).encode()))
    output = tmp_path / "joined.gz"
    files = settings(translations={"calc": text_file("t", numbered("c"))})
    assert main(["step", "join", "--labels", str(labels), *files, "--output", str(output)]) == 0
    assert gzip.decompress(output.read_bytes()) == b"\nc 1\n\nc 3\n\n\n"


@pytest.mark.parametrize(
    ("labels", "translations", "facts"),
    [
        (LABELS, {}, ("'translations'", "'label: file'")),
        (LABELS, {"base": numbered("b")[:5]}, ("labels:6:", 6, 5)),
        (LABELS, {"a b": numbered("b")}, "'translations.a b'"),
        (["base", "a\tx", "calc"], {"base": numbered("b")[:3]}, ("labels:2:", "'a\\tx'")),
    ],
)
def test_join_errors(joining, refused, labels, translations, facts):
    refused(joining(labels, translations), facts)


def test_a_task_that_is_named_twice(joining, refused):
    """JSON may have a key twice, but which of the two files is meant?"""
    *words, given, output, path = joining(LABELS, {"base": numbered("b")})
    twice = given.replace('"base":', '"base": "x", "base":')
    refused([*words, twice, output, path], ("--settings:", "'base'"))


def test_index_of_best():
    assert index_of_best([1.0, 3.0, 3.0], "bleu") == 1
    assert index_of_best([1.0, 3.0, 1.0], "ter") == 0


REFERENCES = ["a b c d e f", "g h i j k l", "m n o p q", "r s t u v w", "x y z a b c", "d e f g h"]
# The second epoch is the best on all sentences, the third on those of base, the first on those of calc.
EPOCHS = [
    ["x b c d e f", "g h i j k l", "m n o p q", "r s t u v w", "x y q a b c", "d e q g h"],
    ["a b c d e f", "g h i j k l", "m n o p q", "r s t u v q", "x y z a b c", "d e f g q"],
    ["a b c d e f", "g h q j k l", "m q o p q", "r s q u v w", "x y z a b c", "d e f g h"],
]
OTHERS = [line.replace("w", "q") for line in REFERENCES]
SETTINGS = {"learner": {"name": "mira"}, "mixing": {"name": "none"}, "tune_on": "dev", "features": "all"}
EXPERIMENT = {"name": "x", "experiment": {**SETTINGS, "tasks": {"name": "random", "shards": 1}}}


@pytest.fixture
def choosing(tmp_path, text_file):
    """Return a function that returns the command which chooses an epoch, with more options and keys."""
    weights = [str(tmp_path / f"w{epoch}.h5") for epoch in (1, 2, 3)]
    for epoch, path in enumerate(weights, 1):
        write_itersel_weights(path, make_weights({"a": epoch, "b": 0.0, "c": 1.0}))
    arguments = ["--reference", text_file("ref", REFERENCES), "--weights", *weights, "--translation"]
    arguments += [text_file(f"t{epoch}", lines) for epoch, lines in enumerate(EPOCHS, 1)]
    arguments += ["--output-weights", str(tmp_path / "best.h5"), "--output", str(tmp_path / "system.json")]

    def command(*options, **keys):
        scoring = {"tokenizer": "13a", **keys}
        return ["step", "choose", *arguments, *settings(**EXPERIMENT, scoring=scoring), *options]

    return command


@pytest.fixture
def choose(tmp_path, choosing):
    """Return a function that chooses an epoch with more options and keys, and returns the system."""

    def run(*options, **keys):
        assert main(choosing(*options, **keys)) == 0
        return read_system(tmp_path / "system.json")

    return run


@pytest.mark.parametrize(
    ("task", "lines", "epoch"), [(None, range(6), 2), ("base", (0, 4, 5), 3), ("calc", (1, 3), 1)]
)
def test_choose_on_all_sentences_or_on_those_of_a_task(tmp_path, text_file, choose, task, lines, epoch):
    system = choose("--labels", *([text_file("labels", LABELS)] if task else []), label=task)
    references = [REFERENCES[line] for line in lines]
    expected = [sacrebleu([text[line] for line in lines], references) for text in EPOCHS]
    assert system.devtest_tokenized_bleu == system.devtest_scores == pytest.approx(expected)
    assert expected.index(max(expected)) + 1 == epoch == system.epoch
    assert (system.name, system.active_features) == ("x", 2)
    assert system.settings["learner"]["name"] == system.learner == "mira"
    assert system.settings["tasks"] == {"name": "random", "shards": 1, "language_model_folds": None}
    assert read_itersel_weights(tmp_path / "best.h5").to_dict()["a"] == epoch
    assert (tmp_path / "best.h5").read_bytes() == (tmp_path / f"w{epoch}.h5").read_bytes()


def test_choose_with_several_references(text_file, choose):
    """A sentence without a line in one of them has one reference fewer."""
    others = text_file("others", ["", *OTHERS[1:]])
    labels = ["--labels", text_file("labels", LABELS)]
    system = choose(*labels, "--reference", others, label="calc")
    of_calc = [[lines[1], lines[3]] for lines in (REFERENCES, OTHERS)]
    expected = [sacrebleu([text[1], text[3]], *of_calc) for text in EPOCHS]
    assert system.devtest_tokenized_bleu == pytest.approx(expected)
    assert expected[1] == pytest.approx(100)
    assert system.signature.startswith("nrefs:2|")


def test_choose_by_another_score(tmp_path, text_file, choose, choosing, refused):
    """Of detokenised text; the third epoch is that of the raw references."""
    raw = [line.capitalize() + "." for line in EPOCHS[2]]
    given = ["--raw-reference", text_file("raw", raw), *write_detokenizer(tmp_path, raw)]
    for by in ("ter", "lowercased-chrf++"):
        system = choose(*given, choose_by=by)
        assert (system.chosen_by, system.epoch) == (by, 3)
        assert len(set(system.devtest_scores)) == 3
        assert system.devtest_tokenized_bleu[1] == max(system.devtest_tokenized_bleu)
    facts = ("choose_by:", "--raw-reference", "--preparation", "--recaser")
    refused(choosing(*given[:2], choose_by="ter"), facts)


@pytest.fixture
def by_quality(tmp_path, text_file):
    """Return the options of lists with the translations of all epochs, and of numbers by which 3 is best.

    Translations are cleaned as the lists are, and only their first number counts.
    """
    lists, numbers = [], []
    for quality, epoch in ((1, EPOCHS[0]), (-4, EPOCHS[1]), (2.5, EPOCHS[2]), (9, EPOCHS[1])):
        lists += [f"{number} ||| \u200b{line} ||| f={number} ||| 0" for number, line in enumerate(epoch)]
        numbers += [str(quality)] * len(epoch)
    files = ["--nbest", text_file("lists", lists), "--quality", text_file("quality", numbers)]
    return [*files, *write_detokenizer(tmp_path, REFERENCES, only_cleaned=True)]


def quality_of(epoch, lines):
    """Return the mean of the first number of each translation."""
    numbers = [(EPOCHS[0], 1), (EPOCHS[1], -4), (EPOCHS[2], 2.5)]
    found = [next(number for text, number in numbers if text[line] == epoch[line]) for line in lines]
    return sum(found) / len(found)


@pytest.mark.parametrize(("task", "lines"), [(None, range(6)), ("calc", (1, 3))])
def test_choose_by_quality(text_file, choose, by_quality, task, lines):
    labels = ["--labels", text_file("labels", LABELS)] if task else []
    system = choose(*by_quality, *labels, label=task, choose_by="quality")
    expected = [quality_of(epoch, lines) for epoch in EPOCHS]
    assert (system.chosen_by, system.devtest_scores) == ("quality", pytest.approx(expected))
    assert system.epoch == expected.index(max(expected)) + 1
    assert system.devtest_tokenized_bleu != system.devtest_scores


def test_choosing_reads_each_file_once(text_file, choose, by_quality, monkeypatch):
    opened = Counter()
    opening = files._opened

    def counted(path):
        opened[os.path.basename(path)] += 1
        return opening(path)

    monkeypatch.setattr(files, "_opened", counted)
    labels = ["--labels", text_file("labels", LABELS)]
    choose(*by_quality, *labels, label="calc", choose_by="quality")
    names = "t1", "t2", "t3", "ref", "labels", "lists", "quality"
    assert [opened[name] for name in names] == [1] * len(names)


def test_choose_by_quality_errors(text_file, refused, choosing, by_quality):
    facts = ("choose_by:", "--nbest", "--quality", "--preparation")
    refused(choosing(*by_quality[:2], choose_by="quality"), facts)
    few = text_file("few", ["1"] * 23)
    refused(choosing(*by_quality, "--quality", few, choose_by="quality"), ("few:", 23, 24))
    others = ["--translation", text_file("t4", ["none"] * 6), "--weights", text_file("w4.txt", ["a 1"])]
    refused(choosing(*by_quality, *others, choose_by="quality"), "t4:1: ")


@pytest.mark.parametrize(
    ("option", "task", "labels", "facts"),
    [
        ("--labels", None, LABELS, ("--labels", "'label'")),
        ("--weights", "base", LABELS, (3, 4)),
        ("--reference", "base", REFERENCES, ("--labels", "'label'")),
        ("--labels", "base", ["calc"] * 6, ("labels:", "'base'")),
        ("--labels", "base", ["base"] * 5, ("labels:", 5)),
    ],
)
def test_choose_errors(text_file, refused, choosing, option, task, labels, facts):
    refused(choosing(option, text_file("labels", labels), label=task), facts)


def test_raw_references_of_another_text(tmp_path, text_file, refused, choosing):
    raw = ["--raw-reference", text_file("raw", REFERENCES[:5]), *write_detokenizer(tmp_path, REFERENCES)]
    refused(choosing(*raw, choose_by="ter"), "ref:6: ")
