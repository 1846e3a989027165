"""Scores of detokenised text in the table, and the counts from which they are computed."""

import json
import re

import pytest
from tests.refusals import input_error
from tests.scored import (
    content_of,
    count_command,
    learn_recaser,
    make_system,
    table_command,
    tokenized_bleu,
    write_detokenizer,
    write_test_set,
)

from itersel.cli.main import main
from itersel.config.report_steps import Comparison
from itersel.corpus.prepare import Preparation, write_preparation
from itersel.corpus.settings import Words
from itersel.evaluate.counts import count, read_counts, write_counts
from itersel.evaluate.metrics import make_metrics
from itersel.report.comparison import compare_systems
from itersel.report.table import text_table, tsv_table
from itersel.report.translations import Translations
from itersel.storage.files import read_lines, write_lines

RAW = [f"The cat, number {number}, sat on the Mat." for number in range(40)]
GOOD = [line if number % 8 else line.replace("Mat", "mat") for number, line in enumerate(RAW)]
BAD = [line.replace("sat on", "slept under") for line in RAW]


def tokenised(lines):
    return [line.lower().replace(",", " ,").replace(".", " .") for line in lines]


def counted(text, references, tokenizer="13a"):
    return count(tokenised(text), text, references, tokenizer)


def as_text(systems, texts, **settings):
    translations = [tokenised(text) for text in texts]
    counts = [counted(text, [RAW]).counts for text in texts]
    test_set = Translations("test", systems, translations, [tokenised(RAW)], counts)
    return compare_systems([test_set], Comparison(**{"trials": 100, **settings}))


def one_test_set(name, text, references, tokenizer="13a"):
    counts = counted(text, references, tokenizer).counts
    return Translations(name, [make_system("a")], [tokenised(text)], [tokenised(RAW)], [counts])


def test_document_equals_the_metrics():
    (found,) = as_text([make_system("good"), make_system("bad")], [GOOD, BAD]).test_sets
    good, bad = found.systems
    for metric in make_metrics([RAW]):
        scores = good.scores[metric.name]
        assert scores.mean == scores.repeats[0] == metric.score(metric.counts(GOOD))
        assert scores.interval.low <= scores.mean <= scores.interval.high
        assert scores.differs_from == scores.better_than == (2,), metric.name
        assert bad.scores[metric.name].better_than == ()
        assert bad.scores[metric.name].differs_from == (1,)
        assert found.signatures[metric.name] == metric.signature


def test_text():
    text = text_table(as_text([make_system("good"), make_system("bad")], [GOOD, BAD]))
    cased = next(line for line in text if re.search("experiment +BLEU +chrF[+][+] +TER$", line))
    good = text[text.index(cased) + 2]
    metric = make_metrics([RAW])[0]
    assert f"{metric.score(metric.counts(GOOD)):.2f} [" in good
    assert good.count("(2)") == 3
    assert sum("lowercased TER: sacrebleu nrefs:1|case:lc|" in line for line in text) == 1
    without = compare_systems([Translations("test", [make_system("a")], [GOOD], [RAW])], Comparison())
    assert not any("TER" in line for line in text_table(without))


def test_spreadsheet():
    table = as_text([make_system("good"), make_system("bad")], [GOOD, BAD])
    header, good, _ = (line.split("\t") for line in tsv_table(table))
    assert len(header) == len(good)
    row = dict(zip(header, good, strict=True))
    metric = make_metrics([RAW])[5]
    assert row["lowercased_ter"] == f"{metric.score(metric.counts(GOOD)):.2f}"
    assert row["lowercased_ter_better_than"] == "2"
    assert row["bleu_deviation"] == ""
    assert (
        sum(name.removeprefix("lowercased_").startswith(("bleu", "chrf++", "ter")) for name in header)
        == 2 * 3 * 6
    )


