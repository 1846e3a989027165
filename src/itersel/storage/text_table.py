"""Tables as aligned text and as TSV."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any

# The content of a JSON file that tables are made from, or a part of it.
Content = Mapping[str, Any]
# Line width of the notes below tables.
WIDTH = 105


def aligned(rows: Sequence[Mapping[str, str]], left: Container[str] = ()) -> list[str]:
    """Return the lines of a table of rows by title; columns with a title in `left` are aligned left."""
    titles = list(rows[0]) if rows else []
    table = [titles, *(list(row.values()) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if title in left else cell.rjust(width)
            for title, cell, width in zip(titles, cells, widths, strict=True)
        )
        return "  ".join(padded).rstrip()

    return [line(titles), "  ".join("-" * width for width in widths), *map(line, table[1:])]


def wrapped(notes: Iterable[str]) -> list[str]:
    """Return the lines of notes; names and paths stay whole."""
    lines = (wrap(note, WIDTH, break_on_hyphens=False, break_long_words=False) for note in notes)
    return [line for of_note in lines for line in of_note]


def tab_separated(rows: Sequence[Mapping[str, object]], titles: Sequence[str] = ()) -> list[str]:
    """Return the lines of a TSV file of rows by title, by default the titles of the first row.

    Scores have two decimals. Cells of None, and of titles that a row lacks, are empty; cells of empty lists
    have a hyphen.
    """
    titles = titles or list(rows[0] if rows else ())
    header = [title.replace(" ", "_").lower() for title in titles]
    return ["\t".join(header), *("\t".join(_tsv_cell(row.get(title)) for title in titles) for row in rows)]


def _tsv_cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    return "" if value is None else str(value)
