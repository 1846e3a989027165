"""Lexical costs compared with counting in plain Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import extractor as naive

from itersel.grammar.index import build_index, lexical_table, load_index
from itersel.grammar.index_kernels import COLUMNS, LINK_BEGIN, LINK_LOW
from itersel.grammar.lexical_kernels import FIRST_SLOTS, INFINITE_COST, find_pair, lexical_costs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lexical")


@st.composite
def linked_pairs(draw: st.DrawFn) -> naive.SentencePair:
    source = draw(st.lists(st.sampled_from("abc"), max_size=4))
    target = draw(st.lists(st.sampled_from("xyz"), max_size=4))
    points = [(i, j) for i in range(len(source)) for j in range(len(target))]
    links = draw(st.sets(st.sampled_from(points))) if points else set()
    return naive.SentencePair(tuple(source), tuple(target), frozenset(links))


@given(
    st.lists(linked_pairs(), min_size=1, max_size=4),
    st.lists(st.sampled_from("abcX"), min_size=1, max_size=4),
    st.lists(st.sampled_from("xyzX"), min_size=1, max_size=4),
)
def test_costs_of_a_rule(folder, corpus, source, target) -> None:
    """Both costs follow the definition; nonterminals (X) are ignored."""
    for name, side in (("source", 0), ("target", 1)):
        text = "".join(" ".join(pair[side]) + "\n" for pair in corpus)
        (folder / name).write_text(text, encoding="utf-8")
    text = "".join(" ".join(f"{i}-{j}" for i, j in sorted(pair.links)) + "\n" for pair in corpus)
    (folder / "alignment").write_text(text, encoding="utf-8")
    build_index(folder / "source", folder / "target", folder / "alignment", folder / "index")
    index = load_index(folder / "index")
    words = index.words.to_list()
    # the number of a word that is not in the corpus is in no pair of the table
    numbers = {word: words.index(word) if word in words else 99 for word in "abcxyz"} | {"X": -1}
    slow = naive.Extractor(corpus, naive.Settings(1, 1, 0, 1, 1))
    terminals = [word for word in source if word != "X"], [word for word in target if word != "X"]
    expected = (
        sum(slow.cost(word, terminals[1], "source") for word in terminals[0]),
        sum(slow.cost(word, terminals[0], "target") for word in terminals[1]),
    )
    found = lexical_costs(
        index.arrays.pair_key,
        index.arrays.pair_cost,
        np.array([numbers[word] for word in source], np.int32),
        np.array([numbers[word] for word in target], np.int32),
        np.empty(len(target), np.float32),
    )
    # costs are stored in single precision
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-5)


def table_of(source, target, linked):
    """Return the table of an alignment that links equal positions of both sides."""
    position = np.full((source.shape[0], COLUMNS), -1, np.int32)
    position[linked, LINK_LOW] = linked
    position[:, LINK_BEGIN] = np.searchsorted(linked, np.arange(source.shape[0]))
    spans = position[:, LINK_LOW:LINK_BEGIN].copy()
    return lexical_table(source, target, position, np.array(linked, np.int32), spans)


def test_relative_frequencies() -> None:
    """Word 1 has two links to 5 and one to 6; word 2 and word 6 are unaligned once."""
    source, target = np.array([1, 1, 1, 2], np.int32), np.array([5, 5, 6, 6], np.int32)
    key, cost = table_of(source, target, [0, 1, 2])
    # p(f|e): 1|5 = 2/2, 1|6 = 1/2, NULL|6 = 1/2, 2|NULL = 1; p(e|f): 5|1 = 2/3, 6|1 = 1/3, 6|NULL = 1
    for pair, given_target, given_source in [
        ((1, 5), 1, 2 / 3),
        ((1, 6), 1 / 2, 1 / 3),
        ((0, 6), 1 / 2, 1),
        ((2, 0), 1, 1),
    ]:
        slot = find_pair(key, *pair)
        assert key[slot] == pair[0] << 32 | pair[1]
        assert cost[slot] == pytest.approx((-np.log10(given_target), -np.log10(given_source)), abs=1e-6)
        assert not np.signbit(cost[slot]).any()
    assert key[find_pair(key, 2, 5)] == 0
    assert np.count_nonzero(key) == 4


def test_more_pairs_than_the_first_table_holds() -> None:
    words = np.arange(1, FIRST_SLOTS)
    linked = np.arange(0, words.shape[0], 2)
    alone = np.setdiff1d(words, words[linked])
    key, _ = table_of(words.astype(np.int32), words.astype(np.int32), linked)
    pairs = np.concatenate([words[linked] << 32 | words[linked], alone << 32, alone])
    assert np.array_equal(np.sort(key[key > 0]), np.sort(pairs))


def test_infinite_cost() -> None:
    """A word that is linked to none of the words on the other side, nor to NULL, costs 99."""
    source, target = np.array([1, 2], np.int32), np.array([5, 6], np.int32)
    key, cost = table_of(source, target, [0, 1])
    found = lexical_costs(
        key, cost, np.array([1, -1], np.int32), np.array([6, -1, 5], np.int32), np.empty(3, np.float32)
    )
    assert found == (0, INFINITE_COST)
    assert INFINITE_COST == 99


def test_empty_corpus() -> None:
    nothing = np.empty(0, np.int32)
    key, _ = table_of(nothing, nothing, [])
    assert not key.any()
