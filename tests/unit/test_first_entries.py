"""The translations that a decoder itself ranks first: what weights for its lists have to beat."""

import json

import pytest
from tests.scored import (
    count_command,
    make_system,
    table_command,
    tokenized_bleu,
    write_detokenizer,
    write_test_set,
)

from itersel.cli.main import main
from itersel.errors import InputError
from itersel.lists.rescoring import first_texts
from itersel.report.papers import latex, markdown
from itersel.report.table import text_table
from itersel.report.table_content import parse_table
from itersel.storage.files import read_lines, write_lines

REFERENCE = [f"the cat number {number} sat on the mat ." for number in range(30)]
WORSE = [line.replace("sat on", "slept under") for line in REFERENCE]


def test_first_of_each_sentence(tmp_path):
    """In the order of the files, whatever the scores; sentences may be in any order."""
    write_lines(
        tmp_path / "a", ["1 ||| b c ||| f=1 ||| -9", "0 ||| a ||| f=1 ||| -5", "0 ||| x ||| f=1 ||| 0"]
    )
    write_lines(tmp_path / "b", ['{"id": 2, "text": "d", "score": 1}', "1 ||| y ||| f=1 ||| 0"])
    assert first_texts([tmp_path / "a", tmp_path / "b"]) == ["a", "b c", "d"]
    lists = ["--nbest", str(tmp_path / "a"), str(tmp_path / "b")]
    assert main(["rescore", "--first", *lists, "--output", str(tmp_path / "first.gz")]) == 0
    assert main(["step", "first-entries", *lists, "--output", str(tmp_path / "step.gz")]) == 0
    for name in ("first.gz", "step.gz"):
        assert read_lines(tmp_path / name) == ["a", "b c", "d"]
    with pytest.raises(InputError):
        first_texts([tmp_path / "b"])


def test_options_without_effect(tmp_path, refused):
    write_lines(tmp_path / "a", ["0 ||| a ||| f=1"])
    for more in (["--k-best", "2"], ["--feature", f"lm={tmp_path / 'a'}"]):
        refused(["rescore", "--first", "--nbest", str(tmp_path / "a"), *more], more[0])


def test_row_0(tmp_path):
    """The decoder is the first row, with number 0; the numbers of the others are as without it."""
    systems = [make_system("a"), make_system("b")]
    files = write_test_set(tmp_path, systems, [REFERENCE, WORSE], REFERENCE)
    preparation, _ = write_detokenizer(tmp_path, REFERENCE, only_cleaned=True)
    files |= {
        "counts": [],
        "outputs": {"first entries": str(tmp_path / "first"), "online": str(tmp_path / "1")},
    }
    texts = {"0": REFERENCE, "1": WORSE, "first": WORSE, "online": WORSE}
    for name, text in texts.items():
        write_lines(tmp_path / name, text)
        counts = str(tmp_path / f"{name}.h5")
        files["counts"].append(counts)
        outputs = [tmp_path / f"{name}.txt", counts]
        assert main(count_command(tmp_path / name, [tmp_path / "reference"], [preparation], outputs)) == 0

    outputs = tmp_path / "table.json", tmp_path / "table.txt"
    assert main([*table_command({"test": files}, *outputs, trials=200), preparation]) == 0
    table = json.loads(outputs[0].read_text())
    rows = table["test_sets"][0]["systems"]
    assert [(row["number"], row["name"]) for row in rows] == [
        (0, "first entries"),
        (1, "a"),
        (2, "b"),
        (3, "online"),
    ]
    assert [tokenized_bleu(row)["differs_from"] for row in rows] == [[1], [0, 2, 3], [1], [1]]
    assert [row["scores"]["bleu"]["better_than"] for row in rows] == [[], [0, 2, 3], [], []]
    parsed = parse_table(table)
    assert text_table(parsed) == read_lines(outputs[1])
    for form in (latex, markdown):
        assert any("first entries" in line for line in form(parsed))
