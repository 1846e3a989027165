"""n-best lists of other decoders read into a table, with what is needed to write them again."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from itersel.corpus.text import find_control, split_words
from itersel.errors import FilePath, InputError
from itersel.lists.lines import Block, Line, LineParser, check_present, listed_translations
from itersel.lists.numbers import Numbers, read_numbers
from itersel.lists.table import ListTable, first_of_equal, hash_rows, sparse_rows
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.storage.ragged import offsets_of
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.features import feature_keys

# Chooses the dense features, given the names of all, and the number of values of each that ended in ``=``.
DenseChooser = Callable[[Sequence[str], Mapping[str, int]], Sequence[str]]


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


def read_lists(
    paths: Sequence[FilePath],
    sentence_count: int | None = None,
    features: Mapping[str, FilePath | ArrayLike] | None = None,
    ids: Int64s | None = None,
    choose_dense: DenseChooser = lambda names, sizes: (),
    prepare: Callable[[str], str] = str,
    has_lines: bool = False,
) -> ReadLists:
    """Read n-best lists, such as those of several iterations, and merge them by sentence.

    The lists are files, or folders of files. By default, they determine the `sentence_count`, and the
    numbers (`ids`) are 0, 1, 2, ... Further `features` have a number for each translation, in the order of
    the lists, in a file or an array. Features that `choose_dense` does not return are sparse. `prepare`
    changes each text, for instance by tokenising it. With `has_lines`, the lines are kept, too.
    """
    # before the lists, which take longest
    extra = _read_features(features or {})
    how = _Reading(choose_dense, prepare, has_lines)

    def places(sentence: Int64s) -> Int64s:
        return _sentence_places(sentence, sentence_count, ids, os.fspath(paths[0]))

    return _read(listed_translations(paths), places, extra, how)


def read_block(
    block: Block,
    path: FilePath,
    choose_dense: DenseChooser = lambda names, sizes: (),
    prepare: Callable[[str], str] = str,
    has_lines: bool = False,
) -> ReadLists:
    """Read a block of the lists in `path`; see `read_lists`."""

    def places(sentence: Int64s) -> Int64s:
        return _sentence_places(sentence, None, block.ids, os.fspath(path))

    return _read(block.lines, places, {}, _Reading(choose_dense, prepare, has_lines))


class _Reading(NamedTuple):
    """How lists are read; see `read_lists`."""

    choose_dense: DenseChooser
    prepare: Callable[[str], str]
    has_lines: bool


def _read(
    lines: Iterable[Line], places: Callable[[Int64s], Int64s], extra: Mapping[str, Numbers], how: _Reading
) -> ReadLists:
    """Read lines; `places` returns the positions of sentences, given their numbers."""
    parser = LineParser()
    found = _collect(lines, parser, how.prepare, how.has_lines)
    translations = found.text.count

    place = places(found.sentence)
    order = np.argsort(place, kind="stable")
    columns = _add_features(parser, extra, translations)
    names = list(parser.feature_ids)

    # the entries of the lines, then of the extra features
    row = np.repeat(np.arange(translations), found.size)
    row = np.append(row, np.tile(np.arange(translations), len(columns)))
    added = np.arange(len(names) - len(columns), len(names))
    feature = np.append(found.feature.astype(np.int64), np.repeat(added, translations))
    value = np.append(found.value, np.ravel(columns))

    rank = np.empty_like(order)
    rank[order] = np.arange(translations)
    table = _split_features(
        rank[row], feature, value, translations, names, how.choose_dense(names, parser.sizes)
    )
    table = table._replace(offset=offsets_of(np.bincount(place)), text=found.text.take(order))

    kept = [found.line[i] for i in order.tolist()] if how.has_lines else []
    return ReadLists(table, order, kept, names, parser.sizes, found.score[order])


class _Collected(NamedTuple):
    """Translations in the order of the files; see `itersel.lists.lines.ParsedLine`."""

    line: list[str]
    sentence: Int64s
    text: StringTable
    size: Int64s  # number of features of each translation
    feature: Int32s  # of all translations
    value: Float64s
    score: Float64s


def _collect(
    given: Iterable[Line], parser: LineParser, prepare: Callable[[str], str], has_lines: bool
) -> _Collected:
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

    return _Collected(
        lines,
        np.frombuffer(sentence, np.int64),
        StringTable(np.frombuffer(text, np.uint8), np.frombuffer(end, np.int64)),
        np.frombuffer(count, np.int64),
        np.frombuffer(feature, np.int32),
        np.frombuffer(value, np.float64),
        np.frombuffer(score, np.float64),
    )


def _sentence_places(sentence: Int64s, sentence_count: int | None, ids: Int64s | None, path: str) -> Int64s:
    """Return the position of each translation's sentence; see `read_lists`."""
    present = np.unique(sentence)
    if ids is None:
        check_present(present, sentence_count, path)
        return sentence
    order = np.argsort(ids, kind="stable")
    if not np.array_equal(present, ids[order]):
        raise InputError("has translations of other sentences than the shard", path)
    return order[np.searchsorted(ids[order], sentence)]


def _read_features(given: Mapping[str, FilePath | ArrayLike]) -> dict[str, Numbers]:
    found = {}
    for name, values in given.items():
        found[name] = read_numbers(values, f"the feature '{name}'")
        if split_words(name) != [name] or find_control(name):
            raise InputError(f"{name!r} cannot be the name of a feature", found[name].path)
    return found


def _add_features(parser: LineParser, extra: Mapping[str, Numbers], count: int) -> list[Float64s]:
    """Return the extra features of all translations, and number their names."""
    found = []
    for name, numbers in extra.items():
        if name in parser.feature_ids or name in parser.sizes:
            raise InputError(f"the lists already have a feature '{name}'; give it another name", numbers.path)
        found.append(numbers.of_translations(count))
        parser.feature_ids.add(name)
    return found


def _split_features(
    row: Int64s,
    feature: Int64s,
    value: Float64s,
    translations: int,
    names: Sequence[str],
    dense_names: Sequence[str],
) -> ListTable:
    """Return a table of dense and sparse features, given the row, feature and value of each entry."""
    column = {name: place for place, name in enumerate(dense_names)}
    column_of = np.array([column.get(name, -1) for name in names], np.int64)
    is_dense = column_of[feature] >= 0
    dense = np.zeros((translations, len(dense_names)))
    dense[row[is_dense], column_of[feature[is_dense]]] = value[is_dense]

    # sparse features are numbered without the dense ones
    is_sparse = column_of < 0
    place = np.cumsum(is_sparse) - 1
    # 0 means the same as no value, and must not make equal translations differ
    is_kept = ~is_dense & (value != 0)
    row = row[is_kept]
    feature = place[feature[is_kept]]
    value = value[is_kept]
    order = np.argsort(row, kind="stable")

    table = string_table(name for name, chosen in zip(names, is_sparse.tolist(), strict=True) if chosen)
    offset = offsets_of(np.bincount(row, minlength=translations))
    sparse = sparse_rows(feature[order], value[order], offset, feature_keys(table), table)
    return ListTable(offsets_of([]), dense, tuple(dense_names), sparse)


def without_duplicates(lists: ReadLists) -> ReadLists:
    """Keep only the first of a sentence's translations that have the same words and features."""
    table = lists.table
    hashes = hash_rows(table)
    return lists.take(first_of_equal(table.sentence, hashes))


def short_name(paths: Sequence[FilePath]) -> str:
    """Return a short name of one or more files."""
    return os.fspath(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
