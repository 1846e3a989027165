"""A training shard, built from lists cut by `itersel.lists.sharding`."""

from __future__ import annotations

import re

import numpy as np

from itersel.corpus.prepare import Preparation
from itersel.corpus.text_names import reference_columns
from itersel.errors import FilePath, InputError
from itersel.lists.counting import with_statistics
from itersel.lists.numbers import read_numbers
from itersel.lists.reading import read_lists, without_duplicates
from itersel.lists.sharding import DENSE_NAMES
from itersel.lists.table import ListTable
from itersel.storage.declared import DeclaredFolder
from itersel.storage.files import read_lines


def import_lists(folder: FilePath, number: int, preparation: Preparation) -> ListTable:
    """Read the lists of a shard, and count what BLEU needs.

    Translations are cleaned, as their references have been; for BLEU, both are prepared.
    """
    cut = DeclaredFolder(folder)
    ids = np.array(_read_ids(cut.checked(f"{number}.ids")), np.int64)
    dense = read_lines(cut.checked(DENSE_NAMES))
    read = read_lists(
        [cut.checked(f"{number}.lists.gz")],
        ids=ids,
        dense=lambda names: dense,
        words=lambda text: preparation.clean([text])[0],
    )

    texts: list[list[str]] = []
    while cut.has(reference := f"{number}.{reference_columns(len(texts) + 1)[-1]}.gz"):
        texts.append(read_lines(cut.checked(reference)))
        if len(texts[-1]) != read.table.sentence_count:
            why = f"has {len(texts[-1])} lines for {read.table.sentence_count} sentences"
            raise InputError(why, cut.path / reference)

    lists = without_duplicates(read)
    table = with_statistics(lists.table, preparation.cleaned_target, texts)

    quality = f"{number}.quality.gz"
    if cut.has(quality):
        numbers = read_numbers(cut.checked(quality), read.row.shape[0])
        table = table._replace(quality=numbers[lists.row])
    return table


def _read_ids(path: FilePath) -> list[int]:
    found = []
    for number, line in enumerate(read_lines(path), 1):
        if not re.fullmatch("[0-9]{1,9}", line):
            raise InputError(f"'{line[:40]}' is not the number of a sentence", path, number)
        found.append(int(line))
    return found
