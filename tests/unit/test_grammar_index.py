"""The grammar index: its arrays and lexical costs compared with plain Python, and invalid input."""

import gzip
import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import extractor as naive
from tests.refusals import input_error
from tests.text_grammars import index_lines, write
from tests.unit.test_grammar_extract import index_corpus

from itersel.config.extraction import ExtractionSettings
from itersel.corpus.vocabulary import WordNumbers, read_side
from itersel.grammar import index_kernels
from itersel.grammar.extract import extract_grammars
from itersel.grammar.grammar_kernels import GLUE, GLUE_START
from itersel.grammar.index import lexical_table, load_index, sort_suffixes
from itersel.grammar.index_kernels import LINK_BEGIN, LINK_HIGH, LINK_LOW, SPAN_LIMIT, parse_alignments
from itersel.grammar.lexical_kernels import FIRST_SLOTS, rule_costs
from itersel.grammar.sentence_grammars import read_grammars
from itersel.lm.numbered_text import read_numbered_text
from itersel.storage import files


@given(st.lists(st.integers(0, 3), max_size=30))
def test_suffixes_are_sorted(text):
    expected = sorted(range(len(text)), key=lambda position: text[position:])
    assert sort_suffixes(np.array(text, np.int32)).tolist() == expected


def parse_slowly(lines):
    """Return the first bad line, or -1, and the points of all lines."""
    points = []
    for number, line in enumerate(lines):
        if not all(re.fullmatch("[0-9]{1,9}-[0-9]{1,9}", point) for point in line.split(" ") if point):
            return number, []
        points.append([[*map(int, point.split("-"))] for point in line.split(" ") if point])
    return -1, points


@given(st.lists(st.one_of(st.from_regex(r"\A(\d{1,3}-\d{1,3} ?)*\Z"), st.text("0123- x", max_size=8))))
def test_alignments_are_parsed(lines):
    lines = [line for line in lines if line.isascii()]
    text = np.frombuffer("".join(line + "\n" for line in lines).encode(), np.uint8)
    links = np.empty((int((text == ord("-")).sum()), 2), np.int32)
    offset = np.zeros(len(lines) + 1, np.int64)
    bad, points = parse_slowly(lines)
    assert parse_alignments(text, links, offset) == bad
    if bad < 0:
        assert [links[a:b].tolist() for a, b in itertools.pairwise(offset)] == points


@st.composite
def linked_pairs(draw):
    """Draw a sentence pair in which most words have a link near the diagonal."""
    source = draw(st.lists(st.sampled_from("abc"), max_size=6))
    target = draw(st.lists(st.sampled_from("xyz"), max_size=6))
    points = [(i, j) for i in range(len(source)) for j in range(len(target)) if abs(i - j) <= 1]
    links = draw(st.lists(st.sampled_from(points), max_size=6)) if points else []
    return naive.SentencePair(tuple(source), tuple(target), frozenset(links))


@given(st.lists(linked_pairs(), min_size=1, max_size=4))
def test_phrases_and_links(tmp_path, corpus):
    """Exactly the source sides of tight initial phrases are marked, with the links of all words."""
    index = load_index(index_corpus(tmp_path, corpus))
    arrays, words = index.arrays, index.words.to_list()
    target_begin = 0
    for sentence, pair in enumerate(corpus):
        origin, end_of_targets = arrays.source_offset[sentence], target_begin + len(pair.target)
        source = arrays.source[origin : origin + len(pair.source)]
        assert [words[word] for word in source] == list(pair.source)
        assert [words[word] for word in arrays.target[target_begin:end_of_targets]] == list(pair.target)
        phrases = {source for source, _ in naive.initial_phrases(pair, SPAN_LIMIT)}
        for i in range(len(pair.source) + 1):
            begins, ends = arrays.position[origin + i, [index_kernels.BEGINS, index_kernels.ENDS]].tolist()
            for length in range(SPAN_LIMIT + 1):
                assert bool(begins >> length & 1) == ((i, i + length) in phrases)
                assert bool(ends >> length & 1) == ((i - length, i) in phrases)
        for i in range(len(pair.source)):
            low, high, begin = arrays.position[origin + i, [LINK_LOW, LINK_HIGH, LINK_BEGIN]].tolist()
            linked = sorted(target_begin + j for k, j in pair.links if k == i)
            assert arrays.link[begin : arrays.position[origin + i + 1, LINK_BEGIN]].tolist() == linked
            assert (low, high) == ((linked[0], linked[-1] + 1) if linked else (-1, -1))
            assert arrays.room[origin + i] == len(pair.source) - i
        target_begin = end_of_targets


def test_points_listed_twice_and_long_sentences(tmp_path):
    arrays = load_index(index_lines(tmp_path, ["w " * 400], ["x"], ["0-0 0-0 399-0"])).arrays
    assert arrays.link.tolist() == [0, 0]
    assert arrays.position[[0, 1, 398, 399, 400], LINK_BEGIN].tolist() == [0, 1, 1, 1, 2]
    assert arrays.room[[0, 144, 145, 399, 400]].tolist() == [255, 255, 255, 1, 0]


