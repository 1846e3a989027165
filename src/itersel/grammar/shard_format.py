"""The arrays of a shard's file; docs/formats.md says what they contain."""

from __future__ import annotations

from typing import Any

from itersel.grammar.shard_kernels import PASS_THROUGH
from itersel.grammar.template_kernels import MAX_BIN
from itersel.limits import MAX_SAMPLES
from itersel.storage.formats import Array, FileFormat, numbers


def _packed(dtype: str, *shape: str | int, **more: Any) -> Array:
    return Array(dtype, shape, packed=True, **more)


def _offsets(size: str, into: str, **more: Any) -> Array:
    return _packed("<i8", size, into=into, shuffled=True, **more)


# Sizes: V words, N sentences, M references, R rules, F listed features, G rules of all sentences, C dense
# features, K categories.
# Arrays that ascend, wholly or in runs, are byte-shuffled because they compress better; others would grow.
FORMAT = FileFormat(
    "shard",
    5,
    "itersel grammar extract",
    {
        "vocabulary": _packed("|u1", "bytes of words"),
        "vocabulary_offset": _offsets("V+1", "bytes of words", text="vocabulary"),
        "source": _packed("<i4", "source words", least=0, below="V"),
        "source_offset": _offsets("N+1", "source words"),
        "reference": _packed("<i4", "reference words", least=0, below="V"),
        "reference_offset": _offsets("M+1", "reference words", optional=True),
        "sentence_reference_offset": _offsets("N+1", "M", is_extra=True),
        "rule_kind": _packed("|u1", "R", most=PASS_THROUGH),
        "rule_source": _packed("<i4", "source symbols", least=-2, below="V"),
        "rule_source_offset": _offsets("R+1", "source symbols"),
        "rule_target": _packed("<i4", "target symbols", least=-2, below="V"),
        "rule_target_offset": _offsets("R+1", "target symbols"),
        "rule_alignment": _packed("|u1", "points", 2),
        "rule_alignment_offset": _offsets("R+1", "points"),
        "rule_feature": _packed("<i4", "features of rules", least=0, below="F"),
        "rule_feature_value": numbers("<f4", "features of rules", packed=True),
        "rule_feature_offset": _offsets("R+1", "features of rules", optional=True),
        "feature_key": _packed("<u8", "F", rising=True, shuffled=True),
        "feature_name": _packed("|u1", "bytes of features"),
        "feature_name_offset": _offsets("F+1", "bytes of features", text="feature_name"),
        "grammar_rule": _packed("<i4", "G", least=2, below="R", shuffled=True),
        "grammar_offset": _offsets("N+1", "G"),
        "grammar_dense": numbers("<f4", "G", "C", packed=True, optional=True),
        "category": _packed("|u1", "bytes of categories"),
        "category_offset": _offsets("K+1", "bytes of categories", text="category"),
        "rule_category": _packed("<u2", "R", 3, below="K", optional=True),
        "rule_bin": _packed("|u1", "R", most=MAX_BIN, is_extra=True),
        "rule_cost": numbers("<f4", "R", 2, packed=True, is_extra=True),
        "grammar_samples": _packed("<i4", "G", least=0, most=MAX_SAMPLES, is_extra=True, shuffled=True),
        "grammar_count": _packed("<i4", "G", least=0, most=MAX_SAMPLES, is_extra=True, shuffled=True),
        "grammar_singleton": _packed("|u1", "G", most=1, is_extra=True),
    },
)
