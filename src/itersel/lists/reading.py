"""n-best lists of other decoders read into a table; to write lists again, their lines are kept."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.lists.features import DenseChooser, ListFeatures, none_dense
from itersel.lists.lines import Line, LineParser, ListBlock, check_present, listed_translations
from itersel.lists.numbers import Numbers
from itersel.lists.table import ListTable, feature_exists, first_of_equal, hash_rows
from itersel.storage.arrays import Bools, Float64s, Int32s, Int64s
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.features import feature_keys
from itersel.vectors.sparse_rows import SparseRows, sparse_rows

# Adds features to a table, given the source of each sentence, and the decoder's score of each translation.
FeatureAdder = Callable[[ListTable, Sequence[str], Float64s], ListTable]


class ReadLists(NamedTuple):
    """Lists in a table, and their positions in the files. Shape: H translations."""

    table: ListTable
    row: Int64s  # (H): position of each translation in the files, one after the other
    line: list[str]  # the lines of the files (H), if they are wanted
    features: ListFeatures
    score: Float64s  # (H): the decoder's, NaN where a line has none

    def take(self, rows: Int64s) -> ReadLists:
        """Return some translations, which are in the order of their sentences."""
        return self._replace(
            table=self.table.take(rows),
            row=self.row[rows],
            line=_lines_in(self.line, rows),
            score=self.score[rows],
        )

    def without_duplicates(self) -> ReadLists:
        """Keep only the first of a sentence's translations that have the same words and features."""
        return self.take(first_of_equal(self.table.sentence, hash_rows(self.table)))

    def with_features(self, add_features: FeatureAdder, sources: Sequence[str]) -> ReadLists:
        """Return cleaned lists, without duplicates, with further features in their table.

        Duplicates must have been removed, because some features depend on the other translations of a list.
        """
        return self._replace(table=add_features(self.table, sources, self._known_scores()))

    def _known_scores(self) -> Float64s:
        """Return the scores of all translations: 0 for all of a sentence if one of them has none."""
        sentence = self.table.sentence
        is_missing = np.isnan(self.score)
        is_scored = np.bincount(sentence[is_missing], minlength=self.table.sentence_count) == 0
        return np.where(is_scored[sentence], self.score, 0.0)


def read_lists(
    paths: Sequence[FilePath],
    sentence_count: int | None = None,
    further_features: Mapping[str, Numbers] | None = None,
    ids: Int64s | None = None,
    choose_dense: DenseChooser = none_dense,
    prepare: Callable[[str], str] = str,
    has_lines: bool = False,
) -> ReadLists:
    """Read n-best lists, such as those of several iterations, and merge them by sentence.

    The lists are files, or folders of files. By default, they determine the `sentence_count`, and the
    numbers (`ids`) are 0, 1, 2, ... `further_features` have a number for each translation, in the order of
    the lists. Features that `choose_dense` does not return are sparse. `prepare` changes each text, for
    instance by tokenising it. With `has_lines`, the lines are kept, too.
    """
    found = _collect(listed_translations(paths), prepare, has_lines)
    sentence = _sentences_in_table(found.sentence, sentence_count, ids, os.fspath(paths[0]))
    return _by_sentence(found, sentence, choose_dense, further_features or {})


def read_block(
    block: ListBlock,
    path: FilePath,
    choose_dense: DenseChooser = none_dense,
    prepare: Callable[[str], str] = str,
    has_lines: bool = False,
) -> ReadLists:
    """Read a block of the lists in `path`; see `read_lists`."""
    found = _collect(block.lines, prepare, has_lines)
    sentence = _sentences_in_table(found.sentence, None, block.ids, os.fspath(path))
    return _by_sentence(found, sentence, choose_dense, {})


class _Entries(NamedTuple):
    """Values of features of translations, dense and sparse, in any order. Shape: E values."""

    row: Int32s  # (E): the translation
    feature: Int32s  # (E): the place of its name
    value: Float64s  # (E)

    def only(self, kept: Bools) -> _Entries:
        """Return some values, given whether each (E) is kept."""
        return _Entries(self.row[kept], self.feature[kept], self.value[kept])


class _ParsedLists(NamedTuple):
    """Translations in the order of the files; see `itersel.lists.lines.ParsedLine`."""

    line: list[str]
    sentence: Int64s
    text: StringTable
    entries: _Entries
    features: ListFeatures
    score: Float64s


