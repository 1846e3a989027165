"""Files of lists (HDF5): our decoder's lists for tuners, and given lists, which another decoder has made.

`itersel step kbest` writes one for each file of sentences and each iteration, without text; `itersel step
lists` writes one for each file of given lists, with text.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itersel.bleu.bleu_kernels import Statistics, ngram_counts
from itersel.bleu.order import ORDER
from itersel.bleu.references import grouped_references
from itersel.errors import FilePath, InputError
from itersel.lists.headers import GIVEN_ITERATION, header_attributes, tuning_file
from itersel.lists.matches import closest_reference_lengths
from itersel.lists.table import ListTable, hash_rows, rounded
from itersel.storage.arrays import UInt64s
from itersel.storage.formats import Array, FileFormat, damaged, damaged_file, numbers, offsets, strings
from itersel.storage.hdf5 import read_arrays, write_arrays
from itersel.storage.hdf5_rows import RowWriter, write_rows
from itersel.storage.provenance import GIVEN_LISTS, NO_LISTS
from itersel.storage.strings import Strings, StringTable, strings_in
from itersel.vectors.sparse_rows import SparseRows, no_sparse_rows, rises_within_rows, sparse_rows

MAX_COUNT = (1 << 31) - 1

# Sizes: N sentences, M references, H translations, C dense features, F sparse features.
FORMAT = FileFormat(
    "file of lists",
    2,
    ("itersel step kbest", "itersel step lists"),
    {
        "sentence_offset": offsets("N", "H", shuffled=True),
        "reference_length": Array("<i4", ("M",), least=0, most=MAX_COUNT, optional=True),
        "sentence_reference_offset": offsets("N", "M", is_extra=True),
        "matches": Array("<i4", ("H", ORDER), least=0, most=MAX_COUNT),
        "length": Array("<i4", ("H",), least=0, most=MAX_COUNT),
        "hash": Array("<u8", ("H", 2)),
        "quality": Array("<f8", ("H",), least=0, most=1, is_extra=True),
        **strings("text", "H", "texts", is_extra=True),
        "dense": numbers("<f8", "H", "C"),
        "feature": Array("<i4", ("sparse values",), least=0, below="F", shuffled=True),
        "feature_value": numbers("<f8", "sparse values"),
        "feature_offset": offsets("H", "sparse values", shuffled=True),
        "feature_key": Array("<u8", ("F",)),
        **strings("feature_name", "F", "features"),
    },
    packed=True,
)
# Arrays that define sizes must be read together with the arrays that use them.
REFERENCE_ARRAYS = ("reference_length", "sentence_reference_offset")
SPARSE_ARRAYS = tuple(name for name in FORMAT.arrays if name.startswith("feature"))
TEXT_ARRAYS = ("text", "text_offset")
DENSE_ARRAYS = tuple(name for name in FORMAT.arrays if name not in (*SPARSE_ARRAYS, *TEXT_ARRAYS))


def write_list_table(
    path: FilePath, table: ListTable, number: int = 0, settings: Mapping[str, Any] | None = None
) -> None:
    """Write given lists, with text and the number of the file, whole or not at all.

    The table was made with `settings`; only lists with the same settings are tuned on together.
    """
    sparse = table.sparse_rows
    arrays = {
        **_rows_of(table),
        "text": table.text.data,
        "text_offset": table.text.offset,
        **_features_of(sparse.key, sparse.name),
    }
    has_one_each = np.array_equal(table.sentence_reference_offset, np.arange(table.sentence_count + 1))
    if has_one_each or not table.reference_length.shape[0]:
        arrays["sentence_reference_offset"] = np.zeros(0, np.int64)

    attributes = header_attributes(
        GIVEN_LISTS, number, GIVEN_ITERATION, settings or {}, "", table.dense_names
    )
    write_arrays(path, FORMAT, arrays, attributes)


@contextlib.contextmanager
def write_lists(
    path: FilePath,
    columns: int,
    attributes: Mapping[str, Any],
    key: UInt64s,
    name: Strings,
    has_several: bool = True,
) -> Iterator[ListWriter]:
    """Yield a writer for our decoder's lists, without text; the file is written whole or not at all.

    `columns` is the number of dense features, `key` and `name` are those of all sparse features that may
    occur; for `attributes` see `header_attributes`. `has_several` tells whether any sentence has several
    references.
    """
    with write_rows(path, FORMAT, columns, attributes, has_several) as rows:
        writer = ListWriter(rows, key, name)
        yield writer
        writer.finish()


def write_empty_tuning_file(path: FilePath, iteration: int, number: int) -> None:
    """Write a tuning file without sentences, for an iteration in which nothing is tuned."""
    with write_rows(path, FORMAT, 1, {"kind": NO_LISTS, "iteration": iteration, "file": number}):
        pass


class ListWriter:
    """Appends sentences to a file; see `write_lists`. Memory does not depend on their number.

    Features are rows of a table in the file, in order of first occurrence; a table sorted by key would have
    to be complete before the first sentence.
    """

    def __init__(self, rows: RowWriter, key: UInt64s, name: Strings) -> None:
        self._rows = rows
        self._key = key
        self._name = name
        self._used: list[int] = []
        self._place = np.full(key.shape[0], -1, np.int32)  # of each feature in the file

    def append(self, table: ListTable) -> None:
        """Append the sentences of a table, whose features have the writer's keys, and need no names."""
        feature = table.sparse_rows.feature
        fresh = np.unique(feature[self._place[feature] < 0])
        self._place[fresh] = np.arange(len(self._used), len(self._used) + fresh.shape[0])
        self._used += fresh.tolist()
        # Every tuner's table is rounded (`ListProblem.of_table`), which does not change these values again.
        # They are also rounded here so that the files of existing runs stay the same.
        self._append(_rows_of(table) | {"dense": rounded(table.dense), "feature": self._place[feature]})

    def finish(self) -> None:
        """Append the table of features; nothing can be appended afterwards."""
        rows = np.array(self._used, np.int64)
        self._append(_features_of(self._key[rows], self._name.take(rows)))

    def _append(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        is_offset = {name: declared.into is not None for name, declared in FORMAT.arrays.items()}
        self._rows.append({name: array[1:] if is_offset[name] else array for name, array in arrays.items()})


def _rows_of(table: ListTable) -> dict[str, NDArray[Any]]:
    """Return the arrays of the sentences and translations of a table, without text."""
    sparse = table.sparse_rows
    return {
        "sentence_offset": table.offset,
        "reference_length": table.reference_length.astype(np.int32),
        "sentence_reference_offset": table.sentence_reference_offset,
        "matches": table.statistics.matches,
        "length": table.statistics.length,
        "hash": hash_rows(table),
        "quality": table.quality,
        "dense": table.dense,
        "feature": sparse.feature,
        "feature_value": sparse.value,
        "feature_offset": sparse.offset,
    }


def _features_of(key: UInt64s, name: StringTable) -> dict[str, NDArray[Any]]:
    """Return the arrays of the table of features."""
    return {"feature_key": key, "feature_name": name.data, "feature_name_offset": name.offset}


def read_dense(path: FilePath) -> tuple[ListTable, UInt64s]:
    """Read everything but sparse features and text; returns the hashes of translations, too."""
    arrays, attributes = read_arrays(path, FORMAT, DENSE_ARRAYS)
    return _list_table(path, arrays, attributes), arrays["hash"]


def has_sparse(path: FilePath) -> bool:
    """Return whether any translation has a sparse feature."""
    return bool(read_arrays(path, FORMAT, ("feature_key",))[0]["feature_key"].shape[0])


def read_sparse(path: FilePath) -> SparseRows:
    """Read the sparse features; keys are in the order of the file, not ascending."""
    return _sparse(read_arrays(path, FORMAT, SPARSE_ARRAYS)[0])


def read_list_table(
    path: FilePath, with_sparse: bool = True, has_text: bool = False, left_out: Collection[str] = ()
) -> ListTable:
    """Read lists, with sparse features unless `with_sparse` is false, and with text if `has_text`.

    Sparse features of the templates that are `left_out` are not read either.
    """
    names = list(DENSE_ARRAYS)
    if with_sparse:
        names += SPARSE_ARRAYS
    if has_text:
        names += TEXT_ARRAYS

    arrays, attributes = read_arrays(path, FORMAT, names)
    table = _list_table(path, arrays, attributes)
    if with_sparse:
        table = table._replace(sparse=_checked_sparse(path, arrays).without(left_out))
    if has_text:
        if not arrays["text_offset"].shape[0]:
            raise InputError("has no text; lists for tuners cannot be used to translate", path)
        table = table._replace(text=strings_in(arrays, "text"))

    return table


def count_sentences_of_lists(path: FilePath) -> int:
    """Return the number of sentences without reading the lists."""
    arrays, _ = read_arrays(path, FORMAT, ("sentence_offset", "length"))
    return int(arrays["sentence_offset"].shape[0]) - 1


def _checked_sparse(path: FilePath, arrays: Mapping[str, NDArray[Any]]) -> SparseRows:
    """Return the sparse features with ascending keys, each once in a translation."""
    found = sparse_rows(*_sparse(arrays))
    if found.key.shape[0] < arrays["feature_key"].shape[0]:
        raise damaged(path, "feature_key", "contains a key twice")
    if not rises_within_rows(found.feature, found.offset):
        raise damaged(path, "feature", "contains a feature twice in a translation")
    return found


def _sparse(arrays: Mapping[str, NDArray[Any]]) -> SparseRows:
    return SparseRows(
        arrays["feature"],
        arrays["feature_value"],
        arrays["feature_offset"],
        arrays["feature_key"],
        strings_in(arrays, "feature_name"),
    )


def _list_table(
    path: FilePath, arrays: Mapping[str, NDArray[Any]], attributes: Mapping[str, Any]
) -> ListTable:
    """Return lists without sparse features and text, and check what the format does not declare."""
    dense_names = tuning_file(path, attributes).dense_names
    offset, length = arrays["sentence_offset"], arrays["length"]

    if (np.diff(offset) == 0).any():
        raise damaged_file(path, "a sentence has no translations")
    if len(set(dense_names)) != arrays["dense"].shape[1] or len(dense_names) != arrays["dense"].shape[1]:
        raise damaged_file(path, "'dense_names' does not name the dense features")
    if (arrays["matches"] > ngram_counts(length)).any():
        raise damaged_file(path, "more matches than n-grams")

    reference_length, sentence_reference_offset = (arrays[name].astype(np.int64) for name in REFERENCE_ARRAYS)
    closest = np.zeros(length.shape[0], np.int32)
    if reference_length.shape[0]:
        references = reference_length.shape[0]
        sentences = offset.shape[0] - 1
        sentence_reference_offset = grouped_references(references, sentence_reference_offset, sentences, path)
        closest = closest_reference_lengths(reference_length, sentence_reference_offset, length, offset)

    return ListTable(
        offset,
        arrays["dense"],
        dense_names,
        no_sparse_rows(length.shape[0]),
        reference_length=reference_length,
        sentence_reference_offset=sentence_reference_offset,
        statistics=Statistics(arrays["matches"], length, closest),
        quality=arrays["quality"],
    )
