"""ARPA files: reading, writing, and invalid input."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from itersel.errors import InputError
from itersel.lm.arpa import Arpa, NGrams, parse_arpa, write_arpa
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


def test_reads_words_numbers_and_missing_backoffs() -> None:
    model = parse_arpa(ARPA.encode(), "x")
    assert model.words == ["<unk>", "<s>", "</s>", "a", "häus"]
    assert [grams.words.tolist() for grams in model.ngrams] == [
        [[0], [1], [2], [3], [4]],
        [[1, 3], [3, 4], [4, 2]],
        [[1, 3, 4]],
    ]
    assert model.ngrams[0].log10_probability.tolist() == [-1.5, -99, -0.5, -1, -2]
    assert model.ngrams[0].backoff.tolist() == [0, -0.25, 0, -0.125, -0.5]
    assert model.ngrams[1].log10_probability.tolist() == [-0.75, -0.0625, -0.3]
    assert model.ngrams[1].backoff.tolist() == [-0.375, 0, 0]
    assert model.ngrams[2].log10_probability.tolist() == [-0.5]


def test_unknown_word_comes_first_wherever_it_is_listed() -> None:
    lines = ARPA.split("\n")
    lines.insert(9, lines.pop(6))  # <unk> after </s>
    moved = parse_arpa("\n".join(lines).encode(), "x")
    first = parse_arpa(ARPA.encode(), "x")
    assert moved.words == first.words
    for a, b in zip(moved.ngrams, first.ngrams, strict=True):
        for left, right in zip(a, b, strict=True):
            np.testing.assert_array_equal(left, right)


def test_model_without_unknown_word_gets_kenlms_default() -> None:
    text = ARPA.replace("ngram 1=5", "ngram 1=4").replace("-1.5\t<unk>\n", "")
    model = parse_arpa(text.encode(), "x")
    assert model.words == ["<unk>", "<s>", "</s>", "a", "häus"]
    assert model.ngrams[0].log10_probability[0] == -100
    assert model.ngrams[1].words.tolist() == [[1, 3], [3, 4], [4, 2]]


def test_windows_line_ends_and_text_after_the_end() -> None:
    model = parse_arpa(ARPA.replace("\n", "\r\n").encode() + b"anything", "x")
    assert model.words[-1] == "häus"


def test_no_break_space_is_part_of_a_word() -> None:
    model = parse_arpa(ARPA.replace("häus", "10\u00a0km").encode(), "x")
    assert model.words[-1] == "10\u00a0km"


@pytest.mark.parametrize("name", ["lm.arpa", "lm.arpa.gz"])
def test_writes_what_it_reads(tmp_path: Path, name: str) -> None:
    random = np.random.default_rng(1)
    model = Arpa(
        ["<unk>", "<s>", "</s>", "ä"],
        [
            NGrams(np.arange(4, dtype=np.int32)[:, None], -7 * random.random(4), -random.random(4)),
            NGrams(np.array([[1, 3], [3, 2]], np.int32), -random.random(2) * 1e-5, np.zeros(2)),
        ],
    )
    path = tmp_path / name
    write_arpa(path, model)
    again = parse_arpa(read_bytes(path), path)
    assert again.words == model.words
    for a, b in zip(again.ngrams, model.ngrams, strict=True):
        np.testing.assert_array_equal(a.words, b.words)
        np.testing.assert_allclose(a.log10_probability, b.log10_probability, rtol=1e-6)
        np.testing.assert_allclose(a.backoff, b.backoff, rtol=1e-6)
    content = path.read_bytes()
    write_arpa(path, model)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("\\data\\", "data", 1, "not an ARPA file"),
        ("ngram 1=5\n", "", 2, "expected 'ngram 1="),
        ("ngram 1=5", "ngram 1=" + "5" * 5000, 2, "expected 'ngram 1="),
        ("ngram 1=5", "ngram " + "0" * 5000 + "1=5", 2, "expected 'ngram 1="),
        ("ngram 1=5\nngram 2=3\nngram 3=1\n", "", 3, "expected 'ngram 1="),
        ("ngram 2=3", "ngram 2=4", 17, "ends after 3 n-grams"),
        ("ngram 2=3", "ngram 2=2", 16, "expected .3-grams:; the number"),
        ("ngram 3=1", "ngram 3=2", 20, "ends after 1 n-grams"),
        ("ngram 3=1\n", "", 13, "expected log10 p, 2 words$"),
        ("ngram 3=1", "ngram 3=0", 19, "expected .end"),
        ("ngram 3=1", "ngram 3=1\nngram 4=1", 22, "expected .4-grams:"),
        ("-1\ta\t", "-1,5\ta\t", 10, "'-1,5' is not a finite number"),
        ("-0.375", "much", 14, "'much' is not a finite number"),
        ("-0.75", "nan", 14, "'nan' is not a finite number"),
        ("-0.75", "-inf", 14, "'-inf' is not a finite number"),
        ("-3e-1", "0.5", 16, "positive"),
        ("häus </s>", "hut </s>", 16, "'hut' is not among the unigrams"),
        ("häus </s>", "</s>", 16, "expected log10 p, 2 words, and optionally a backoff"),
        ("<s> a häus", "<s> a häus\t-1", 19, "expected log10 p, 3 words"),
        ("häus </s>", "<s> a", 16, "listed twice"),
        ("-1\ta\t", "-1\t<s>\t", 10, "'<s>' is listed twice"),
        ("<s>", "<start>", 6, "lack <s>"),
        ("\n\\end\\\n", "", 20, "truncated"),
    ],
)
def test_damage_is_an_error_that_names_the_line(old: str, new: str, line: int, message: str) -> None:
    assert old in ARPA
    with pytest.raises(InputError, match=message) as caught:
        parse_arpa(ARPA.replace(old, new, -1 if old == "<s>" else 1).encode(), "lm.arpa")
    assert str(caught.value).startswith(f"lm.arpa:{line}: ")


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_pieces_give_the_same_as_the_whole(size: int) -> None:
    def pieces(content: bytes) -> Iterator[bytes]:
        return (content[begin : begin + size] for begin in range(0, len(content), size))

    whole, found = parse_arpa(ARPA.encode(), "x"), parse_arpa(pieces(ARPA.encode()), "x")
    assert found.words == whole.words
    for grams, expected in zip(found.ngrams, whole.ngrams, strict=True):
        for column, wanted in zip(grams, expected, strict=True):
            np.testing.assert_array_equal(column, wanted)
    for old, new in [("häus </s>", "<s> a"), ("-0.75", "nan"), ("ngram 2=3", "ngram 2=4"), ("\\end\\", "")]:
        with pytest.raises(InputError) as error:
            parse_arpa(ARPA.replace(old, new).encode(), "x")
        with pytest.raises(InputError) as again:
            parse_arpa(pieces(ARPA.replace(old, new).encode()), "x")
        assert str(again.value) == str(error.value)


def test_lines_are_counted_in_pieces_that_are_empty() -> None:
    with pytest.raises(InputError, match="is not an ARPA file") as error:
        parse_arpa(iter([b"\n\n", b"\n", b"\nwrong\n"]), "x")
    assert error.value.line == 5
    found = parse_arpa(iter([b"\n\n", b"\n", ARPA.encode()]), "x")
    assert found.words == parse_arpa(ARPA.encode(), "x").words


def test_everything_is_read_even_behind_the_end() -> None:
    pieces = iter([ARPA.encode(), b"x\n", b"y"])
    parse_arpa(pieces, "x")
    assert list(pieces) == []


def test_every_truncation_is_an_error() -> None:
    content = ARPA.encode().rstrip()
    for size in range(len(content)):
        with pytest.raises(InputError, match=r"^lm.arpa:\d+: "):
            parse_arpa(content[:size], "lm.arpa")


def test_invalid_utf8_names_the_line() -> None:
    with pytest.raises(InputError, match=r"^lm.arpa:11: not valid UTF-8"):
        parse_arpa(ARPA.encode("latin-1"), "lm.arpa")


def test_truncated_gzip(tmp_path: Path) -> None:
    path = tmp_path / "lm.arpa.gz"
    path.write_bytes(gzip.compress(ARPA.encode())[:-20])
    with pytest.raises(InputError, match="truncated gzip"):
        parse_arpa(read_bytes(path), path)


def test_a_byte_order_mark_and_comments_before_the_counts() -> None:
    content = "\ufeff# made by a toolkit\n\n## data below\n" + ARPA
    assert parse_arpa(content.encode(), "x").words == parse_arpa(ARPA.encode(), "x").words
    with pytest.raises(InputError, match="not an ARPA file") as error:
        parse_arpa(b"# a\n" * 5000 + ARPA.encode(), "x")
    assert error.value.line == 1


def test_the_unknown_word_in_capitals() -> None:
    """As in KenLM, which reads both forms; here also within an n-gram."""
    text = ARPA.replace("häus </s>", "<unk> </s>")
    usual, capital = (parse_arpa(one.encode(), "x") for one in (text, text.replace("<unk>", "<UNK>")))
    assert capital.words == usual.words
    for column, expected in zip(capital.ngrams[1], usual.ngrams[1], strict=True):
        np.testing.assert_array_equal(column, expected)
    with pytest.raises(InputError, match="'<UNK>' is listed twice"):
        parse_arpa(ARPA.replace("\ta\t", "\t<UNK>\t").encode(), "x")


def test_words_of_control_characters() -> None:
    """Other tools count what their text contains; no text here has such words."""
    word = "a\x01\u0085"
    content = ARPA.replace("\ta\t", f"\ta\t0\n-1\t{word}\t").replace("ngram 1=5", "ngram 1=6")
    assert word in parse_arpa(content.encode(), "x").words


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"mmap lm http://kheafield.com/code format version 5\n\x00\x00", "is a binary file of KenLM"),
        (gzip.compress(ARPA.encode()), r"is compressed with gzip; rename it to end in \.gz"),
        (bz2.compress(ARPA.encode()), "is compressed with bzip2; unpack it"),
    ],
    ids=["KenLM", "gzip", "bzip2"],
)
def test_files_that_are_something_else(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_arpa(content, "x")
