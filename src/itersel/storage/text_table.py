"""Tables as aligned text and as TSV."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

# The content of a JSON file that tables are made from, or a part of it.
Content = Mapping[str, Any]


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


def tab_separated(rows: Sequence[Mapping[str, str]], titles: Sequence[str] = ()) -> list[str]:
    """Return the lines of a TSV file of rows by title, by default those of the first row.

    Cells of titles that a row lacks are empty.
    """
    titles = titles or list(rows[0] if rows else ())
    header = [title.replace(" ", "_").lower() for title in titles]
    return ["\t".join(header), *("\t".join(row.get(title, "") for title in titles) for row in rows)]


def two_decimals(value: float | None) -> str:
    """Return a number with two decimals; an empty text for `None`."""
    return "" if value is None else f"{value:.2f}"
