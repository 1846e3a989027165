"""Compiled language models and the command line."""

import io
import sys

import numpy as np
import pytest
from tests.naive import lm as naive
from tests.refusals import check_facts
from tests.text_grammars import write

from itersel.cli.main import main
from itersel.lm.arpa import as_read, parse_arpa
from itersel.lm.binary import MAXIMUM_LOAD, load_model, model_arrays
from itersel.storage.files import read_bytes, read_lines

TEXT = "the house is small\nthe house is old\na small house\n\nthe old house is a small house\nis\n"


@pytest.fixture
def text(tmp_path):
    return write(tmp_path / "text", TEXT[:-1])


def lm(*arguments):
    return main(["lm", *map(str, arguments)])


def build(text, order=3):
    arpa, compiled = text.with_name("lm.arpa.gz"), text.with_name("lm.bin")
    assert lm("estimate", "--order", order, "--input", text, "--output", arpa) == 0
    assert lm("compile", "--input", arpa, "--output", compiled) == 0
    return compiled


def test_compiled_model_equals_the_arpa_file(text):
    path = build(text)
    arpa_path = text.with_name("lm.arpa.gz")
    model, arpa = load_model(path), parse_arpa([read_bytes(arpa_path)], arpa_path)
    assert model.order == 3
    assert model.words.to_list() == arpa.words
    assert model.ids == {word: i for i, word in enumerate(arpa.words)}
    unigrams = np.column_stack([arpa.ngrams[0].log10_probability, arpa.ngrams[0].backoff])
    np.testing.assert_array_equal(model.arrays.unigram, unigrams.astype(np.float32))
    capacity = model.arrays.slots.shape[0]
    filled = np.count_nonzero(model.arrays.slots[:, 0])
    assert filled == sum(grams.words.shape[0] for grams in arpa.ngrams[1:])
    assert filled <= MAXIMUM_LOAD * capacity < 2 * filled
    assert capacity & (capacity - 1) == 0
    assert (model.attributes["order"], model.attributes["words"]) == (3, 9)
    assert model.attributes["ngrams"] == [9, 17, 15]
    assert len(model.attributes["arpa_sha256"]) == 64


@pytest.mark.parametrize(("content", "order"), [(TEXT, 1), (TEXT, 3), ("a\n", 5), ("a b\nb\n", 5)])
def test_estimation_of_a_compiled_model(text, content, order):
    """The same as estimation and compilation, apart from the checksum of the ARPA file."""
    text.write_text(content)
    compiled = load_model(build(text, order))
    assert lm("estimate", "--order", order, "--input", text, "--output", text.with_name("at-once.bin")) == 0
    at_once = load_model(text.with_name("at-once.bin"))
    for name, array in model_arrays(compiled).items():
        np.testing.assert_array_equal(array, model_arrays(at_once)[name])
    assert {**at_once.attributes, "arpa_sha256": compiled.attributes["arpa_sha256"]} == compiled.attributes


def test_numbers_as_they_are_written():
    random = np.random.default_rng(1)
    values = -(10 ** random.uniform(-12, 2, 20_000))
    values[:3] = 0, -1, -99
    assert as_read(values).tolist() == [float(f"{value:.7g}") for value in values.tolist()]


@pytest.mark.parametrize("order", [1, 2, 4])
def test_score_equals_naive_estimation_and_scoring(text, capsys, order):
    path = build(text, order)
    lines = ["the house is old", "", "is", "castle", "a <unk>\tcastle  is small ", "10\u00a0km house"]
    capsys.readouterr()
    assert lm("score", "--language-model", path, "--input", write(text.with_name("queries"), *lines)) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    model = naive.estimate([line.split() for line in TEXT.splitlines()], order)
    words = [line.encode().split() for line in lines]
    expected = [naive.score_sentence(model, order, [word.decode() for word in line]) for line in words]
    assert [float(row[0]) for row in rows] == pytest.approx(expected, abs=1e-4)
    assert [int(row[1]) for row in rows] == [0, 0, 0, 1, 2, 1]


def test_score_reads_standard_input_and_writes_a_file(text, monkeypatch):
    path, output = build(text), text.with_name("scores.gz")
    for content, unknown in [(b"the house\n\n", ["0", "0"]), (b"", [])]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert lm("score", "--language-model", path, "--output", output) == 0
        assert [line.split("\t")[1] for line in read_lines(output)] == unknown


def test_vocabulary_and_warning(text, capsys):
    vocabulary = write(text.with_name("vocabulary"), "the house is")
    assert lm("estimate", "--order", 3, "--input", text, "--vocabulary", vocabulary, "--output", "-") == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("\\data\\\nngram 1=6\n")
    check_facts(captured.err, "itersel lm: warning:", 1, "0.5, 1.0, 1.5")


def test_wrong_order_is_an_error(text, refused):
    build(text)
    arpa = text.with_name("lm.arpa.gz")
    files = ["--input", arpa, "--output", text.with_name("new.bin")]
    refused(["lm", "compile", "--expect-order=5", *files], arpa, (3, 5))


@pytest.mark.parametrize("step", ["estimate", "compile"])
def test_bad_input_leaves_nothing_behind(tmp_path, refused, step):
    bad, order = write(tmp_path / "bad", "a <s> b"), ["--order=3"] if step == "estimate" else []
    refused(["lm", step, *order, "--input", bad, "--output", tmp_path / "output"], f"{bad}:1:")


@pytest.mark.parametrize("order", ["0", "-1", "x", "2.5"])
def test_order_is_a_positive_integer(text, misused, order):
    misused(["lm", "estimate", "--order", order, "--input", text, "--output", text.with_name("o")], "--order")


def test_model_does_not_depend_on_the_size_of_blocks(text, monkeypatch):
    """Of a pruned model, too: half of its bigrams are missing and have to be added."""
    compiled = build(text)
    lines = read_lines(text.with_name("lm.arpa.gz"))
    begin = lines.index("\\2-grams:") + 1
    end = lines.index("", begin)
    bigrams = lines[begin:end:2]
    lines[begin:end], lines[2] = bigrams, f"ngram 2={len(bigrams)}"
    command = "compile", "--input", write(text.with_name("lm.arpa"), *lines), "--output", compiled
    assert lm(*command) == 0
    expected = compiled.read_bytes()
    monkeypatch.setattr("itersel.lm.binary.BLOCK", 3)
    assert lm(*command) == 0
    assert compiled.read_bytes() == expected
    # all infixes are there
    assert np.count_nonzero(load_model(compiled).arrays.slots[:, 0]) > len(bigrams) + 15


def test_duplicate_key_is_an_error(text, monkeypatch):
    compiled = build(text)
    before = compiled.read_bytes()
    monkeypatch.setattr("itersel.lm.binary.insert", lambda slots, rows: 0)
    assert lm("compile", "--input", text.with_name("lm.arpa.gz"), "--output", compiled) == 1
    assert compiled.read_bytes() == before
