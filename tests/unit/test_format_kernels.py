"""Compiled checks of rules and positions compared with plain Python."""

from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.checks import is_good_index, is_good_rule

from itersel.grammar.grammar_kernels import find_bad_rule
from itersel.grammar.index_kernels import FINE, IndexArrays, find_bad_position
from itersel.grammar.template_kernels import Rules
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import string_table


def find(rules, category, ranks):
    """Check rules given by kind, source side, target side and alignment; `category` may have no rows."""
    arrays = []
    for column, dtype in ((1, np.int32), (2, np.int32), (3, np.uint8)):
        rows = [rule[column] for rule in rules]
        flat = np.array([value for row in rows for value in row], dtype)
        arrays += [flat.reshape(-1, 2) if column == 3 else flat, offsets_of([len(row) for row in rows])]
    nothing, kind = string_table(()), np.array([rule[0] for rule in rules], np.uint8)
    category = np.array(category, np.uint16).reshape(-1, 3)
    found = Rules(nothing, nothing, category, *arrays, bin=np.zeros(0, np.uint8))
    return find_bad_rule(kind, found, np.array(ranks, np.int32))


symbols = st.lists(st.sampled_from([-2, -1, 0, 1]), max_size=4)
points = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=2)
categories = st.tuples(*[st.integers(0, 2)] * 3)
GLUE_RULES = [(1, [-1], [-1], []), (2, [-1, -2], [-1, -2], [])]
RANKS = (1, 2, 0)  # of X, S and a category that X can be derived from


@pytest.mark.parametrize("has_categories", [False, True])
@given(st.data(), st.booleans())
def test_rules_equal_plain_python(has_categories, data, glue):
    rule = st.tuples(st.integers(0, 3), symbols, symbols, points)
    if has_categories:
        rule |= st.tuples(st.just(0), st.just([-1]), st.just([-1]), st.just([]))
    rules = (GLUE_RULES if glue else []) + data.draw(st.lists(rule, max_size=4))
    drawn = [data.draw(categories) for _ in rules] if has_categories else []
    if drawn and glue and data.draw(st.integers(0, 3)):
        drawn[:2] = [(1, 0, 0), (1, 1, 0)]
    pairs = zip_longest(rules, drawn)
    bad = [n for n, (rule, one) in enumerate(pairs) if not is_good_rule(n, *rule, one, RANKS)]
    found, wrong = find(rules, drawn, RANKS if has_categories else ())
    if len(rules) < 2:
        assert wrong != FINE
    else:
        assert (found, wrong != FINE) == ((bad[0], True) if bad else (-1, False))


@given(st.data())
def test_positions_equal_plain_python(data):
    """An index with at most one changed number: both checks agree."""
    lengths = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    sentences = [[1] * length + [0] for length in lengths]
    size = sum(map(len, sentences))
    linked = [
        data.draw(st.sets(st.integers(0, 3), max_size=2)) if word else set() for s in sentences for word in s
    ]
    link = [place for places in linked for place in sorted(places)]
    begin = offsets_of([len(places) for places in linked])
    position = np.zeros((size, 5), np.int32)
    for p, places in enumerate(linked):
        position[p] = [0, 0, min(places, default=-1), max(places, default=-2) + 1, begin[p]]
    source = np.array([word for s in sentences for word in s], np.int32)
    room = np.array([len(s) - 1 - i for s in sentences for i in range(len(s))], np.uint8)
    arrays = {"source": source, "room": room, "position": position, "link": np.array(link, np.int32)}
    name = data.draw(st.sampled_from([name for name in arrays if arrays[name].size] + ["none"]))
    if name != "none":
        flat = arrays[name].reshape(-1)
        flat[data.draw(st.integers(0, flat.shape[0] - 1))] = data.draw(st.integers(0, 8))
    ends = np.cumsum([len(s) for s in sentences]).tolist()
    cut = [source[a:b].tolist() for a, b in zip([0, *ends], ends, strict=False)]
    offset = offsets_of([len(s) for s in sentences])
    others = dict.fromkeys(IndexArrays._fields, np.zeros(0, np.int32))
    _, wrong = find_bad_position(IndexArrays(**{**others, **arrays, "source_offset": offset}))
    good = is_good_index(cut, room.tolist(), position.tolist(), arrays["link"].tolist())
    assert (wrong == FINE) == good
