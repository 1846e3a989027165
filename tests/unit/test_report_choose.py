"""Models for single tasks: choosing their epochs, and joining their translations."""

from __future__ import annotations

import gzip

import pytest
from sacrebleu.metrics.bleu import BLEU

from itersel.cli.main import main
from itersel.report.system import read_system
from itersel.vectors.weights import make_weights, read_weights, write_weights

LABELS = ["base", "calc", "math", "calc", "base", "base"]


@pytest.fixture
def join(tmp_path, text_file):
    """Return a function that joins translations of tasks; it returns the exit status and the lines."""

    def run(labels, tasks, *translations):
        paths = [text_file(f"model{place}", lines) for place, lines in enumerate(translations)]
        output = tmp_path / "joined"
        arguments = ["--labels", text_file("labels", labels), "--tasks", *tasks, "--translations", *paths]
        status = main(["report", "join", *arguments, "--output", str(output)])
        return status, output.read_text().split("\n") if output.exists() else None

    return run


def numbered(name):
    return [f"{name} {line}" for line in range(len(LABELS))]


def test_join(join):
    status, lines = join(LABELS, ["calc", "base"], numbered("c"), numbered("b"))
    assert status == 0
    assert lines == ["b 0", "c 1", "", "c 3", "b 4", "b 5", ""]


def test_join_follows_the_order_of_the_tasks(join):
    assert join(LABELS, ["base", "calc"], numbered("b"), numbered("c"))[1][:2] == ["b 0", "c 1"]


def test_packed_labels(tmp_path, text_file):
    labels = tmp_path / "labels.gz"
    labels.write_bytes(gzip.compress("\n".join(f"{label} " for label in LABELS).encode()))
    output = tmp_path / "joined.gz"
    arguments = ["--labels", str(labels), "--tasks", "calc", "--translations", text_file("t", numbered("c"))]
    assert main(["report", "join", *arguments, "--output", str(output)]) == 0
    assert gzip.decompress(output.read_bytes()) == b"\nc 1\n\nc 3\n\n\n"


def test_a_task_without_a_sentence_has_no_lines(join):
    assert join(LABELS, ["draw"], numbered("d")) == (0, [""] * 7)


@pytest.mark.parametrize(
    ("labels", "tasks", "translations", "message"),
    [
        (LABELS, ["base", "calc"], [numbered("b")], "2 tasks, but 1 translations; give one"),
        (LABELS, ["base"], [numbered("b")[:5]], "model0: has 5 lines, the labels "),
        (LABELS, ["base", "base"], [numbered("b")] * 2, "task 'base' is named twice"),
        (["base", " ", "calc"], ["base"], [numbered("b")[:3]], "labels:2: '' is not a task label"),
    ],
)
def test_join_errors(join, capsys, labels, tasks, translations, message):
    assert join(labels, tasks, *translations) == (1, None)
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error


REFERENCES = ["a b c d e f", "g h i j k l", "m n o p q", "r s t u v w", "x y z a b c", "d e f g h"]
# The second epoch is the best on all sentences, the third on those of base, the first on those of calc.
EPOCHS = [
    ["x b c d e f", "g h i j k l", "m n o p q", "r s t u v w", "x y q a b c", "d e q g h"],
    ["a b c d e f", "g h i j k l", "m n o p q", "r s t u v q", "x y z a b c", "d e f g q"],
    ["a b c d e f", "g h q j k l", "m q o p q", "r s q u v w", "x y z a b c", "d e f g h"],
]
OTHERS = [line.replace("w", "q") for line in REFERENCES]
EXPERIMENT = ["--name", "x", "--learner", "mira", "--mixing", "none", "--tune-on", "dev"]
EXPERIMENT += ["--features", "dense", "--shards", "1"]


@pytest.fixture
def choose(tmp_path, text_file):
    """Return a function that chooses an epoch with additional options; it returns the exit status."""
    weights = [str(tmp_path / f"w{epoch}.h5") for epoch in (1, 2, 3)]
    for epoch, path in enumerate(weights, 1):
        write_weights(path, make_weights({"a": epoch}))
    arguments = ["--reference", text_file("ref", REFERENCES), "--weights", *weights, "--translations"]
    arguments += [text_file(f"t{epoch}", lines) for epoch, lines in enumerate(EPOCHS, 1)]
    outputs = ["--output-weights", str(tmp_path / "best.h5"), "--output", str(tmp_path / "system.json")]
    return lambda *options: main(["report", "choose", *EXPERIMENT, *arguments, *outputs, *options])


def sacrebleu(translations, *references):
    metric = BLEU(lowercase=True, smooth_method="none", force=True)
    return metric.corpus_score(translations, list(references)).score


@pytest.mark.parametrize(("task", "lines", "epoch"), [("base", (0, 4, 5), 3), ("calc", (1, 3), 1)])
def test_choose_on_the_sentences_of_a_task(tmp_path, text_file, choose, task, lines, epoch):
    assert choose("--labels", text_file("labels", LABELS), "--task", task) == 0
    system = read_system(tmp_path / "system.json")
    references = [REFERENCES[line] for line in lines]
    expected = [sacrebleu([text[line] for line in lines], references) for text in EPOCHS]
    assert system.devtest_bleu == pytest.approx(expected)
    assert expected.index(max(expected)) + 1 == epoch == system.epoch
    assert read_weights(tmp_path / "best.h5").to_dict()["a"] == epoch


def test_choose_on_all_sentences(tmp_path, choose):
    assert choose() == 0
    system = read_system(tmp_path / "system.json")
    assert system.devtest_bleu == pytest.approx([sacrebleu(text, REFERENCES) for text in EPOCHS])
    assert system.epoch == 2


def test_choose_with_several_references(tmp_path, text_file, choose):
    """A sentence without a line in one of them has one reference fewer."""
    others = text_file("others", ["", *OTHERS[1:]])
    options = ["--labels", text_file("labels", LABELS), "--task", "calc", "--reference", others]
    assert choose(*options) == 0
    system = read_system(tmp_path / "system.json")
    expected = [
        sacrebleu([text[1], text[3]], [REFERENCES[1], REFERENCES[3]], [OTHERS[1], OTHERS[3]])
        for text in EPOCHS
    ]
    assert system.devtest_bleu == pytest.approx(expected)
    assert expected[1] == pytest.approx(100)
    assert system.signature.startswith("nrefs:2|")


@pytest.mark.parametrize("option", ["--labels", "--task"])
def test_labels_and_task_need_each_other(tmp_path, text_file, capsys, choose, option):
    assert choose(option, text_file("labels", LABELS)) == 1
    assert "--labels and --task need each other" in capsys.readouterr().err
    assert not (tmp_path / "system.json").exists()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["calc"] * 6, "labels: no sentence has the label 'base'; the most frequent labels are 'calc' (6)"),
        (["base"] * 5, "labels: has 5 lines, "),
        (["base", "base x", *LABELS[2:]], "labels:2: 'base x' is not a task label"),
    ],
)
def test_choose_errors(tmp_path, text_file, capsys, choose, labels, message):
    assert choose("--labels", text_file("labels", labels), "--task", "base") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
    assert not (tmp_path / "system.json").exists()
    assert not (tmp_path / "best.h5").exists()
