"""Columns of the table with scores that users have for each translation, such as COMET."""

import json

import numpy as np
import pytest
from tests.scored import make_system, table_command, tokenized_bleu, write_detokenizer, write_test_set

import itersel
from itersel.cli.main import main
from itersel.config.evaluation import NO_SCORES
from itersel.config.report_steps import Comparison
from itersel.evaluate.names import METRICS
from itersel.report.answer import answer
from itersel.report.cells import cells_of_systems
from itersel.report.comparison import compare_systems
from itersel.report.page_table import TITLES, table_view
from itersel.report.papers import markdown
from itersel.report.table_content import parse_table
from itersel.report.translations import Translations
from itersel.storage.files import read_lines, write_lines

SENTENCES = range(24)
REFERENCE = [f"the cat number {number} sat on the mat ." for number in SENTENCES]
# what the lists have for each sentence, and a number for each
TEXTS = [
    ("the cat number {} slept under the mat .", 0.25),
    ("caf\u00e9 &amp; cat number {} sat on the mat .", 0.5),
    ("the cat number {} sat on the mat .", 0.75),
    # the first of equal translations counts
    ("the cat number {} sat on the mat .", -9),
]
# as lists are cleaned
CLEANED = [text.replace("&amp;", "&") for text, _ in TEXTS]


def number_of(sentence, text):
    return TEXTS[text][1] + sentence % 3 / 100


def lines_of(choice):
    """Return a translation, given which text of its list each sentence has."""
    return [CLEANED[choice(sentence)].format(sentence) for sentence in SENTENCES]


CHOICES = {"first entries": lambda _: 0, "a": lambda number: 2 - number % 2, "b": lambda number: number % 3}
EXPECTED = {
    name: [number_of(sentence, choice(sentence)) for sentence in SENTENCES]
    for name, choice in CHOICES.items()
}


@pytest.fixture
def listed(tmp_path):
    """Return the files of a test set with lists, and the option of their preparation."""
    systems = [make_system(name) for name in ("a", "b")]
    files = write_test_set(tmp_path, systems, [lines_of(CHOICES[name]) for name in ("a", "b")], REFERENCE)
    preparation, _ = write_detokenizer(tmp_path, REFERENCE, only_cleaned=True)
    write_lines(tmp_path / "first", lines_of(CHOICES["first entries"]))
    write_lines(tmp_path / "online", ["something else"] * len(SENTENCES))

    pairs = [(sentence, text) for sentence in SENTENCES for text in range(len(TEXTS))]
    lines = [f"{one} ||| {TEXTS[text][0].format(one)} ||| f={text} ||| 0" for one, text in pairs]
    # sentences may be in any order, and in several files
    write_lines(tmp_path / "lists.1", lines[40:])
    write_lines(tmp_path / "lists.2", lines[:40])
    numbers = [str(number_of(*pair)) for pair in [*pairs[40:], *pairs[:40]]]
    write_lines(tmp_path / "comet", numbers)
    write_lines(tmp_path / "online.comet", [str(0.1 * (number % 4)) for number in SENTENCES])

    files |= {"outputs": {"first entries": str(tmp_path / "first"), "online": str(tmp_path / "online")}}
    files["lists"] = [str(tmp_path / f"lists.{part}") for part in (1, 2)]
    return files, preparation


def made(tmp_path, files, preparation, **more):
    """Return table.json, and the lines of the text and the spreadsheet."""
    test_sets = more.pop("test_sets", {"test": files})
    outputs = [tmp_path / f"table.{kind}" for kind in ("json", "txt", "tsv")]
    assert main([*table_command(test_sets, *outputs, trials=200, **more), preparation]) == 0
    return json.loads(outputs[0].read_text()), read_lines(outputs[1]), read_lines(outputs[2])


def own(row):
    """Return the names of the user's own scores that a system has."""
    return sorted(row["scores"].keys() - METRICS.keys())


def test_every_choice_from_lists_has_numbers(tmp_path, listed):
    files, preparation = listed
    files["user_scores"] = {"COMET": {"list_numbers": str(tmp_path / "comet")}}
    table, text, spreadsheet = made(tmp_path, files, preparation, seed=4)
    (found,) = table["test_sets"]
    systems = {one["name"]: one for one in found["systems"]}
    means = {
        name: one["scores"]["COMET"]["mean"] for name, one in systems.items() if "COMET" in one["scores"]
    }
    assert means == pytest.approx({name: np.mean(numbers) for name, numbers in EXPECTED.items()})

    # p-values and intervals are those of the command
    outputs = dict.fromkeys(EXPECTED, REFERENCE)
    scores = {"COMET": EXPECTED}
    (_, comet) = itersel.compare(outputs, REFERENCE, metrics=["bleu"], user_scores=scores, trials=200, seed=4)
    for row in comet.systems[1:]:
        own = systems[row.system]["scores"]["COMET"]
        assert own["p"]["first entries"] == row.p
        assert own["interval"] == list(row.interval)

    better = [systems[name]["scores"]["COMET"]["better_than"] for name in EXPECTED]
    assert better == [[], [0, 2], [0]]
    line = next(line for line in text if line.split()[:2] == ["1", "a"] and "[" in line)
    assert f"{means['a']:.4f} [" in line
    assert line.endswith("(0,2)")
    header, *rows = (line.split("\t") for line in spreadsheet)
    column = header.index("comet")
    assert [row[column] for row in rows] == [*(f"{mean:.4f}" for mean in means.values()), ""]
    assert all(len(row) == len(header) == len(set(header)) for row in rows)
    assert [row[header.index("comet_p_against_system_0")] != "" for row in rows] == [False, True, True, False]


