"""Files of forests (HDF5), written by `itersel.tune.generate_forests`."""

from __future__ import annotations

from itersel.bleu.references import grouped_references
from itersel.errors import FilePath
from itersel.lists.files import MAX_COUNT
from itersel.storage.formats import Array, FileFormat, damaged, damaged_file, numbers, offsets
from itersel.storage.hdf5 import read_arrays
from itersel.tune.forest_kernels import Forests, find_bad_sentence

# Sizes: N sentences, M references, I items, E edges, R rules, C dense features; see `Forests`.
FORMAT = FileFormat(
    "forests file",
    3,
    ("itersel step forest",),
    {
        "item_offset": offsets("N", "I"),
        "edge_offset": offsets("I", "E"),
        "edge_rule": Array("<i4", ("E",), least=0, most=MAX_COUNT),
        "edge_first": Array("<i4", ("E",), least=-1, most=MAX_COUNT),
        "edge_second": Array("<i4", ("E",), least=-1, most=MAX_COUNT),
        "edge_lm": numbers("<f8", "E"),
        "rule_offset": offsets("N", "R"),
        "rule_dense": numbers("<f8", "R", "C"),
        "target": Array("<i4", ("target symbols",), least=-2, most=MAX_COUNT),
        "target_offset": offsets("R", "target symbols"),
        "reference": Array("<i4", ("reference words",), least=1, most=MAX_COUNT),
        "reference_offset": offsets("M", "reference words"),
        "sentence_reference_offset": offsets("N", "M", is_extra=True),
    },
    packed=True,
)


def read_forests(path: FilePath, columns: int) -> Forests:
    """Read forests with `columns` dense features, and check that they can be traversed."""
    arrays, _ = read_arrays(path, FORMAT)
    sentences, references = (arrays[name].shape[0] - 1 for name in ("item_offset", "reference_offset"))
    name = "sentence_reference_offset"
    arrays[name] = grouped_references(references, arrays[name], sentences, path)
    forests = Forests(**{name: arrays[name] for name in Forests._fields})
    if forests.rule_dense.shape[1] != columns:
        raise damaged_file(path, "'dense_names' does not name the dense features")
    bad = find_bad_sentence(forests)
    if bad >= 0:
        raise damaged(path, "edge_rule", f"and the antecedents do not form a forest for sentence {bad + 1}")
    return forests
