"""The arrays of a file of sentences with their grammars; docs/formats.md says what they contain."""

from __future__ import annotations

from itersel.config.extraction import MAX_SAMPLES
from itersel.grammar.grammar_kernels import PASS_THROUGH
from itersel.grammar.templates.count_kernels import MAX_BIN
from itersel.storage.formats import Array, FileFormat, numbers, offsets, strings

# Sizes: V words, N sentences, M references, R rules, F listed features, G rules of all sentences, C dense
# features, K categories.
# Arrays that ascend, wholly or in runs, are byte-shuffled because they compress better; others would grow.
FORMAT = FileFormat(
    "file of sentences with grammars",
    6,
    ("itersel grammar extract",),
    {
        **strings("vocabulary", "V", "words", shuffled=True),
        "source": Array("<i4", ("source words",), least=0, below="V"),
        "source_offset": offsets("N", "source words", shuffled=True),
        "reference": Array("<i4", ("reference words",), least=0, below="V"),
        "reference_offset": offsets("M", "reference words", optional=True, shuffled=True),
        "sentence_reference_offset": offsets("N", "M", is_extra=True, shuffled=True),
        "rule_kind": Array("|u1", ("R",), most=PASS_THROUGH),
        "rule_source": Array("<i4", ("source symbols",), least=-2, below="V"),
        "rule_source_offset": offsets("R", "source symbols", shuffled=True),
        "rule_target": Array("<i4", ("target symbols",), least=-2, below="V"),
        "rule_target_offset": offsets("R", "target symbols", shuffled=True),
        "rule_alignment": Array("|u1", ("points", 2)),
        "rule_alignment_offset": offsets("R", "points", shuffled=True),
        "rule_feature": Array("<i4", ("features of rules",), least=0, below="F"),
        "rule_feature_value": numbers("<f4", "features of rules"),
        "rule_feature_offset": offsets("R", "features of rules", optional=True, shuffled=True),
        "feature_key": Array("<u8", ("F",), rising=True, shuffled=True),
        **strings("feature_name", "F", "features", shuffled=True),
        "grammar_rule": Array("<i4", ("G",), least=2, below="R", shuffled=True),
        "grammar_offset": offsets("N", "G", shuffled=True),
        "grammar_dense": numbers("<f4", "G", "C", optional=True),
        **strings("category", "K", "categories", shuffled=True),
        "rule_category": Array("<u2", ("R", 3), below="K", optional=True),
        "rule_bin": Array("|u1", ("R",), most=MAX_BIN, is_extra=True),
        "rule_cost": numbers("<f4", "R", 2, is_extra=True),
        "grammar_samples": Array("<i4", ("G",), least=0, most=MAX_SAMPLES, is_extra=True, shuffled=True),
        "grammar_count": Array("<i4", ("G",), least=0, most=MAX_SAMPLES, is_extra=True, shuffled=True),
        "grammar_singleton": Array("|u1", ("G",), most=1, is_extra=True),
    },
    packed=True,
)