@pytest.mark.parametrize(
    ("source", "target", "alignment", "place", "facts"),
    [
        ("a|b", "x", "0-0|0-0", "source:2", (2, 1, "/target")),
        ("a|b", "x|y", "0-0|0-0|", "alignment:3", (3, 2, "/source")),
        ("a|b", "x|y", None, "source:1", (2, 0, "/alignment")),
        (None, None, None, "source", ()),
        ("a", None, "", "target", ()),
        ("a|b c", "x|y", "0-0|0-0 2-0", "alignment:2", ("2-0", "/source", 2)),
        ("a|b c", "x|y", "0-0|0-1", "alignment:2", ("0-1", "/target", 1)),
        *(
            ("a|b c", "x|y", f"0-0|{bad}", "alignment:2", ())
            for bad in ("0-0 1", "0:0", "-1-0", "0-0-0", "0-")
        ),
    ],
)
def test_bad_corpora(tmp_path, source, target, alignment, place, facts):
    """Lines are separated by |, None is an empty file."""
    texts = ([] if text is None else text.split("|") for text in (source, target, alignment))
    with input_error(f"{tmp_path}/{place}:", facts):
        index_lines(tmp_path, *texts)
    assert not (tmp_path / "index").exists()


def test_an_empty_input_makes_a_file_without_sentences(tmp_path):
    index, output = index_lines(tmp_path, ["a b"], ["x"], ["0-0"]), tmp_path / "sentences.h5"
    empty = write(tmp_path / "input")
    extract_grammars(index, empty, output)
    grammars = read_grammars(output)
    assert (grammars.sentence_count, grammars.rule_kind.tolist()) == (0, [GLUE_START, GLUE])
    with input_error(f"{empty}:"):
        extract_grammars(index, tmp_path / "source", output, references=[empty])


@pytest.mark.parametrize(
    "bad", ["x|||y", "|||", "\x01", "a\tb", "\x85", "[X,1]", "[X,2]", "[S,7]", "<s>", "</s>", "<unk>", "<S>"]
)
def test_invalid_characters_in_words(tmp_path, bad):
    """Every step that reads tokenised text names file and line."""
    good, wrong = ["a", "b"], ["a", f"a {bad} b"]
    index, text = index_lines(tmp_path, good, good, ["", ""]), write(tmp_path / "input", *wrong)
    source, output = tmp_path / "source", tmp_path / "sentences.h5"
    for name, read in (
        ("input", lambda: extract_grammars(index, text, output)),
        ("input", lambda: extract_grammars(index, source, output, references=[text])),
        ("input", lambda: read_numbered_text([text])),
        ("input", lambda: read_numbered_text([source], text)),
        ("source", lambda: index_lines(tmp_path, wrong, good, ["", ""])),
        ("target", lambda: index_lines(tmp_path, good, wrong, ["", ""])),
    ):
        with input_error(f"{tmp_path / name}:2:"):
            read()


def test_a_file_that_unpacks_to_more_than_text(tmp_path, monkeypatch):
    """All words are kept in memory, so a small file must not unpack to any number of them."""
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"a b\n" * 400_000))
    monkeypatch.setattr(files, "UNPACKED_BYTES", 2**20)
    monkeypatch.setattr(files, "max_unpacked", lambda packed: 2**20)
    with input_error(f"{path}:"):
        read_side(path, WordNumbers())


@given(
    st.lists(linked_pairs(), min_size=1, max_size=4),
    st.lists(st.sampled_from("abcX"), min_size=1, max_size=4),
    st.lists(st.sampled_from("xyzX"), min_size=1, max_size=4),
)
def test_costs_of_a_rule(tmp_path, corpus, source, target):
    """Both costs follow the definition; nonterminals (X) are ignored."""
    index = load_index(index_corpus(tmp_path, corpus))
    words = index.words.to_list()
    # the number of a word that is not in the corpus is in no pair of the table
    numbers = {word: words.index(word) if word in words else 99 for word in "abcxyz"} | {"X": -1}
    slow = naive.Extractor(corpus, ExtractionSettings())
    terminals = [word for word in source if word != "X"], [word for word in target if word != "X"]
    expected = (
        sum(slow.cost(word, terminals[1], "source") for word in terminals[0]),
        sum(slow.cost(word, terminals[0], "target") for word in terminals[1]),
    )
    sides = ([numbers[word] for word in side] for side in (source, target))
    ragged = [(np.array(side, np.int32), np.array([0, len(side)])) for side in sides]
    [found] = rule_costs(index.arrays.pair_key, index.arrays.pair_cost, *ragged, len(target))
    assert not np.signbit(found).any()
    # costs are stored in single precision
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-5)


def test_more_pairs_of_words_than_the_first_table_holds():
    """Every other word is linked to itself."""
    words = np.arange(1, FIRST_SLOTS, dtype=np.int32)
    linked = np.arange(0, words.shape[0], 2, dtype=np.int32)
    position = np.full((words.shape[0], index_kernels.COLUMNS), -1, np.int32)
    position[linked, LINK_LOW] = linked
    position[:, LINK_BEGIN] = np.searchsorted(linked, np.arange(words.shape[0]))
    spans = position[:, LINK_LOW:LINK_BEGIN].copy()
    key, _ = lexical_table(words, words, position, linked, spans)
    one, alone = words[linked].astype(np.int64), np.setdiff1d(words, words[linked]).astype(np.int64)
    expected = np.concatenate([one << 32 | one, alone << 32, alone])
    assert np.array_equal(np.sort(key[key > 0]), np.sort(expected))
