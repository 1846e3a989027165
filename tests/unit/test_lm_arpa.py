"""ARPA files: reading, writing, and invalid input."""

import bz2
import gzip

import numpy as np
import pytest
from tests.refusals import check_facts, input_error
from tests.text_grammars import write

from itersel.errors import InputError
from itersel.lm.arpa import parse_arpa, write_arpa
from itersel.lm.estimate import estimate
from itersel.lm.numbered_text import read_numbered_text
from itersel.storage.files import read_bytes

ARPA = """\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.25
-0.5\t</s>\t0
-1\ta\t-0.125
-2\thäus\t-0.5

\\2-grams:
-0.75\t<s> a\t-0.375
-0.0625\ta häus
-3e-1\thäus </s>

\\3-grams:
-0.5\t<s> a häus

\\end\\
"""
WITH_UNKNOWN = ARPA.replace("häus </s>", "<unk> </s>")


def outcome(content):
    """Return the words and n-grams of a file, or the error."""
    content = content.encode() if isinstance(content, str) else content
    try:
        model = parse_arpa([content] if isinstance(content, bytes) else content, "x")
    except InputError as error:
        return str(error)
    return model.words, [[column.tolist() for column in grams] for grams in model.ngrams]


def test_reads_words_numbers_and_missing_backoffs():
    assert outcome(ARPA) == (
        ["<unk>", "<s>", "</s>", "a", "häus"],
        [
            [[[0], [1], [2], [3], [4]], [-1.5, -99, -0.5, -1, -2], [0, -0.25, 0, -0.125, -0.5]],
            [[[1, 3], [3, 4], [4, 2]], [-0.75, -0.0625, -0.3], [-0.375, 0, 0]],
            [[[1, 3, 4]], [-0.5], [0]],
        ],
    )


@pytest.mark.parametrize(
    ("content", "same"),
    [
        # <unk> comes first, wherever it is listed
        (ARPA.replace("-1.5\t<unk>\n", "").replace("\t0\n", "\t0\n-1.5\t<unk>\n"), ARPA),
        # in capitals, which KenLM reads, too; here also within an n-gram
        (WITH_UNKNOWN.replace("<unk>", "<UNK>"), WITH_UNKNOWN),
        ("\ufeff# made by a toolkit\n\n## data below\n" + ARPA, ARPA),
        (["\n\n", "\n", ARPA], ARPA),
        (ARPA.replace("\n", "\r\n"), ARPA),
        (ARPA + "anything", ARPA),
        # without <unk>, KenLM's default
        (ARPA.replace("ngram 1=5", "ngram 1=4").replace("-1.5\t<unk>\n", ""), ARPA.replace("-1.5", "-100")),
    ],
    ids=["place", "capitals", "comments", "empty pieces", "line ends", "after the end", "no <unk>"],
)
def test_forms_of_the_same_file(content, same):
    pieces = [content] if isinstance(content, str) else content
    assert outcome(iter([piece.encode() for piece in pieces])) == outcome(same)


# Other tools count what their text contains; no text here has control characters.
@pytest.mark.parametrize("word", ["10\u00a0km", "a\x01\u0085"])
def test_unusual_words(word):
    assert parse_arpa([ARPA.replace("häus", word).encode()], "x").words[-1] == word


