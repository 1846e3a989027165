"""Tables as aligned text and as TSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def tab_separated(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a TSV file."""
    return ["\t".join(row) for row in [header, *rows]]


def two_decimals(value: float | None) -> str:
    """Return a number with two decimals; an empty text for `None`."""
    return "" if value is None else f"{value:.2f}"
