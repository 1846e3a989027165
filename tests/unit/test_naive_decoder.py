"""The naive decoder itself, on examples worked out by hand."""

import math

import pytest
from tests.naive.decoder import decode, grammar_rule


def uniform(words) -> float:
    """Return log10 of a tenth for each word and for the end."""
    return -len(words) - 1.0


def known(word) -> bool:
    return word != "b"


def test_every_translation_of_a_small_grammar() -> None:
    rules = [
        grammar_rule(("a",), ("x",), {}),
        grammar_rule((-1, "b"), ("y", -1), {}),
        grammar_rule(("a", -1, "c"), ("p", -1, "q"), {}),
    ]
    found = decode(("a", "b", "c"), rules, {}, uniform, known)
    # "a b": x b, a b, y x, y a; then c; "b" in the third rule is passed through
    expected = ["x b c", "a b c", "y x c", "y a c", "p b q"]
    assert sorted(" ".join(t.words) for t in found) == sorted(expected)


def test_scores_and_features_of_the_best_derivation() -> None:
    rules = [grammar_rule(("a",), ("a",), {"CountEF": 2.0}), grammar_rule(("a", "b"), ("z",), {})]
    weights = {"CountEF": 1.0, "Glue": -1.0, "LanguageModel": 0.5, "WordPenalty": 0.1, "PassThrough": -0.25}
    best, second = decode(("a", "b"), rules, weights, uniform, known)
    # a by the rule (2) rather than passed through, b passed through (-0.25), one glue rule (-1)
    assert best.words == ("a", "b")
    assert best.score == pytest.approx(2 - 0.25 - 1 + 0.5 * -3 - 0.1 * 2 / math.log(10))
    assert best.features["LanguageModel_OOV"] == 1
    assert best.features["R:S:NS_NX:N1_N2"] == best.features["Glue"] == 1
    assert best.features["Shape_S10000_T10000"] == 2
    assert second.words == ("z",)
    assert second.score == pytest.approx(0.5 * -2 - 0.1 / math.log(10))


def test_words_of_both_nonterminals_are_swapped() -> None:
    rules = [grammar_rule((-1, "und", -2), (-2, "and", -1), {})]
    found = decode(("a", "und", "c"), rules, {"R:X:NX_und_NX:N2_and_N1": 1.0}, uniform, known)
    assert found[0].words == ("c", "and", "a")
    assert found[0].features["Shape_S01110_T01110"] == 1
