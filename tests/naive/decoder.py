"""A decoder in plain Python: all translations of a sentence, each with its best derivation.

Chiang 2007, sections 4 and 5, without pruning, and with any categories instead of X. A chart item is a
category and a span. It holds every string that it can be translated to, with the rules of the best derivation
of that string. Keeping only the best derivation loses nothing, because language model and word penalty depend
only on the string.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tests.naive.features import ALL_X, GLUE_CATEGORIES, GLUE_START_CATEGORIES, sparse_features
from tests.naive.learning import dot

Symbol = str | int  # a terminal, or -1 and -2 for the nonterminals
Words = tuple[str, ...]
Span = tuple[int, int]


class Rule(NamedTuple):
    """A rule and all its features; categories: left-hand side, nonterminals."""

    source: tuple[Symbol, ...]
    target: tuple[Symbol, ...]
    features: Mapping[str, float]
    categories: tuple[str, str, str] = ALL_X


class Derivation(NamedTuple):
    """The score of its rules (without features of the string alone), and how often each is used."""

    score: float
    rules: Counter[int]


class Translation(NamedTuple):
    words: Words
    score: float
    features: dict[str, float]


Item = dict[Words, Derivation]


def grammar_rule(
    source: tuple[Symbol, ...],
    target: tuple[Symbol, ...],
    features: Mapping[str, float],
    categories: tuple[str, str, str] = ALL_X,
) -> Rule:
    """Return a rule of a sentence's grammar, with its given features and those computed from it."""
    return Rule(source, target, {**features, **sparse_features(source, target, categories)}, categories)


GLUE_START = grammar_rule((-1,), (-1,), {}, GLUE_START_CATEGORIES)
GLUE = grammar_rule((-1, -2), (-1, -2), {"Glue": 1}, GLUE_CATEGORIES)


def decode(
    words: Sequence[str],
    rules: Sequence[Rule],
    weights: Mapping[str, float],
    log10_probability: Callable[[Words], float],
    is_known: Callable[[str], bool],
    k: int = 100,
    max_span: int = 15,
) -> list[Translation]:
    """Return the k best distinct translations of a sentence, best first, ties in alphabetical order.

    The language model is given by two functions: `log10_probability` of a sentence, including its end, and
    `is_known` of a word.
    """
    copying = [grammar_rule((word,), (word,), {"PassThrough": 1}) for word in dict.fromkeys(words)]
    all_rules = [GLUE_START, GLUE, *rules, *copying]
    goal = Chart(words, all_rules, weights, max_span).item("S", 0, len(words))
    found = []
    for string, derivation in goal.items():
        features = Counter[str]()
        for rule, count in derivation.rules.items():
            for name, value in all_rules[rule].features.items():
                features[name] += value * count
        features["WordPenalty"] = -len(string) / math.log(10)
        features["LanguageModel"] = log10_probability(string)
        features["LanguageModel_OOV"] = sum(not is_known(word) for word in string)
        shown = {name: value for name, value in features.items() if value}
        found.append(Translation(string, dot(weights, features), shown))
    return sorted(found, key=lambda translation: (-translation.score, translation.words))[:k]


class Chart:
    """All items of a sentence, computed on demand."""

    def __init__(
        self, words: Sequence[str], rules: Sequence[Rule], weights: Mapping[str, float], max_span: int
    ) -> None:
        self.words, self.rules, self.max_span = words, rules, max_span
        self.rule_score = [dot(weights, rule.features) for rule in rules]
        self.items: dict[tuple[str, int, int], Item] = {}

    def item(self, category: str, begin: int, end: int) -> Item:
        """Return the item of a category over words[begin:end]."""
        if category == "X" and end - begin > self.max_span:
            return {}
        if (category, begin, end) not in self.items:
            item: Item = {}
            for number, rule in enumerate(self.rules):
                if rule.categories[0] != category or (number < 2 and begin > 0):  # glue starts at 0
                    continue
                for spans in match(rule.source, self.words, begin, end):
                    pairs = zip(rule.categories[1:], spans, strict=False)
                    self._combine(item, number, [self.item(antecedent, *span) for antecedent, span in pairs])
            self.items[category, begin, end] = item
        return self.items[category, begin, end]

    def _combine(self, item: Item, number: int, antecedents: list[Item]) -> None:
        """Add every string that a rule builds from its antecedents; keep the better derivation."""
        for parts in itertools.product(*antecedents):
            derivations = [antecedent[part] for antecedent, part in zip(antecedents, parts, strict=True)]
            string = substitute(self.rules[number].target, parts)
            score = self.rule_score[number] + sum(derivation.score for derivation in derivations)
            if string not in item or score > item[string].score:
                used = sum((derivation.rules for derivation in derivations), Counter([number]))
                item[string] = Derivation(score, used)


def match(source: tuple[Symbol, ...], words: Sequence[str], begin: int, end: int) -> Iterator[list[Span]]:
    """Yield the spans of the nonterminals for every way in which `source` covers words[begin:end]."""
    if not source:
        if begin == end:
            yield []
    elif isinstance(source[0], str):
        if begin < end and words[begin] == source[0]:
            yield from match(source[1:], words, begin + 1, end)
    else:
        for middle in range(begin + 1, end + 1):
            for spans in match(source[1:], words, middle, end):
                yield [(begin, middle), *spans]


def substitute(target: tuple[Any, ...], parts: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the target side, of words or their numbers, with strings in place of its nonterminals."""
    return tuple(
        word
        for symbol in target
        for word in (parts[-symbol - 1] if isinstance(symbol, int) and symbol < 0 else (symbol,))
    )
