"""Lists to learn from, made of a file of lists that `itersel.lists.dividing` has divided."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from itersel.corpus.prepare import Preparation
from itersel.corpus.text_names import SCALED_QUALITY, column_file, ids_file, reference_column
from itersel.errors import FilePath, InputError, located
from itersel.lists.dividing import DENSE_FILE
from itersel.lists.matches import with_matches
from itersel.lists.numbers import Numbers, read_numbers
from itersel.lists.reading import FeatureAdder, read_lists
from itersel.lists.table import ListTable
from itersel.storage.arrays import Int64s
from itersel.storage.declared import DIVIDE_AGAIN, DeclaredFolder
from itersel.storage.files import read_lines

# What earlier versions called the column `SCALED_QUALITY`.
OLD_SCALED_QUALITY = "quality"


class DividedLists(NamedTuple):
    """A file of divided lists: where the lists are, and the texts of its N sentences."""

    path: FilePath
    ids: Int64s  # (N): numbers of the sentences in the whole text
    dense_names: Sequence[str]
    references: Sequence[Sequence[str]]  # N lines each
    sources: Sequence[str]  # N lines, if they are needed
    scaled_quality: Numbers | None  # of each translation, 0 to 1


def read_divided_lists(folder: FilePath, number: int, needs_sources: bool) -> DividedLists:
    """Read everything but the lists, which take longest, of the file with a number."""
    divided = DeclaredFolder(folder)
    ids = np.array(read_ids(divided.checked(ids_file(number))), np.int64)
    dense_names = read_lines(divided.checked(DENSE_FILE))

    references = [divided.checked(name) for name in _reference_files(divided, number)]
    texts = {path: read_lines(path) for path in references}
    scaled_quality = _read_scaled_quality(divided, number)

    sources: list[str] = []
    if needs_sources:
        source = divided.checked(column_file(number, "source"))
        sources = read_lines(source)
        texts[source] = sources

    for path, lines in texts.items():
        if len(lines) != ids.shape[0]:
            raise InputError(f"has {len(lines)} lines for {ids.shape[0]} sentences", path)

    lists = divided.checked(column_file(number, "lists"))
    return DividedLists(
        path=lists,
        ids=ids,
        dense_names=dense_names,
        references=[texts[path] for path in references],
        sources=sources,
        scaled_quality=scaled_quality,
    )


def import_lists(
    folder: FilePath, number: int, preparation: Preparation, add_features: FeatureAdder | None = None
) -> ListTable:
    """Read the lists with the number of a file, count what BLEU needs, and perhaps add features.

    Translations are cleaned, as their references have been; for BLEU, both are prepared.
    """
    divided = read_divided_lists(folder, number, needs_sources=add_features is not None)
    read = read_lists(
        [divided.path],
        ids=divided.ids,
        choose_dense=lambda _: divided.dense_names,
        prepare=preparation.clean_line,
    )

    lists = read.without_duplicates()
    table = with_matches(lists.table, divided.references, preparation.prepare_cleaned_target)
    if divided.scaled_quality is not None:
        quality = divided.scaled_quality.of_translations(read.row.shape[0])
        table = table._replace(quality=quality[lists.row])

    if add_features is None:
        return table
    with located(divided.path):
        return lists._replace(table=table).with_features(add_features, divided.sources).table


def _read_scaled_quality(divided: DeclaredFolder, number: int) -> Numbers | None:
    """Return the quality of each translation, if the lists have been divided with numbers."""
    old = column_file(number, OLD_SCALED_QUALITY)
    if divided.has(old):
        new = column_file(number, SCALED_QUALITY)
        why = f"contains the scaled quality that an earlier version wrote; this version reads it from {new}"
        raise InputError(f"{why}; {DIVIDE_AGAIN}", divided.path / old)

    name = column_file(number, SCALED_QUALITY)
    return read_numbers(divided.checked(name)) if divided.has(name) else None


def _reference_files(divided: DeclaredFolder, number: int) -> Iterator[str]:
    """Yield the names of the files with the references, of which there may be any number."""
    for reference in count():
        name = column_file(number, reference_column(reference))
        if not divided.has(name):
            return

        yield name


def read_ids(path: FilePath) -> list[int]:
    """Return the numbers of the sentences of a file, from 0, one per line."""
    found = []
    for number, line in enumerate(read_lines(path), 1):
        if not re.fullmatch("[0-9]{1,9}", line):
            raise InputError(f"'{line[:40]}' is not the number of a sentence", path, number)
        found.append(int(line))
    return found
