"""The table of the systems for papers, in LaTeX and Markdown, from table.json."""

from __future__ import annotations

from collections.abc import Mapping

from tabulate import tabulate

from itersel.report.page.table import COSTS, SETTINGS, View, table_view
from itersel.report.table import Cell
from itersel.storage.text_table import Content

# Mark superscripts until the rest is escaped, for LaTeX by tabulate; no name contains these characters.
BEGIN, END = "\ue000", "\ue001"
LATEX = str.maketrans({BEGIN: "\\textsuperscript{", END: "}", "±": "$\\pm$", "–": "--"})
# Markdown, and the HTML in it.
MARKDOWN = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "\\`*_[]|"},
        **{"&": "&amp;", "<": "&lt;", ">": "&gt;"},
        **{BEGIN: "<sup>", END: "</sup>"},
    }
)


def latex(table: Content) -> list[str]:
    """Return a tabular (with booktabs) for each test set; superscripts are significantly worse systems."""
    return [line for view in table_view(table) for line in (*latex_view(view), "")][:-1]


def latex_view(view: View) -> list[str]:
    """Return a tabular of a table, with its name and signatures as comments."""
    comment = f"% {' '.join(view.name.split())}, {view.sentences} sentences"
    tabular = _format(view, "latex_booktabs", {}).translate(LATEX)
    return [comment, *_signatures(view, "% "), *tabular.splitlines()]


def markdown(table: Content) -> list[str]:
    """Return a Markdown table for each test set; superscripts are significantly worse systems."""
    parts = ((*markdown_view(view), *_signatures(view, "- "), "") for view in table_view(table))
    return [line for part in parts for line in part][:-1]


def markdown_view(view: View) -> list[str]:
    """Return a table in Markdown, and an empty line."""
    return [*_format(view, "github", MARKDOWN).splitlines(), ""]


def _format(view: View, form: str, escapes: Mapping[int, str]) -> str:
    """Return a table, without settings and costs; tabulate cannot align it, as marks follow numbers."""
    shown = [place for place, column in enumerate(view.columns) if column.title not in (*SETTINGS, *COSTS)]
    text: str = tabulate(
        [[_cell(row[place]).translate(escapes) for place in shown] for row in view.rows],
        [view.columns[place].title.translate(escapes) for place in shown],
        tablefmt=form,
        colalign=["right" if view.columns[place].is_number else "left" for place in shown],
        disable_numparse=True,
    )
    return text


def _cell(cell: Cell) -> str:
    marks = f"{BEGIN}{cell.marks}{END}" if cell.marks else ""
    note = f" {cell.note}" if cell.note else ""
    return f"{cell.text}{marks}{note}"


def _signatures(view: View, begin: str) -> list[str]:
    return [
        f"{begin}{column.title}: sacrebleu {column.signature}" for column in view.columns if column.signature
    ]
