"""The tables of several runs, from what `compare_runs` returns: text, TSV, LaTeX, Markdown, and their page.

The page also has charts of the differences from a baseline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import itersel
from itersel.evaluate.names import sign_of, title_of
from itersel.report.page.answer import told_size
from itersel.report.page.charts import against, differences
from itersel.report.page.render import SHARED, fill
from itersel.report.page.table import Column, View, join_numbers
from itersel.report.papers import MARKDOWN, latex_view, markdown_view
from itersel.report.scores import REPEATED
from itersel.report.table import Cell, format_p, precise_p, score_cell, told_p
from itersel.storage.text_table import Content, aligned, tab_separated, wrapped

SETTINGS = "settings that differ"
MEAN, ERROR = "mean of runs", "standard error"
RANDOMIZATION, AHEAD, SIGN_TEST = "p (randomization)", "runs ahead", "p (sign test)"
# Letters of a setting in text and Markdown; the page and JSON have all.
MOST_LETTERS = 40
# Lines in a chart that can be told apart.
MOST_SERIES = 8
# The cell of a baseline's difference from itself.
NOTHING = Cell("–", "")
# Titles of the columns of TSV; a row about all runs has the name of `MEAN`.
COLUMNS = (
    *("run", "system", "experiment", "repeats", "score", "deviation", "better than"),
    *("baseline", "difference", "low", "high", "p", "error", "ahead", "behind", "sign p"),
)


def views(content: Content, has_intervals: bool = False) -> list[View]:
    """Return a table of scores, and one of differences from the baseline.

    With `has_intervals`, the differences in single runs have their intervals, too.
    """
    runs, systems, name = content["runs"], content["systems"], title_of(content["metric"])
    alpha = content["significance"]["alpha"]
    sentences = {run["text"]: run["sentences"] for run in runs}
    size = sum(sentences.values()), max(run["references"] for run in runs)

    first = [Column("system", True), Column("experiment", False)]
    of_runs = [Column(run["name"], True) for run in runs]
    further = [Column(title, True) for title in (MEAN, ERROR, RANDOMIZATION, AHEAD, SIGN_TEST)]

    titles = [[Cell(str(one["system"]), one["system"]), Cell(one["name"], one["name"])] for one in systems]
    scores = [[*title, *_scores(one, runs)] for title, one in zip(titles, systems, strict=True)]
    compared = [
        [*title, *_differences(one, alpha, has_intervals)] for title, one in zip(titles, systems, strict=True)
    ]

    return [
        View(name, *size, [*first, *of_runs, Column(MEAN, True)], scores),
        View(f"{name}, difference from the baseline", *size, [*first, *of_runs, *further], compared),
    ]


def _scores(system: Content, runs: list[Content]) -> list[Cell]:
    """Return the scores in all runs, and their mean; the scores of baselines have an asterisk."""
    cells = []
    for one, run in zip(system["runs"], runs, strict=True):
        cell, is_baseline = score_cell({**one, "interval": None}), run["baseline"] == system["name"]
        text = f"{cell.text}*" if is_baseline else cell.text
        cells.append(cell._replace(text=text, marks=join_numbers(one["better_than"])))
    mean = sum(one["mean"] for one in system["runs"]) / len(runs)
    return [*cells, Cell(f"{mean:.2f}", mean)]


def _differences(system: Content, alpha: float, has_intervals: bool) -> list[Cell]:
    """Return the differences from the baseline in all runs, and over all runs."""
    overall = system["difference"]
    cells = [_difference(one["difference"], one["interval"]) for one in system["runs"]]
    cells = [cell if has_intervals else cell._replace(note="") for cell in cells]

    if overall is None:
        return [*cells, *[NOTHING] * 5]
    return [
        *cells,
        _difference(overall["mean"], overall["interval"]),
        NOTHING if overall["error"] is None else Cell(f"{overall['error']:.2f}", overall["error"]),
        Cell(format_p(overall["p"], alpha), overall["p"]),
        Cell(f"{overall['ahead']} of {overall['ahead'] + overall['behind']}", overall["ahead"]),
        Cell(format_p(overall["sign_p"], alpha), overall["sign_p"]),
    ]


def _difference(difference: float | None, interval: tuple[float, float] | None) -> Cell:
    if difference is None or interval is None:
        return NOTHING
    return Cell(f"{difference:+z.2f}", difference, note=f"[{interval[0]:z.1f}, {interval[1]:z.1f}]")


def notes(content: Content) -> list[str]:
    """Return how to read the tables, a paragraph each, and sacrebleu's signatures."""
    baselines, how, runs = content["baselines"], content["significance"], content["runs"]
    chosen = ", the best on devtest of " + ", ".join(baselines) if len(baselines) > 1 else ""

    found = [
        f"*: the baseline of the run{chosen}.",
        "Superscripts, or numbers in parentheses: systems that are significantly worse in the run "
        f"(p < {how['alpha']:g}).",
        "Brackets: 95 % intervals of differences (bootstrap).",
        f"{ERROR}: of the mean, from the deviation between runs.",
        f"{RANDOMIZATION}: approximate randomization of the mean difference, {how['trials']} trials, seed "
        f"{how['seed']}; the translations of a sentence are exchanged within each run.",
        f"{AHEAD}: of those that differ; {SIGN_TEST}: two-sided.",
    ]

    if any(len(one["repeats"]) > 1 for system in content["systems"] for one in system["runs"]):
        found.append(REPEATED)
    if content["left_out"]:
        others = "; ".join(f"{name} ({', '.join(having)})" for name, having in content["left_out"].items())
        found.append(f"Left out, as not all runs have them: {others}.")
    signatures = dict.fromkeys(run["signature"] for run in runs)
    for signature in signatures:
        which = [run["name"] for run in runs if run["signature"] == signature]
        where = f" of {', '.join(which)}" if len(signatures) > 1 else ""
        found.append(f"{title_of(content['metric'])}{where}: sacrebleu {signature}")
    return found


