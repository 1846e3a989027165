"""The table of corpora, and the rule counts that it uses."""

import io
import json

import pytest
from tests.steps import settings

from itersel.cli.main import main
from itersel.grammar.build import Rule, make_grammars
from itersel.grammar.sentence_grammars import write_grammars


def write_sentence(path, rules):
    """Write a sentence with a number of rules and a pass-through rule."""
    write_grammars(
        path, make_grammars([("a",)], None, [[Rule(("a",), (f"x{i}",), {}) for i in range(rules)]])
    )


def test_command_corpus(tmp_path, text_file, monkeypatch):
    write_sentence(tmp_path / "0.h5", 3)
    write_sentence(tmp_path / "1.h5", 0)
    names = io.BytesIO(f"{tmp_path}/0.h5\n{tmp_path}/1.h5\n".encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(names))
    rules = str(tmp_path / "rules.json")
    assert main(["step", "rules", "--inputs", "-", "--output", rules]) == 0
    assert json.loads((tmp_path / "rules.json").read_text()) == {"rules": 3}
    further = {"sentences": 5, "tokens": 9, "types": 2, "dropped": {"empty": 7}}
    splits = {"train": split(2, 3, 4, short=1, long=2, none=0), "dev": split(1, 1, 1)}
    document = {"splits": splits, "monolingual": further}
    counts = {"pages": 3, "paragraphs": 90, "no counterpart": 11, "untranslated": 0, "duplicates": 22}
    collection = text_file("collection.json", [json.dumps({"packages": {}, "pairs": 57, **counts})])
    statistics = text_file("statistics.json", [json.dumps(document)])
    arguments = ["step", "corpora", "--statistics", statistics, "--collection", collection]
    arguments += [*settings(rules={"train": rules}), "--output"]
    outputs = [str(tmp_path / f"corpus{suffix}") for suffix in (".txt", ".tsv", ".json")]
    assert main([*arguments, *outputs]) == 0
    rows = [line.split() for line in (tmp_path / "corpus.txt").read_text().splitlines()]
    assert rows[2:4] == [["train", "2", "3", "4", "3", "3", "2"], ["dev", "1", "1", "1", "0", "-", "-"]]
    assert " ".join(rows[5]) == "left out of why pairs"
    left_out = ["collection no counterpart 11", "collection duplicates 22"]
    left_out += ["train short 1", "train long 2", "monolingual empty 7"]
    assert [" ".join(row) for row in rows[7:]] == left_out
    assert (tmp_path / "corpus.tsv").read_text().splitlines()[2] == "dev\t1\t1\t1\t0\t-\t-"
    result = json.loads((tmp_path / "corpus.json").read_text())
    assert result["splits"]["train"] == {**document["splits"]["train"], "rules": 3}
    assert result["splits"]["dev"]["rules"] is None
    assert result["left_out"][0] == {"of": "collection", "why": "no counterpart", "count": 11}
    assert len(result["left_out"]) == 5


COUNTS = dict.fromkeys(("no counterpart", "untranslated", "duplicates"), 1)
COLLECTIONS = [{**COUNTS, "duplicates": count} for count in (float("inf"), "3", -1)] + [{}, []]
MONOLINGUAL = [{"dropped": one} for one in ({"x": "abc"}, {"x": float("inf")}, ["x"], None)] + [{}, [1]]


@pytest.mark.parametrize(
    ("collection", "monolingual"),
    [(one, {"dropped": {}}) for one in COLLECTIONS] + [(COUNTS, one) for one in MONOLINGUAL],
)
def test_left_out_of_wrong_kinds(text_file, tmp_path, refused, collection, monolingual):
    document = {"splits": {"train": split(1, 1, 1)}, "monolingual": monolingual}
    files = {"statistics.json": document, "collection.json": collection}
    paths = [text_file(name, [json.dumps(content)]) for name, content in files.items()]
    arguments = ["step", "corpora", "--statistics", paths[0], "--collection", paths[1]]
    facts = f"{paths[collection is not COUNTS]}:"
    refused([*arguments, "--output", tmp_path / "corpus.txt"], facts)


def split(sentences, source, target, **dropped):
    sides = {"source": {"tokens": source, "types": 1}, "target": {"tokens": target, "types": 1}}
    return {"sentences": sentences, **sides, "dropped": dropped}


def test_command_corpus_errors(tmp_path, text_file, refused):
    statistics = text_file("statistics.json", [json.dumps({"splits": {"dev": split(1, 1, 1)}})])
    output = str(tmp_path / "x.txt")
    arguments = ["step", "corpora", "--statistics", statistics, "--output", output]
    broken = text_file("rules.json", ["[]"])
    refused([*arguments, "--collection", broken], f"{broken}:")
    refused([*arguments, *settings(rules={"test": broken})], "test")
    for content in ([], *({"rules": rules} for rules in (-1, 10**300, 1.5, "3", None, True))):
        broken = text_file("rules.json", [json.dumps(content)])
        refused([*arguments, *settings(rules={"dev": broken})], "rules.json")
    rules = ["step", "rules", "--inputs", text_file("list", [broken]), "--output", output]
    refused(rules, ("rules.json", "HDF5"))
