"""The tables of several runs, from what `compare_runs` returns: text, TSV, LaTeX and Markdown."""

from __future__ import annotations

import math

from itersel.evaluate.names import title_of
from itersel.report.cells import NOTHING, Cell, score_cell
from itersel.report.p_values import format_p, precise_p
from itersel.report.papers import MARKDOWN, latex_view, markdown_view
from itersel.report.runs_content import ComparedExperiment, RunDescription, RunsContent, ScoreInRun
from itersel.report.runs_settings import PAIRS
from itersel.report.scores import REPEATED
from itersel.report.table_content import MeanScore
from itersel.report.views import Column, View, join_numbers
from itersel.storage.text_table import Content, aligned, tab_separated, wrapped

DIFFERING_SETTINGS = "settings that differ"
MEAN_OF_RUNS, ERROR = "mean of runs", "standard error"
RANDOMIZATION, AHEAD, SIGN_TEST = "p (randomization)", "runs ahead", "p (sign test)"
# Columns of the table with a row for each run, which TSV has, too.
MINUTES, BASELINE_SCORE, BASELINE_MINUTES = "minutes", "baseline score", "baseline minutes"
# Letters of a setting in text and Markdown; the page and JSON have all.
MAX_LETTERS = 40
# The cell of a baseline's difference from itself.
NO_DIFFERENCE = Cell("–", "")
# Titles of the columns of TSV; a row about all runs has the name of `MEAN_OF_RUNS`.
TSV_COLUMNS = (
    *("run", PAIRS, "system", "experiment", "repeats", "score", "deviation", "better than", MINUTES),
    *("baseline", BASELINE_SCORE, BASELINE_MINUTES),
    *("difference", "low", "high", "p", "error", "ahead", "behind", "sign p"),
)


def views(content: RunsContent, has_intervals: bool = False) -> list[View]:
    """Return a table of scores, one of differences from the baseline, and one with a row for each run.

    With `has_intervals`, the differences in single runs have their intervals, too.
    """
    runs = content["runs"]
    systems = content["systems"]
    name = title_of(content["metric"])
    alpha = content["significance"]["alpha"]
    sentences = {run["text"]: run["sentences"] for run in runs}
    size = sum(sentences.values()), max(run["references"] for run in runs)

    first = [Column("system", True), Column("experiment", False)]
    of_runs = [Column(run["name"], True) for run in runs]
    further = [Column(title, True) for title in (MEAN_OF_RUNS, ERROR, RANDOMIZATION, AHEAD, SIGN_TEST)]

    names = [
        [Cell(str(system["number"]), system["number"]), Cell(system["name"], system["name"])]
        for system in systems
    ]
    scores = [[*cells, *_scores(system, runs)] for cells, system in zip(names, systems, strict=True)]
    compared = [
        [*cells, *_differences(system, alpha, has_intervals)]
        for cells, system in zip(names, systems, strict=True)
    ]

    return [
        View(name, *size, [*first, *of_runs, Column(MEAN_OF_RUNS, True)], scores),
        View(f"{name}, difference from the baseline", *size, [*first, *of_runs, *further], compared),
        View(f"{name} and {MINUTES} of processor time, by run", *size, *_by_run(content)),
    ]


def _scores(system: ComparedExperiment, runs: list[RunDescription]) -> list[Cell]:
    """Return the scores in all runs, and their mean; the scores of baselines have an asterisk."""
    cells = []
    for one, run in zip(system["runs"], runs, strict=True):
        cell = score_cell(_mean(one))
        text = f"{cell.text}*" if run["baseline"] == system["name"] else cell.text
        cells.append(cell._replace(text=text, marks=join_numbers(one["better_than"])))
    mean = sum(one["mean"] for one in system["runs"]) / len(runs)
    return [*cells, Cell(f"{mean:.2f}", mean)]


def _mean(score: ScoreInRun) -> MeanScore:
    return MeanScore(score["mean"], score["deviation"])


def _differences(system: ComparedExperiment, alpha: float, has_intervals: bool) -> list[Cell]:
    """Return the differences from the baseline in all runs, and over all runs."""
    overall = system["difference"]
    cells = [_difference(one["difference"], one["interval"]) for one in system["runs"]]
    cells = [cell if has_intervals else cell._replace(note="") for cell in cells]

    if overall is None:
        return [*cells, *[NO_DIFFERENCE] * 5]
    return [
        *cells,
        _difference(overall["mean"], overall["interval"]),
        NO_DIFFERENCE if overall["error"] is None else Cell(f"{overall['error']:.2f}", overall["error"]),
        Cell(format_p(overall["p"], alpha), overall["p"]),
        Cell(f"{overall['ahead']} of {overall['ahead'] + overall['behind']}", overall["ahead"]),
        Cell(format_p(overall["sign_p"], alpha), overall["sign_p"]),
    ]


def _by_run(content: RunsContent) -> tuple[list[Column], list[list[Cell]]]:
    """Return the columns and rows of a table of each experiment in each run, beside the run's baseline.

    The runs of an experiment are in the order of their training pairs.
    """
    runs = content["runs"]
    alpha = content["significance"]["alpha"]
    baselines = _of_baselines(content)
    places = sorted(range(len(runs)), key=lambda place: runs[place]["training_pairs"] or math.inf)

    rows = []
    for system in content["systems"]:
        for place in places:
            run, one, baseline = runs[place], system["runs"][place], baselines[place]
            if system["name"] == run["baseline"]:
                continue

            row = {
                "system": Cell(str(system["number"]), system["number"]),
                "experiment": Cell(system["name"], system["name"]),
                "run": Cell(run["name"], run["name"]),
                PAIRS: _amount(run["training_pairs"], ",d"),
                "score": score_cell(_mean(one)),
                MINUTES: _amount(one["minutes"], ",.1f"),
                "baseline": Cell(run["baseline"], run["baseline"]),
                BASELINE_SCORE: score_cell(_mean(baseline)),
                BASELINE_MINUTES: _amount(baseline["minutes"], ",.1f"),
                "difference": _difference(one["difference"], one["interval"]),
                "p": _p_value(one["p"], alpha),
            }
            rows.append(row)

    columns = [Column(title, title not in ("experiment", "run", "baseline")) for title in rows[0]]
    return columns, [list(row.values()) for row in rows]