def test_writes_what_it_reads(tmp_path):
    path = tmp_path / "lm.arpa.gz"
    model = estimate(read_numbered_text([write(tmp_path / "text", *["ä b", "b ä c"] * 3)]), 3)
    write_arpa(path, model)
    again = parse_arpa([read_bytes(path)], path)
    assert again.words == model.words
    for order, found in enumerate(again.ngrams, 1):
        (expected,) = model.blocks(order)
        np.testing.assert_array_equal(found.words, expected.words)
        np.testing.assert_allclose(found.log10_probability, expected.log10_probability, rtol=1e-6)
        np.testing.assert_allclose(found.backoff, expected.backoff, rtol=1e-6)
    content = path.read_bytes()
    write_arpa(path, model)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("old", "new", "line", "facts"),
    [
        ("\\data\\", "data", 1, "ARPA"),
        ("ngram 1=5\n", "", 2, 1),
        ("ngram 1=5", "ngram 1=" + "5" * 5000, 2, 1),
        ("ngram 1=5", "ngram " + "0" * 5000 + "1=5", 2, 1),
        ("ngram 1=5\nngram 2=3\nngram 3=1\n", "", 3, 1),
        ("ngram 2=3", "ngram 2=4", 17, 3),
        ("ngram 2=3", "ngram 2=2", 16, "3-grams:"),
        ("ngram 3=1", "ngram 3=2", 20, 1),
        ("ngram 3=1\n", "", 13, 2),
        ("ngram 3=1", "ngram 3=0", 19, "\\end"),
        ("ngram 3=1", "ngram 3=1\nngram 4=1", 22, "4-grams:"),
        ("-1\ta\t", "-1,5\ta\t", 10, "'-1,5'"),
        ("-0.375", "much", 14, "'much'"),
        ("-0.75", "nan", 14, "'nan'"),
        ("-0.75", "-inf", 14, "'-inf'"),
        ("-3e-1", "0.5", 16, ()),
        ("häus </s>", "hut </s>", 16, "'hut'"),
        ("häus </s>", "</s>", 16, 2),
        ("<s> a häus", "<s> a häus\t-1", 19, 3),
        ("häus </s>", "<s> a", 16, "'<s> a'"),
        ("-1\ta\t", "-1\t<s>\t", 10, "'<s>'"),
        ("<s>", "<start>", 6, "<s>"),
        # they separate nothing
        ("häus </s>", "häus\v</s>", 16, "U+000B"),
        ("-1\ta\t", "-1\ta\fb\t", 10, "U+000C"),
        ("\n\\end\\\n", "", 20, ()),
    ],
)
def test_damage_is_an_error_that_names_the_line(old, new, line, facts):
    assert old in ARPA
    with input_error(f"lm.arpa:{line}:", facts):
        parse_arpa([ARPA.replace(old, new, -1 if old == "<s>" else 1).encode()], "lm.arpa")


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_pieces_give_the_same_as_the_whole(size):
    def pieces(content):
        return (content[begin : begin + size] for begin in range(0, len(content), size))

    changes = {"häus": "häus", "häus </s>": "<s> a", "-0.75": "nan", "ngram 2=3": "ngram 2=4", "\\end\\": ""}
    for old, new in changes.items():
        changed = ARPA.replace(old, new)
        assert outcome(pieces(changed.encode())) == outcome(changed)


def test_everything_is_read_even_behind_the_end():
    pieces = iter([ARPA.encode(), b"x\n", b"y"])
    parse_arpa(pieces, "x")
    assert list(pieces) == []


def test_every_truncation_is_an_error():
    content = ARPA.encode().rstrip()
    for size in range(len(content)):
        with input_error("lm.arpa"):
            parse_arpa([content[:size]], "lm.arpa")


@pytest.mark.parametrize(
    ("content", "line", "facts"),
    [
        (b"mmap lm http://kheafield.com/code format version 5\n\x00\x00", 1, "KenLM"),
        (gzip.compress(ARPA.encode(), mtime=0), 1, ("gzip", ".gz")),
        (bz2.compress(ARPA.encode()), 1, "bzip2"),
        (ARPA.encode("latin-1"), 11, "UTF-8"),
        ("# a\n" * 5000 + ARPA, 1, "ARPA"),
        ([b"\n\n", b"\n", b"\nwrong\n"], 5, "ARPA"),
        (ARPA.replace("\ta\t", "\t<UNK>\t"), 10, "'<unk>'"),
    ],
    ids=["KenLM", "gzip", "bzip2", "latin-1", "comments", "pieces", "two unknown words"],
)
def test_files_that_are_something_else(content, line, facts):
    check_facts(str(outcome(iter(content) if isinstance(content, list) else content)), f"x:{line}:", facts)
