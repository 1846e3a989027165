"""Sparse features of rules, by templates (docs/features.md), named as in cdec where cdec has them.

``=`` and ``;`` become ``_`` because they separate features in cdec's text formats. A feature that occurs
twice in a rule has the value 2. Names that become equal (by these replacements, or by ``_`` in words) are one
feature.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.code.plugins import Plugin
from itersel.errors import InputError
from itersel.grammar.grammar_kernels import CATEGORY_S, FIXED_CATEGORIES, GLUE, GLUE_START
from itersel.grammar.sparse_kernels import Occurrences, count_features, renumber, take_names
from itersel.grammar.template_kernels import Rules
from itersel.grammar.templates.count_kernels import MAX_BIN
from itersel.storage.arrays import Bools, Float32s, Int32s, Int64s, UInt8s, UInt16s, UInt64s
from itersel.storage.ragged import begins_run, rows_of
from itersel.storage.strings import StringTable, concatenate, string_table
from itersel.vectors.feature_groups import feature_groups, find_groups
from itersel.vectors.feature_names import BUILT_IN_TEMPLATES, CDEC_TEMPLATES, TEMPLATES
from itersel.vectors.features import escaped, feature_keys, first_difference, keep_features, unique_features

# Features that text grammars do not list because cdec also computes them.
COMPUTED_FEATURE = re.compile("|".join(BUILT_IN_TEMPLATES[name].prefix for name in CDEC_TEMPLATES))
# Maximum bytes of a name besides its symbols, such as `Count:524289-1048576`; kernels do not check it.
FIXED_BYTES = 32


class FeatureNames:
    """The names of features of rules; identities are named when they are asked for.

    stored: the other names. place: int64 (F), a row of `stored`, or -1 - r for the identity of rule r.
    longest: bytes of the longest possible name.
    """

    def __init__(self, rules: Rules, stored: StringTable, place: Int64s, longest: int) -> None:
        self._rules = rules
        self._stored = stored
        self._place = place
        self._longest = longest

    @property
    def count(self) -> int:
        """Number of names."""
        return int(self._place.shape[0])

    def get(self, index: int) -> str:
        """Return one name."""
        return self.take(np.array([index])).get(0)

    def to_list(self) -> list[str]:
        """Return all names."""
        return self.take(np.arange(self.count)).to_list()

    def take(self, indices: NDArray[np.integer]) -> StringTable:
        """Return the names at `indices`, in that order."""
        return StringTable(*take_names(self._rules, *self._stored, self._place[indices], self._longest))


class SparseFeatures(NamedTuple):
    """Sparse features of R rules, as in `itersel.grammar.sentence_grammars`; rows ascend by feature."""

    rule_feature: Int32s
    rule_feature_value: Float32s
    rule_feature_offset: Int64s
    feature_key: UInt64s
    feature_name: StringTable | FeatureNames


def rule_features(kind: UInt8s, rules: Rules, templates: Sequence[str]) -> SparseFeatures:
    """Return the sparse features of all rules of some sentences, glue and pass-through rules included.

    Without rows in `rules.category`, all nonterminals are X, except in the glue rules; without rows in
    `rules.bin`, no counts are known. Raises an `InputError` if two names have the same 64-bit key.
    """
    rules = _completed(kind, rules)
    numbers = {name: number for number, name in enumerate(BUILT_IN_TEMPLATES)}
    built_in = np.array([numbers[name] for name in templates if name in numbers], np.int64)

    longest = _longest_name(rules)
    rows, identity, names, count, collision = count_features(rules, built_in, longest)
    if collision.size:
        raise _collision(collision.tobytes().decode())

    # names of plugins follow those of the built-in templates
    stored = StringTable(names.data[: names.offset[count]], names.offset[: count + 1])
    for plugin in filter(None, map(TEMPLATES.plugin, templates)):
        rows, stored = _with_plugin(plugin, rules, rows, stored)

    longest = max(longest, int(np.diff(stored.offset).max(initial=0)))
    key_of_plugins = feature_keys(stored.take(np.arange(count, stored.count)))

    # all features, the identities of the rules first
    identities = identity.shape[0]
    key = np.concatenate([identity, names.key[:count], key_of_plugins])
    place = np.concatenate([-1 - np.arange(identities), np.arange(stored.count)])

    order = np.argsort(key)
    is_new = begins_run(key[order])
    _check_equal_names(FeatureNames(rules, stored, place, longest), order, is_new)

    rank = np.empty(key.shape[0], np.int32)
    rank[order] = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    renumber(rows, rank[identities:], rank[:identities])

    first = order[is_new]
    return SparseFeatures(*rows, key[first], FeatureNames(rules, stored, place[first], longest))


def _completed(kind: UInt8s, rules: Rules) -> Rules:
    """Return rules with all arrays that kernels need, and with words and categories as in names."""
    if rules.category.shape[0] == 0:
        rules = rules._replace(names=string_table(FIXED_CATEGORIES), category=_fixed_categories(kind))
    if rules.bin.shape[0] == 0:
        rules = rules._replace(bin=np.zeros(kind.shape[0], np.uint8))

    # kernels would be compiled again for read-only arrays
    arrays: Iterator[Any] = (np.require(array, None, ("C", "W")) for array in rules[2:])
    return Rules(escaped(rules.words), escaped(rules.names), *arrays)


def _check_equal_names(names: FeatureNames, order: Int64s, is_new: Bools) -> None:
    """Raise an InputError if features with the same key have different names.

    `order` sorts the features by key, and `is_new` says where another key begins in this order.
    """
    again = np.flatnonzero(~is_new)
    if different := first_difference(names.take(order[again]), names.take(order[again - 1])):
        raise _collision(different[0])


def _with_plugin(
    plugin: Plugin, rules: Rules, rows: Occurrences, names: StringTable
) -> tuple[Occurrences, StringTable]:
    """Append the features of a plugin's template; `rows` are indices into `names`."""
    own, rule, number = _call_plugin(plugin, rules)
    pair, count = np.unique(rule * own.count + number, return_counts=True)
    rule, number = np.divmod(pair, max(1, own.count))

    # merges two ascending runs
    both = np.concatenate([rows_of(rows.offset), rule])
    order = np.argsort(both, kind="stable")
    feature = np.concatenate([rows.feature, (names.count + number).astype(np.int32)])[order]
    value = np.concatenate([rows.value, count.astype(np.float32)])[order]
    offset = np.searchsorted(both[order], np.arange(rows.offset.shape[0]))

    return Occurrences(feature, value, offset), concatenate([names, own])