def test_systems_without_numbers(tmp_path, listed):
    """Others have no number; the numbers of systems are the same in all columns."""
    files, preparation = listed
    systems = {"b": str(tmp_path / "b.comet"), "online": str(tmp_path / "online.comet")}
    write_lines(tmp_path / "b.comet", map(str, EXPECTED["b"]))
    files |= {
        "lists": [],
        "user_scores": {
            "COMET": {"system_numbers": systems},
            "human": {"system_numbers": {"b": systems["b"]}},
        },
    }
    table, text, _ = made(tmp_path, files, preparation)
    rows = table["test_sets"][0]["systems"]
    assert [own(row) for row in rows] == [[], [], ["COMET", "human"], ["COMET"]]
    assert rows[2]["scores"]["COMET"]["better_than"] == [3]
    assert rows[3]["scores"]["COMET"]["differs_from"] == [2]
    assert rows[2]["scores"]["human"]["p"] == {}
    assert any(line.split() == ["1", "a", "-", "-"] for line in text)

    (view,) = table_view(parse_table(table))
    titles = [column.title for column in view.columns]
    shown = [row[titles.index("COMET")].text for row in view.rows]
    assert shown == ["-", "-", f"{np.mean(EXPECTED['b']):.4f}", "0.1500"]
    assert [row[titles.index("COMET")].is_best for row in view.rows] == [False, False, True, False]
    assert answer(parse_table(table)).title == "tokenized BLEU"
    assert any("COMET" in line for line in markdown(parse_table(table)))


def test_several_test_sets(tmp_path, listed):
    """All sentences together have the numbers of all test sets; systems that lack some have none."""
    files, preparation = listed
    one = files | {"user_scores": {"COMET": {"list_numbers": str(tmp_path / "comet")}}}
    other = one | {
        "user_scores": {
            "COMET": {
                **one["user_scores"]["COMET"],
                "system_numbers": {"online": str(tmp_path / "online.comet")},
            }
        }
    }
    table, *_ = made(tmp_path, files, preparation, test_sets={"x": one, "y": other})
    pooled = table["pooled"]["systems"]
    assert [own(row) for row in pooled] == [["COMET"]] * 3 + [[]]
    assert pooled[1]["scores"]["COMET"]["mean"] == pytest.approx(np.mean(EXPECTED["a"]))


def test_repeats(tmp_path, listed):
    files, preparation = listed
    systems = [make_system("a"), make_system("a", repeat=2)]
    files |= write_test_set(tmp_path, systems, [lines_of(CHOICES[name]) for name in ("a", "b")], REFERENCE)
    files["user_scores"] = {"COMET": {"list_numbers": str(tmp_path / "comet")}}
    table, text, _ = made(tmp_path, files, preparation)
    (own,) = (row["scores"]["COMET"] for row in table["test_sets"][0]["systems"] if row["name"] == "a")
    assert own["repeats"] == pytest.approx([np.mean(EXPECTED[name]) for name in ("a", "b")])
    assert any(f"{own['mean']:.4f} ±{own['deviation']:.4f} [" in line for line in text)


def test_the_same_bytes_again(tmp_path, listed):
    files, preparation = listed
    files["user_scores"] = {"COMET": {"list_numbers": str(tmp_path / "comet")}}
    first = made(tmp_path, files, preparation)
    assert made(tmp_path, files, preparation) == first
    # other columns are as without these scores
    (own,) = made(tmp_path, files | {"lists": [], "user_scores": {}}, preparation)[0]["test_sets"]
    for row, other in zip(first[0]["test_sets"][0]["systems"], own["systems"], strict=True):
        assert {**row, "scores": {"tokenized-bleu": tokenized_bleu(row)}} == other


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        (["1"] * 95, ("comet:", 95, 96)),
        (["1"] * 95 + ["x"], ("comet:96:", "'x'")),
        (["1e7"] * 96, ("comet:1:", "'1e7'")),
    ],
)
def test_wrong_numbers(tmp_path, listed, refused, lines, facts):
    files, preparation = listed
    write_lines(tmp_path / "comet", lines)
    files["user_scores"] = {"COMET": {"list_numbers": str(tmp_path / "comet")}}
    refused([*table_command({"test": files}, tmp_path / "table.json"), preparation], facts)


@pytest.mark.parametrize(
    ("scores", "changes", "facts"),
    [
        ({"COMET": {"system_numbers": {"c": "comet"}}}, {}, ("COMET", "'c'")),
        ({"COMET": {"system_numbers": {"a": "online.comet"}}}, {}, None),
        ({"COMET": {"system_numbers": {"a": "comet"}}}, {}, ("comet:", 96, 24)),
        ({"COMET": {"list_numbers": "comet"}}, {"lists": []}, ("'lists'", "--preparation")),
        ({"COMET": {"list_numbers": "comet"}}, {"translations": ["first", "online"]}, "online:1:"),
        ({"ter": {"list_numbers": "comet"}}, {}, "'test_sets.test.user_scores.ter'"),
    ],
)
def test_wrong_scores(tmp_path, monkeypatch, listed, refused, scores, changes, facts):
    monkeypatch.chdir(tmp_path)
    files, preparation = listed
    command = [*table_command({"test": files | {"user_scores": scores} | changes}, "table.json"), preparation]
    if facts is None:
        assert main(command) == 0
    else:
        refused(command, facts)


def test_names_of_other_columns_are_reserved():
    """Two columns of the page cannot have the same title."""
    test_set = Translations("test", [make_system("a")], [REFERENCE], [REFERENCE])
    (table,) = compare_systems([test_set], Comparison(trials=10)).test_sets
    (cells,) = cells_of_systems(table)
    titles = {*TITLES, *cells}
    assert {title.lower() for title in titles if " " not in title} <= NO_SCORES
