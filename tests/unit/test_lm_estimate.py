"""Language model estimation: closed forms, the naive version, and invalid input."""

import itertools
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.limited import limited
from tests.naive import lm as naive
from tests.refusals import input_error
from tests.text_grammars import write

from itersel.corpus.text import split_words
from itersel.corpus.vocabulary import WordNumbers
from itersel.lm import estimate as module
from itersel.lm.arpa import write_arpa
from itersel.lm.estimate import MEMORY_LIMITS, EstimatedModel, MemoryLimits, estimate
from itersel.lm.estimate_kernels import arpa_lines
from itersel.lm.numbered_text import read_numbered_text, word_numbers
from itersel.storage.strings import string_table


def model_of(model: EstimatedModel) -> naive.Model:
    return {
        tuple(model.words[i] for i in words): (p, backoff)
        for order in range(1, len(model.counts) + 1)
        for grams in model.blocks(order)
        for words, p, backoff in zip(*(column.tolist() for column in grams), strict=True)
    }


def estimate_lines(
    folder: Path, lines: list[str], order: int, limits: MemoryLimits = MEMORY_LIMITS
) -> EstimatedModel:
    return estimate(read_numbered_text([write(folder / "text", *lines)]), order, limits)


def test_bigrams_by_hand(tmp_path: Path) -> None:
    # One sentence "a b": every adjusted count is 1 and every discount 0.5, by fallback.
    result = estimate_lines(tmp_path, ["a b"], 2)
    model = {key: (10**p, 10**b) for key, (p, b) in model_of(result).items()}
    uniform = 1 / 4
    unigram = 0.5 / 3 + 1.5 / 3 * uniform
    bigram = 0.5 + 0.5 * unigram
    assert result.fallback == [1, 2]
    assert model == {
        ("<unk>",): pytest.approx((0.5 * uniform, 1)),
        ("<s>",): pytest.approx((0.5 * uniform, 0.5)),
        ("</s>",): pytest.approx((unigram, 1)),
        **dict.fromkeys([("a",), ("b",)], pytest.approx((unigram, 0.5))),
        **dict.fromkeys([("<s>", "a"), ("a", "b"), ("b", "</s>")], pytest.approx((bigram, 1))),
    }


def test_unigrams_by_hand(tmp_path: Path) -> None:
    # Order 1 counts occurrences: a 3, b 2, </s> 2 of 7; fallback takes 1.5, 1, 1 of them.
    model = model_of(estimate_lines(tmp_path, ["a a a", "b b"], 1))
    left = 3.5 / 7 / 4
    expected = {"<unk>": left, "<s>": left, "</s>": 1 / 7 + left, "a": 1.5 / 7 + left, "b": 1 / 7 + left}
    assert model == {(word,): pytest.approx((np.log10(p), 0.0)) for word, p in expected.items()}


def test_discounts_by_the_formula_of_chen_and_goodman() -> None:
    # 100, 40, 20, 10 n-grams occur 1, 2, 3, 4 times: Y = 100/180.
    found = module._discounts(np.array([100, 40, 20, 10]))
    assert found == pytest.approx((1 - 2 * 5 / 9 * 0.4, 2 - 3 * 5 / 9 * 0.5, 3 - 4 * 5 / 9 * 0.5))


def test_undefined_and_out_of_range_discounts() -> None:
    for occurring in [(0, 5, 5, 5), (5, 0, 5, 5), (5, 5, 0, 5), (10, 1, 9, 9), (9, 9, 9, 90)]:
        assert module._discounts(np.array(occurring)) is None


def corpus(seed: int, sentences: int) -> list[str]:
    # Zipfian, so that n-grams of all orders occur one to four times.
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 12, sentences)
    return [" ".join(f"w{min(i, 2000)}" for i in random.zipf(1.6, length)) for length in lengths]