def text_table(content: Content) -> list[str]:
    """Return the tables as aligned text, with notes."""
    lines = []
    for view in [*views(content), *_settings(content)]:
        titles = [column.title for column in view.columns]
        rows = [dict(zip(titles, map(_text, row), strict=True)) for row in view.rows]
        left = [column.title for column in view.columns if not column.is_number]
        lines += [f"{view.name}:", *aligned(rows, left), ""]
    return [*lines, *wrapped(notes(content))]


def _settings(content: Content) -> list[View]:
    """Return the table of the settings in which the runs differ, if they do."""
    if not content["settings"]["differing"]:
        return []
    columns = [Column(title, False) for title in ("key", *(run["name"] for run in content["runs"]))]
    rows = [
        [Cell(key, key), *(Cell(_short(value) or NOTHING.text, value) for value in values)]
        for key, values in content["settings"]["differing"]
    ]
    return [View(SETTINGS, 0, 0, columns, rows)]


def _short(value: str) -> str:
    """Return a value, such as a list of files, without its middle if it is long."""
    return (
        value if len(value) <= MOST_LETTERS else f"{value[: MOST_LETTERS // 2]}…{value[-MOST_LETTERS // 2 :]}"
    )


def _text(cell: Cell) -> str:
    return f"{cell.text} {cell.note}".rstrip() + (f" ({cell.marks})" if cell.marks else "")


def tsv_table(content: Content) -> list[str]:
    """Return a row for each run and experiment, and rows for all runs together."""
    rows: list[dict[str, object]] = []
    alpha = content["significance"]["alpha"]
    for system in content["systems"]:
        place = {"system": system["system"], "experiment": system["name"]}
        for run, one in zip(content["runs"], system["runs"], strict=True):
            row = {"run": run["name"], **place, "repeats": len(one["repeats"]), "baseline": run["baseline"]}
            row |= {"score": one["mean"], "deviation": one["deviation"], "better than": one["better_than"]}
            rows.append(row | _of_difference(one, alpha))

        if overall := system["difference"]:
            row = {"run": MEAN, **place, **_of_difference({**overall, "difference": overall["mean"]}, alpha)}
            row |= {key: overall[key] for key in ("error", "ahead", "behind")}
            rows.append({**row, "sign p": precise_p(overall["sign_p"], alpha)})
    return tab_separated(rows, COLUMNS)


def _of_difference(one: Content, alpha: float) -> dict[str, object]:
    if one["difference"] is None:
        return {}
    low, high = one["interval"]
    p = precise_p(one["p"], alpha)
    return {"difference": one["difference"], "low": low, "high": high, "p": p}


def latex(content: Content) -> list[str]:
    """Return a tabular (with booktabs) of the scores, and one of the differences."""
    lines = [line for view in views(content) for line in (*latex_view(view), "")]
    keys = [key for key, _ in content["settings"]["differing"]]
    differing = [f"The runs differ in {', '.join(keys)}."] if keys else []
    return [*lines, *(f"% {note}" for note in (*notes(content), *differing))]


def markdown(content: Content) -> list[str]:
    """Return a Markdown table of the scores, and one of the differences."""
    lines = [
        line
        for view in [*views(content), *_settings(content)]
        for line in (f"{view.name}:", "", *markdown_view(view))
    ]
    return [*lines, *(f"- {note.translate(MARKDOWN)}" for note in notes(content))]


