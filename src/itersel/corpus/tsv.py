"""Parallel text as TSV: one pair per line, fields separated by tabs; quotes have no special meaning."""

from __future__ import annotations

from collections.abc import Iterator

from itersel.corpus.corpora import Corpus, Reading
from itersel.corpus.labels import checked_labels
from itersel.corpus.text import Bitext, check_text, check_tokens
from itersel.errors import InputError
from itersel.storage.files import line_blocks


def tsv_blocks(path: str, corpus: Corpus, reading: Reading) -> Iterator[Bitext]:
    """Read a TSV file in blocks; columns not listed in `columns` are ignored.

    Raises
    ------
    InputError
        If the file is empty or not UTF-8, a line is too long or has too few columns, a text contains a
        control character, ``|||`` or, if tokenised, a reserved word, or a label is not one word. Names the
        line.
    """
    number, columns = 0, corpus.columns
    for lines in line_blocks(path, reading.limit, reading.advice):
        rows = [line.split("\t") for line in lines]
        source = _column(rows, columns.source, "source", path, number)
        target = _column(rows, columns.target, "target", path, number)
        labels = None if columns.task is None else _column(rows, columns.task, "task", path, number)
        block, numbers = Bitext(source, target, labels), range(number + 1, number + 1 + len(rows))
        for side in (block.source, block.target) if reading.dropped is None else ():
            check_text(side, path, numbers)
            if reading.tokenized:
                check_tokens(side, path, numbers)
        if block.task is not None:
            block = block._replace(task=checked_labels(block.task, path, number))
        yield block
        number += len(rows)
    if not number:
        raise InputError("is empty; a pair of sentences per line was expected", path)


def _column(rows: list[list[str]], column: int, name: str, path: str, before: int) -> list[str]:
    """Return the texts of a column of some rows; `before` is the number of preceding lines."""
    for number, row in enumerate(rows, before + 1):
        if len(row) < column:
            count = "1 column" if len(row) == 1 else f"{len(row)} columns"
            message = f"has {count}, separated by tabs, but the {name} is column {column}"
            raise InputError(message, path, number)
    return [row[column - 1] for row in rows]
