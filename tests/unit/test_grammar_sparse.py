"""Sparse features of rules: names as in cdec, and the kernels compared with plain Python."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.features import ALL_X, GLUE_CATEGORIES, GLUE_START_CATEGORIES, sparse_features
from tests.refusals import input_error
from tests.text_grammars import features_by_rule

from itersel.grammar import sparse
from itersel.grammar.build import Rule, make_grammars
from itersel.grammar.grammar_kernels import GLUE, GLUE_START, GRAMMAR_RULE
from itersel.grammar.sparse import SparseFeatures, count_bins, rule_features
from itersel.grammar.sparse_kernels import COLLISION, NameTable, find_name
from itersel.grammar.template_kernels import NO_CODE, Rules
from itersel.grammar.templates.generate import OUTPUT, dispatch_module
from itersel.grammar.templates.rbs_kernels import bigram_code
from itersel.storage.strings import string_table
from itersel.vectors.feature_names import BUILT_IN_TEMPLATES, DEFAULT_TEMPLATES, DENSE_FEATURES, EXPLANATIONS
from itersel.vectors.features import feature_keys

GLUE_RULES = [(GLUE_START, (-1,), (-1,)), (GLUE, (-1, -2), (-1, -2))]
words = st.text("ab=;_ü漢", min_size=1, max_size=4)


def compute(rules: list[tuple], templates=DEFAULT_TEMPLATES) -> SparseFeatures:
    """Return the features of (kind, source, target, alignment, count), with words instead of numbers.

    The last two are optional.
    """
    vocabulary: dict[str, int] = {}

    def side(part):
        rows = [
            [s if isinstance(s, int) else vocabulary.setdefault(s, len(vocabulary)) for s in rule[part]]
            for rule in rules
        ]
        offset = np.cumsum([0, *map(len, rows)])
        return np.array([symbol for row in rows for symbol in row], np.int32), offset

    kind = np.array([rule[0] for rule in rules], np.uint8)
    source, target = side(1), side(2)
    alignments = [rule[3] if len(rule) > 3 else () for rule in rules]
    points = np.array([point for points in alignments for point in points], np.uint8).reshape(-1, 2)
    counts = np.array([rule[4] if len(rule) > 4 else 0 for rule in rules], np.int64)
    ends, no_category = np.cumsum([0, *map(len, alignments)]), np.zeros((0, 3), np.uint16)
    tables = string_table(vocabulary), string_table(())
    arrays = Rules(*tables, no_category, *source, *target, points, ends, count_bins(counts))
    return rule_features(kind, arrays, templates)


def test_separators_are_escaped_and_equal_names_are_one_feature() -> None:
    features = compute([(GRAMMAR_RULE, ("a=", "a;"), ("=;",)), (GRAMMAR_RULE, ("a_", "a_"), ("__",))])
    first, second = features_by_rule(features)
    assert first == second
    assert first["R:X:a__a_:__"] == 1
    assert features.feature_name.count == 7


@st.composite
def rules(draw: st.DrawFn) -> tuple:
    """Draw a rule with a count and an alignment, also of nonterminals, which rules should not have."""
    symbols = (-1, -2)[: draw(st.integers(0, 2))]
    source, target = (draw(st.lists(words, min_size=not symbols, max_size=11)) for _ in range(2))
    places = sorted(draw(st.integers(0, len(source))) for _ in symbols)
    for symbol, place in reversed([*zip(symbols, places, strict=True)]):
        source.insert(place, symbol)
        target.insert(draw(st.integers(0, len(target))), symbol)
    points = st.tuples(st.integers(0, len(source) - 1), st.integers(0, max(len(target) - 1, 0)))
    alignment = draw(st.lists(points, max_size=4, unique=True)) if target else []
    return GRAMMAR_RULE, tuple(source), tuple(target), tuple(sorted(alignment)), draw(st.integers(0, 400))


@given(st.lists(rules(), max_size=8), st.lists(st.sampled_from([*BUILT_IN_TEMPLATES]), unique=True))
def test_kernels_agree_with_plain_python(drawn: list[tuple], templates: list[str]) -> None:
    features = compute([*GLUE_RULES, *drawn], templates)
    expected = [
        sparse_features((-1,), (-1,), GLUE_START_CATEGORIES, templates=templates),
        sparse_features((-1, -2), (-1, -2), GLUE_CATEGORIES, templates=templates),
    ]
    for _, source, target, alignment, count in drawn:
        expected.append(sparse_features(source, target, ALL_X, alignment, count, templates))
    assert features_by_rule(features) == expected


RULE = (GRAMMAR_RULE, ("das", -1, "doch", "haus"), ("the", -1, "house"), ((0, 0), (3, 2), (0, 2)), 3)


@pytest.mark.parametrize("template", BUILT_IN_TEMPLATES)
def test_each_template(template: str, root) -> None:
    """The example of docs/features.md."""
    page = (root / "docs/features.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith(f"| `{template}` |")]
    assert len(rows) == 1, f"docs/features.md needs a row with `{template}`"
    [row] = rows
    names = set(re.findall("`(.+?)`", row.split("|")[3]))
    assert all(name.startswith(BUILT_IN_TEMPLATES[template].prefix) for name in names)
    [found] = features_by_rule(compute([RULE], [template]))
    assert found == dict.fromkeys(names, 1.0)


def test_generated_kernels_are_up_to_date() -> None:
    assert OUTPUT.read_text() == dispatch_module(), "run `make generated`"


@pytest.mark.parametrize("name", [*DENSE_FEATURES, *BUILT_IN_TEMPLATES])
def test_explanations_of_features(name: str, root) -> None:
    """The page of a run has the words of docs/features.md."""
    page = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", (root / "docs/features.md").read_text())
    row = f"| `{name}` | {EXPLANATIONS[name]} |"
    assert row in page, f"docs/features.md needs a row that begins with {row}"


def test_bins_of_counts() -> None:
    counts = np.array([0, 1, 2, 3, 4, 5, 8, 9, 300, 512, 513, 1_000_000])
    assert count_bins(counts).tolist() == [0, 1, 2, 3, 3, 4, 4, 5, 10, 10, 11, 21]
    last = features_by_rule(compute([(GRAMMAR_RULE, ("a",), ("b",), (), 1_000_000)], ["Count"]))
    assert last == [{"Count:524289-1048576": 1}]


def test_names_have_the_categories_of_nonterminals() -> None:
    """Also in rules that differ only in them: bigrams are cached with categories."""
    source, target = (-1, "und", -2), (-2, "and", -1)
    categories = [("NP", "ADJ;", "S"), ("S", "NP", "VP"), ("S", "VP", "NP"), ("S", "NP", "NP")]
    grammars = make_grammars([()], None, [[Rule(source, target, categories=names) for names in categories]])
    found = [set(features) for features in features_by_rule(grammars)[2:]]
    assert found == [set(sparse_features(source, target, names)) for names in categories]
    assert {"R:NP:NADJ__und_NS:N2_and_N1", "RBS:ADJ__und", "RBS:und_S", "RBT:<r>_S2"} <= found[0]


@pytest.mark.parametrize("on_target", [False, True])
def test_only_small_word_numbers_have_codes(on_target: bool) -> None:
    """Two words of 30 bits fit into a code."""
    words = np.array([1, (1 << 29) - 1, 1 << 29, (1 << 31) - 1], np.int32)
    ends = np.array([0, 4], np.int64)
    nothing, sides = string_table([]), (words, ends) * 2
    points = np.zeros((0, 2), np.uint8), np.zeros(2, np.int64)
    rules = Rules(nothing, nothing, np.zeros((1, 3), np.uint16), *sides, *points, np.zeros(1, np.uint8))
    codes = [bigram_code(rules, 0, slot, on_target) for slot in range(5)]
    assert codes[2:] == [NO_CODE] * 3
    assert NO_CODE < codes[0] < 1 << 61
    assert NO_CODE < codes[1] < 1 << 61
    assert codes[0] != codes[1]


def test_tables_are_sorted_and_complete_when_there_are_many_names() -> None:
    numbers = np.random.default_rng(1).integers(0, 3000, (4000, 4)).astype(str)
    drawn = [(GRAMMAR_RULE, (a, b), (c, d)) for a, b, c, d in numbers.tolist()]
    features = compute(drawn)
    assert np.all(np.diff(features.feature_key.astype(object)) > 0)
    assert np.array_equal(features.feature_key, feature_keys(string_table(features.feature_name.to_list())))
    assert features_by_rule(features) == [sparse_features(source, target) for _, source, target in drawn]
    starts = features.rule_feature_offset[1:-1]
    ascends = np.diff(features.rule_feature) > 0
    ascends[starts - 1] = True
    assert ascends.all()


def test_a_name_with_the_key_of_another_is_found() -> None:
    zeros = np.zeros(2, np.uint64), np.zeros(9, np.uint8), np.zeros(3, np.int64)
    names, key = NameTable(np.full(4, -1, np.int32), *zeros), np.uint64(7)
    first, other = (np.frombuffer(bytearray(text), np.uint8) for text in (b"abc", b"abd"))
    assert find_name(names, 0, key, first, 3) == 0
    assert find_name(names, 1, key, first, 3) == 0
    assert find_name(names, 1, key, other, 3) == COLLISION
    assert find_name(names, 1, key, first, 2) == COLLISION
    assert find_name(names, 1, np.uint64(11), other, 3) == 1


def test_a_collision_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = sparse.count_features

    def collide(*arguments):
        return (*kernel(*arguments)[:-1], np.frombuffer(b"RBS:a_b", np.uint8))

    def collide_identities(*arguments):
        rows, identity, *others = kernel(*arguments)
        identity[:] = 7
        return rows, identity, *others

    monkeypatch.setattr(sparse, "count_features", collide)
    with input_error("'RBS:a_b'"):
        compute(GLUE_RULES)
    monkeypatch.setattr(sparse, "count_features", collide_identities)
    with input_error("'R:S:"):
        compute(GLUE_RULES)


def test_rules_with_the_same_identity() -> None:
    """They share the feature; names are written for any selection and order of features."""
    rule = (GRAMMAR_RULE, ("a", -1), ("x", -1))
    features = compute([(*rule, ((0, 0),)), rule])
    names = features.feature_name.to_list()
    assert sum(name.startswith("R:") for name in names) == 1
    order = np.arange(len(names))[::-2]
    assert features.feature_name.take(order).to_list() == names[::-2]
    assert [features.feature_name.get(i) for i in range(len(names))] == names