def test_repeats():
    table = as_text([make_system("one"), make_system("two"), make_system("two", repeat=2)], [GOOD, BAD, RAW])
    two = table.test_sets[0].systems[1].scores["bleu"]
    metric = make_metrics([RAW])[0]
    assert list(two.repeats) == [metric.score(metric.counts(lines)) for lines in (BAD, RAW)]
    assert two.mean == sum(two.repeats) / 2
    assert two.deviation > 0
    row = next(line for line in text_table(table) if line.lstrip().startswith("2  two") and "[" in line)
    assert "±" in row


def test_pooled():
    sets = [one_test_set("x", GOOD, [RAW]), one_test_set("y", BAD, [RAW, GOOD])]
    pooled = compare_systems(sets, Comparison(trials=10)).pooled
    metrics = make_metrics([[*RAW, *RAW], [*[None] * len(RAW), *GOOD]])
    for metric in metrics:
        scores = pooled.systems[0].scores[metric.name]
        assert scores.repeats == (metric.score(metric.counts([*GOOD, *BAD])),)
        assert pooled.signatures[metric.name] == metric.signature
        assert "nrefs:var" in metric.signature


def test_command(tmp_path, refused):
    files = write_test_set(tmp_path / "test", [make_system("a")], [tokenised(GOOD)], tokenised(RAW))
    counts = str(tmp_path / "a.h5")

    def command(*counts):
        return table_command({"test": {**files, "counts": counts}}, tmp_path / "table.txt", trials=10)

    write_counts(counts, counted(GOOD, [RAW]))
    assert main(command(counts)) == 0
    assert "\nTER: sacrebleu" in (tmp_path / "table.txt").read_text()
    refused(command(counts, counts), (1, 2))
    write_counts(counts, counted(BAD, [RAW]))
    refused(command(counts), "a.h5")
    write_counts(counts, counted(GOOD, [RAW, BAD]))
    refused(command(counts), ("a.h5", 2, 1))


@pytest.fixture
def outputs(tmp_path):
    """Return a function that returns the command which makes a table with outputs of other systems."""
    systems = [make_system("a"), make_system("b")]
    files = write_test_set(tmp_path, systems, [tokenised(GOOD), tokenised(RAW)], tokenised(RAW))
    counts = [str(tmp_path / f"{name}.h5") for name in "abc"]
    for path, text in zip(counts, (GOOD, RAW), strict=False):
        write_counts(path, counted(text, [RAW]))
    write_lines(tmp_path / "raw", RAW)
    write_lines(tmp_path / "bad.gz", BAD)
    preparation, _ = write_detokenizer(tmp_path, RAW)
    written = [tmp_path / "plain", counts[2]]
    assert main(count_command(tmp_path / "bad.gz", [tmp_path / "raw"], [preparation], written)) == 0
    assert read_lines(tmp_path / "plain") == BAD

    def command(outputs):
        counted = [*counts[:2], *counts[2:] * len(outputs)]
        test_set = {**files, "counts": counted, "outputs": outputs}
        written = tmp_path / "table.json", tmp_path / "table.txt"
        return [*table_command({"test": test_set}, *written, trials=100), preparation]

    return command