@pytest.mark.parametrize("order", [1, 2, 3, 5, 6])
def test_equals_naive_estimation_with_estimated_discounts(tmp_path: Path, order: int) -> None:
    lines = corpus(order, 600)
    result = estimate_lines(tmp_path, lines, order)
    assert result.fallback == []
    assert differing(model_of(result), naive.estimate([line.split() for line in lines], order)) == []


def differing(found: naive.Model, expected: naive.Model) -> list[tuple[str, ...]]:
    """Return the n-grams that are missing in one of the models or have different values."""
    missing = (np.nan, np.nan)
    return [
        ngram
        for ngram in sorted(found.keys() | expected.keys())
        if found.get(ngram, missing) != pytest.approx(expected.get(ngram, missing), abs=1e-9)
    ]


def test_probabilities_sum_to_one_in_every_context(tmp_path: Path) -> None:
    result = estimate_lines(tmp_path, corpus(7, 80), 4)
    model = model_of(result)
    words = [word for word in result.words if word != "<s>"]
    contexts = [(), *(ngram for ngram in model if len(ngram) < 4 and ngram[-1] != "</s>")]
    for context in itertools.islice(contexts, 0, None, 7):
        total = sum(10 ** naive.score_word(model, context, word)[0] for word in words)
        assert total == pytest.approx(1, abs=1e-9), context


def estimated_bytes(folder: Path, lines: list[str], order: int, limits: MemoryLimits) -> bytes:
    write_arpa(folder / "lm.arpa", estimate_lines(folder, lines, order, limits))
    return (folder / "lm.arpa").read_bytes()


@given(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=5), min_size=1, max_size=12),
    st.integers(1, 5),
    st.builds(MemoryLimits, st.integers(1, 30), st.integers(1, 9), st.integers(1, 9)),
)
def test_equals_naive_estimation_whatever_the_limits(tmp_path: Path, text, order, limits) -> None:
    lines = [" ".join(words) for words in text]
    assert differing(model_of(estimate_lines(tmp_path, lines, order)), naive.estimate(text, order)) == []
    assert estimated_bytes(tmp_path, lines, order, limits) == estimated_bytes(
        tmp_path, lines, order, MEMORY_LIMITS
    )


def test_estimated_discounts_do_not_depend_on_limits(tmp_path: Path) -> None:
    lines, limits = corpus(5, 600), MemoryLimits(tokens=1000, rows=100, values=500)
    assert estimated_bytes(tmp_path, lines, 5, limits) == estimated_bytes(tmp_path, lines, 5, MEMORY_LIMITS)


log10_numbers = st.one_of(
    st.floats(-1e5, 1e5).map(lambda x: 0.0 if abs(x) < 1e-14 else x),
    # equally near to two numbers of seven digits, or nearly so
    st.builds(lambda n, bits: n / 2**bits, st.integers(-(10**8), 0), st.integers(7, 20)),
    st.builds(lambda n, digits: n / 10**digits, st.integers(-(10**8), 0), st.integers(4, 14)),
)


@given(st.lists(log10_numbers, min_size=1))
def test_numbers_are_written_as_by_python(numbers: list[float]) -> None:
    table, text = string_table(["ä", ""]), np.zeros(100 * len(numbers), np.uint8)
    ngrams = np.tile(np.array([0, 1, 0], np.int32), (len(numbers), 1))
    values = np.column_stack([numbers, numbers[::-1]])
    end = arpa_lines(ngrams, values, table.data, table.offset, text)
    lines = [f"{a:.7g}\tä  ä\t{b:.7g}\n" for a, b in values.tolist()]
    assert text[:end].tobytes().decode() == "".join(lines)


@given(st.lists(st.text(" \tabä\u00a0\u2028", max_size=40), min_size=1, max_size=3))
def test_words_are_split_and_numbered_as_by_python(texts: list[str]) -> None:
    numbers, expected = WordNumbers(), WordNumbers()
    for text in texts:
        assert word_numbers(text, numbers).tolist() == [expected[word] for word in split_words(text)]
    assert numbers == expected