def _of_baselines(content: RunsContent) -> list[ScoreInRun]:
    """Return the scores and costs of each run's baseline."""
    by_name = {system["name"]: system["runs"] for system in content["systems"]}
    return [by_name[run["baseline"]][place] for place, run in enumerate(content["runs"])]


def _amount(value: float | None, form: str) -> Cell:
    return NOTHING if value is None else Cell(f"{value:{form}}", value)


def _p_value(p: float | None, alpha: float) -> Cell:
    return NO_DIFFERENCE if p is None else Cell(format_p(p, alpha), p)


def _difference(difference: float | None, interval: tuple[float, float] | None) -> Cell:
    if difference is None or interval is None:
        return NO_DIFFERENCE
    return Cell(f"{difference:+z.2f}", difference, note=f"[{interval[0]:z.1f}, {interval[1]:z.1f}]")


def notes(content: RunsContent) -> list[str]:
    """Return how to read the tables, a paragraph each, and sacrebleu's signatures."""
    baselines = content["baselines"]
    how = content["significance"]
    runs = content["runs"]
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
        f"{MINUTES}: processor time of training, mixing and tuning, the mean over the repeats. It includes "
        "neither translating devtest and test nor what experiments share, such as word alignment and the "
        "extraction of grammars.",
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


def text_table(content: RunsContent) -> list[str]:
    """Return the tables as aligned text, with notes."""
    lines = []
    for view in [*views(content), *_settings(content)]:
        titles = [column.title for column in view.columns]
        rows = [dict(zip(titles, map(_text, row), strict=True)) for row in view.rows]
        left = [column.title for column in view.columns if not column.is_number]
        lines += [f"{view.name}:", *aligned(rows, left), ""]
    return [*lines, *wrapped(notes(content))]


def _settings(content: RunsContent) -> list[View]:
    """Return the table of the settings in which the runs differ, if they do."""
    if not content["settings"]["differing"]:
        return []
    columns = [Column(title, False) for title in ("key", *(run["name"] for run in content["runs"]))]
    rows = [
        [Cell(key, key), *(Cell(_short(value) or NO_DIFFERENCE.text, value) for value in values)]
        for key, values in content["settings"]["differing"]
    ]
    return [View(DIFFERING_SETTINGS, 0, 0, columns, rows)]


def _short(value: str) -> str:
    """Return a value, such as a list of files, without its middle if it is long."""
    return value if len(value) <= MAX_LETTERS else f"{value[: MAX_LETTERS // 2]}…{value[-MAX_LETTERS // 2 :]}"


def _text(cell: Cell) -> str:
    return f"{cell.text} {cell.note}".rstrip() + (f" ({cell.marks})" if cell.marks else "")


def tsv_table(content: RunsContent) -> list[str]:
    """Return a row for each run and experiment, and rows for all runs together."""
    rows: list[dict[str, object]] = []
    alpha = content["significance"]["alpha"]
    baselines = _of_baselines(content)
    for system in content["systems"]:
        place = {"system": system["number"], "experiment": system["name"]}
        for run, one, baseline in zip(content["runs"], system["runs"], baselines, strict=True):
            row = {"run": run["name"], PAIRS: run["training_pairs"], **place, "repeats": len(one["repeats"])}
            row |= {"score": one["mean"], "deviation": one["deviation"], "better than": one["better_than"]}
            row |= {MINUTES: one["minutes"], "baseline": run["baseline"]}
            row |= {BASELINE_SCORE: baseline["mean"], BASELINE_MINUTES: baseline["minutes"]}
            rows.append(row | _of_difference(one, alpha))

        overall = system["difference"]
        if overall:
            row = {
                "run": MEAN_OF_RUNS,
                **place,
                **_of_difference({**overall, "difference": overall["mean"]}, alpha),
            }
            row |= {key: overall[key] for key in ("error", "ahead", "behind")}
            rows.append({**row, "sign p": precise_p(overall["sign_p"], alpha)})
    return tab_separated(rows, TSV_COLUMNS)


def _of_difference(one: Content, alpha: float) -> dict[str, object]:
    if one["difference"] is None:
        return {}
    low, high = one["interval"]
    p = precise_p(one["p"], alpha)
    return {"difference": one["difference"], "low": low, "high": high, "p": p}


def latex(content: RunsContent) -> list[str]:
    """Return a tabular (with booktabs) for each table, and notes on how to read them."""
    lines = [line for view in views(content) for line in (*latex_view(view), "")]
    keys = [key for key, _ in content["settings"]["differing"]]
    differing = [f"The runs differ in {', '.join(keys)}."] if keys else []
    return [*lines, *(f"% {note}" for note in (*notes(content), *differing))]


def markdown(content: RunsContent) -> list[str]:
    """Return the tables in Markdown, and notes on how to read them."""
    lines = [
        line
        for view in [*views(content), *_settings(content)]
        for line in (f"{view.name}:", "", *markdown_view(view))
    ]
    return [*lines, *(f"- {note.translate(MARKDOWN)}" for note in notes(content))]
