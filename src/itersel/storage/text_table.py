"""Tables as aligned text and as TSV."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

# The content of a JSON file that tables are made from, or a part of it.
Content = Mapping[str, Any]


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table with a rule below its header; columns in `left` are aligned left."""
    table = [header, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return [line(header), "  ".join("-" * width for width in widths), *(line(row) for row in rows)]


def aligned_rows(rows: Sequence[Mapping[str, str]], left: Container[str] = ()) -> list[str]:
    """Return the lines of a table of rows by title; columns with a title in `left` are aligned left."""
    titles = list(rows[0]) if rows else []
    places = [place for place, title in enumerate(titles) if title in left]
    return aligned(titles, [list(row.values()) for row in rows], places)


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