def test_memory_does_not_grow_with_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("itersel.storage.files.BLOCK_BYTES", 2**13)
    monkeypatch.setattr("itersel.lm.arpa.WRITTEN", 2**10)
    monkeypatch.setattr("itersel.lm.numbered_text.BLOCKS", 1)
    peaks = []
    for sentences in (2000, 8000):
        path = write(tmp_path / "text", *corpus(1, sentences))
        tracemalloc.start()
        model = estimate(read_numbered_text([path]), 4, MemoryLimits(tokens=4000, rows=2000, values=1000))
        write_arpa(tmp_path / "lm.arpa", model)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_temporary_files_are_beside_the_output_and_have_no_names(tmp_path: Path) -> None:
    new = tmp_path / "new"
    text = read_numbered_text([write(tmp_path / "text", "a b")], folder=new)
    model = estimate(text, 2)
    arrays = text.tokens, *model.code, *model.probability, *model.backoff
    assert {array.folder for array in arrays} == {str(new)}
    assert os.listdir(new) == []


@pytest.mark.parametrize(
    ("limit", "message"),
    [(4096, "out: File too large (temporary files)"), (30000, "out/lm.arpa: File too large")],
)
def test_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, limit: int, message: str) -> None:
    files = ["--input", write(tmp_path / "text", *corpus(1, 600)), "--output", tmp_path / "out" / "lm.arpa"]
    done = limited("lm", "estimate", "--order=3", *files, file_size=limit)
    assert (done.returncode, done.stderr) == (1, f"itersel lm: {tmp_path}/{message}\n")
    assert os.listdir(tmp_path / "out") == []


def test_words_outside_the_vocabulary_become_unknown(tmp_path: Path) -> None:
    text, vocabulary = write(tmp_path / "text", "a x b", "y a"), write(tmp_path / "vocabulary", "b c", "a")
    model = estimate(read_numbered_text([text], vocabulary), 2)
    assert model.words == ["<unk>", "<s>", "</s>", "a", "b"]
    expected = naive.estimate([["a", "<unk>", "b"], ["<unk>", "a"]], 2)
    assert differing(model_of(model), expected) == []
    assert ("<unk>", "b") in expected


@pytest.mark.parametrize(
    ("texts", "left_out", "expected"),
    [(["a b\n", "b\na\n"], (), "a b\nb\na\n"), (["a b\nc d\nb\n", "d\na c\n"], {0, 2}, "c d\nd\na c\n")],
)
def test_texts_are_joined_and_lines_left_out(tmp_path: Path, texts, left_out, expected) -> None:
    for number, content in enumerate([expected, *texts]):
        (tmp_path / str(number)).write_text(content)
    found, whole = (
        read_numbered_text([tmp_path / "1", tmp_path / "2"], left_out=left_out),
        read_numbered_text([tmp_path / "0"]),
    )
    assert found.words == whole.words
    np.testing.assert_array_equal(found.tokens.read(), whole.tokens.read())
    with input_error(f"{tmp_path / '1'}:", 4):
        read_numbered_text([tmp_path / "1", tmp_path / "2"], left_out={0, 3})


@pytest.mark.parametrize(
    ("content", "texts", "vocabulary", "facts"),
    [
        ("", ["bad"], None, "bad:"),
        ("", ["good", "bad"], None, "bad:"),
        ("", ["good"], "bad", "bad:"),
        (" \n\n", ["good"], "bad", "bad:"),
        *(
            (f"a b\nb {mark} a\n", ["bad"], None, ("bad:2:", f"'{mark}'"))
            for mark in ("<s>", "</s>", "<unk>")
        ),
    ],
)
def test_bad_texts_and_vocabularies(tmp_path, monkeypatch, content, texts, vocabulary, facts) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad").write_text(content)
    Path("good").write_text("a\n")
    with input_error(facts):
        read_numbered_text(texts, vocabulary)