def render_runs(content: Content) -> str:
    """Return the page of several runs."""
    figures = {
        f"difference-{system['system']}": {
            "experiment": system["name"],
            "rows": _points(content, system),
            "told": _told(system["difference"], content["significance"]["alpha"]),
        }
        for system in content["systems"]
        if system["difference"]
    }

    # the same scale for all charts
    values = [point[key] for one in figures.values() for point in one["rows"] for key in ("low", "high")]
    low, high = min(-0.1, *values), max(0.1, *values)
    title = f"difference in {title_of(content['metric'])}"

    specifications = {name: differences(title, low, high, len(one["rows"])) for name, one in figures.items()}

    varied = {f"varied-{number}": one for number, one in enumerate(_parts(content["varied"]))}
    specifications |= {
        name: against(one["key"], title_of(content["metric"]), _values(one)) for name, one in varied.items()
    }

    return fill(
        "runs.html",
        (*SHARED, "runs.js"),
        data={"figures": figures, "varied": varied},
        charts=specifications,
        title=", ".join(run["name"] for run in content["runs"]),
        version=itersel.__version__,
        answer=_answer(content),
        views=[_for_page(view, len(content["runs"])) for view in views(content, has_intervals=True)],
        notes=notes(content),
        figures=figures,
        names=[run["name"] for run in content["runs"]],
        settings=content["settings"],
        varied=varied,
    )


def _answer(content: Content) -> dict[str, Any]:
    """Return the experiment with the best mean difference, and what the page says of it."""
    metric, runs, baselines = content["metric"], len(content["runs"]), content["baselines"]
    sign, alpha = sign_of(metric), content["significance"]["alpha"]
    compared = [one for one in content["systems"] if one["difference"]]
    best = max(compared, key=lambda one: sign * float(one["difference"]["mean"]))
    overall = best["difference"]
    return {
        "told": {
            "best": best["name"],
            "sign": sign * overall["mean"],
            "baseline": baselines[0] if len(baselines) == 1 else "the baselines",
            "size": told_size(overall["mean"]),
            "title": title_of(metric),
            "where": f" in the mean of {runs} runs" if runs > 1 else "",
            "p": told_p(overall["p"], alpha),
            "is_significant": overall["p"] < alpha,
        },
        "of": len(compared),
        "ahead": _told_ahead(overall),
        "interval": _told_interval(overall),
    }


def _for_page(view: View, runs: int) -> View:
    """Return a table with the columns about all runs that matter most before those of single runs."""
    titles, first = [column.title for column in view.columns], 2 + runs
    # a run may have any name
    moved = [place for place in range(first, len(titles)) if titles[place] in (MEAN, RANDOMIZATION)]
    order = [0, 1, *moved, *(place for place in range(2, len(titles)) if place not in moved)]
    return view._replace(
        columns=[view.columns[place] for place in order],
        rows=[[row[place] for place in order] for row in view.rows],
    )


def _parts(varied: Sequence[Content]) -> list[Content]:
    """Return the numbers that vary, those with many series as several, each of which has colours enough."""
    found: list[Content] = []
    for one in varied:
        series = one["series"]
        size = math.ceil(len(series) / math.ceil(len(series) / MOST_SERIES))
        found += [{**one, "series": series[begin : begin + size]} for begin in range(0, len(series), size)]
    return found


def _values(one: Content) -> list[float]:
    return [point["value"] for series in one["series"] for point in series["points"]]


def _points(content: Content, system: Content) -> list[dict[str, Any]]:
    """Return the differences of an experiment in the runs that have another baseline, and their mean."""
    level, overall = content["significance"]["alpha"], system["difference"]
    shown = [
        (run["name"], "run", one["difference"], one)
        for run, one in zip(content["runs"], system["runs"], strict=True)
        if one["interval"]
    ]
    keys = "run", "kind", "difference", "low", "high", "significant"
    return [
        dict(zip(keys, (*place, *one["interval"], one["p"] < level), strict=True))
        for *place, one in [*shown, (MEAN, "mean", overall["mean"], overall)]
    ]


def _told(overall: Content, alpha: float) -> str:
    return (
        f"Mean: {overall['mean']:+z.2f} {_told_interval(overall)}, {told_p(overall['p'], alpha)}; "
        f"{_told_ahead(overall)}."
    )


def _told_interval(overall: Content) -> str:
    low, high = overall["interval"]
    return f"[{low:z.1f}, {high:z.1f}]"


def _told_ahead(overall: Content) -> str:
    return f"ahead in {overall['ahead']} of {overall['ahead'] + overall['behind']} runs"
