"""n-best lists of other decoders read into a table; to write lists again, their lines are kept."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.lists.lines import Line, LineParser, ListBlock, check_present, listed_translations
from itersel.lists.numbers import Numbers
from itersel.lists.table import ListTable, feature_exists, first_of_equal, hash_rows, sparse_rows
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.features import feature_keys

# Chooses the dense features, given the names of all, and the number of values of each that ended in ``=``.
DenseChooser = Callable[[Sequence[str], Mapping[str, int]], Sequence[str]]
# Adds features to a table, given the source of each sentence, and the decoder's score of each translation.
FeatureAdder = Callable[[ListTable, Sequence[str], Float64s], ListTable]


class ReadLists(NamedTuple):
    """Lists in a table, and their positions in the files. Shape: H translations."""

    table: ListTable
    row: Int64s  # (H): position of each translation in the files, one after the other
    line: list[str]  # the lines of the files (H), if they are wanted
    names: list[str]  # of all features, in order of first occurrence
    sizes: Mapping[str, int]  # number of values of each name that ended in ``=``
    score: Float64s  # (H): the decoder's, NaN where a line has none

    def take(self, rows: Int64s) -> ReadLists:
        """Return some translations, which are in the order of their sentences."""
        return self._replace(
            table=self.table.take(rows),
            row=self.row[rows],
            line=[self.line[row] for row in rows.tolist() if self.line],
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
    choose_dense: DenseChooser = lambda names, sizes: (),
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
    choose_dense: DenseChooser = lambda names, sizes: (),
    prepare: Callable[[str], str] = str,
    has_lines: bool = False,
) -> ReadLists:
    """Read a block of the lists in `path`; see `read_lists`."""
    found = _collect(block.lines, prepare, has_lines)
    sentence = _sentences_in_table(found.sentence, None, block.ids, os.fspath(path))
    return _by_sentence(found, sentence, choose_dense, {})


class _ParsedLists(NamedTuple):
    """Translations in the order of the files; see `itersel.lists.lines.ParsedLine`."""

    line: list[str]
    sentence: Int64s
    text: StringTable
    size: Int64s  # number of features of each translation
    feature: Int32s  # of all translations
    value: Float64s
    score: Float64s
    names: list[str]  # of the features
    sizes: Mapping[str, int]  # see `ReadLists`


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
        size=np.frombuffer(count, np.int64),
        feature=np.frombuffer(feature, np.int32),
        value=np.frombuffer(value, np.float64),
        score=np.frombuffer(score, np.float64),
        names=list(parser.feature_ids),
        sizes=parser.sizes,
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
    order = np.argsort(sentence, kind="stable")
    columns = _further_columns(found, further)
    names = [*found.names, *further]

    # the entries of the lines, then of the further features
    row = np.repeat(np.arange(translations), found.size)
    row = np.append(row, np.tile(np.arange(translations), len(columns)))
    added = np.arange(len(found.names), len(names))
    feature = np.append(found.feature.astype(np.int64), np.repeat(added, translations))
    value = np.append(found.value, np.ravel(columns))

    rank = np.empty_like(order)
    rank[order] = np.arange(translations)
    dense_names = choose_dense(names, found.sizes)
    table = _split_features(rank[row], feature, value, translations, names, dense_names)
    table = table._replace(offset=offsets_of(np.bincount(sentence)), text=found.text.take(order))

    line = [found.line[number] for number in order.tolist()] if found.line else []
    return ReadLists(
        table=table, row=order, line=line, names=names, sizes=found.sizes, score=found.score[order]
    )


def _further_columns(found: _ParsedLists, further: Mapping[str, Numbers]) -> list[Float64s]:
    """Return the values of further features for all translations."""
    known = {*found.names, *found.sizes}
    columns = []
    for name, numbers in further.items():
        if name in known:
            raise feature_exists(name, "give it another name", numbers.path)
        columns.append(numbers.of_translations(found.text.count))
    return columns


def _split_features(
    row: Int64s,
    feature: Int64s,
    value: Float64s,
    translations: int,
    names: Sequence[str],
    dense_names: Sequence[str],
) -> ListTable:
    """Return a table of dense and sparse features, given the row, feature and value of each entry."""
    column = {name: number for number, name in enumerate(dense_names)}
    column_of = np.array([column.get(name, -1) for name in names], np.int64)
    is_dense = column_of[feature] >= 0
    dense = np.zeros((translations, len(dense_names)))
    dense[row[is_dense], column_of[feature[is_dense]]] = value[is_dense]

    # sparse features are numbered without the dense ones
    is_sparse = column_of < 0
    sparse_number = np.cumsum(is_sparse) - 1
    # 0 means the same as no value, and must not make equal translations differ
    is_kept = ~is_dense & (value != 0)
    row = row[is_kept]
    feature = sparse_number[feature[is_kept]]
    value = value[is_kept]
    order = np.argsort(row, kind="stable")

    sparse_names = string_table(
        name for name, chosen in zip(names, is_sparse.tolist(), strict=True) if chosen
    )
    offset = offsets_of(np.bincount(row, minlength=translations))
    sparse = sparse_rows(feature[order], value[order], offset, feature_keys(sparse_names), sparse_names)
    return ListTable(offsets_of([]), dense, tuple(dense_names), sparse)
