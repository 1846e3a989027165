"""Choosing the epoch of a system, on all sentences or those of a task, and joining translations by task."""

import gzip

import pytest
from tests.scored import sacrebleu, write_detokenizer

from itersel.cli.main import main
from itersel.evaluate.epochs import choose_epoch
from itersel.report.system import read_system
from itersel.vectors.weights import make_weights, read_weights, write_weights

LABELS = ["base", "calc", "math", "calc", "base", "base"]


def numbered(name):
    return [f"{name} {line}" for line in range(len(LABELS))]


@pytest.fixture
def joining(tmp_path, text_file):
    """Return a function that returns the command which joins translations of tasks."""

    def command(labels, tasks, *translations):
        paths = [text_file(f"model{place}", lines) for place, lines in enumerate(translations)]
        arguments = ["--labels", text_file("labels", labels), "--tasks", *tasks, "--translations", *paths]
        return ["report", "join", *arguments, "--output", str(tmp_path / "joined")]

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
    assert main(joining(LABELS, tasks, *map(numbered, tasks))) == 0
    assert (tmp_path / "joined").read_text() == "".join(f"{line}\n" for line in expected)


def test_packed_labels(tmp_path, text_file):
    labels = tmp_path / "labels.gz"
    labels.write_bytes(gzip.compress("\n".join(f"{label} " for label in LABELS).encode()))
    output = tmp_path / "joined.gz"
    arguments = ["--labels", str(labels), "--tasks", "calc", "--translations", text_file("t", numbered("c"))]
    assert main(["report", "join", *arguments, "--output", str(output)]) == 0
    assert gzip.decompress(output.read_bytes()) == b"\nc 1\n\nc 3\n\n\n"


@pytest.mark.parametrize(
    ("labels", "tasks", "translations", "message"),
    [
        (LABELS, ["base", "calc"], [numbered("b")], "2 tasks, but 1 translations; give one"),
        (LABELS, ["base"], [numbered("b")[:5]], "labels:6: has no partner: 6 lines, but 5 in "),
        (LABELS, ["base", "base"], [numbered("b")] * 2, "task 'base' is named twice"),
        (["base", "a\tx", "calc"], ["base"], [numbered("b")[:3]], "labels:2: 'a\\tx' is not a task label"),
    ],
)
def test_join_errors(joining, refused, labels, tasks, translations, message):
    refused(joining(labels, tasks, *translations), message)


def test_choose_epoch():
    assert choose_epoch([1.0, 3.0, 3.0]) == 2
    assert choose_epoch([1.0, 3.0, 1.0], "ter") == 1


REFERENCES = ["a b c d e f", "g h i j k l", "m n o p q", "r s t u v w", "x y z a b c", "d e f g h"]
# The second epoch is the best on all sentences, the third on those of base, the first on those of calc.
EPOCHS = [
    ["x b c d e f", "g h i j k l", "m n o p q", "r s t u v w", "x y q a b c", "d e q g h"],
    ["a b c d e f", "g h i j k l", "m n o p q", "r s t u v q", "x y z a b c", "d e f g q"],
    ["a b c d e f", "g h q j k l", "m q o p q", "r s q u v w", "x y z a b c", "d e f g h"],
]
OTHERS = [line.replace("w", "q") for line in REFERENCES]
EXPERIMENT = ["--name=x", "--learner=mira", "--mixing=none", "--tune-on=dev", "--features=all", "--shards=1"]


@pytest.fixture
def choosing(tmp_path, text_file):
    weights = [str(tmp_path / f"w{epoch}.h5") for epoch in (1, 2, 3)]
    for epoch, path in enumerate(weights, 1):
        write_weights(path, make_weights({"a": epoch, "b": 0.0, "c": 1.0}))
    arguments = ["--reference", text_file("ref", REFERENCES), "--weights", *weights, "--translations"]
    arguments += [text_file(f"t{epoch}", lines) for epoch, lines in enumerate(EPOCHS, 1)]
    arguments += ["--output-weights", str(tmp_path / "best.h5"), "--output", str(tmp_path / "system.json")]
    return ["report", "choose", *EXPERIMENT, *arguments]


@pytest.fixture
def choose(tmp_path, choosing):
    """Return a function that chooses an epoch with additional options, and returns the system."""

    def run(*options):
        assert main([*choosing, *options]) == 0
        return read_system(tmp_path / "system.json")

    return run


@pytest.mark.parametrize(
    ("task", "lines", "epoch"), [(None, range(6), 2), ("base", (0, 4, 5), 3), ("calc", (1, 3), 1)]
)
def test_choose_on_all_sentences_or_on_those_of_a_task(tmp_path, text_file, choose, task, lines, epoch):
    system = choose(*(["--labels", text_file("labels", LABELS), "--task", task] if task else []))
    references = [REFERENCES[line] for line in lines]
    expected = [sacrebleu([text[line] for line in lines], references) for text in EPOCHS]
    assert system.devtest_bleu == system.devtest_scores == pytest.approx(expected)
    assert expected.index(max(expected)) + 1 == epoch == system.epoch
    assert (system.name, system.active_features) == ("x", 2)
    assert read_weights(tmp_path / "best.h5").to_dict()["a"] == epoch
    assert (tmp_path / "best.h5").read_bytes() == (tmp_path / f"w{epoch}.h5").read_bytes()


def test_choose_with_several_references(text_file, choose):
    """A sentence without a line in one of them has one reference fewer."""
    others = text_file("others", ["", *OTHERS[1:]])
    options = ["--labels", text_file("labels", LABELS), "--task", "calc", "--reference", others]
    system = choose(*options)
    of_calc = [[lines[1], lines[3]] for lines in (REFERENCES, OTHERS)]
    expected = [sacrebleu([text[1], text[3]], *of_calc) for text in EPOCHS]
    assert system.devtest_bleu == pytest.approx(expected)
    assert expected[1] == pytest.approx(100)
    assert system.signature.startswith("nrefs:2|")


def test_choose_by_another_score(tmp_path, text_file, choose, choosing, refused):
    """Of detokenised text; the third epoch is that of the raw references."""
    raw = [line.capitalize() + "." for line in EPOCHS[2]]
    given = ["--raw-references", text_file("raw", raw), *write_detokenizer(tmp_path, raw)]
    for by in ("ter", "chrf-lowercased"):
        system = choose("--by", by, *given)
        assert (system.chosen_by, system.epoch) == (by, 3)
        assert len(set(system.devtest_scores)) == 3
        assert system.devtest_bleu[1] == max(system.devtest_bleu)
    message = "--by ter needs --raw-references, --preparation and --recaser"
    refused([*choosing, "--by", "ter", *given[:2]], message)


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        (["--labels"], LABELS, "--labels and --task need each other"),
        (["--task"], LABELS, "--labels and --task need each other"),
        (["--weights"], LABELS, "3 translations, but 1 weights"),
        (["--task", "base", "--labels"], ["calc"] * 6, "labels: no sentence has the label 'base'; the most "),
        (["--task", "base", "--labels"], ["base"] * 5, "labels: has 5 lines, "),
    ],
)
def test_choose_errors(text_file, refused, choosing, options, labels, message):
    refused([*choosing, *options, text_file("labels", labels)], message)
