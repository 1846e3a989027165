"""The table by task: BLEU on the sentences of each task, their mean, and all together."""

import json
import statistics
from dataclasses import asdict
from random import Random

import pytest
from tests.scored import p_values, sacrebleu
from tests.steps import settings

from itersel.cli.main import main
from itersel.config.report_steps import Comparison
from itersel.evaluate.metrics import make_tokenized_bleu
from itersel.evaluate.significance import pooled_differences
from itersel.report.tasks import LeftOut, compare_tasks, text_table, tsv_table

RANDOM = Random(5)
TASKS = ["calc", "base"]
COUNTS = {"calc": 45, "base": 21, "math": 15, "draw": 9}
# Some sentences belong to other tasks; those of a task are not adjacent.
LABELS = [label for label, count in COUNTS.items() for _ in range(count)]
RANDOM.shuffle(LABELS)
REFERENCES = [" ".join(RANDOM.choices("abcdefghijkl", k=RANDOM.randint(5, 12))) for _ in LABELS]


def damaged(share):
    """Return the references with some words replaced, twice as many in base as in other tasks."""
    kept = [1 - share * (2 if label == "base" else 1) for label in LABELS]
    return [
        " ".join(word if RANDOM.random() < one else "x" for word in line.split())
        for one, line in zip(kept, REFERENCES, strict=True)
    ]


BAD, GOOD, LIKE_GOOD, OTHERS = damaged(0.25), damaged(0.1), damaged(0.1), damaged(0.2)
TEXTS = {"bad": [BAD], "good": [GOOD], "like good": [LIKE_GOOD]}


def of(text, *tasks):
    return [line for line, label in zip(text, LABELS, strict=True) if label in tasks]


def system(row, name):
    return next(one for one in row.systems if one.name == name)


def score(row, name):
    """Return the mean of a system's runs, and its deviation."""
    found = system(row, name).score
    return found.mean, found.deviation


def mean_of_tasks(table, name):
    found = next(one.score for one in table.mean if one.name == name)
    return found.mean, found.deviation


def cells(table):
    """Return the rows of the table of scores, split at white space."""
    lines = text_table(table)
    begin = lines.index("") + 3
    return [line.split() for line in lines[begin : lines.index("", begin)]]


def test_scores_cover_the_sentences_of_a_task():
    table = compare_tasks(TEXTS, [REFERENCES], LABELS, TASKS, Comparison(trials=10))
    assert [row.name for row in table.tasks] == TASKS
    for row in table.tasks:
        assert row.sentences == COUNTS[row.name]
        for name, (text,) in TEXTS.items():
            expected = sacrebleu(of(text, row.name), of(REFERENCES, row.name))
            assert score(row, name) == (pytest.approx(expected), None)
    for name, (text,) in TEXTS.items():
        pooled = sacrebleu(of(text, *TASKS), of(REFERENCES, *TASKS))
        assert score(table.pooled, name) == (pytest.approx(pooled), None)
        single = [sacrebleu(of(text, task), of(REFERENCES, task)) for task in TASKS]
        assert mean_of_tasks(table, name) == (pytest.approx(sum(single) / 2), None)
        # tasks of different sizes, so that mean and pooled score differ
        assert abs(pooled - sum(single) / 2) > 0.1
    assert table.pooled.sentences == 66


def test_significance_covers_the_sentences_of_a_row():
    table = compare_tasks(TEXTS, [REFERENCES], LABELS, TASKS, Comparison(trials=300, seed=4))
    marks = []
    for row, tasks in zip((*table.tasks, table.pooled), (["calc"], ["base"], TASKS), strict=True):
        metric = make_tokenized_bleu([of(REFERENCES, *tasks)])
        texts = {name: of(text, *tasks) for name, (text,) in TEXTS.items()}
        for name, text in texts.items():
            others = {other: lines for other, lines in texts.items() if other != name}
            assert system(row, name).score.p == p_values(metric, text, others, 300, 4)
        marks.append([system(row, name).score.better_than for name in TEXTS])
        assert system(row, "bad").score.p["good"] < 0.05 < system(row, "good").score.p["like good"]
    # only the better of two systems is marked
    assert marks == [[(), (1,), (1,)]] * 3


