"""Numbers of the translations that were chosen from n-best lists, such as COMET scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from itersel.errors import FilePath, InputError
from itersel.lists.lines import LineParser
from itersel.lists.numbers import Numbers
from itersel.lists.summary import find_lists, numbered_translations
from itersel.storage.arrays import Float64s, Int64s


def rows_of_chosen(
    lists: Sequence[FilePath], chosen: Mapping[FilePath, Mapping[int, str]], clean: Callable[[str], str]
) -> tuple[dict[FilePath, Int64s], int]:
    """Return which translation in the lists each line of some texts is, and the number of translations.

    The lines, by file and by sentence, were chosen from lists whose texts were cleaned. A number belongs to a
    text: where several translations of a sentence have the same text, this is the first in the files.
    """
    wanted = {pair for lines in chosen.values() for pair in lines.items()}
    first: dict[tuple[int, str], int] = {}
    parser, row = LineParser(), -1

    for row, (path, number, line) in enumerate(numbered_translations(find_lists(lists), "read")):
        parsed = parser.parse(line, path, number)
        found = parsed.sentence, clean(parsed.text)
        if found in wanted:
            first.setdefault(found, row)

    rows = {}
    for file, lines in chosen.items():
        for pair in lines.items():
            if pair not in first:
                raise InputError("is not in the list of its sentence; translate again", file, pair[0] + 1)
        rows[file] = np.array([first[pair] for pair in lines.items()], np.int64)
    return rows, row + 1


def numbers_of_chosen(
    numbers: Numbers, rows: Mapping[FilePath, Int64s], count: int
) -> dict[FilePath, Float64s]:
    """Return the numbers of the lines of each text, given `rows_of_chosen`."""
    every = numbers.of_translations(count)
    return {file: every[found] for file, found in rows.items()}
