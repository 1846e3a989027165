"""Build grammars from rules given as Python data, with any categories, as for text grammars and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from itersel.bleu.references import join_references
from itersel.corpus.vocabulary import WordNumbers
from itersel.errors import InputError
from itersel.grammar.grammar_kernels import (
    FIXED_CATEGORIES,
    GLUE,
    GLUE_RULES,
    GLUE_START,
    GRAMMAR_RULE,
    PASS_THROUGH,
    S,
    X,
)
from itersel.grammar.sentence_grammars import MAX_CATEGORIES, SentenceGrammars, add_features
from itersel.grammar.sparse import SparseFeatures
from itersel.storage.arrays import Float32s, Int32s, Int64s
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import string_table
from itersel.vectors.feature_names import (
    DEFAULT_TEMPLATES,
    GRAMMAR_FEATURES,
    MAX_DENSE,
    TEMPLATES,
    is_dense_name,
)
from itersel.vectors.features import feature_keys, unique_features

Symbol = str | int  # a terminal, or -1 and -2 for the nonterminals
Points = tuple[tuple[int, int], ...]
Categories = tuple[str, str, str]


class Rule(NamedTuple):
    """A rule of one sentence's grammar."""

    # symbols; on both sides, -1 and -2 are the first and the second nonterminal of the source side
    source: tuple[Symbol, ...]
    target: tuple[Symbol, ...]
    # dense and sparse, without those computed from the rule or added by the decoder
    features: Mapping[str, float] = {}
    alignment: Points = ()  # source-target, positions within the sides
    # of the left-hand side, the first and the second nonterminal; X for a missing nonterminal
    categories: Categories = (X, X, X)


class _Row(NamedTuple):
    """The identity of a rule in all grammars: rules that differ in any field are different rules."""

    kind: int
    source: tuple[int, ...]
    target: tuple[int, ...]
    alignment: Points
    sparse: tuple[tuple[str, float], ...]
    categories: tuple[int, int, int]


def make_grammars(
    sentences: Iterable[Sequence[str]],
    references: Iterable[Sequence[str]] | None,
    grammars: Iterable[Iterable[Rule]],
    attributes: Mapping[str, Any] | None = None,
    templates: Sequence[str] = DEFAULT_TEMPLATES,
    further_references: Iterable[Iterable[Sequence[str]]] = (),
) -> SentenceGrammars:
    """Build the grammars of sentences, with glue and pass-through rules and all sparse features.

    Without references, they can be decoded but not trained on; `further_references` are more of the same
    sentences. The grammars, the rules of each sentence, are read one sentence at a time; `text.read_grammar`
    has checked that rules are aligned within themselves and list no feature of `templates`, those to compute
    from the rules. A rule listed twice is two rules, as in cdec: derivations may use either. Rules with
    the same source side are kept together.

    Raises an `InputError` if there are more than `MAX_DENSE` dense features, or feature keys collide.
    """
    builder = _Builder()
    source = []
    grammar = []
    for words, rules in zip(sentences, grammars, strict=True):
        source.append(builder.symbols(words))
        grammar.append(builder.sentence(words, rules))

    texts = () if references is None else (references, *further_references)
    reference = join_references([_ragged([builder.symbols(words) for words in text]) for text in texts])
    source_words, source_offset = _ragged(source)
    grammar_rule, grammar_offset = _ragged(grammar)
    dense, dense_names = builder.all_dense()

    rows = list(builder.rows)
    rule_source, rule_source_offset = _ragged([row.source for row in rows])
    rule_target, rule_target_offset = _ragged([row.target for row in rows])
    points, points_offset = _ragged([tuple(sum(row.alignment, ())) for row in rows])

    category = string_table(builder.categories.numbers)
    rule_category = np.array([row.categories for row in rows], np.uint16)
    if not rule_category[GLUE_RULES:].any():  # only X, except in the glue rules
        category = string_table(())
        rule_category = rule_category[:0]

    built = SentenceGrammars(
        vocabulary=string_table(builder.vocabulary),
        source=source_words,
        source_offset=source_offset,
        reference=reference.word,
        reference_offset=reference.offset,
        rule_kind=np.array([row.kind for row in rows], np.uint8),
        rule_source=rule_source,
        rule_source_offset=rule_source_offset,
        rule_target=rule_target,
        rule_target_offset=rule_target_offset,
        rule_alignment=points.astype(np.uint8).reshape(-1, 2),
        rule_alignment_offset=points_offset // 2,
        **_listed_features(rows)._asdict(),
        grammar_rule=grammar_rule,
        grammar_offset=grammar_offset,
        grammar_dense=dense,
        dense_names=dense_names,
        templates=builder.templates(templates),
        computed=tuple(templates),
        attributes=dict(attributes or {}),
        category=category,
        rule_category=rule_category,
        sentence_reference_offset=reference.sentence_offset,
    )
    return add_features(built)


def _listed_features(rows: Sequence[_Row]) -> SparseFeatures:
    """Return the sparse features that rules list."""
    names = string_table(dict.fromkeys(name for row in rows for name, _ in row.sparse))
    keys = feature_keys(names)
    key, name = unique_features(keys, names)

    number = dict(zip(names.to_list(), np.searchsorted(key, keys).tolist(), strict=True))
    listed = [sorted((number[name], value) for name, value in row.sparse) for row in rows]
    return SparseFeatures(
        np.array([feature for row in listed for feature, _ in row], np.int32),
        np.array([value for row in listed for _, value in row], np.float32),
        offsets_of([len(row) for row in listed]),
        key,
        name,
    )


