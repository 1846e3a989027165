"""Grammars in cdec's text format: ``[X] ||| source ||| target ||| name=value ... ||| 0-0 1-1``.

Interpretation:

- Nonterminals are ``[X,1]`` and ``[X,2]``, in this order on the source side, each once on both sides. On the
  target side, ``[1]`` and ``[2]`` mean the same. The target side may be empty (the words are deleted); the
  alignment field may be missing.
- Any category may be used instead of X, also as left-hand side; but the whole sentence is an S, words pass
  through as X, and the glue rules are [S] -> [S] [X] and [S] -> [X]. A source side may be a lone nonterminal,
  unless such rules form a cycle.
- A feature with a name like ``MaxLexEgivenF`` or ``PhraseModel_0`` (letters and digits; at most one ``_``,
  before a number) is dense, with the value 0 if missing; any other is a sparse feature of the rule.
- Features of cdec's templates (`itersel.grammar.sparse.COMPUTED_FEATURE`), of templates that are computed,
  and those added by the decoder must not be listed: they would count twice.
- A rule listed twice is two rules, as in cdec.
- Glue and pass-through rules are not listed; every grammar has them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from itersel import __version__
from itersel.corpus.text import FIELD_SEPARATOR, check_line_counts, find_control, split_words
from itersel.errors import FilePath, InputError
from itersel.grammar.build import CategorySet, Points, Rule, Symbol, make_grammars
from itersel.grammar.grammar_kernels import FIXED_CATEGORIES, GRAMMAR_RULE, X
from itersel.grammar.sentence_grammars import (
    CATEGORY,
    MAX_CATEGORY_SENTENCE,
    SentenceGrammars,
    read_grammars,
    write_grammars,
)
from itersel.grammar.sparse import COMPUTED_FEATURE, check_templates
from itersel.storage.arrays import Float32s, Int32s, Int64s
from itersel.storage.declared import check_declared
from itersel.storage.files import open_output, read_lines
from itersel.storage.formats import MAX_MAGNITUDE
from itersel.storage.numbers import parse_number
from itersel.vectors.feature_names import COUNT, DECODER_FEATURES, DEFAULT_TEMPLATES, TEMPLATES

LEFT_HAND_SIDE = re.compile(rf"\[({CATEGORY.pattern})\]")
# Matches categories of any length, so that the error for one that is too long says so.
NONTERMINAL = re.compile(r"\[([^\[\],\s]+),([0-9]+)\]")
TARGET_NONTERMINALS = {"[1]": -1, "[2]": -2}
POINT = re.compile(r"([0-9]{1,3})-([0-9]{1,3})")
MAX_POSITION = 255  # stored as uint8
SEGMENT = re.compile(r'\s*<seg((?:\s+[\w-]+="[^"]*")*)\s*>(.*)</seg>\s*')
NO_WORD = "the word '{}' would mean something else in a text grammar"
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


class Sentence(NamedTuple):
    """A sentence to translate and its grammar file."""

    words: list[str]
    grammar: Path


def import_grammars(
    text: FilePath,
    grammars: FilePath | None,
    output: FilePath,
    references: Sequence[FilePath] = (),
    grammar: FilePath | None = None,
    templates: Sequence[str] = DEFAULT_TEMPLATES,
) -> None:
    """Write a file of sentences and their text grammars, whose format is described above.

    For `grammars` and `grammar` see `read_input`; of a single grammar, each sentence gets the rules whose
    words it has. `templates` are the templates of the sparse features to compute from the rules.
    """
    check_templates(templates)
    if COUNT in templates:
        raise InputError(
            "template 'Count' does not follow from text grammars; a grammar may list its features"
        )

    check_declared(text, *references)
    sentences = read_input(text, grammars, grammar)
    reference_words = [list(_read_references(path)) for path in references]
    check_line_counts((text, sentences), *zip(references, reference_words, strict=True))

    for number, sentence in enumerate(sentences, 1):
        if not sentence.grammar.is_file():
            raise InputError(f"its grammar {sentence.grammar}: no such file", text, number)

    categories = CategorySet()
    if grammar is None:
        rules = (read_grammar(sentence.grammar, categories, templates) for sentence in sentences)
    else:
        whole = list(read_grammar(grammar, categories, templates))
        rules = (_rules_of(whole, sentence.words) for sentence in sentences)

    read = make_grammars(
        (sentence.words for sentence in sentences),
        reference_words[0] if reference_words else None,
        rules,
        {"step": "grammar import", "version": __version__},
        templates,
        reference_words[1:],
    )

    if read.rule_category.shape[0]:
        for number, sentence in enumerate(sentences, 1):
            if len(sentence.words) > MAX_CATEGORY_SENTENCE:
                raise InputError(
                    f"has {len(sentence.words)} words; with other categories than X a sentence may have "
                    f"{MAX_CATEGORY_SENTENCE}",
                    text,
                    number,
                )

    write_grammars(output, read)


def _rules_of(rules: Iterable[Rule], words: Iterable[str]) -> Iterator[Rule]:
    known = set(words)
    return (rule for rule in rules if all(isinstance(s, int) or s in known for s in rule.source))


def _read_references(path: FilePath) -> Iterator[list[str]]:
    for number, line in enumerate(read_lines(path), 1):
        if found := find_control(line):
            raise InputError(found, path, number)
        yield split_words(line)


def read_input(
    path: FilePath, grammars: FilePath | None = None, grammar: FilePath | None = None
) -> list[Sentence]:
    """Read sentences, one per line, plain or as ``<seg grammar="PATH" id="N"> text </seg>``.

    A path in the attribute ``grammar`` is relative to the working folder. Without the attribute, the grammar
    is ``grammar.N.gz`` in the folder `grammars`, where N is the ``id`` or, if missing, the line number from
    0. A `grammar` for all sentences overrides both. As in cdec, the text is not unescaped: ``&amp;`` stays
    ``&amp;``.
    """
    sentences = []
    for number, line in enumerate(read_lines(path)):
        attributes = {}
        text = line
        if line.lstrip().startswith("<seg"):
            match = SEGMENT.fullmatch(line)
            if match is None:
                raise InputError('expected <seg name="value" ...> text </seg>', path, number + 1)
            attributes = dict(ATTRIBUTE.findall(match[1]))
            text = match[2]

        words = split_words(text)
        if found := find_control(text):
            raise InputError(found, path, number + 1)
        if FIELD_SEPARATOR in words:
            raise InputError(f"'{FIELD_SEPARATOR}' separates fields and cannot be a word", path, number + 1)

        if grammar is not None:
            own = Path(grammar)
        elif "grammar" in attributes:
            own = Path(attributes["grammar"])
        elif grammars is not None:
            own = Path(grammars) / f"grammar.{attributes.get('id', number)}"
            own = own if own.is_file() else own.with_name(own.name + ".gz")
        else:
            raise InputError(
                'names no grammar; give --grammars or --grammar, or <seg grammar="..."', path, number + 1
            )

        sentences.append(Sentence(words, own))
    return sentences


def read_grammar(
    path: FilePath, categories: CategorySet | None = None, templates: Sequence[str] = DEFAULT_TEMPLATES
) -> Iterator[Rule]:
    """Read the rules of one grammar, and add its categories to `categories`.

    It must not list features of `templates`, which are computed.
    """
    categories = CategorySet() if categories is None else categories
    computed = tuple(TEMPLATES[name] for name in templates)

    for number, line in enumerate(read_lines(path), 1):
        try:
            rule = parse_rule(line)
            for name in rule.features:
                if name.startswith(computed):
                    raise ValueError(f"feature '{name}' is one of --templates; leave it out")
            for name in rule.categories:
                categories.add(name)
            if rule.source == (-1,):
                categories.add_lone(*rule.categories[:2])
            yield rule
        except ValueError as error:
            raise InputError(str(error), path, number) from None


def parse_rule(line: str) -> Rule:
    """Parse one line; a ValueError says why it is not a rule."""
    if found := find_control(line):
        raise ValueError(found)

    fields = line.split(FIELD_SEPARATOR)
    if not 4 <= len(fields) <= 5:
        raise ValueError(
            f"{len(fields)} fields separated by |||, expected "
            "'[X] ||| source ||| target ||| features' and optionally an alignment"
        )

    left = LEFT_HAND_SIDE.fullmatch(fields[0].strip())
    if left is None:
        raise ValueError(
            f"left-hand side '{fields[0].strip()}', expected a category as in [X]; tables of Moses have to "
            "be rewritten (docs/comparison.md)"
        )

    source, target, categories = _sides(fields[1], fields[2])
    alignment = _alignment(fields[4]) if len(fields) == 5 else ()
    for i, j in alignment:
        if i >= len(source) or j >= len(target):
            raise ValueError(f"alignment point {i}-{j} is outside of the rule")

    return Rule(source, target, _features(fields[3]), alignment, (left[1], *categories))


# Rules with the same source side are adjacent, and target sides soon recur, so the cache answers most calls.
@lru_cache(maxsize=1 << 12)
def _side(text: str, on_target: bool) -> tuple[tuple[Symbol, ...], dict[int, str]]:
    """Return the symbols of a side, and the categories of its nonterminals if given."""
    symbols: list[Symbol] = []
    categories: dict[int, str] = {}

    for word in split_words(text):
        symbol: Symbol = word
        if match := NONTERMINAL.fullmatch(word):
            if match[2] not in ("1", "2") or not CATEGORY.fullmatch(match[1]):
                raise ValueError(f"nonterminal '{word}', expected a category and 1 or 2 as in [X,1]")
            symbol = -int(match[2])
            categories[symbol] = match[1]
        elif on_target:
            symbol = TARGET_NONTERMINALS.get(word, word)
        symbols.append(symbol)

    return tuple(symbols), categories


def _sides(
    source_text: str, target_text: str
) -> tuple[tuple[Symbol, ...], tuple[Symbol, ...], tuple[str, str]]:
    (source, categories), (target, on_target) = _side(source_text, False), _side(target_text, True)

    nonterminals = [symbol for symbol in source if isinstance(symbol, int)]
    if nonterminals not in ([], [-1], [-1, -2]):
        raise ValueError("nonterminals of the source side must be [X,1], then [X,2], each once")
    if sorted((symbol for symbol in target if isinstance(symbol, int)), reverse=True) != nonterminals:
        raise ValueError("the target side must have each nonterminal of the source side once")

    for symbol, category in on_target.items():
        if category != categories[symbol]:
            raise ValueError(
                f"nonterminal {-symbol} is [{categories[symbol]}] on the source side and [{category}] on the "
                "target side"
            )

    if not source:
        raise ValueError("the source side is empty")
    return source, target, (categories.get(-1, X), categories.get(-2, X))


def _features(text: str) -> dict[str, float]:
    features: dict[str, float] = {}
    for item in split_words(text):
        name, _, number = item.partition("=")
        try:
            value = parse_number(number)
        except ValueError:
            where = "; grammars of Joshua have to be rewritten (docs/comparison.md)" if not number else ""
            raise ValueError(f"feature '{item}', expected name=number{where}") from None

        if not name:
            raise ValueError(f"feature '{item}', expected name=number")
        if not abs(value) <= MAX_MAGNITUDE:  # NaN too
            raise ValueError(f"feature '{item}' is not a number from -{MAX_MAGNITUDE:g} to {MAX_MAGNITUDE:g}")
        if name in features:
            raise ValueError(f"feature '{name}' is listed twice")
        if name in DECODER_FEATURES or COMPUTED_FEATURE.match(name):
            raise ValueError(f"feature '{name}' is computed, a grammar must not list it; leave it out")

        features[name] = value
    return features


@lru_cache(maxsize=1 << 12)
def _alignment(text: str) -> Points:
    points = []
    for item in split_words(text):
        match = POINT.fullmatch(item)
        if match is None or max(int(match[1]), int(match[2])) > MAX_POSITION:
            raise ValueError(f"alignment point '{item}', expected two positions as in 0-1")
        points.append((int(match[1]), int(match[2])))
    return tuple(points)


def export_grammars(path: FilePath, output: FilePath) -> None:
    """Write the grammars of a file of sentences to the folder `output` as ``grammar.0.gz`` and so on.

    Glue and pass-through rules, and the sparse features that cdec computes itself, are left out. Numbers have
    the shortest form that is read back exactly.
    """
    for sentence, lines in enumerate(grammar_lines(read_grammars(path))):
        with open_output(Path(output) / f"grammar.{sentence}.gz") as stream:
            stream.writelines(lines)


def grammar_lines(grammars: SentenceGrammars) -> Iterator[list[str]]:
    """Yield the lines of the grammar of each sentence; see `export_grammars`."""
    words = grammars.vocabulary.to_list()
    for word in words:
        if FIELD_SEPARATOR in word or NONTERMINAL.fullmatch(word):
            raise InputError(NO_WORD.format(word))
    categories = grammars.category.to_list() or list(FIXED_CATEGORIES)
    names = grammars.feature_name.to_list()
    listed = [COMPUTED_FEATURE.match(name) is None for name in names]

    def symbols(side: Int32s, offset: Int64s, rule: int, used: Sequence[str]) -> str:
        return " ".join(
            words[symbol] if symbol >= 0 else f"[{used[-symbol]},{-symbol}]"
            for symbol in side[offset[rule] : offset[rule + 1]].tolist()
        )

    def line(rule: int, dense: Float32s) -> str:
        features = [
            f"{name}={_number(value.tobytes())}"
            for name, value in zip(grammars.dense_names, dense, strict=True)
        ]
        row = slice(grammars.rule_feature_offset[rule], grammars.rule_feature_offset[rule + 1])
        for feature, value in zip(grammars.rule_feature[row], grammars.rule_feature_value[row], strict=True):
            if listed[feature]:
                features.append(f"{names[feature]}={_number(value.tobytes())}")

        numbers = grammars.rule_category[rule].tolist() if grammars.rule_category.shape[0] else (0, 0, 0)
        used = [categories[number] for number in numbers]
        source = symbols(grammars.rule_source, grammars.rule_source_offset, rule, used)
        target = symbols(grammars.rule_target, grammars.rule_target_offset, rule, used)

        for word in split_words(target):
            if word in TARGET_NONTERMINALS:
                raise InputError(NO_WORD.format(word))

        fields = [f"[{used[0]}]", source, target, " ".join(features)]
        points = slice(grammars.rule_alignment_offset[rule], grammars.rule_alignment_offset[rule + 1])
        if alignment := grammars.rule_alignment[points].tolist():
            fields.append(" ".join(f"{i}-{j}" for i, j in alignment))
        return f" {FIELD_SEPARATOR} ".join(fields) + "\n"

    for begin, end in itertools.pairwise(grammars.grammar_offset.tolist()):
        rows = zip(grammars.grammar_rule[begin:end].tolist(), grammars.dense(begin, end), strict=True)
        yield [line(rule, dense) for rule, dense in rows if grammars.rule_kind[rule] == GRAMMAR_RULE]


@lru_cache(maxsize=1 << 16)
def _number(value: bytes) -> str:
    """Format a number given by its bytes: 0 and -0 differ only in these."""
    return np.format_float_positional(np.frombuffer(value, np.float32)[0], unique=True, trim="-")
