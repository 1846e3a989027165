"""The lists of all sentences and iterations in one table; sparse features stay in the files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.bleu.bleu_kernels import Statistics
from itersel.errors import FilePath, InputError
from itersel.lists.files import FORMAT, has_sparse, read_dense, read_sparse
from itersel.lists.headers import GIVEN_ITERATION, TuningFile, read_tuning_header
from itersel.lists.table import ListTable, first_of_equal
from itersel.storage.arrays import Float64s, Int64s, UInt64s
from itersel.storage.formats import FileFormat
from itersel.storage.ragged import offsets_of, places_of
from itersel.storage.strings import concatenate, string_table
from itersel.vectors.features import unique_features
from itersel.vectors.sparse_rows import SparseRows, no_sparse_rows
from itersel.vectors.weights import Weights

NO_SENTENCES = "contains no sentences, and neither does any other file; there is nothing to tune on"


def find_tuning_files(
    paths: Sequence[FilePath], count: int, iterations: range, format: FileFormat = FORMAT
) -> list[TuningFile]:
    """Read the headers of tuning files in any order, and return them by number and iteration.

    The sentences are in `count` files, numbered from 0. There must be one tuning file for each of them
    and each of the iterations, with the same settings. Given lists are the same in all
    iterations: there must be `count` files with different numbers of a text, which may have more files, for
    instance of other tasks.
    """
    place = attrgetter("number", "iteration")
    files = sorted((read_tuning_header(path, format) for path in paths), key=place)

    numbers: Sequence[int] = range(count)
    if files and all(file.has_given_lists for file in files):
        iterations = range(GIVEN_ITERATION, GIVEN_ITERATION + 1)
        numbers = [file.number for file in files] if len(files) == count else numbers

    _check_complete(files, numbers, iterations)
    _check_same_origin(files)
    return files


def _check_complete(files: Sequence[TuningFile], numbers: Sequence[int], iterations: range) -> None:
    """Raise an InputError unless there is one file, in ascending order, for each number and iteration."""
    count = len(numbers)
    wanted = set(product(numbers, iterations))
    found = [(file.number, file.iteration) for file in files]
    missing = sorted(wanted.difference(found))
    if missing:
        number, iteration = missing[0]
        raise InputError(
            f"no file has the number {number} and iteration {iteration}; {count} files of sentences and "
            f"{len(iterations)} iterations need {len(wanted)}, not {len(files)}"
        )

    for row, file in enumerate(files):
        if found[row] not in wanted:
            raise InputError(
                f"has number {file.number}, iteration {file.iteration}; expected 0 to {count - 1}, "
                f"iterations {iterations[0]} to {iterations[-1]}",
                file.path,
            )
        if row and found[row] == found[row - 1]:
            other = os.fspath(files[row - 1].path)
            raise InputError(f"has the same number and iteration as {other}; give only one", file.path)


def _check_same_origin(files: Sequence[TuningFile]) -> None:
    """Raise an InputError if files differ in their settings, or those with a number in their sentences."""
    first_of: dict[int, TuningFile] = {}
    for file in files:
        first = first_of.setdefault(file.number, file)
        for name, like in (("settings", files[0]), ("dense_names", files[0]), ("sentence_digest", first)):
            if getattr(file, name) != getattr(like, name):
                what = f"{os.fspath(like.path)} in its {name.replace('_', ' ')}"
                raise InputError(f"differs from {what}; recreate one of them", file.path)


class SparseFiles(NamedTuple):
    """Sparse features of translations, read from files when they are needed.

    Files are read one at a time, again for each question, so that memory holds the features of one file and
    the answer. A tuner asks once, or twice if it scores all translations with the weights that it has learned
    from some. Keeping the last of several files would save nothing, since the next question begins with the
    first, and a single one would take memory while the tuner works.
    """

    files: Sequence[TuningFile]
    joined_row: Int64s  # (H): row of each translation in the concatenation of all files
    left_out: Collection[str]  # templates of text whose features are ignored

    @property
    def is_empty(self) -> bool:
        """Whether no translation in the files has a sparse feature."""
        if not self.left_out:
            return not any(has_sparse(file.path) for file in self.files)
        return all(read_sparse(file.path).without(self.left_out).is_empty for file in self.files)

    def take(self, rows: Int64s) -> SparseRows:
        """Return the features of some translations, in any order."""
        key = np.zeros(0, np.uint64)
        name = string_table([])
        counts = np.zeros(rows.shape[0], np.int64)
        parts = []

        for sparse, wanted, found in self._parts(self.joined_row[rows]):
            position, offset = places_of(sparse.offset, found)
            used, number = np.unique(sparse.feature[position], return_inverse=True)
            keys = sparse.key[used]
            key, name = unique_features(
                np.concatenate((key, keys)), concatenate((name, sparse.name.take(used)))
            )
            counts[wanted] = np.diff(offset)
            parts.append((wanted, keys[number], sparse.value[position]))

        # in the order of the rows; features are positions in `key`
        offset = offsets_of(counts)
        feature, value = np.empty(offset[-1], np.int32), np.empty(offset[-1])
        for wanted, keys, values in parts:
            position, _ = places_of(offset, wanted)
            feature[position] = np.searchsorted(key, keys)
            value[position] = values

        return SparseRows(feature, value, offset, key, name)

    def scores(self, weights: Weights) -> Float64s:
        """Return the scores of all translations, float64 (H); features without a weight count 0."""
        scores = np.zeros(self.joined_row.shape[0])
        for sparse, wanted, rows in self._parts(self.joined_row):
            scores[wanted] = sparse.take(rows).scores(weights)
        return scores

    def _parts(self, joined_row: Int64s) -> Iterator[tuple[SparseRows, Int64s, Int64s]]:
        """Yield the features of each file, which elements of `joined_row` are in it, and their rows there."""
        base = 0
        for file in self.files:
            sparse = read_sparse(file.path).without(self.left_out)
            rows = sparse.offset.shape[0] - 1
            wanted = np.flatnonzero((joined_row >= base) & (joined_row < base + rows))
            yield sparse, wanted, joined_row[wanted] - base
            base += rows


def join_files(
    files: Sequence[TuningFile], with_sparse: bool = True, left_out: Collection[str] = ()
) -> ListTable:
    """Return the lists of tuning files, by number, sentence, iteration and rank, without text.

    `files` are as returned by `find_tuning_files`. Of translations with the same words and features, the
    first is kept. Without `with_sparse`, there are no sparse features; those of templates of text that are
    `left_out` are ignored, too.
    """
    parts: list[ListTable] = []
    joined_rows: list[Int64s] = []
    base = 0

    numbers = sorted({file.number for file in files})
    for number in numbers:
        part, joined_row, rows = _join_iterations([file for file in files if file.number == number])
        parts.append(part)
        joined_rows.append(joined_row + base)
        base += rows

    _check_alike(parts, [next(file.path for file in files if file.number == number) for number in numbers])
    table = _concatenate(parts)
    if table.sentence_count == 0:
        raise InputError(NO_SENTENCES, files[0].path)
    if not table.has_quality:
        table.check_matches(files[0].path)

    if not with_sparse:
        return table
    return table._replace(sparse=SparseFiles(files, np.concatenate(joined_rows), left_out))


def _join_iterations(files: Sequence[TuningFile]) -> tuple[ListTable, Int64s, int]:
    """Return the lists of the same sentences, the row of each translation in these files, and their rows."""
    tables: list[ListTable] = []
    hashes: list[UInt64s] = []

    for file in files:
        table, hashed = read_dense(file.path)
        # the references of a sentence must be the same in all files
        for name in ("reference_length", "sentence_reference_offset"):
            if tables and not np.array_equal(getattr(table, name), getattr(tables[0], name)):
                raise InputError("damaged: the sentences do not match their digest; recreate it", file.path)
        tables.append(table)
        hashes.append(hashed)

    first = tables[0]
    sentence = np.concatenate([table.sentence for table in tables])
    kept = first_of_equal(sentence, np.concatenate(hashes))
    columns = [(*table.statistics, table.dense, table.quality) for table in tables]
    matches, length, closest, dense, quality = map(_joined, zip(*columns, strict=True))

    joined = first._replace(
        dense=dense,
        sparse=no_sparse_rows(sentence.shape[0]),
        statistics=Statistics(matches, length, closest),
        quality=quality,
    )
    return joined.take(kept, sentence), kept, sentence.shape[0]


def _joined(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate the column of all tables, if they have it."""
    return np.concatenate(columns) if columns[0].shape[0] else columns[0]


