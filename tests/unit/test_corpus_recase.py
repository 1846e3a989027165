"""The recaser on synthetic sentences, and detokenisation of the decoder's output."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.cli.main import main
from itersel.corpus import recase
from itersel.corpus.prepare import Preparation, restore
from itersel.corpus.recase import Recaser, RecaserCounts, learn_recaser, read_recaser
from itersel.errors import InputError

TRAIN = [
    line.split()
    for line in (
        "Click the File menu .",
        "Click the file .",
        "The file is in Berlin .",
        "The File menu is open .",
        "A file is open .",
        "eMail is here .",
    )
]

LOWER, CASED = ["click", "the", "file", "menu", "."], ["Click", "the", "File", "menu", "."]


def test_neighbours_decide():
    recaser = learn_recaser(TRAIN)
    assert recaser.recase(LOWER) == CASED
    assert recaser.recase([word.lower() for word in TRAIN[2]]) == TRAIN[2]
    # never seen at the beginning; unknown words; forms with capitals inside
    assert recaser.recase(["open", "email", "zebra"]) == ["Open", "eMail", "zebra"]
    assert recaser.recase(["zebra"]) == ["Zebra"]
    assert recaser.recase([]) == []


def test_formula_by_hand():
    """'file' between 'the' and 'menu', where 2 of 5 occurrences are 'File'."""
    recaser = learn_recaser(TRAIN)
    assert recaser.forms["file"] == {"File": 2, "file": 3}
    assert recaser.left["the file"] == {"File": 2, "file": 2}
    assert recaser.right["file menu"] == {"File": 2}
    # (2 + .4)(2 + .4) / .4 = 14.4 for File, (2 + .6)(0 + .6) / .6 = 2.6 for file
    assert recaser.recase(["x", "the", "file", "menu"])[2] == "File"
    # only the left neighbour is known: 2.4 against 2.6
    assert recaser.recase(["x", "the", "file", "x"])[2] == "file"


def test_only_words_with_case_are_kept():
    recaser = learn_recaser(TRAIN)
    assert "menu" not in recaser.forms
    assert recaser.forms["berlin"] == {"Berlin": 1}
    assert not any(key.split()[-1] == "berlin" for key in recaser.left)


def test_sentences_in_lower_case():
    recaser = learn_recaser([["a", "b"], ["c", "b"], ["A", "c"], ["1", "b"]])
    assert not recaser.capitalizes
    assert recaser.recase(["x", "b"]) == ["x", "b"]


def test_sentence_initial_capitals_are_not_used_elsewhere():
    recaser = learn_recaser([["Select", "it"], ["Select", "it"], ["eMail", "works"], ["Then", "it", "works"]])
    assert recaser.recase(["then", "select", "it"]) == ["Then", "select", "it"]
    assert recaser.recase(["select", "email"]) == ["Select", "eMail"]
    assert recaser.recase(["email", "works"]) == ["eMail", "works"]


def test_no_case():
    recaser = learn_recaser([["我", "们"], ["你"]])
    assert recaser == Recaser({}, {}, {}, False)
    assert recaser.recase(["你", "们"]) == ["你", "们"]


words = st.lists(st.sampled_from(["a", "A", "b", "B", "bB", "c"]), max_size=6)


@given(st.lists(words, max_size=5), words)
def test_any_text(train, sentence):
    recased = learn_recaser(train).recase([word.lower() for word in sentence])
    assert [word.lower() for word in recased] == [word.lower() for word in sentence]


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(recase, "MAX_COUNTED", 8)
    counts = RecaserCounts()
    for line in TRAIN[:2] * 2 + TRAIN:
        counts.add(line)
    assert counts.recaser().recase(LOWER) == CASED
    assert len(counts.recaser().right) == 2
    monkeypatch.setattr(recase, "MAX_KEPT", 1)
    assert list(counts.recaser().right) == ["file menu"]


@pytest.mark.parametrize(
    "change",
    [
        {"forms": []},
        {"left": {"a b": {}}},
        {"right": {"a b": {"A": 0}}},
        {"forms": {"a": {"A": 1.5}}},
        {"forms": {"a": {"": 1}}},
        {"forms": {"a": {"B": 1}}},
        {"capitalizes": 1},
        {"language": None},
    ],
)
def test_other_files(tmp_path, change):
    good = {"forms": {"a": {"A": 1}}, "left": {}, "right": {}, "capitalizes": True, "language": "en"}
    (tmp_path / "x").write_text(json.dumps(good))
    read_recaser(tmp_path / "x")
    (tmp_path / "x").write_text(json.dumps(good | change))
    with pytest.raises(InputError, match=r"is not a recaser\.json"):
        read_recaser(tmp_path / "x")


def test_sentences_within_a_line_and_after_quotation_marks_and_brackets():
    line = '" He said it . " " Then ( it ) . ( The menu is . ) Then ( it ) " yes "'
    recaser = learn_recaser([*TRAIN, line.split()])
    assert " ".join(recaser.recase(line.lower().split())) == line
    new = '" file it . ( menu is it . ) then ( it )'
    assert " ".join(recaser.recase(new.split())) == '" File it . ( Menu is it . ) Then ( it )'


def test_protected_words_keep_their_case():
    counts = RecaserCounts("en", lambda word: word.startswith("%"))
    for line in (["Click", "%S"], ["Click", "%S"], ["%s", "is", "Open"]):
        counts.add(line)
    recaser = counts.recaser()
    assert "%s" not in recaser.forms
    assert recaser.recase(["www.x.org", "%S", "open"], [True, True, False]) == ["www.x.org", "%S", "Open"]


def test_restore():
    recaser = learn_recaser(TRAIN)
    restored = restore(["click the file menu .", ""], Preparation("de", "en-us"), recaser)
    assert restored == ["Click the File menu.", ""]
    tokenized = Preparation("de", "en-us", tokenized=True)
    assert restore(["click the file menu ."], tokenized, recaser) == ["Click the File menu ."]


def test_command(tmp_path, text_file, capsys, refused):
    learn_recaser(TRAIN).write(tmp_path / "recaser.json")
    Preparation("de", "en-us").write(tmp_path / "preparation.json")
    files = [f"--{name}={tmp_path / name}.json" for name in ("preparation", "recaser")]
    arguments = ["detokenize", *files, "--input", text_file("in", ["the file menu is open .", ""])]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "The File menu is open.\n\n"
    assert main([*arguments, f"--output={tmp_path / 'out'}"]) == 0
    assert (tmp_path / "out").read_text() == "The File menu is open.\n\n"
    (tmp_path / "recaser.json").write_text("{}")
    refused([*arguments, f"--output={tmp_path / 'new'}"], "recaser.json: is not a recaser.json")
