"""The first line of the page: which system is best, by how much, and whether that is significant."""

import json
import re
from dataclasses import replace

import pytest
from tests.made_up_run import MadeUpRun
from tests.scored import content_of, make_system, tokenized_bleu

from itersel.config.report_steps import Comparison
from itersel.report.answer import answer
from itersel.report.comparison import compare_systems
from itersel.report.page.document import compared_systems, read_document
from itersel.report.page.render import render
from itersel.report.table_content import parse_table
from itersel.report.translations import Output, Translations
from itersel.storage.json_files import as_content

REFERENCES = [" ".join("abcdefghijkl"[i % 4 : i % 4 + 4 + i % 5]) for i in range(40)]
GOOD = [line.replace("c", "x") if i % 8 == 0 else line for i, line in enumerate(REFERENCES)]
BAD = [line.replace("d", "x") for line in REFERENCES]
# On devtest, the system that comes last is the best.
SYSTEMS = [make_system("one"), make_system("two", (40.0, 41.0))]


def compare(*texts, systems=SYSTEMS, name="test"):
    return Translations(name, systems, texts, [REFERENCES])


def told(folder, table):
    """Return the line of the page of a run with this table; None if there is none."""
    (folder / "report" / "table.json").write_text(json.dumps(as_content(table)))
    line = re.search('<p class="answer">(.*?)</p>', render(read_document(folder)), re.DOTALL)
    return " ".join(re.sub("<.*?>", "", line[1]).split()) if line else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return MadeUpRun(tmp_path_factory.mktemp("run") / "run", ["one", "two"], epochs=1).folder


def test_a_significant_difference(folder):
    table = compare_systems([compare(BAD, GOOD)], Comparison(trials=200))
    worse, better = (system.scores["tokenized-bleu"] for system in table.test_sets[0].systems)
    found = answer(table)
    assert (found.best, found.baseline, found.where) == ("two", "one", "test")
    assert found.difference == better.mean - worse.mean > 0
    assert found.p == better.p["one"] < 0.05
    difference = f"{found.difference:.2f} tokenized BLEU"
    assert told(folder, table) == f"two is ahead of one by {difference}, significant (p = {found.p:.4f})."


def test_the_best_on_devtest_may_be_behind_on_test(folder):
    table = compare_systems([compare(GOOD, BAD)], Comparison(trials=200))
    assert answer(table).difference < 0
    assert told(folder, table).startswith(f"two is behind one by {-answer(table).difference:.2f} ")


def test_equal_scores(folder):
    table = compare_systems([compare(GOOD, GOOD)], Comparison(trials=20))
    assert answer(table).difference == 0
    assert told(folder, table) == "two has the same tokenized BLEU as one, not significant (p = 1.00)."


def test_a_small_difference_is_not_none(folder):
    """Scores may differ significantly by less than what is shown."""
    content = content_of(compare_systems([compare(GOOD, GOOD)], Comparison(trials=20)))
    first, second = map(tokenized_bleu, content["test_sets"][0]["systems"])
    first["mean"] = second["mean"] - 0.004
    for one, other in ((first, "two"), (second, "one")):
        one["p"][other] = 1e-5
    table = parse_table(content)
    found = answer(table)
    assert found.is_significant
    assert found.difference > 0
    line = told(folder, table)
    assert "0.01" in line
    assert "0.0001" in line
    assert "0.00 " not in line

    first["mean"] += 0.008
    other = parse_table(content)
    assert answer(other).difference < 0
    assert answer(other).described_difference == found.described_difference
    assert told(folder, other) != line


def test_several_test_sets_are_pooled():
    table = compare_systems([compare(BAD, GOOD), compare(GOOD, BAD, name="news")], Comparison(trials=50))
    scores = [system.scores["tokenized-bleu"] for system in table.pooled.systems]
    found = answer(table)
    assert [found.baseline_score, found.score] == [score.mean for score in scores]
    assert found.p == scores[0].p["two"]


def test_bleu_of_text_comes_before_bleu_of_tokens():
    table = compare_systems([compare(BAD, GOOD)], Comparison(trials=20))
    (one,) = table.test_sets
    one.signatures["bleu"] = "x"
    for system, mean in zip(one.systems, (20.0, 30.5), strict=True):
        score = system.scores["tokenized-bleu"]
        system.scores["bleu"] = replace(score, mean=mean, p={"one": 0.2, "two": 0.2})
    found = answer(table)
    assert (found.title, found.difference, found.p, found.is_significant) == ("BLEU", 10.5, 0.2, False)


def test_the_baseline_is_the_decoder_that_was_learned_from():
    """Other outputs are no baselines."""
    systems = [Output("first entries"), *SYSTEMS, Output("online")]
    table = compare_systems([compare(BAD, BAD, GOOD, BAD, systems=systems)], Comparison(trials=20))
    assert answer(table).baseline == "first entries"
    assert compared_systems(table, []) == ["first entries", "two"]
    table = compare_systems([compare(BAD, GOOD, BAD, systems=systems[1:])], Comparison(trials=20))
    assert answer(table).baseline == "one"


def test_a_single_system_has_nothing_to_be_compared_with(folder):
    table = compare_systems([compare(GOOD, systems=SYSTEMS[1:])], Comparison(trials=20))
    assert answer(table).baseline is None
    assert told(folder, table) is None


def test_a_run_that_is_not_finished_has_no_answer(tmp_path):
    """Also if there is a table from before an experiment was added."""
    run = MadeUpRun(tmp_path / "run", ["one", "two"], epochs=1)
    assert told(run.folder, run.table)
    (run.folder / "experiments" / "two" / "best" / "system.json").unlink()
    assert told(run.folder, run.table) is None