def test_text_tsv_and_document():
    table = compare_tasks(TEXTS, [REFERENCES], LABELS, TASKS, Comparison(trials=300, seed=4))
    text = text_table(table)
    assert text[:2] == ["system  experiment", "------  ----------"]
    assert text[2:6] == ["     1  bad", "     2  good", "     3  like good", ""]
    assert text[6].split() == ["task", "sentences", "1", "2", "3"]
    for row, task in zip(cells(table)[:2], TASKS, strict=True):
        scores = [f"{sacrebleu(of(lines, task), of(REFERENCES, task)):.2f}" for (lines,) in TEXTS.values()]
        assert row == [task, str(COUNTS[task]), scores[0], scores[1], "(1)", scores[2], "(1)"]
    mean, pooled = cells(table)[2:]
    assert mean == ["mean", "of", "tasks", *(f"{mean_of_tasks(table, name)[0]:.2f}" for name in TEXTS)]
    assert pooled[:3] == ["all", "tasks", "66"]
    assert pooled[4::2] == [f"{score(table.pooled, name)[0]:.2f}" for name in ("good", "like good")]
    legend = " ".join(text[13:])
    assert "(p < 0.05, approximate randomization, 300 trials, seed 4)" in legend
    pairs = "one for each pair of systems on each task and on all of them, without correction"
    assert f"9 tests, {pairs}" in legend
    assert text[-1].startswith("tokenized BLEU: sacrebleu nrefs:1|case:lc|")
    assert max(map(len, text)) <= 110
    header, *rows = (line.split("\t") for line in tsv_table(table))
    assert header == [
        "task",
        "sentences",
        "system",
        "experiment",
        "repeats",
        "tokenized_bleu",
        "deviation",
        "better_than",
    ]
    assert [row[0] for row in rows] == ["calc"] * 3 + ["base"] * 3 + ["mean of tasks"] * 3 + ["all tasks"] * 3
    assert [row[2:4] for row in rows[:3]] == [["1", "bad"], ["2", "good"], ["3", "like good"]]
    bleu = sacrebleu(of(GOOD, "calc"), of(REFERENCES, "calc"))
    assert rows[1] == ["calc", "45", "2", "good", "1", f"{bleu:.2f}", "", "1"]
    assert rows[0][-1] == "-"
    mean = f"{mean_of_tasks(table, 'good')[0]:.2f}"
    assert rows[7] == ["mean of tasks", "", "2", "good", "1", mean, "", ""]
    assert (table.significance.trials, table.significance.seed) == (300, 4)


def test_several_systems_beaten_at_once():
    """Scores with two and with three digits are aligned with the numbers of the systems."""
    texts = {"bad": [BAD], "same": [list(BAD)], "good": [REFERENCES]}
    table = compare_tasks(texts, [REFERENCES], LABELS, ["calc"], Comparison(trials=200))
    assert cells(table)[0][-2:] == ["100.00", "(1,2)"]
    assert tsv_table(table)[3].split("\t")[-1] == "1, 2"
    lines = text_table(table)
    header = next(line for line in lines if line.startswith("task"))
    scores = [line for line in lines if line.startswith(("calc", "mean of", "all tasks"))][:3]
    for number in "123":
        assert {line[header.index(number) - 2] for line in scores} == {"."}
    assert " 6 tests, one for each pair" in " ".join(lines)