class CategorySet:
    """The categories of all grammars while their rules are being read, including X and S."""

    def __init__(self) -> None:
        self.numbers = {name: number for number, name in enumerate(FIXED_CATEGORIES)}
        self._made_of: dict[str, set[str]] = {S: {X}}  # by rules with a lone nonterminal

    def add(self, name: str) -> int:
        """Return the number of a category, a new one if needed; a ValueError if there are too many."""
        if name not in self.numbers and len(self.numbers) == MAX_CATEGORIES:
            raise ValueError(f"more than {MAX_CATEGORIES} categories, [{name}] is one too many")
        return self.numbers.setdefault(name, len(self.numbers))

    def add_lone(self, category: str, antecedent: str) -> None:
        """Record a rule [category] -> [antecedent]; a ValueError if it closes a cycle."""
        if antecedent in self._made_of.get(category, ()):
            return

        below, waiting = {antecedent}, [antecedent]  # all that the antecedent can be made of
        while waiting:
            found = self._made_of.get(waiting.pop(), set()) - below
            below |= found
            waiting += found

        if category in below:
            raise ValueError(
                f"the source side is a lone nonterminal; with [{S}] -> [{X}] and other rules of this kind, "
                f"[{category}] would be part of a cycle of unit rules"
            )

        self._made_of.setdefault(category, set()).add(antecedent)


class _Builder:
    """Numbers words and rules in order of first occurrence."""

    def __init__(self) -> None:
        self.vocabulary = WordNumbers()
        self.rows: dict[_Row, int] = {}
        self.columns: dict[str, int] = {name: column for column, name in enumerate(GRAMMAR_FEATURES)}
        self.dense: list[Float32s] = []
        self.categories = CategorySet()
        self._rule(GLUE_START, Rule((-1,), (-1,), categories=(S, X, X)))
        self._rule(GLUE, Rule((-1, -2), (-1, -2), categories=(S, S, X)))

    def symbols(self, symbols: Sequence[Symbol]) -> tuple[int, ...]:
        return tuple(one if isinstance(one, int) else self.vocabulary[one] for one in symbols)

    def sentence(self, words: Sequence[str], rules: Iterable[Rule]) -> list[int]:
        """Return the rules of a sentence, including pass-through rules, and store their dense features."""
        by_source: dict[tuple[Any, ...], list[tuple[int, Rule]]] = {}
        passed = (Rule((word,), (word,), {}, ((0, 0),)) for word in dict.fromkeys(words))
        for kind, rule in chain(
            ((GRAMMAR_RULE, rule) for rule in rules), ((PASS_THROUGH, rule) for rule in passed)
        ):
            by_source.setdefault((rule.source, rule.categories[1:]), []).append((kind, rule))

        grouped = list(chain.from_iterable(by_source.values()))
        self.dense.append(self._dense([rule.features for _, rule in grouped]))
        return [self._rule(kind, rule) for kind, rule in grouped]

    def _dense(self, features: Sequence[Mapping[str, float]]) -> Float32s:
        for values in features:
            for name in values:
                if name not in self.columns and is_dense_name(name):
                    self.columns[name] = len(self.columns)

        if len(self.columns) > MAX_DENSE:
            raise InputError(
                f"more than {MAX_DENSE} dense features, '{next(reversed(self.columns))}' is one too many; "
                "write sparse features with a colon, as in Class:name"
            )

        rows = [[values.get(name, 0.0) for name in self.columns] for values in features]
        return np.array(rows, np.float32).reshape(len(rows), len(self.columns))

    def _rule(self, kind: int, rule: Rule) -> int:
        sparse = tuple(sorted(item for item in rule.features.items() if item[0] not in self.columns))
        source, target = self.symbols(rule.source), self.symbols(rule.target)
        left, first, second = (self.categories.add(name) for name in rule.categories)
        row = _Row(kind, source, target, rule.alignment, sparse, (left, first, second))
        return self.rows.setdefault(row, len(self.rows))

    def templates(self, computed: Sequence[str]) -> tuple[str, ...]:
        """Return the templates of all features, both computed and listed in rules."""
        listed = {name for row in self.rows for name, _ in row.sparse}
        others = [name for name in TEMPLATES if name not in computed]
        found = [name for name in others if any(one.startswith(TEMPLATES[name]) for one in listed)]
        return (*computed, *found)

    def all_dense(self) -> tuple[Float32s, tuple[str, ...]]:
        """Return the dense features: the seven of the grammar first, then the others by name."""
        own = len(GRAMMAR_FEATURES)
        names = list(self.columns)
        order = [*range(own), *sorted(range(own, len(names)), key=names.__getitem__)]
        padded = [np.pad(rows, ((0, 0), (0, len(names) - rows.shape[1]))) for rows in self.dense]
        dense = np.concatenate([np.zeros((0, len(names)), np.float32), *padded])[:, order]
        return np.ascontiguousarray(dense), tuple(names[column] for column in order)


def _ragged(rows: Sequence[Sequence[int]]) -> tuple[Int32s, Int64s]:
    offset = offsets_of([len(row) for row in rows])
    return np.fromiter((value for row in rows for value in row), np.int32, int(offset[-1])), offset
