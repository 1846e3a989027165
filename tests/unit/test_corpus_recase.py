"""Recasing and detokenisation."""

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import input_error
from tests.scored import learn_recaser, write_detokenizer

from itersel.cli.main import main
from itersel.corpus import recase
from itersel.corpus.prepare import Preparation, restore
from itersel.corpus.recase import Recaser, RecaserCounts, read_recaser
from itersel.corpus.settings import Words

LINES = ["Click the File menu .", "Click the file .", "The file is in Berlin .", "The File menu is open ."]
TRAIN = [line.split() for line in (*LINES, "A file is open .", "eMail is here .")]
LOWER, CASED = ["click", "the", "file", "menu", "."], ["Click", "the", "File", "menu", "."]
STARTS = [["Select", "it"], ["Select", "it"], ["eMail", "works"], ["Then", "it", "works"]]
QUOTED = '" He said it . " " Then ( it ) . ( The menu is . ) Then ( it ) " yes "'
words = st.lists(st.sampled_from(["a", "A", "b", "B", "bB", "c"]), max_size=6)


def test_neighbours_decide():
    for train, cased in (
        (TRAIN, " ".join(CASED)),
        (TRAIN, " ".join(TRAIN[2])),
        # never seen at the beginning; unknown words; forms with capitals inside
        (TRAIN, "Open eMail zebra"),
        (TRAIN, "Zebra"),
        (TRAIN, ""),
        # text in lower case
        ([["a", "b"], ["c", "b"], ["A", "c"], ["1", "b"]], "x b"),
        # capitals at the beginning of sentences are not used elsewhere
        (STARTS, "Then select it"),
        (STARTS, "Select eMail"),
        (STARTS, "eMail works"),
        # sentences within a line, and after quotation marks and brackets
        ([*TRAIN, QUOTED.split()], QUOTED),
        ([*TRAIN, QUOTED.split()], '" File it . ( Menu is it . ) Then ( it )'),
    ):
        assert learn_recaser(train).recase(cased.lower().split()) == cased.split()


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
    assert learn_recaser([["我", "们"], ["你"]]) == Recaser({}, {}, {}, False)
    assert Recaser({}, {}, {}, False).recase(["你", "们"]) == ["你", "们"]


@given(st.lists(words, max_size=5), words)
def test_any_text(train, sentence):
    recased = learn_recaser(train).recase([word.lower() for word in sentence])
    assert [word.lower() for word in recased] == [word.lower() for word in sentence]


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(recase, "MAX_COUNTED", 8)
    counts = RecaserCounts()
    counts.add(TRAIN[:2] * 2 + TRAIN)
    assert counts.recaser().recase(LOWER) == CASED
    assert len(counts.recaser().right) == 2
    monkeypatch.setattr(recase, "MAX_KEPT", 1)
    assert list(counts.recaser().right) == ["file menu"]


def test_other_files(tmp_path):
    good = {"forms": {"a": {"A": 1}}, "left": {}, "right": {}, "capitalizes": True, "language": "en"}
    (tmp_path / "x").write_text(json.dumps(good))
    read_recaser(tmp_path / "x")
    for key, value in (
        *(("forms", value) for value in ([], {"a": {"A": 1.5}}, {"a": {"": 1}}, {"a": {"B": 1}})),
        ("left", {"a b": {}}),
        ("right", {"a b": {"A": 0}}),
        ("capitalizes", 1),
        ("language", None),
    ):
        (tmp_path / "x").write_text(json.dumps({**good, key: value}))
        with input_error("recaser.json"):
            read_recaser(tmp_path / "x")


def test_protected_words_keep_their_case():
    counts = RecaserCounts("en", lambda word: word.startswith("%"))
    counts.add([["Click", "%S"], ["Click", "%S"], ["%s", "is", "Open"]])
    recaser = counts.recaser()
    assert "%s" not in recaser.forms
    assert recaser.recase(["www.x.org", "%S", "open"], [True, True, False]) == ["www.x.org", "%S", "Open"]


def test_tokenised_text_is_not_detokenised():
    tokenized = Preparation(Words("de", "en-us", tokenized=True))
    assert restore([" ".join(LOWER)], tokenized, learn_recaser(TRAIN)) == [" ".join(CASED)]


def test_command(tmp_path, text_file, capsys, refused):
    files = write_detokenizer(tmp_path, map(" ".join, TRAIN))
    arguments = ["detokenize", *files, "--input", text_file("in", ["the file menu is open .", ""])]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "The File menu is open.\n\n"
    assert main([*arguments, f"--output={tmp_path / 'out'}"]) == 0
    assert (tmp_path / "out").read_text() == "The File menu is open.\n\n"
    (tmp_path / "recaser.json").write_text("{}")
    refused([*arguments, f"--output={tmp_path / 'new'}"], "recaser.json")