def test_output_of_another_system(tmp_path, outputs):
    """It has the scores and p-values that an experiment with the same text would have."""
    assert main(outputs({"online": str(tmp_path / "bad.gz")})) == 0
    systems = [make_system("a"), make_system("b"), make_system("online")]
    (found,) = json.loads((tmp_path / "table.json").read_text())["test_sets"]
    (expected,) = content_of(as_text(systems, [GOOD, RAW, BAD]))["test_sets"]
    for key in ("name", "scores"):
        assert [one[key] for one in found["systems"]] == [one[key] for one in expected["systems"]], key
    assert found["systems"][:2] == expected["systems"][:2]
    online = found["systems"][2]
    assert (online["learner"], online["devtest"], online["repeats"][0]["repeat"]) == (None, None, 1)
    row = (tmp_path / "table.txt").read_text().splitlines()[4].split()
    assert row == ["3", "online", *"-" * 8, f"{tokenized_bleu(online)['mean']:.2f}", "1,", "2"]


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"a": "bad.gz"}, ("outputs:", "'a'")),
        ({"": "bad.gz"}, "outputs"),
        ({"a\tb": "bad.gz"}, ("outputs:", "'a\\tb'")),
        ({"c": "short"}, ("short:", 1)),
        ({"c": "none"}, "none:"),
        ({"c": "raw"}, "c.h5"),
        ({}, "--preparation"),
    ],
)
def test_bad_outputs_of_other_systems(tmp_path, monkeypatch, refused, outputs, given, facts):
    monkeypatch.chdir(tmp_path)
    write_lines("short", ["a"])
    refused(outputs(given), facts)


def test_test_sets_are_pooled_if_they_are_scored_in_the_same_way():
    sets = [one_test_set("x", GOOD, [RAW]), one_test_set("y", GOOD, [RAW], "char")]
    with input_error("tok:13a", "tok:char"):
        compare_systems(sets, Comparison(trials=10))


@pytest.mark.parametrize(
    ("references", "tokenizer", "signature"), [([GOOD], "13a", ()), ([RAW], "char", ("nrefs:1", "tok:char"))]
)
def test_inconsistent_counts(tmp_path, refused, references, tokenizer, signature):
    systems, text = [make_system("a"), make_system("b")], tokenised(GOOD)
    files = write_test_set(tmp_path / "test", systems, [text, text], tokenised(RAW))
    counts = [str(tmp_path / name) for name in ("a.h5", "b.h5")]
    write_counts(counts[0], counted(GOOD, [RAW]))
    write_counts(counts[1], counted(GOOD, references, tokenizer))
    command = table_command({"test": {**files, "counts": counts}}, tmp_path / "table.txt")
    refused(command, f"{counts[1]}:", signature, counts[0])


def test_counts_of_our_own_translation(tmp_path, text_file):
    """Its restored text is counted."""
    restoring = write_detokenizer(tmp_path, [line.replace(",", " ,").replace(".", " .") for line in RAW])
    references = text_file("raw", RAW), text_file("other", BAD)
    outputs = tmp_path / "text", tmp_path / "counts.h5"
    assert main(count_command(text_file("good", tokenised(GOOD)), references, restoring, outputs)) == 0
    found = read_counts(outputs[1])
    expected = counted(outputs[0].read_text().splitlines(), [RAW, BAD]).counts
    assert found[1:] == counted(GOOD, [RAW, BAD])[1:]
    pairs = zip(found.counts.values(), expected.values(), strict=True)
    assert all((mine == theirs).all() for mine, theirs in pairs)


def test_the_tokenizer_of_counts(tmp_path, text_file):
    write_preparation(tmp_path, Preparation(Words("en", "zh")), learn_recaser([["x"]]))
    text, outputs = text_file("text", ["我喜欢你", "你好"]), (tmp_path / "out", tmp_path / "counts.h5")
    restoring = ["--preparation", str(tmp_path / "preparation.json")]
    for name in ("zh", "char"):
        assert main(count_command(text, [text], restoring, outputs, name)) == 0
        [signature] = [one.signature for one in read_counts(outputs[1]).counts if one.name == "bleu"]
        assert f"tok:{name}|" in signature


def test_what_cannot_be_counted(tmp_path, text_file, refused):
    restoring, text = write_detokenizer(tmp_path, RAW), text_file("good", tokenised(GOOD))
    outputs = tmp_path / "out", tmp_path / "counts.h5"
    refused(count_command(text_file("short", RAW[:3]), [text], restoring, outputs), ("short:", 3, 40))
    refused(count_command(text, [text], restoring, outputs, "tok"), ("tokenizer", "tok"))
