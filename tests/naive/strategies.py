"""Small random translation problems: a sentence, its grammar, weights and a language model."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.naive import decoder as naive_decoder
from tests.naive import lm as naive_lm

from itersel.bleu.references import References
from itersel.config.search import Search
from itersel.decode.decoder import Decoder
from itersel.decode.output import feature_values
from itersel.decode.translations import KBest
from itersel.grammar.build import Rule, make_grammars
from itersel.grammar.sentence_grammars import SentenceGrammars
from itersel.lm.binary import LanguageModel, compile_model, load_model
from itersel.storage.ragged import offsets_of
from itersel.vectors.feature_names import DECODER_FEATURES, GRAMMAR_FEATURES

SOURCE_WORDS = ("a", "b", "c=d")
TARGET_WORDS = ("x", "y", "z")
# Target words that a language model may contain; "a" comes from pass-through rules.
MODEL_WORDS = ("x", "y", "a")
MAX_WORDS = 5
MAX_RULES = 7
MAX_CATEGORIZED = 12  # fewer of them fit together
# The right-hand side of a unary rule must precede its left-hand side here: no cycles, and S above X.
CATEGORIES = ("A", "X", "S", "B")


class Problem(NamedTuple):
    """The input of a decoder for one sentence: the words, their grammar, and weights by feature name.

    `model` maps n-grams to log10 probabilities and backoffs.
    """

    words: tuple[str, ...]
    rules: tuple[Rule, ...]
    weights: dict[str, float]
    model: naive_lm.Model
    order: int

    def is_known(self, word: str) -> bool:
        return (word,) in self.model

    def log10_probability(self, words: Sequence[str]) -> float:
        return naive_lm.score_sentence(self.model, self.order, list(words))


def eighths(largest: int = 16) -> st.SearchStrategy[float]:
    """Draw numbers that are exact in single precision."""
    return st.integers(-largest, largest).map(lambda n: n / 8)


@st.composite
def small_rules(draw: st.DrawFn, words: Sequence[str]) -> Rule:
    """Draw a rule that covers a span of `words`, with nonterminals for at most two parts of it."""
    begin = draw(st.integers(0, len(words) - 1))
    end = draw(st.integers(begin + 1, len(words)))
    source: list[str | int] = []
    nonterminals = place = 0
    while place < end - begin:
        room = end - begin - place
        # A nonterminal over the whole span would make the rule unary.
        longest = min(room, end - begin - 1)
        if nonterminals < 2 and longest and draw(st.integers(0, 2)) == 0:
            nonterminals += 1
            source.append(-nonterminals)
            place += draw(st.integers(1, longest))
        else:
            source.append(words[begin + place])
            place += 1
    target: list[str | int] = draw(st.lists(st.sampled_from(TARGET_WORDS), max_size=3))
    for symbol in range(1, nonterminals + 1):
        target.insert(draw(st.integers(0, len(target))), -symbol)
    names = st.sampled_from(("EgivenFCoherent", "CountEF", "Other", "Listed:one"))
    return Rule(tuple(source), tuple(target), draw(st.dictionaries(names, eighths(), max_size=3)))


@st.composite
def categorized_rules(draw: st.DrawFn, words: Sequence[str]) -> Rule:
    """Draw a rule with any categories, possibly unary."""
    rule = draw(small_rules(words))
    left = draw(st.integers(0, len(CATEGORIES) - 1))
    if left > 0 and draw(st.integers(0, 4)) == 0:
        before = CATEGORIES[draw(st.integers(0, left - 1))]
        target = (*(symbol for symbol in rule.target if isinstance(symbol, str)), -1)
        return Rule((-1,), target, rule.features, (), (CATEGORIES[left], before, "X"))
    count = sum(isinstance(symbol, int) for symbol in rule.source)
    names = [draw(st.sampled_from(CATEGORIES)) if number < count else "X" for number in range(2)]
    return rule._replace(categories=(CATEGORIES[left], names[0], names[1]))


@st.composite
def small_models(draw: st.DrawFn) -> tuple[naive_lm.Model, int]:
    """Draw a backoff model of order 1 to 3, with the prefixes and suffixes of all its n-grams."""
    order = draw(st.integers(1, 3))
    words = draw(st.lists(st.sampled_from(MODEL_WORDS), unique=True))
    longest = st.lists(st.sampled_from([*words, "</s>"]), min_size=order, max_size=order)
    drawn = draw(st.lists(longest.filter(lambda ngram: "</s>" not in ngram[:-1]), max_size=6))
    starts = [("<s>", *ngram[1:]) for ngram in drawn if order > 1 and draw(st.booleans())]
    ngrams = {(word,) for word in ("<unk>", "<s>", "</s>", *words)}
    for ngram in [*map(tuple, drawn), *starts]:
        ngrams |= {ngram[i:j] for i in range(order) for j in range(i + 1, order + 1)}
    model = {}
    for ngram in sorted(ngrams):
        extends = len(ngram) < order and ngram[-1] != "</s>"
        model[ngram] = (-draw(st.integers(1, 24)) / 8, draw(eighths(8)) if extends else 0.0)
    return model, order


@st.composite
def small_grammars(draw: st.DrawFn, categories: bool = False) -> Problem:
    """Draw a problem that `tests.naive.decoder` solves quickly."""
    words = tuple(draw(st.lists(st.sampled_from(SOURCE_WORDS), min_size=1, max_size=MAX_WORDS)))
    one = categorized_rules(words) if categories else small_rules(words)
    rules = tuple(draw(st.lists(one, max_size=MAX_CATEGORIZED if categories else MAX_RULES)))
    sparse = {name for rule in naive_rules(rules) for name in rule.features}
    names = sorted({*GRAMMAR_FEATURES, *DECODER_FEATURES, *sparse})
    # Multiples of 1/1000, so that different derivations rarely have equal scores.
    numbers = draw(st.lists(st.integers(-2000, 2000), min_size=len(names), max_size=len(names)))
    model, order = draw(small_models())
    return Problem(words, rules, {n: v / 1000 for n, v in zip(names, numbers, strict=True)}, model, order)


def naive_rules(rules: Sequence[Rule]) -> list[naive_decoder.Rule]:
    return [naive_decoder.grammar_rule(*rule[:3], rule.categories) for rule in rules]


def to_grammars(problem: Problem, *references: Sequence[str]) -> SentenceGrammars:
    first, *further = [[one] for one in references] or [None]
    return make_grammars([problem.words], first, [problem.rules], further_references=further)


def make_references(*references: Sequence[int] | NDArray[np.int32]) -> References:
    words = [np.asarray(one, np.int32) for one in references]
    return References(np.concatenate(words), offsets_of([one.shape[0] for one in words]))


def to_arpa(model: naive_lm.Model, order: int) -> list[str]:
    lines = ["\\data\\"]
    by_length = [[ngram for ngram in model if len(ngram) == n] for n in range(1, order + 1)]
    lines += [f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(by_length, 1)]
    for n, ngrams in enumerate(by_length, 1):
        lines += ["", f"\\{n}-grams:"]
        for ngram in ngrams:
            probability, backoff = model[ngram]
            fields = [str(probability), " ".join(ngram), *([str(backoff)] if n < order else [])]
            lines.append("\t".join(fields))
    return [*lines, "", "\\end\\"]


def load_arpa(lines: Sequence[str], folder: Path) -> LanguageModel:
    (folder / "lm.arpa").write_text("\n".join(lines) + "\n")
    compile_model(folder / "lm.arpa", folder / "lm.bin")
    return load_model(folder / "lm.bin")


def make_decoder(problem: Problem, folder: Path, search: Search, *references: Sequence[str]) -> Decoder:
    """Return a decoder for one sentence."""
    model = load_arpa(to_arpa(problem.model, problem.order), folder)
    return Decoder(to_grammars(problem, *references), model, search)


def features_of(decoder: Decoder, kbest: KBest, rank: int = 0) -> dict[str, float]:
    """Return all non-zero features of a translation."""
    return dict(feature_values(kbest, rank, decoder.dense_names, decoder.grammars.feature_name))


def solve(problem: Problem, k: int = 100, max_span: int = 15) -> list[naive_decoder.Translation]:
    rules, model = naive_rules(problem.rules), (problem.log10_probability, problem.is_known)
    return naive_decoder.decode(problem.words, rules, problem.weights, *model, k, max_span)
