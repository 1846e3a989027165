"""Sparse features of rules, by templates (docs/features.md); those that cdec has, too, have its names.

``=`` and ``;`` become ``_``, as they separate features in cdec's text formats. A feature that a rule has
twice counts two. Names that become equal (through the escapes, or through ``_`` in words) are one feature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.grammar.categories import FIXED_CATEGORIES
from itersel.grammar.name_kernels import Rules
from itersel.grammar.shard_kernels import CATEGORY_S, GLUE, GLUE_START
from itersel.grammar.sparse_kernels import count_features, renumber
from itersel.grammar.templates.count_kernels import MAX_BIN
from itersel.limits import DEFAULT_TEMPLATES, TEMPLATES
from itersel.storage.strings import StringTable, string_table

# Features that no text grammar lists: cdec computes them, too.
COMPUTED_FEATURE = re.compile("|".join(TEMPLATES[name] for name in DEFAULT_TEMPLATES))
ESCAPED = tuple(b"=;")
ESCAPE = ord("_")
# The most bytes of a name beside its symbols, such as `Count:524289-1048576`; kernels do not check it.
FIXED_BYTES = 32


class SparseFeatures(NamedTuple):
    """Sparse features of R rules; rows ascend by feature.

    Attributes
    ----------
    rule_feature, rule_feature_value, rule_feature_offset
        int32, float32, int64 (R + 1): rows of the feature table, and counts.
    feature_key
        uint64 (F), ascending.
    feature_name
        The F names.
    """

    rule_feature: NDArray[np.int32]
    rule_feature_value: NDArray[np.float32]
    rule_feature_offset: NDArray[np.int64]
    feature_key: NDArray[np.uint64]
    feature_name: StringTable


def rule_features(
    vocabulary: StringTable,
    rule_kind: NDArray[np.uint8],
    rule_source: NDArray[np.int32],
    rule_source_offset: NDArray[np.int64],
    rule_target: NDArray[np.int32],
    rule_target_offset: NDArray[np.int64],
    category: StringTable | None = None,
    rule_category: NDArray[np.uint16] | None = None,
    rule_alignment: NDArray[np.uint8] | None = None,
    rule_alignment_offset: NDArray[np.int64] | None = None,
    rule_bin: NDArray[np.uint8] | None = None,
    templates: Sequence[str] = DEFAULT_TEMPLATES,
) -> SparseFeatures:
    """Return the sparse features of all rules of a shard, glue and pass-through rules included.

    Parameters
    ----------
    vocabulary
        The words that the symbols are numbers of.
    rule_kind, rule_source, rule_source_offset, rule_target, rule_target_offset
        The rules, as in `itersel.grammar.shard.Shard`.
    category, rule_category
        Their categories; not needed where all nonterminals are X, but for the glue rules.
    rule_alignment, rule_alignment_offset
        Their alignments, as in `itersel.grammar.shard.Shard`; None: unknown.
    rule_bin
        uint8 (R): how often each was seen, as `count_bins` has it; None: unknown.
    templates
        Of `itersel.limits.TEMPLATES`.

    Raises
    ------
    InputError
        If two names have the same 64-bit key, or a rule is aligned outside itself.
    """
    if category is None or rule_category is None or rule_category.shape[0] == 0:
        category, rule_category = string_table(FIXED_CATEGORIES), _fixed_categories(rule_kind)
    count = rule_kind.shape[0]
    if rule_alignment is None or rule_alignment_offset is None:
        rule_alignment, rule_alignment_offset = np.zeros((0, 2), np.uint8), np.zeros(count + 1, np.int64)
    sides = np.stack([np.diff(rule_source_offset), np.diff(rule_target_offset)], axis=1)
    _check_points(rule_alignment, np.repeat(sides, np.diff(rule_alignment_offset), axis=0))
    rules = Rules(
        _escape(vocabulary),
        _escape(category),
        np.array(rule_category, np.uint16),
        np.array(rule_source, np.int32),
        np.array(rule_source_offset, np.int64),
        np.array(rule_target, np.int32),
        np.array(rule_target_offset, np.int64),
        np.array(rule_alignment, np.uint8),
        np.array(rule_alignment_offset, np.int64),
        np.zeros(count, np.uint8) if rule_bin is None else np.array(rule_bin, np.uint8),
    )
    numbers = np.array([list(TEMPLATES).index(name) for name in templates], np.int64)
    rows, names, count, collision = count_features(rules, numbers, _longest_name(rules))
    if collision.size:
        raise InputError(
            f"feature '{collision.tobytes().decode()}' has the 64-bit key of another one; change a word of it"
        )
    order = np.argsort(names.key[:count])
    rank = np.empty(count, np.int32)
    rank[order] = np.arange(count, dtype=np.int32)
    renumber(rows, rank)
    table = StringTable(names.data[: names.offset[count]], names.offset[: count + 1]).take(order)
    return SparseFeatures(rows.feature, rows.value, rows.offset, names.key[order], table)


def count_bins(count: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Return the bin of each count: 0 of 0, 1 of 1, 2 of 2, 3 of 3 and 4, 4 of 5 to 8, ..."""
    last = 1 << np.arange(MAX_BIN)
    bins = np.searchsorted(last, count) + 1
    return np.where(count > 0, bins, 0).astype(np.uint8)


def check_templates(templates: Sequence[str]) -> None:
    """Raise an InputError for a template that there is not, or that is named twice."""
    for number, name in enumerate(templates):
        if name not in TEMPLATES:
            raise InputError(f"there is no template '{name}'; there are {', '.join(TEMPLATES)}")
        if name in templates[:number]:
            raise InputError(f"template '{name}' is named twice")


def _check_points(points: NDArray[np.uint8], lengths: NDArray[np.int64]) -> None:
    """Check that no point (N, 2) is outside its rule, whose sides have these lengths; kernels do not."""
    for i, j in points[(points >= lengths).any(axis=1)].tolist():
        raise InputError(f"alignment point {i}-{j} is outside the rule")


def _fixed_categories(rule_kind: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the categories of rules without any other than X and S."""
    category = np.zeros((rule_kind.shape[0], 3), np.uint16)
    category[(rule_kind == GLUE_START) | (rule_kind == GLUE), 0] = CATEGORY_S
    category[rule_kind == GLUE, 1] = CATEGORY_S
    return category


def _escape(vocabulary: StringTable) -> StringTable:
    data = np.where(np.isin(vocabulary.data, ESCAPED), np.uint8(ESCAPE), vocabulary.data)
    return StringTable(data, np.array(vocabulary.offset, np.int64))


def _longest_name(rules: Rules) -> int:
    """Return a bound on the bytes of a name: a rule's symbols, three bytes more for each, its category."""
    longest_category = int(np.diff(rules.names.offset).max(initial=0))
    longest_symbol = max(longest_category, int(np.diff(rules.words.offset).max(initial=0)))
    symbols = np.diff(rules.source_offset) + np.diff(rules.target_offset)
    return FIXED_BYTES + longest_category + int(symbols.max(initial=0)) * (longest_symbol + 3)
