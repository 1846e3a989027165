"""Sparse features of rules: identity, source and target bigrams, shape; with cdec's names.

- ``R:X:NX_haus:N1_house``: the rule itself, source nonterminals by category, target ones by index;
- ``RBS:<r>_X``, ``RBS:X_haus``, ``RBS:haus_</r>``: bigrams of the source side;
- ``RBT:<r>_X1``, ``RBT:X1_house``, ``RBT:house_</r>``: bigrams of the target side;
- ``Shape_S01100_T01100``: positions 1, 3, 5 tell of runs of terminals, 2 and 4 of nonterminals.

``=`` and ``;`` become ``_``, as they separate features in cdec's text formats. A bigram that a rule has twice
counts two. Names that become equal (through the escapes, or through ``_`` in words) are one feature.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.grammar.categories import FIXED_CATEGORIES
from itersel.grammar.shard_kernels import CATEGORY_S, GLUE, GLUE_START
from itersel.grammar.sparse_kernels import Rules, count_features, renumber
from itersel.limits import TEMPLATES
from itersel.storage.strings import StringTable, string_table

COMPUTED_FEATURE = re.compile("|".join(TEMPLATES.values()))
ESCAPED = tuple(b"=;")
ESCAPE = ord("_")
# Bytes of a name beside its symbols: `R::`, `Shape_S....._T.....`, `RBS:<r>_</r>`.
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

    Raises
    ------
    InputError
        If two names have the same 64-bit key.
    """
    if category is None or rule_category is None or rule_category.shape[0] == 0:
        category, rule_category = string_table(FIXED_CATEGORIES), _fixed_categories(rule_kind)
    rules = Rules(
        _escape(vocabulary),
        _escape(category),
        np.array(rule_category, np.uint16),
        np.array(rule_source, np.int32),
        np.array(rule_source_offset, np.int64),
        np.array(rule_target, np.int32),
        np.array(rule_target_offset, np.int64),
    )
    rows, names, count, collision = count_features(rules, _longest_name(rules))
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
