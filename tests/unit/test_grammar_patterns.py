"""Occurrences of patterns: kernels compared with plain Python, for any batch size; sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import extractor as naive
from tests.text_grammars import index_lines, write

from itersel.corpus.vocabulary import read_side
from itersel.grammar.array_kernels import RUN, sort_stably
from itersel.grammar.extract import extract_grammars, extract_rule_table, leave_nothing_out
from itersel.grammar.index import load_index
from itersel.grammar.match_kernels import match_seconds, match_thirds, size_seconds, sort_positions
from itersel.grammar.pattern_kernels import LeftOut, RuleLimits
from itersel.grammar.patterns import find_patterns

WORDS = "abc"

sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=5)


@given(st.lists(st.sampled_from([-np.inf, -2.5, -0.0, 0.0, 1.0, np.inf]), max_size=5 * RUN), st.data())
def test_sort_stably(keys, data):
    """Rows beyond the size stay as they are."""
    rows = data.draw(st.permutations(range(len(keys))))
    size = len(keys) // 4 * 4
    order, key = np.array(rows, np.int64), np.array(keys, np.float64)
    sort_stably(order, key, np.empty_like(order), size)
    assert order.tolist() == sorted(rows[:size], key=lambda row: keys[row]) + list(rows[size:])


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 5000])
def test_positions_are_sorted(size):
    positions = np.random.default_rng(1).integers(0, 2**31, size).astype(np.int32)
    before = positions.copy()
    assert np.array_equal(sort_positions(positions), np.sort(positions))
    assert np.array_equal(positions, before)


def indexed(folder, corpus, text):
    """Index sentences that are aligned word by word, and read the input text."""
    diagonals = [" ".join(f"{i}-{i}" for i in range(len(line.split()))) for line in corpus]
    index = load_index(index_lines(folder, corpus, corpus, diagonals))
    return index, read_side(write(folder / "text", *text), index.word_numbers())


def occurrences(corpus, blocks, limits):
    """List the begins of consecutive blocks with gaps between them, in ascending order."""
    found, origin = [], 0
    for line in corpus:
        words = tuple(line.split())
        places = sorted(naive.matches(words, tuple(map(tuple, blocks)), limits))
        found += [[origin + begin for begin in begins] for begins in places]
        origin += len(words) + 1
    return found


@given(sentences, sentences, st.integers(2, 8), st.integers(1, 2), st.integers(1, 4))
def test_occurrences_of_every_pattern(tmp_path, corpus, text, max_span, min_gap, max_samples):
    index, side = indexed(tmp_path, corpus, text)
    words = index.words.to_list()
    limits = RuleLimits(max_span, 5, 2, min_gap, max_samples)
    own = leave_nothing_out(len(text))
    patterns, blocks, _ = find_patterns(index.arrays, side, own, limits)

    def words_of(block):
        begin = index.arrays.suffix[blocks.low[block]]
        return [words[word] for word in index.arrays.source[begin : begin + blocks.length[block]]]

    for u, v in sorted({(u, v) for u, v, _ in patterns.block.tolist() if v}):
        positions = sort_positions(index.arrays.suffix[blocks.low[u] : blocks.high[u]])
        distance, second = int(blocks.length[u]) + min_gap, np.array([v], np.int32)
        begin = size_seconds(blocks, limits, positions, distance, second)
        pairs = match_seconds(blocks, limits, positions, distance, second, begin)
        expected = occurrences(corpus, [words_of(u), words_of(v)], limits)
        assert np.stack([pairs.first, pairs.second], axis=1).tolist() == expected
        assert pairs.last.tolist() == [expected[-1][0] if expected else -1]
        thirds = sorted({w for a, b, w in patterns.block.tolist() if (a, b) == (u, v) and w})
        gap = int(blocks.length[v]) + min_gap
        found = match_thirds(blocks, limits, pairs.first, pairs.second, gap, np.array(thirds, np.int32))
        rows = np.stack([found.first, found.second, found.third], axis=1)
        for number, w in enumerate(thirds):
            all_of_it = occurrences(corpus, [words_of(u), words_of(v), words_of(w)], limits)
            total = len(all_of_it)
            # as in cdec: sample k of M from n occurrences is number round(k n / M), halves rounded up
            taken = [(2 * k * total + max_samples) // (2 * max_samples) for k in range(max_samples)]
            kept = all_of_it if total <= max_samples else [all_of_it[k] for k in taken]
            assert rows[found.begin[number] : found.begin[number + 1]].tolist() == kept
            assert found.last[number] == (all_of_it[-1][0] if all_of_it else -1)
    assert (blocks.slot == -1).all()
    assert not blocks.longer.any()


def left_out(starts):
    """Return that each sentence is left out of its own grammar."""
    numbers = np.arange(starts.shape[0] - 1)
    return LeftOut(np.stack([starts[:-1], starts[1:]], axis=1), np.stack([numbers, numbers + 1], axis=1))


@given(sentences, st.integers(1, 7), st.booleans())
def test_batch_size_makes_no_difference(tmp_path, corpus, batch, leave_one_out):
    index, side = indexed(tmp_path, corpus, corpus)
    starts = index.arrays.source_offset
    own = left_out(starts) if leave_one_out else leave_nothing_out(len(corpus))

    def extract(size):
        source, target, point, row = extract_rule_table(
            index.arrays, side, own, RuleLimits(15, 5, 2, 1, 3), size
        )
        return *source, *target, *point, row

    for small, large in zip(extract(batch), extract(1 << 20), strict=True):
        assert np.array_equal(small, large)


def test_a_frequent_pattern_of_a_single_sentence(tmp_path):
    """More occurrences than samples, all left out: the last occurrence decides, not the last sample."""
    corpus = ["a b a b a b a b a b a b", "c a"]
    index, side = indexed(tmp_path, corpus, corpus)
    own = left_out(index.arrays.source_offset)
    (symbols, offset), _, _, row = extract_rule_table(index.arrays, side, own, RuleLimits(15, 5, 2, 1, 2))
    # rules with non-zero counts: only "a" is in both sentences
    for rule, _, samples, _, _ in row.tolist():
        assert not samples or (symbols[slice(*offset[rule : rule + 2])] > 0).sum() == 1


def test_the_same_sentences_twice_are_the_same_bytes(tmp_path):
    random = np.random.default_rng(3)
    corpus = [" ".join(f"w{i}" for i in random.zipf(1.3, 12) % 50) for _ in range(300)]
    indexed(tmp_path, corpus, corpus[:100])
    for name in ("1.h5", "2.h5"):
        extract_grammars(tmp_path / "index", tmp_path / "text", tmp_path / name)
    assert (tmp_path / "1.h5").stat().st_size > 100_000
    assert (tmp_path / "1.h5").read_bytes() == (tmp_path / "2.h5").read_bytes()