def test_sentences_with_other_labels_are_left_out():
    """The most frequent of these labels are reported."""
    table = compare_tasks(TEXTS, [REFERENCES], LABELS, TASKS, Comparison(trials=10))
    assert "left out, 24 in all: 'math' (15), 'draw' (9)." in " ".join(text_table(table))
    assert table.left_out == LeftOut(24, {"math": 15, "draw": 9})
    every = compare_tasks(TEXTS, [REFERENCES], LABELS, list(COUNTS), Comparison(trials=10))
    assert "left out" not in " ".join(text_table(every))
    assert score(every.pooled, "good")[0] == pytest.approx(sacrebleu(GOOD, REFERENCES))
    # a single system is not compared
    labels = ["task", *"hgfedcb", "d", "b", "d", *["task"] * 79]
    alone = compare_tasks({"good": [GOOD]}, [REFERENCES], labels, ["task"], Comparison(trials=10))
    text = " ".join(text_table(alone))
    assert "left out, 10 in all: 'd' (3), 'b' (2), 'c' (1), 'e' (1), 'f' (1) and others." in text
    assert "tests" not in text
    assert {line.split("\t")[-1] for line in tsv_table(alone)[1:2]} == {"-"}


def test_repeats_of_one_experiment_are_a_column():
    texts = {"bad": [BAD], "twice": [GOOD, LIKE_GOOD]}
    table = compare_tasks(texts, [REFERENCES], LABELS, TASKS, Comparison(trials=50, seed=2))
    by_run = []
    for row in table.tasks:
        references = of(REFERENCES, row.name)
        runs = [sacrebleu(of(text, row.name), references) for text in (GOOD, LIKE_GOOD)]
        by_run.append(runs)
        expected = statistics.mean(runs), statistics.stdev(runs)
        assert score(row, "twice") == pytest.approx(expected)
        ours = make_tokenized_bleu([references])
        counts = [[ours.counts(of(run, row.name)) for run in runs] for runs in texts.values()]
        [found] = pooled_differences([ours], *([one] for one in counts), 50, 2)
        assert system(row, "bad").score.p == {"twice": found.p}
        assert system(row, "twice").score.p == {"bad": found.p}
    # the mean over tasks is computed for each run; the deviation is that of two such means
    means = [statistics.mean(scores) for scores in zip(*by_run, strict=True)]
    mean, deviation = statistics.mean(means), statistics.stdev(means)
    assert mean_of_tasks(table, "twice") == pytest.approx((mean, deviation))
    text = text_table(table)
    assert [line.split() for line in text[:4:2]] == [["system", "experiment", "repeats"], ["1", "bad", "1"]]
    assert cells(table)[2][-2:] == [f"{mean:.2f}", f"±{deviation:.2f}"]
    assert any("standard deviation over the repeats" in line for line in text)
    rows = [line.split("\t") for line in tsv_table(table)]
    assert rows[6] == ["mean of tasks", "", "2", "twice", "2", f"{mean:.2f}", f"{deviation:.2f}", ""]
    single = text_table(compare_tasks({"bad": [BAD]}, [REFERENCES], LABELS, TASKS, Comparison(trials=10)))
    assert not any("±" in line or "repeats" in line for line in single)


def test_several_references():
    """If a task has fewer references than another, their signatures differ."""
    others = [line if label == "calc" else None for line, label in zip(OTHERS, LABELS, strict=True)]
    table = compare_tasks(TEXTS, [REFERENCES, others], LABELS, TASKS, Comparison(trials=10))
    calc, base = (score(row, "bad")[0] for row in table.tasks)
    assert calc == pytest.approx(sacrebleu(of(BAD, "calc"), of(REFERENCES, "calc"), of(OTHERS, "calc")))
    assert calc > sacrebleu(of(BAD, "calc"), of(REFERENCES, "calc"))
    assert base == pytest.approx(sacrebleu(of(BAD, "base"), of(REFERENCES, "base")))
    pooled = sacrebleu(of(BAD, *TASKS), of(REFERENCES, *TASKS), of(others, *TASKS))
    assert score(table.pooled, "bad")[0] == pytest.approx(pooled)
    signatures = [line.split("|")[0] for line in text_table(table)[-3:]]
    references = {"calc": "2", "base": "1", "all tasks": "var"}
    assert signatures == [
        f"tokenized BLEU of {name}: sacrebleu nrefs:{count}" for name, count in references.items()
    ]


