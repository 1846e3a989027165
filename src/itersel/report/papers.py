"""The table of the systems for papers, in LaTeX and Markdown, from table.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabulate import tabulate

from itersel.errors import InputError
from itersel.evaluate.names import DEFAULT_METRICS, METRICS, TOKENIZED_BLEU, title_of
from itersel.report.baseline import baseline_and_best
from itersel.report.cells import Cell, cells_of_systems
from itersel.report.columns import COLUMNS, DIFFERENCE, SETTINGS, WORDS, title_on_test
from itersel.report.table import ALL_TEST_SETS
from itersel.report.table_content import Table, TestSetTable
from itersel.report.views import BASELINE, Column, View, score_columns

# Mark superscripts and bold until the rest is escaped, for LaTeX by tabulate; no name has these characters.
BEGIN, END, BOLD, BOLD_END = "\ue000", "\ue001", "\ue002", "\ue003"
LATEX = str.maketrans(
    {
        BEGIN: "\\textsuperscript{",
        END: "}",
        BOLD: "\\textbf{",
        BOLD_END: "}",
        "±": "$\\pm$",
        "–": "--",
        "|": "\\textbar{}",
    }
)
# Shrinks a table that is too wide (graphicx).
SHRINK = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
# Markdown, and the HTML in it.
MARKDOWN = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "\\`*_[]|"},
        **{"&": "&amp;", "<": "&lt;", ">": "&gt;"},
        **{BEGIN: "<sup>", END: "</sup>", BOLD: "**", BOLD_END: "**"},
    }
)


def paper_views(table: Table, columns: Sequence[str] = (), metrics: Sequence[str] = ()) -> list[View]:
    """Return a table for each test set and, if there are several, for all of them together.

    `columns` are some of `COLUMNS`, in their order, and `metrics` the scores between the settings and the
    other columns; by default, those of `DEFAULT_METRICS` or, if text was not scored, BLEU of tokenised text,
    and the user's own scores.
    """
    baseline, _ = baseline_and_best(table)
    alpha = table.significance.alpha
    return [_view(test_set, columns, metrics, baseline, alpha) for test_set in table.all_test_sets]


def _view(
    test_set: TestSetTable, columns: Sequence[str], metrics: Sequence[str], baseline: str | None, alpha: float
) -> View:
    scored = score_columns(test_set, baseline, alpha)
    systems = cells_of_systems(test_set)
    # pooled test sets have no epochs, and there may be no baseline
    known = {title: [cells[title] for cells in systems] for title in systems[0]} | {
        title: column.cells for title, column in scored.items()
    }

    scores = [title_on_test(metric) for metric in _known_metrics(test_set, metrics)]
    chosen = [COLUMNS[name] for name in columns if COLUMNS[name] in known]
    settings = [title for title in chosen if title in SETTINGS]
    others = [title for title in chosen if title not in SETTINGS]
    titles = ["system", "experiment", *settings, *scores, *others]

    return View(
        ALL_TEST_SETS if test_set.is_pooled else test_set.name,
        test_set.sentences,
        test_set.references,
        [
            Column(title, title not in WORDS, scored[title].signature if title in scores else "")
            for title in titles
        ],
        [list(row) for row in zip(*(known[title] for title in titles), strict=True)],
    )


def _known_metrics(test_set: TestSetTable, metrics: Sequence[str]) -> Sequence[str]:
    """Return the metrics that the table shows; an InputError names one without scores."""
    is_scored = test_set.signatures
    for metric in metrics:
        if metric not in is_scored:
            known = ", ".join(name for name in (*METRICS, *test_set.user_score_names) if name in is_scored)
            raise InputError(f"the systems have no scores by '{metric}'; choose some of {known}")

    of_text = [metric for metric in DEFAULT_METRICS if metric in is_scored]
    return metrics or [*(of_text or [TOKENIZED_BLEU]), *test_set.user_score_names]


def latex(table: Table, columns: Sequence[str] = (), metrics: Sequence[str] = ()) -> list[str]:
    """Return a tabular (with booktabs and graphicx) for each test set, with a note on how to read it."""
    lines = []
    for view in paper_views(table, columns, metrics):
        note = " ".join(_notes(view, table)).replace("%", "\\%").replace("p < ", "$p <$ ")
        lines += [
            *latex_view(view),
            f"\\par\\smallskip\\noindent{{\\footnotesize {note.translate(LATEX)}\\par}}",
            "",
        ]
    return lines[:-1]


def latex_view(view: View) -> list[str]:
    """Return a tabular of a table, with its name and signatures as comments."""
    comment = f"% {' '.join(view.name.split())}, {view.sentences} sentences; needs booktabs and graphicx"
    tabular = _format(view, "latex_booktabs", {}).translate(LATEX)
    return [comment, *_signatures(view, "% "), SHRINK, *tabular.splitlines(), "}%"]


def markdown(table: Table, columns: Sequence[str] = (), metrics: Sequence[str] = ()) -> list[str]:
    """Return a Markdown table for each test set, with notes on how to read it."""
    parts = [
        (
            *markdown_view(view),
            *(f"- {note.translate(MARKDOWN)}" for note in _notes(view, table)),
            *_signatures(view, "- "),
            "",
        )
        for view in paper_views(table, columns, metrics)
    ]
    return [line for part in parts for line in part][:-1]


def markdown_view(view: View) -> list[str]:
    """Return a table in Markdown, and an empty line."""
    return [*_format(view, "github", MARKDOWN).splitlines(), ""]


def _notes(view: View, table: Table) -> list[str]:
    """Return what the superscripts, numbers and bold scores of a table mean."""
    titles = [column.title for column in view.columns]
    every = [cell for row in view.rows for cell in row]
    level = table.significance.alpha
    number = None
    if DIFFERENCE in titles:
        place = titles.index(DIFFERENCE)
        number = next((row[0].text for row in view.rows if row[place] == BASELINE), None)

    worse = f"systems that are significantly worse (p < {level:g}, approximate randomization)"
    notes = {
        "Bold: the best score.": len(view.rows) > 1,
        f"Superscripts: {worse}.": any(cell.marks for cell in every),
        "In brackets: 95 % confidence intervals.": any(cell.note for cell in every),
        "±: standard deviation over the repeats of an experiment.": any("±" in cell.text for cell in every),
        f"Difference: {title_of(table.test_sets[0].main_metric)}, from system {number}.": number,
    }
    return [note for note, is_needed in notes.items() if is_needed]


def _format(view: View, table_format: str, escapes: Mapping[int, str]) -> str:
    """Return a table; tabulate cannot align it, as marks follow numbers."""
    has_best = len(view.rows) > 1
    text: str = tabulate(
        [[_cell(cell, has_best).translate(escapes) for cell in row] for row in view.rows],
        [column.title.translate(escapes) for column in view.columns],
        tablefmt=table_format,
        colalign=["right" if column.is_number else "left" for column in view.columns],
        disable_numparse=True,
    )
    return text


def _cell(cell: Cell, has_best: bool) -> str:
    text = f"{BOLD}{cell.text}{BOLD_END}" if cell.is_best and has_best else cell.text
    marks = f"{BEGIN}{cell.marks}{END}" if cell.marks else ""
    note = f" {cell.note}" if cell.note else ""
    return f"{text}{marks}{note}"


def _signatures(view: View, begin: str) -> list[str]:
    return [
        f"{begin}{column.title}: sacrebleu {column.signature}" for column in view.columns if column.signature
    ]
