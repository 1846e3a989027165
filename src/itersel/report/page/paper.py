"""The table of the systems for papers, in LaTeX and Markdown, formatted by tabulate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tabulate import tabulate

from itersel.report.page.table import COSTS, SETTINGS, View, table_view
from itersel.report.table import Cell

# Columns that papers do not show; they are in table.tsv.
LEFT_OUT = (*SETTINGS, *COSTS)
# Mark superscripts until tabulate has escaped LaTeX's special characters; no name contains these characters.
BEGIN, END = "\ue000", "\ue001"


def latex(table: Mapping[str, Any]) -> list[str]:
    """Return a tabular (with booktabs) for each test set; superscripts are significantly worse systems."""
    lines: list[str] = []
    for view in table_view(table):
        text = tabulate(*_cells(view, BEGIN, END), tablefmt="latex_booktabs", **_alignment(view))
        comment = " ".join(view.name.split())
        lines += [f"% {comment}, {view.sentences} sentences", *_signatures(view, "% ")]
        text = (
            text.replace(BEGIN, "\\textsuperscript{")
            .replace(END, "}")
            .replace("±", "$\\pm$")
            .replace("–", "--")
        )
        lines += [*text.splitlines(), ""]
    return lines[:-1]


def markdown(table: Mapping[str, Any]) -> list[str]:
    """Return a Markdown table for each test set; superscripts are significantly worse systems."""
    lines: list[str] = []
    for view in table_view(table):
        text = tabulate(*_cells(view, "<sup>", "</sup>", _escape), tablefmt="github", **_alignment(view))
        lines += [*text.splitlines(), ""]
        lines += [*_signatures(view, "- "), ""]
    return lines[:-1]


def _alignment(view: View) -> dict[str, Any]:
    """Return the alignment of columns; tabulate cannot infer it, because numbers are followed by marks."""
    sides = ["right" if one.is_number else "left" for one in view.columns if one.title not in LEFT_OUT]
    return {"colalign": sides, "disable_numparse": True}


def _cells(
    view: View, begin: str, end: str, escape: Callable[[str], str] = str
) -> tuple[list[list[str]], list[str]]:
    """Return rows and headers."""
    shown = [place for place, column in enumerate(view.columns) if column.title not in LEFT_OUT]
    rows = [[_cell(row[place], begin, end, escape) for place in shown] for row in view.rows]
    return rows, [escape(view.columns[place].title) for place in shown]


def _cell(cell: Cell, begin: str, end: str, escape: Callable[[str], str]) -> str:
    marks = f"{begin}{cell.marks}{end}" if cell.marks else ""
    note = f" {cell.note}" if cell.note else ""
    return f"{escape(cell.text)}{marks}{escape(note)}"


def _escape(text: str) -> str:
    """Escape text for Markdown and the HTML in it."""
    for letter in "\\`*_[]|":
        text = text.replace(letter, f"\\{letter}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _signatures(view: View, begin: str) -> list[str]:
    return [
        f"{begin}{column.title}: sacrebleu {column.signature}" for column in view.columns if column.signature
    ]
