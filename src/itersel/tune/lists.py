"""k-best list files: the BLEU statistics and the features of each translation, without the words.

A file contains the lists of one shard, decoded with the weights of one iteration. It is written sentence by
sentence, so memory does not depend on the size of the shard. Sparse features are rows in a table in the file,
in order of first occurrence; a table sorted by key would have to be complete before the first sentence.
"""

from __future__ import annotations

from itersel.learn.bleu_kernels import ORDER
from itersel.storage.formats import Array, FileFormat, all_packed, numbers

MAX_COUNT = (1 << 31) - 1

# Sizes: N sentences, M references, H translations, C dense features, F sparse features.
FORMAT = FileFormat(
    "k-best lists file",
    1,
    "itersel kbest",
    all_packed(
        {
            "sentence_offset": Array("<i8", ("N+1",), into="H"),
            "reference_length": Array("<i4", ("M",), least=0, most=MAX_COUNT),
            "sentence_reference_offset": Array("<i8", ("N+1",), into="M", is_extra=True),
            "matches": Array("<i4", ("H", ORDER), least=0, most=MAX_COUNT),
            "length": Array("<i4", ("H",), least=0, most=MAX_COUNT),
            "hash": Array("<u8", ("H", 2)),
            "dense": numbers("<f8", "H", "C"),
            "feature": Array("<i4", ("sparse values",), least=0, below="F"),
            "feature_value": numbers("<f8", "sparse values"),
            "feature_offset": Array("<i8", ("H+1",), into="sparse values"),
            "feature_key": Array("<u8", ("F",)),
            "feature_name": Array("|u1", ("bytes of features",)),
            "feature_name_offset": Array("<i8", ("F+1",), into="bytes of features", text="feature_name"),
        }
    ),
)
REFERENCE_ARRAYS = ("reference_length", "sentence_reference_offset")
# The arrays that tuners of dense features read. Arrays that define sizes must be read together with those
# that use them.
DENSE_ARRAYS = (
    "sentence_offset",
    "reference_length",
    "sentence_reference_offset",
    "matches",
    "length",
    "hash",
    "dense",
)
SPARSE_ARRAYS = tuple(name for name in FORMAT.arrays if name.startswith("feature"))
