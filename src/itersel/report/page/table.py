"""The table of the systems as the page shows it, and for papers in LaTeX and Markdown, from table.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from itersel.corpus.text_names import POOLED
from itersel.evaluate.names import METRICS, TOKENIZED_BLEU, sign_of, title_of
from itersel.report.page.answer import answer, best_on_devtest
from itersel.report.page.folder import read_optional
from itersel.report.table import (
    ALL_TEST_SETS,
    NOTHING,
    ON_DEVTEST,
    ON_TEST,
    WORDS,
    Cell,
    all_test_sets,
    cells,
    is_experiment,
    score_cell,
)
from itersel.storage.json_files import check_numbers
from itersel.storage.text_table import Content

COSTS = ("processor time", "memory (MB)")
# The columns around the scores; those about epochs and costs do not apply to pooled test sets.
OF_EPOCHS = (ON_DEVTEST, "epoch", "active features")
# Columns that are folded.
SECONDARY = (
    *(
        title
        for title, _, is_lowercased, is_tokenized in METRICS.values()
        if is_lowercased and not is_tokenized
    ),
    COSTS[1],
)
SETTINGS = ("learner", "mixing", "shards", "tuned on", "features")
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


class Column(NamedTuple):
    """A column: its title, whether it contains numbers, the signature of scores, whether it is folded."""

    title: str
    is_number: bool
    signature: str = ""
    is_secondary: bool = False


class View(NamedTuple):
    """The table of a test set."""

    name: str
    sentences: int
    references: int
    columns: list[Column]
    rows: list[list[Cell]]


def read_table(path: Path) -> dict[str, Any] | None:
    """Return the content of table.json; None if it does not exist yet."""
    otherwise = "is not a table of systems; make it with 'itersel step table'"
    table: dict[str, Any] | None = read_optional(path, _check_table, otherwise)
    return table


def _check_table(table: Content) -> None:
    """Raise an error of Python unless the tables of all systems can be made of this."""
    if not table["test_sets"]:
        raise ValueError("no test sets")
    table_view(table)
    for test_set in table["test_sets"]:
        best_on_devtest(test_set["systems"])
    answer(table)

    for one in all_test_sets(table):
        check_numbers((one["sentences"], one["references"]))

    how = table["significance"]["alpha"], table["significance"]["trials"]
    check_numbers(how)
    if 0 in how:
        raise ValueError("no significance test")


def table_view(
    table: Content, runs: Sequence[Content] = (), costs: Mapping[str, Content] | None = None
) -> list[View]:
    """Return one table per test set and, if there are several, one for all of them together.

    `runs` are the runs of all experiments, and `costs` their costs by name; without them, no costs are known.
    """
    of_experiments: dict[str, list[Content]] = {}
    for run in runs:
        if costs and run["run"] in costs:
            of_experiments.setdefault(run["experiment"], []).append(costs[run["run"]])
    return [_view(one, of_experiments) for one in all_test_sets(table)]


def _view(one: Content, costs: Mapping[str, Sequence[Content]]) -> View:
    is_pooled = one["name"] == POOLED
    titles = ["system", "experiment", *SETTINGS]
    rows = [cells(system) for system in one["systems"]]
    signatures = {}

    for title, signature, scores, sign in _scores(one):
        titles.append(title)
        signatures[title] = signature
        best = max(sign * score["mean"] for score in scores)
        for row, score in zip(rows, scores, strict=True):
            marks, is_best = join_numbers(score.get("better_than", ())), sign * score["mean"] == best
            row[title] = score_cell(score)._replace(marks=marks, is_best=is_best)

    titles += () if is_pooled else (*OF_EPOCHS, *COSTS)
    for row, system in zip(rows, one["systems"], strict=True):
        if not is_pooled and is_experiment(system):
            active = row["active features"].value
            row["active features"] = Cell(f"{active:,.0f}", active)
        row |= zip(COSTS, _costs(costs.get(system["name"], ())), strict=True)

    columns = [
        Column(title, title not in WORDS, signatures.get(title, ""), title in SECONDARY) for title in titles
    ]
    name = ALL_TEST_SETS if is_pooled else str(one["name"])
    shown = [[row[title] for title in titles] for row in rows]
    return View(name, one["sentences"], one["references"], columns, shown)


def _scores(one: Content) -> Iterator[tuple[str, str, list[Any], int]]:
    """Yield title, signature, the score of each system, and -1 if lower scores are better, else 1."""
    systems = one["systems"]
    for metric, signature in one["signatures"].items():
        found = [system["scores"][metric] for system in systems]
        yield title_of(metric), signature, found, sign_of(metric)
    means = {system["system"]: system["test"]["mean"] for system in systems}
    own = []
    for system in systems:
        beaten = [other for other in system["differs_from"] if means[other] < means[system["system"]]]
        own.append({**system["test"], "better_than": beaten})
    yield ON_TEST, one["signature"], own, sign_of(TOKENIZED_BLEU)


def _costs(costs: Sequence[Content]) -> Iterator[Cell]:
    """Yield the costs of all runs of an experiment: total time, maximum memory."""
    hours = [cost["hours"] for cost in costs if cost["hours"] is not None]
    memory = [cost["memory"] for cost in costs if cost["memory"] is not None]
    yield Cell(format_hours(sum(hours)), sum(hours)) if hours else NOTHING
    yield Cell(f"{max(memory):,.0f}", max(memory)) if memory else NOTHING


def format_hours(hours: float) -> str:
    """Format a time given in hours, in the largest unit of which it has at least one."""
    units = {"h": hours, "min": hours * 60, "s": hours * 3600}
    unit, value = next((one for one in units.items() if one[1] >= 1), ("s", units["s"]))
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def join_numbers(numbers: Iterable[int]) -> str:
    """Join ascending numbers with commas; three or more consecutive ones become a range: 1,3–7."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    texts = [f"{one[0]}–{one[-1]}" if len(one) > 2 else ",".join(map(str, one)) for one in groups]
    return ",".join(texts)


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