def _call_plugin(plugin: Plugin, rules: Rules) -> tuple[StringTable, Int64s, Int64s]:
    """Return what the function of a plugin returns (docs/plugins.md), checked.

    The names of features, and the rule and the index of the name of each occurrence.
    """
    template = plugin.entry.name
    try:
        names, rule, number = plugin.value(rules)
        names = [str(name) for name in names]
        rule, number = np.asarray(rule, np.int64), np.asarray(number, np.int64)
    except Exception as error:
        why = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise plugin.error(f"must return names, rules and indices of names: {why}") from error

    form = re.compile(rf"{template}:[^\s=;\x00-\x1f\x7f-\x9f]+")
    if wrong := [name for name in names if not form.fullmatch(name)]:
        raise plugin.error(f"returns the name {wrong[0]!r}; it must be '{template}:' and a word")
    if len(set(names)) < len(names):
        raise plugin.error("returns a name twice")

    bounds = (rule, rules.source_offset.shape[0] - 1), (number, len(names))
    if rule.shape != number.shape or any(((one < 0) | (one >= most)).any() for one, most in bounds):
        raise plugin.error("must return a rule and the index of a name for each occurrence")
    return string_table(names), rule, number


def _collision(name: str) -> InputError:
    return InputError(f"feature '{name}' has the 64-bit key of another one; change a word of it")


def select_features(features: SparseFeatures, groups: Collection[str]) -> SparseFeatures:
    """Return only the features of some groups (`itersel.vectors.feature_groups.feature_groups`)."""
    wanted = [feature_groups().index(name) for name in groups]
    names = features.feature_name.take(np.arange(features.feature_key.shape[0]))
    is_kept = np.isin(find_groups(features.feature_key, names), wanted)

    rows = keep_features(*features[:3], is_kept)
    return SparseFeatures(*rows, features.feature_key[is_kept], names.take(np.flatnonzero(is_kept)))


def join_features(first: SparseFeatures, second: SparseFeatures) -> SparseFeatures:
    """Return the features of both for the same rules; none of a rule is in both."""
    both = (first, second)
    key, name = unique_features(
        np.concatenate([one.feature_key for one in both]),
        concatenate([one.feature_name.take(np.arange(one.feature_key.shape[0])) for one in both]),
    )

    rule = np.concatenate([rows_of(one.rule_feature_offset) for one in both])
    feature = np.concatenate([np.searchsorted(key, one.feature_key)[one.rule_feature] for one in both])
    value = np.concatenate([one.rule_feature_value for one in both])

    order = np.lexsort((feature, rule))
    offset = both[0].rule_feature_offset + both[1].rule_feature_offset
    return SparseFeatures(feature[order].astype(np.int32), value[order], offset, key, name)


def count_bins(count: NDArray[np.integer]) -> UInt8s:
    """Return the bin of each count: 0 for 0, 1 for 1, 2 for 2, 3 for 3 and 4, 4 for 5 to 8, ..."""
    last = 1 << np.arange(MAX_BIN)
    bins = np.searchsorted(last, count) + 1
    return np.where(count > 0, bins, 0).astype(np.uint8)


def check_templates(templates: Sequence[str]) -> None:
    """Raise an InputError for a template that does not exist or is listed twice."""
    for number, name in enumerate(templates):
        if name not in TEMPLATES:
            raise InputError(f"there is no template '{name}'; choose from {', '.join(TEMPLATES)}")
        if name in templates[:number]:
            raise InputError(f"template '{name}' is named twice")


def _fixed_categories(rule_kind: UInt8s) -> UInt16s:
    category = np.zeros((rule_kind.shape[0], 3), np.uint16)
    category[(rule_kind == GLUE_START) | (rule_kind == GLUE), 0] = CATEGORY_S
    category[rule_kind == GLUE, 1] = CATEGORY_S
    return category


def _longest_name(rules: Rules) -> int:
    """Return a bound on the bytes of a name: a rule's symbols, three more bytes each, and its category."""
    longest_category = int(np.diff(rules.names.offset).max(initial=0))
    longest_symbol = max(longest_category, int(np.diff(rules.words.offset).max(initial=0)))
    symbols = np.diff(rules.source_offset) + np.diff(rules.target_offset)
    return FIXED_BYTES + longest_category + int(symbols.max(initial=0)) * (longest_symbol + 3)
