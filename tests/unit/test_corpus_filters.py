"""Filters and samples of pairs."""

from hypothesis import given
from hypothesis import strategies as st

from itersel.corpus.filters import sample_pairs, trainable
from itersel.corpus.text import Bitext


def test_filters_count_what_they_drop_and_why():
    source = ["a", "", "a b c d", "a b c d e f", "a", "a b"]
    target = ["x", "x", "x y", "x", "x y z v w", ""]
    kept, dropped = trainable(Bitext(source, target), max_length=5, max_ratio=3.0)
    assert kept == [0, 2]
    assert dropped == {"empty": 2, "too long": 1, "length ratio": 1}


@given(st.lists(st.text("abxy", max_size=3), max_size=20), st.integers(0, 25))
def test_samples_are_nested_and_in_order(source, count):
    bitext = Bitext(source, source[::-1])
    chosen = sample_pairs(bitext, count)
    assert len(chosen) == min(count, len(source))
    assert chosen == sorted(set(chosen))
    assert set(chosen) <= set(sample_pairs(bitext, count + 1))