def _check_alike(tables: Sequence[ListTable], paths: Sequence[FilePath]) -> None:
    """Raise an InputError if only some tables with sentences have a quality, or references."""
    first = next((number for number, table in enumerate(tables) if table.sentence_count), 0)
    for table, path in zip(tables, paths, strict=True):
        for what, name in (("quality", "quality"), ("references", "reference_length")):
            columns = getattr(table, name), getattr(tables[first], name)
            if table.sentence_count and bool(columns[0].shape[0]) != bool(columns[1].shape[0]):
                why = f"either this file or {os.fspath(paths[first])} has no {what}"
                raise InputError(f"{why}; recreate one of them", path)


def _concatenate(tables: Sequence[ListTable]) -> ListTable:
    """Return the table of all sentences; sparse features and text are left out."""
    matches, length, closest = (
        np.concatenate(columns) for columns in zip(*(table.statistics for table in tables), strict=True)
    )
    dense = np.concatenate([table.dense for table in tables])
    reference_counts = [np.diff(table.sentence_reference_offset) for table in tables]

    return ListTable(
        offsets_of(np.concatenate([np.diff(table.offset) for table in tables])),
        dense,
        tables[0].dense_names,
        no_sparse_rows(dense.shape[0]),
        reference_length=np.concatenate([table.reference_length for table in tables]),
        sentence_reference_offset=offsets_of(np.concatenate(reference_counts)),
        statistics=Statistics(matches, length, closest),
        quality=np.concatenate([table.quality for table in tables]),
    )
