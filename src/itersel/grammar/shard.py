"""A shard: sentences with their grammars and features, as one HDF5 file of plain arrays.

A rule is stored once per shard; the grammar of a sentence lists rules with the dense features that
depend on the sentence (leave-one-out changes the counts). Nothing has to be parsed on reading.

Symbols of a rule are numbers of the shard's vocabulary for terminals; -1 and -2 stand for the first and
the second nonterminal of the source side, on both sides. The nonterminal is X everywhere but in the two
glue rules, which are always rules 0 ([S] -> [X]) and 1 ([S] -> [S] [X]) and belong to every grammar
without being listed in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.hdf5 import one_line, open_hdf5, write_hdf5
from itersel.strings import StringTable

FORMAT = 1

# Arrays that ascend, all of them or for a while: shuffled bytes shrink; those of all others would grow.
ASCENDING = ("_offset", "feature_key", "grammar_rule")

# kinds of rules
GRAMMAR_RULE, GLUE_START, GLUE, PASS_THROUGH = 0, 1, 2, 3


@dataclass(frozen=True)
class Shard:
    """Sentences, rules and features; every ``*_offset`` has one element more than there are rows.

    Attributes
    ----------
    vocabulary
        Words of both languages: of the rules, the sentences and the references.
    source, source_offset
        int32, int64 (N + 1): the words of the N source sentences.
    reference, reference_offset
        The same for the references; a shard without references has ``reference_offset`` of size 0.
    rule_kind
        uint8 (R): `GRAMMAR_RULE`, `GLUE_START`, `GLUE` or `PASS_THROUGH`.
    rule_source, rule_source_offset, rule_target, rule_target_offset
        int32, int64 (R + 1): symbols of the R rules.
    rule_alignment, rule_alignment_offset
        uint8 (points, 2), int64 (R + 1): word alignment, source-target, positions within the sides.
    rule_feature, rule_feature_value, rule_feature_offset
        int32, float32, int64 (R + 1): sparse features of the rules, rows of the feature table.
    feature_key, feature_name
        uint64 (F) ascending, and names: the sparse features.
    grammar_rule, grammar_offset
        int32, int64 (N + 1): the rules of each sentence.
    grammar_dense
        float32 (rules of all sentences, C): dense features, by column.
    dense_names
        The names of the C columns.
    attributes
        What made the shard: settings, versions.
    """

    vocabulary: StringTable
    source: NDArray[np.int32]
    source_offset: NDArray[np.int64]
    reference: NDArray[np.int32]
    reference_offset: NDArray[np.int64]
    rule_kind: NDArray[np.uint8]
    rule_source: NDArray[np.int32]
    rule_source_offset: NDArray[np.int64]
    rule_target: NDArray[np.int32]
    rule_target_offset: NDArray[np.int64]
    rule_alignment: NDArray[np.uint8]
    rule_alignment_offset: NDArray[np.int64]
    rule_feature: NDArray[np.int32]
    rule_feature_value: NDArray[np.float32]
    rule_feature_offset: NDArray[np.int64]
    feature_key: NDArray[np.uint64]
    feature_name: StringTable
    grammar_rule: NDArray[np.int32]
    grammar_offset: NDArray[np.int64]
    grammar_dense: NDArray[np.float32]
    dense_names: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentence_count(self) -> int:
        """Number of sentences."""
        return int(self.source_offset.shape[0]) - 1

    @property
    def has_references(self) -> bool:
        """Whether the shard can be trained on."""
        return bool(self.reference_offset.shape[0] > 0)


def write_shard(path: str | os.PathLike[str], shard: Shard) -> None:
    """Write a shard, whole or not at all."""
    with write_hdf5(path) as stream:
        stream.attrs["kind"], stream.attrs["format"] = "shard", FORMAT
        stream.attrs["dense_names"] = json.dumps(list(shard.dense_names))
        stream.attrs["attributes"] = json.dumps(dict(shard.attributes), sort_keys=True)
        for item in fields(shard):
            value = getattr(shard, item.name)
            if isinstance(value, StringTable):
                _write_array(stream, item.name, value.data)
                _write_array(stream, item.name + "_offset", value.offset)
            elif isinstance(value, np.ndarray):
                _write_array(stream, item.name, value)


def _write_array(stream: h5py.File, name: str, array: NDArray[Any]) -> None:
    # The fastest gzip: a quarter of the size, as fast as lzf, and the same bytes every time; lzf gives others
    # every time, as its tables are not initialised. The filter needs a non-empty dataset.
    packed = {"compression": "gzip", "compression_opts": 1, "shuffle": name.endswith(ASCENDING)}
    stream.create_dataset(name, data=array, **(packed if array.size else {}))


def read_shard(path: str | os.PathLike[str]) -> Shard:
    """Read a shard.

    Raises
    ------
    InputError
        If the file is missing, truncated, or not a shard of this format.
    """
    with open_hdf5(path) as stream:
        if stream.attrs.get("kind") != "shard":
            raise InputError("is not a shard; make one with 'itersel grammar extract'", path)
        if stream.attrs["format"] != FORMAT:
            raise InputError("is a shard of another version of itersel; make it anew", path)
        try:
            values: dict[str, Any] = {
                "dense_names": tuple(json.loads(stream.attrs["dense_names"])),
                "attributes": json.loads(stream.attrs["attributes"]),
            }
            for item in fields(Shard):
                if item.type == "StringTable":
                    values[item.name] = StringTable(stream[item.name][:], stream[item.name + "_offset"][:])
                elif item.name not in values:
                    values[item.name] = stream[item.name][:]
        except (KeyError, OSError) as error:
            raise InputError(f"damaged or truncated ({one_line(error)}); make it anew", path) from None
    return Shard(**values)