@pytest.fixture
def command(text_file):
    """Return a function that returns the command for a table of two systems, and more, by task."""
    files = ["--labels", text_file("labels", LABELS), "--reference", text_file("ref", REFERENCES)]
    texts = [("bad", text_file("bad", BAD)), ("good", text_file("good", GOOD))]

    def words(tasks, outputs, systems=(), references=(), **keys):
        described = [{"name": name, "translation": path} for name, path in [*texts, *systems]]
        how = settings(tasks=tasks, systems=described, comparison={"trials": 50, **keys})
        return ["step", "tasks", *files, *references, *how, "--output", *map(str, outputs)]

    return words


def test_command_tasks(tmp_path, text_file, command):
    outputs = [tmp_path / f"tasks{suffix}" for suffix in (".json", ".txt", ".tsv")]
    more = {"references": [text_file("others", OTHERS)], "systems": [("bad", text_file("second", LIKE_GOOD))]}
    assert main(command(TASKS, outputs, seed=3, retokenize="none", **more)) == 0
    texts = {"bad": [BAD, LIKE_GOOD], "good": [GOOD]}
    expected = compare_tasks(
        texts, [REFERENCES, OTHERS], LABELS, TASKS, Comparison(retokenize="none", trials=50, seed=3)
    )
    assert json.loads((tmp_path / "tasks.json").read_text()) == json.loads(json.dumps(asdict(expected)))
    for suffix, form in (("txt", text_table), ("tsv", tsv_table)):
        assert (tmp_path / f"tasks.{suffix}").read_text().splitlines() == form(expected)
    assert "|tok:none|" in text_table(expected)[-1]


def test_tasks_without_sentences_have_no_row(tmp_path, command):
    outputs = [tmp_path / f"tasks{form}" for form in (".txt", ".json")]
    assert main(command(["calc", "impress", "math", "other"], outputs)) == 0
    assert "No sentence of the test set has the label impress, other." in (tmp_path / "tasks.txt").read_text()
    document = json.loads((tmp_path / "tasks.json").read_text())
    assert [row["name"] for row in document["tasks"]] == ["calc", "math"]
    assert document["missing"] == ["impress", "other"]
    assert document["pooled"]["sentences"] == LABELS.count("calc") + LABELS.count("math")
    # a test set of another domain with different labels: one line, but no failure
    assert main(command(["impress", "other"], outputs)) == 0
    text = "No sentence of the test set has the label impress, other.\n"
    assert (tmp_path / "tasks.txt").read_text() == text
    document = json.loads((tmp_path / "tasks.json").read_text())
    assert (document["tasks"], document["mean"], document["pooled"]["systems"]) == ([], [], [])


@pytest.mark.parametrize(
    ("name", "lines", "changes", "facts"),
    [
        ("labels", LABELS, {"tasks": ["calc", "base", "calc"]}, "'calc'"),
        ("labels", LABELS[:80], {}, ("labels:", 80)),
        ("labels", ["calc", "", *LABELS[2:]], {}, ("labels:2:", "''")),
        ("bad", BAD[:4], {}, ("bad:", 4)),
        ("bad", BAD, {"twice": "bad"}, ("bad:", 2, "'bad'")),
        ("bad", BAD, {"outputs": ["tasks.pdf"]}, ("tasks.pdf", ".txt", ".tsv")),
    ],
)
def test_errors(tmp_path, text_file, refused, command, name, lines, changes, facts):
    path = text_file(name, lines)
    given = {"tasks": ["calc"], "outputs": [tmp_path / "tasks.txt"], **changes}
    given["systems"] = [(twice, path)] if (twice := given.pop("twice", None)) else []
    refused(command(**given), facts)
