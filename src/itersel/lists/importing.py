"""Lists to learn from, made of a file of lists that `itersel.lists.division` has divided."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

import numpy as np

from itersel.corpus.prepare import Preparation
from itersel.corpus.text_names import SCALED_QUALITY, column_file, ids_file, reference_column
from itersel.errors import FilePath, InputError, located
from itersel.lists.division import DENSE_FILE
from itersel.lists.numbers import read_numbers
from itersel.lists.reading import FeatureAdder, make_learnable, read_lists, with_features
from itersel.lists.table import NO_NUMBERS, ListTable
from itersel.storage.declared import DeclaredFolder
from itersel.storage.files import read_lines


def import_lists(
    folder: FilePath, number: int, preparation: Preparation, add_features: FeatureAdder | None = None
) -> ListTable:
    """Read the lists with the number of a file, count what BLEU needs, and perhaps add features.

    Translations are cleaned, as their references have been; for BLEU, both are prepared.
    """
    divided = DeclaredFolder(folder)
    ids = np.array(read_ids(divided.checked(ids_file(number))), np.int64)
    dense_names = read_lines(divided.checked(DENSE_FILE))

    # before the lists, which take longest
    texts: dict[FilePath, list[str]] = {}
    for reference in _reference_files(divided, number):
        texts[divided.path / reference] = read_lines(divided.checked(reference))
    references = list(texts.values())

    name = column_file(number, SCALED_QUALITY)
    scaled = read_numbers(divided.checked(name)) if divided.has(name) else None

    sources: list[str] = []
    if add_features is not None:
        source = column_file(number, "source")
        sources = read_lines(divided.checked(source))
        texts[divided.path / source] = sources

    for path, lines in texts.items():
        if len(lines) != ids.shape[0]:
            raise InputError(f"has {len(lines)} lines for {ids.shape[0]} sentences", path)

    listed = divided.checked(column_file(number, "lists"))
    read = read_lists(
        [listed], ids=ids, choose_dense=lambda names, sizes: dense_names, prepare=preparation.clean_line
    )

    quality = NO_NUMBERS if scaled is None else scaled.of_translations(read.row.shape[0])[read.row]
    lists = make_learnable(read, references, quality, preparation.prepare_cleaned_target)
    if add_features is None:
        return lists.table
    with located(listed):
        return with_features(lists, add_features, sources).table


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
