"""Sentences with their grammars and features, as one HDF5 file of plain arrays.

A rule is stored once per file. The grammar of a sentence lists rules with their dense features, which depend
on the sentence because leave-one-out changes the counts. Reading requires no parsing. What follows from the
rest is computed when it is needed, not stored: sparse features from the rules, and the dense features of
extracted grammars from counts. They would be four fifths of the file.

Terminals of a rule are numbers in the file's vocabulary; on both sides, -1 and -2 stand for the first and
the second nonterminal of the source side. Rules 0 ([S] -> [X]) and 1 ([S] -> [S] [X]) are the glue rules,
which belong to every grammar without being listed. If all other rules use only X, as in extracted grammars,
the file lists no categories.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import xxhash

from itersel.bleu.references import ReferenceLengths, References, TextReferences, grouped_references
from itersel.config.search import FeatureSettings
from itersel.errors import FilePath, InputError, checked, located
from itersel.grammar.grammar_format import FORMAT
from itersel.grammar.grammar_kernels import (
    CATEGORY_S,
    CATEGORY_X,
    FIXED_CATEGORIES,
    RULE_FAULTS,
    find_bad_rule,
)
from itersel.grammar.sparse import FeatureNames, SparseFeatures, join_features, rule_features, select_features
from itersel.grammar.template_kernels import Rules
from itersel.storage.arrays import Float32s, Float64s, Int32s, Int64s, UInt8s, UInt16s, UInt64s
from itersel.storage.formats import damaged, damaged_file
from itersel.storage.hdf5 import read_arrays, write_arrays
from itersel.storage.strings import StringTable, arrays_of, fields_of, string_table
from itersel.vectors.feature_names import (
    ALL_FEATURES,
    COUNT,
    DECODER_FEATURES,
    DEFAULT_TEMPLATES,
    GRAMMAR_FEATURES,
    OTHER,
    TEMPLATES,
)

MAX_CATEGORIES = 1000
# In words. Categories other than X may span a whole sentence, so its forest grows quadratically with its
# length.
MAX_CATEGORY_SENTENCE = 200
CATEGORY = re.compile(r"[^\[\],\s]{1,100}")
# Attributes of the file that contain JSON.
ATTRIBUTES = ("dense_names", "templates", "computed", "attributes")
# Rows of features, int32; rows of rules or translations, int32, and int64 offsets.
FeatureRows: TypeAlias = tuple[Int32s, Int32s, Int64s]


@dataclass(frozen=True, kw_only=True)
class SentenceGrammars:
    """Sentences with their grammars: rules and features.

    The arrays are those of `FORMAT`, which has their types and sizes; docs/formats.md says what they contain.
    A field with a table of strings stands for the array of this name and its offsets.

    Attributes
    ----------
    vocabulary
        Words of both languages in rules, sentences and references.
    rule_kind
        `GRAMMAR_RULE`, `GLUE_START`, `GLUE` or `PASS_THROUGH`.
    rule_feature, rule_feature_value, rule_feature_offset, feature_key, feature_name
        Sparse features of the rules, rows of the feature table. Until `add_features` computes the others,
        only those that an import lists; the offsets may have no rows.
    grammar_dense
        Dense features, one column each; no rows if `dense` computes them.
    dense_names
        The names of the columns.
    templates
        Templates of the sparse features, from `itersel.vectors.feature_names.TEMPLATES`. Imports may have
        other features.
    computed
        Those of `templates` whose features follow from the rules.
    attributes
        Provenance: settings, versions.
    """

    vocabulary: StringTable
    source: Int32s
    source_offset: Int64s
    reference: Int32s
    reference_offset: Int64s
    rule_kind: UInt8s
    rule_source: Int32s
    rule_source_offset: Int64s
    rule_target: Int32s
    rule_target_offset: Int64s
    rule_alignment: UInt8s
    rule_alignment_offset: Int64s
    rule_feature: Int32s = field(default_factory=lambda: np.zeros(0, np.int32))
    rule_feature_value: Float32s = field(default_factory=lambda: np.zeros(0, np.float32))
    rule_feature_offset: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    feature_key: UInt64s = field(default_factory=lambda: np.zeros(0, np.uint64))
    feature_name: StringTable | FeatureNames = field(default_factory=lambda: string_table(()))
    grammar_rule: Int32s
    grammar_offset: Int64s
    grammar_dense: Float32s
    dense_names: tuple[str, ...]
    templates: tuple[str, ...] = DEFAULT_TEMPLATES
    computed: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    category: StringTable = field(default_factory=lambda: string_table(()))
    rule_category: UInt16s = field(default_factory=lambda: np.zeros((0, 3), np.uint16))
    sentence_reference_offset: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    rule_bin: UInt8s = field(default_factory=lambda: np.zeros(0, np.uint8))
    rule_cost: Float32s = field(default_factory=lambda: np.zeros((0, 2), np.float32))
    grammar_samples: Int32s = field(default_factory=lambda: np.zeros(0, np.int32))
    grammar_count: Int32s = field(default_factory=lambda: np.zeros(0, np.int32))
    grammar_singleton: UInt8s = field(default_factory=lambda: np.zeros(0, np.uint8))

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return int(self.source_offset.shape[0]) - 1

    @property
    def can_be_learned_from(self) -> bool:
        """Whether the sentences have references."""
        return bool(self.reference_offset.shape[0] > 0)

    def references(self, sentence: int) -> References:
        """Return the references of a sentence, if it has any."""
        texts = TextReferences(self.reference, self.reference_offset, self.sentence_reference_offset)
        return texts.of_sentence(sentence)

    def reference_lengths(self, sentence: int) -> ReferenceLengths:
        """Return the lengths of the references of a sentence, if it has any."""
        return self.references(sentence).lengths

    def dense(self, begin: int = 0, end: int | None = None) -> Float32s:
        """Return the dense features of rows `begin` to `end` of `grammar_rule`, float32 (rows, C)."""
        rows = slice(begin, end)
        if not self.grammar_samples.shape[0]:
            return self.grammar_dense[rows]

        samples, count = self.grammar_samples[rows], self.grammar_count[rows]
        logarithm = self._logarithms
        cost = self.rule_cost[self.grammar_rule[rows]]
        columns = {
            "EgivenFCoherent": logarithm[samples] - logarithm[count],
            "SampleCountF": logarithm[samples + 1],
            "CountEF": logarithm[count + 1],
            "MaxLexFgivenE": cost[:, 0],
            "MaxLexEgivenF": cost[:, 1],
            "IsSingletonF": self.grammar_singleton[rows],
            "IsSingletonFE": count == 1,
        }

        return np.stack([columns[name].astype(np.float32) for name in GRAMMAR_FEATURES], axis=1)

    @cached_property
    def _logarithms(self) -> Float64s:
        """log10 of all numbers from 1, and 0 instead of the logarithm of 0."""
        most = max(int(self.grammar_samples.max()), int(self.grammar_count.max()))
        return np.log10(np.maximum(1, np.arange(most + 2)), dtype=np.longdouble).astype(np.float64)

    def features_of(self, begin: int, end: int) -> FeatureRows:
        """Return the rules of sentences `begin` to `end`, and the sparse features of all rules."""
        rules = slice(self.grammar_offset[begin], self.grammar_offset[end])
        return self.grammar_rule[rules], self.rule_feature, self.rule_feature_offset

    def digest(self) -> str:
        """Return a checksum of source sentences and references; lists are merged only if these are equal."""
        words = self.vocabulary.to_list()
        hasher = xxhash.xxh3_128()
        for word, offset in ((self.source, self.source_offset), (self.reference, self.reference_offset)):
            hasher.update("\n".join(words[i] for i in word).encode() + b"\0" + offset.tobytes())
        hasher.update(self.sentence_reference_offset.tobytes())
        return hasher.hexdigest()

    def category_ranks(self) -> Int32s:
        """Order categories so that each comes after those that it can be derived from by lone nonterminals.

        A rule whose source side is a lone nonterminal, such as [NP] -> [NN], derives an NP from an NN over
        the same span. The decoder therefore builds the nodes of a span category by category. Cycles of such
        rules, including [S] -> [X], are rejected because they could apply without end.

        Returns the rank of every category, int32 (K); -1 if it depends on a cycle. No rows if all
        nonterminals are X.
        """
        if self.rule_category.shape[0] == 0:
            return np.zeros(0, np.int32)

        single = np.flatnonzero(np.diff(self.rule_source_offset) == 1)
        lone = single[self.rule_source[self.rule_source_offset[single]] < 0]

        count = self.category.count
        below = {category: set[int]() for category in range(count)}
        below[CATEGORY_S].add(CATEGORY_X)
        for category, antecedent in np.unique(self.rule_category[lone, :2], axis=0).tolist():
            below[category].add(antecedent)

        ranks = np.full(count, -1, np.int32)
        for rank in range(count):
            ready = next((c for c, antecedents in below.items() if not antecedents), None)
            if ready is None:
                break
            ranks[ready] = rank
            del below[ready]
            for antecedents in below.values():
                antecedents.discard(ready)

        return ranks


def write_grammars(path: FilePath, grammars: SentenceGrammars) -> None:
    """Write sentences and grammars, whole or not at all, without the features that follow from the rules."""
    if grammars.computed:
        kept = [name for name in (*TEMPLATES, OTHER) if name not in grammars.computed]
        listed = select_features(_features(grammars), kept)
        if not listed.feature_key.shape[0]:
            listed = listed._replace(rule_feature_offset=np.zeros(0, np.int64))
        grammars = replace(grammars, **listed._asdict())
    attributes = {name: json.dumps(getattr(grammars, name), sort_keys=True) for name in ATTRIBUTES}
    write_arrays(path, FORMAT, arrays_of(grammars), attributes)


def read_grammars(
    path: FilePath, templates: Sequence[str] | None = None, features: str = ALL_FEATURES
) -> SentenceGrammars:
    """Read sentences with their grammars.

    Parameters
    ----------
    templates
        Templates of the sparse features to read (default: all).
    features
        ``all``, or ``dense`` for no sparse features, which then need not be computed.

    Raises
    ------
    InputError
        If the file is missing, truncated, damaged, or not of this kind and version, has rules that the
        decoder cannot apply, or lacks one of the templates. Names the file and the array.
    """
    arrays, found = read_arrays(path, FORMAT)
    values = fields_of(SentenceGrammars, arrays)

    with checked(path, "damaged: its attributes are not JSON; recreate the file"):
        names, held, computed, attributes = (json.loads(found[name]) for name in ATTRIBUTES)
    listed = {"dense_names": names, "templates": held, "computed": computed}
    _check_names(listed, path)
    if len(names) != (columns := values["grammar_dense"].shape[1]):
        raise damaged_file(path, f"'dense_names' must contain {columns} different names")
    values |= {name: tuple(value) for name, value in listed.items()}

    grammars = SentenceGrammars(**values, attributes=attributes)
    if grammars.can_be_learned_from:
        references = grammars.reference_offset.shape[0] - 1
        offset = grammars.sentence_reference_offset
        grouped_references(references, offset, grammars.sentence_count, path)
    _check_features(grammars, path)
    _check_categories(grammars, path)

    ranks = grammars.category_ranks()
    if (ranks < 0).any():
        raise damaged(path, "rule_category", "has categories with cyclic unit rules")
    rule, wrong = find_bad_rule(grammars.rule_kind, _rules(grammars), ranks)
    if wrong:
        name, why = RULE_FAULTS[wrong]
        raise damaged(path, name, f"{why} (rule {rule})")

    for name in templates or ():
        if name not in held:
            raise InputError(
                f"has no features of template '{name}', only of {', '.join(held) or 'none'}; "
                "extract it with this template (in a config: grammar.templates)",
                path,
            )

    if not FeatureSettings(features).uses_sparse:
        # neither computed nor listed ones
        grammars = replace(grammars, templates=(), computed=(), rule_feature_offset=np.zeros(0, np.int64))
        templates = ()

    with located(path):
        return add_features(grammars, templates)


def add_features(grammars: SentenceGrammars, templates: Sequence[str] | None = None) -> SentenceGrammars:
    """Return grammars with the features that they list and those that follow from their rules.

    grammars: with valid rules, and only the features that they list. templates: those of their templates
    whose features are wanted (default: all). Raises an `InputError` if two features have the same key.
    """
    templates = grammars.templates if templates is None else tuple(templates)
    computed = tuple(name for name in grammars.computed if name in templates)
    found = rule_features(grammars.rule_kind, _rules(grammars), computed)
    if grammars.rule_feature_offset.shape[0]:
        listed = [name for name in (*templates, OTHER) if name not in computed]
        found = join_features(found, select_features(_features(grammars), listed))
    return replace(grammars, **found._asdict(), templates=templates, computed=computed)


def _rules(grammars: SentenceGrammars) -> Rules:
    return Rules(
        grammars.vocabulary,
        grammars.category,
        grammars.rule_category,
        grammars.rule_source,
        grammars.rule_source_offset,
        grammars.rule_target,
        grammars.rule_target_offset,
        grammars.rule_alignment,
        grammars.rule_alignment_offset,
        grammars.rule_bin,
    )


def _features(grammars: SentenceGrammars) -> SparseFeatures:
    return SparseFeatures(*(getattr(grammars, name) for name in SparseFeatures._fields))


def count_sentences_of_grammars(path: FilePath) -> int:
    """Return the number of sentences of a file without reading their grammars."""
    arrays, _ = read_arrays(path, FORMAT, ("vocabulary", "vocabulary_offset", "source", "source_offset"))
    return int(arrays["source_offset"].shape[0]) - 1


def _check_names(listed: Mapping[str, Any], path: FilePath) -> None:
    """Check the dense features and the templates of a file, by the names of their attributes."""
    for attribute, names in listed.items():
        are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not are_names or len(set(names)) != len(names):
            raise damaged_file(path, f"'{attribute}' is not a list of different names")

    for name in listed["dense_names"]:
        if not re.fullmatch("[!-~]+", name) or name in DECODER_FEATURES:
            raise damaged_file(path, f"{name!r} cannot be a dense feature of a grammar")

    if unknown := [name for name in listed["templates"] if name not in TEMPLATES]:
        why = "install the package that adds it, or recreate the file"
        raise InputError(f"has features of an unknown template, {unknown[0]!r}; {why}", path)
    if not set(listed["computed"]) <= set(listed["templates"]):
        raise damaged_file(path, "'computed' has a template that 'templates' lacks")


def _check_features(grammars: SentenceGrammars, path: FilePath) -> None:
    """Raise an InputError if data needed to compute features is missing."""
    if COUNT in grammars.computed and grammars.rule_bin.shape[0] != grammars.rule_kind.shape[0]:
        raise damaged(path, "rule_bin", "has no rows, although the features of Count follow from them")
    if grammars.rule_feature.shape[0] and not grammars.rule_feature_offset.shape[0]:
        raise damaged(path, "rule_feature_offset", "has no rows, although features are listed")

    rows, rules = grammars.grammar_rule.shape[0], grammars.rule_kind.shape[0]
    if grammars.grammar_dense.shape[0] == rows and not grammars.grammar_samples.shape[0]:
        return

    sizes = dict.fromkeys(("grammar_samples", "grammar_count", "grammar_singleton"), rows)
    for name, size in {**sizes, "rule_cost": rules}.items():
        if getattr(grammars, name).shape[0] != size:
            raise damaged(path, name, f"has {getattr(grammars, name).shape[0]} rows, not {size}")

    if grammars.dense_names != GRAMMAR_FEATURES:
        raise damaged_file(path, "'dense_names' are not the features of an extracted grammar")


def _check_categories(grammars: SentenceGrammars, path: FilePath) -> None:
    if grammars.rule_category.shape[0] == 0 and grammars.category.count == 0:
        return
    if grammars.category.count > MAX_CATEGORIES:
        raise damaged(path, "category", f"has more than {MAX_CATEGORIES} names")
    names = grammars.category.to_list()
    if tuple(names[:2]) != FIXED_CATEGORIES or len(set(names)) != len(names):
        raise damaged(path, "category", "must contain different names, X and S first")
    if wrong := [name for name in names if not CATEGORY.fullmatch(name)]:
        raise damaged(path, "category", f"contains {wrong[0]!r}, which is not a category")