def _collect(given: Iterable[Line], prepare: Callable[[str], str], has_lines: bool) -> _ParsedLists:
    """Parse lines, and collect what is in them in flat arrays, in the order of the lines."""
    parser = LineParser()
    lines = list[str]()
    sentence = array("q")
    # strings would need a multiple of the memory
    text = bytearray()
    end = array("q", [0])
    count = array("q")
    feature = array("i")
    value = array("d")
    score = array("d")

    for translation in parser.translations(given):
        if has_lines:
            lines.append(translation.line)
        text += prepare(translation.text).encode()
        end.append(len(text))
        sentence.append(translation.sentence)
        count.append(len(translation.features))
        feature.extend(parser.feature_ids[name] for name in translation.features)
        value.extend(translation.features.values())
        score.append(math.nan if translation.score is None else translation.score)

    return _ParsedLists(
        line=lines,
        sentence=np.frombuffer(sentence, np.int64),
        text=StringTable(np.frombuffer(text, np.uint8), np.frombuffer(end, np.int64)),
        entries=_Entries(
            row=np.repeat(np.arange(len(count), dtype=np.int32), np.frombuffer(count, np.int64)),
            feature=np.frombuffer(feature, np.int32),
            value=np.frombuffer(value, np.float64),
        ),
        features=parser.features,
        score=np.frombuffer(score, np.float64),
    )


def _sentences_in_table(
    sentence: Int64s, sentence_count: int | None, ids: Int64s | None, path: str
) -> Int64s:
    """Return the sentence of each translation in the table, given its number in the files."""
    present = np.unique(sentence)
    if ids is None:
        check_present(present, sentence_count, path)
        return sentence
    order = np.argsort(ids, kind="stable")
    if not np.array_equal(present, ids[order]):
        raise InputError("does not translate exactly the sentences of its .ids file", path)
    return order[np.searchsorted(ids[order], sentence)]


def _by_sentence(
    found: _ParsedLists, sentence: Int64s, choose_dense: DenseChooser, further: Mapping[str, Numbers]
) -> ReadLists:
    """Return translations with further features in a table, given the sentence of each in the table."""
    translations = found.text.count
    entries = _with_further(found, further)
    features = found.features.with_further(further)
    dense_names = choose_dense(features)

    order = np.argsort(sentence, kind="stable")
    place = np.empty(translations, np.int32)
    place[order] = np.arange(translations)
    dense, sparse = _split(
        entries._replace(row=place[entries.row]), translations, features.names, dense_names
    )

    table = ListTable(
        offset=offsets_of(np.bincount(sentence)),
        dense=dense,
        dense_names=tuple(dense_names),
        sparse=sparse,
        text=found.text.take(order),
    )
    return ReadLists(
        table=table, row=order, line=_lines_in(found.line, order), features=features, score=found.score[order]
    )


def _lines_in(lines: Sequence[str], rows: Int64s) -> list[str]:
    """Return the lines of some translations; none if lines were not wanted."""
    return [lines[row] for row in rows.tolist()] if lines else []


def _with_further(found: _ParsedLists, further: Mapping[str, Numbers]) -> _Entries:
    """Return the values in the lines, and those of further features for all translations."""
    if not further:
        return found.entries

    translations = found.text.count
    columns = _further_columns(found, further)
    first = len(found.features.names)
    added = np.arange(first, first + len(columns), dtype=np.int32)
    every = np.arange(translations, dtype=np.int32)
    return _Entries(
        row=np.append(found.entries.row, np.tile(every, len(columns))),
        feature=np.append(found.entries.feature, np.repeat(added, translations)),
        value=np.append(found.entries.value, np.ravel(columns)),
    )


def _further_columns(found: _ParsedLists, further: Mapping[str, Numbers]) -> list[Float64s]:
    """Return the values of further features for all translations."""
    known = {*found.features.names, *found.features.sizes}
    columns = []
    for name, numbers in further.items():
        if name in known:
            raise feature_exists(name, "give it another name", numbers.path)
        columns.append(numbers.of_translations(found.text.count))
    return columns


def _split(
    entries: _Entries, translations: int, names: Sequence[str], dense_names: Sequence[str]
) -> tuple[Float64s, SparseRows]:
    """Return the columns of dense features, float64 (H, C), and the rows of all others."""
    column = {name: number for number, name in enumerate(dense_names)}
    column_of = np.array([column.get(name, -1) for name in names], np.int64)
    is_dense = column_of[entries.feature] >= 0

    in_columns = entries.only(is_dense)
    dense = np.zeros((translations, len(dense_names)))
    dense[in_columns.row, column_of[in_columns.feature]] = in_columns.value

    # 0 means the same as no value, and must not make equal translations differ
    in_rows = entries.only(~is_dense & (entries.value != 0))
    return dense, _sparse_rows(in_rows, translations, names, column_of < 0)


def _sparse_rows(entries: _Entries, translations: int, names: Sequence[str], is_sparse: Bools) -> SparseRows:
    """Return the values of sparse features as rows, given which of the names are theirs."""
    sparse_names = string_table(compress(names, is_sparse.tolist()))
    # sparse features are numbered without the dense ones
    number = np.cumsum(is_sparse) - 1
    feature = number[entries.feature]

    order = np.argsort(entries.row, kind="stable")
    offset = offsets_of(np.bincount(entries.row, minlength=translations))
    return sparse_rows(feature[order], entries.value[order], offset, feature_keys(sparse_names), sparse_names)
