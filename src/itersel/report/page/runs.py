"""The page of several runs, from what `compare_runs` returns: their tables and charts."""

from __future__ import annotations

from typing import Any, TypedDict

from itersel import __version__
from itersel.evaluate.names import sign_of, title_of
from itersel.evaluate.significance import Interval
from itersel.report.answer import describe_size
from itersel.report.p_values import describe_p
from itersel.report.page.charts import differences
from itersel.report.page.lines import charts_of_pairs, charts_of_scores
from itersel.report.page.render import SHARED, fill
from itersel.report.runs_content import ComparedExperiment, OverallDifference, RunsContent
from itersel.report.runs_table import MEAN_OF_RUNS, RANDOMIZATION, notes, views
from itersel.report.views import View


class DifferencePoint(TypedDict):
    """A difference from the baseline, in the unit of the metric, in a run or in the mean of runs."""

    run: str
    kind: str  # ``run`` or ``mean``
    difference: float
    low: float  # the ends of its 95 % interval
    high: float
    significant: bool


class Figure(TypedDict):
    """The chart of an experiment's differences from the baseline."""

    experiment: str
    rows: list[DifferencePoint]
    caption: str


def render_runs(content: RunsContent) -> str:
    """Return the page of several runs."""
    figures: dict[str, Figure] = {
        f"difference-{system['number']}": {
            "experiment": system["name"],
            "rows": _points(content, system, overall),
            "caption": _describe_mean(overall, content["significance"]["alpha"]),
        }
        for system, overall in _compared(content)
    }

    # the same scale for all charts
    rows = [row for figure in figures.values() for row in figure["rows"]]
    ends = [*(row["low"] for row in rows), *(row["high"] for row in rows)]
    low = min(-0.1, *ends)
    high = max(0.1, *ends)
    title = title_of(content["metric"])
    specifications = {
        name: differences(f"difference in {title}", low, high, len(figure["rows"]))
        for name, figure in figures.items()
    }

    of_pairs, varied = charts_of_pairs(content), charts_of_scores(content)
    with_lines = of_pairs | varied
    specifications |= {name: chart.specification for name, chart in with_lines.items()}
    lines = {name: [line._asdict() for line in chart.lines] for name, chart in with_lines.items()}

    *of_all_runs, by_run = views(content, has_intervals=True)
    return fill(
        "runs.html",
        (*SHARED, "runs.js"),
        data={"figures": figures, "lines": lines},
        charts=specifications,
        title=", ".join(run["name"] for run in content["runs"]),
        version=__version__,
        answer=_answer(content),
        views=[_for_page(view, len(content["runs"])) for view in of_all_runs],
        by_run=by_run,
        notes=notes(content),
        figures=figures,
        names=[run["name"] for run in content["runs"]],
        settings=content["settings"],
        of_pairs=of_pairs,
        varied=varied,
    )


def _compared(content: RunsContent) -> list[tuple[ComparedExperiment, OverallDifference]]:
    """Return the experiments that are not the baseline of all runs, with their differences."""
    return [
        (system, system["difference"]) for system in content["systems"] if system["difference"] is not None
    ]


def _answer(content: RunsContent) -> dict[str, Any]:
    """Return the experiment with the best mean difference, and what the page says of it."""
    metric_name = content["metric"]
    sign = sign_of(metric_name)
    compared = _compared(content)
    best, overall = max(compared, key=lambda one: sign * one[1]["mean"])

    runs = len(content["runs"])
    baselines = content["baselines"]
    alpha = content["significance"]["alpha"]
    return {
        "described": {
            "best": best["name"],
            "sign": sign * overall["mean"],
            "baseline": baselines[0] if len(baselines) == 1 else "the baselines",
            "size": describe_size(overall["mean"]),
            "title": title_of(metric_name),
            "where": f" in the mean of {runs} runs" if runs > 1 else "",
            "p": describe_p(overall["p"], alpha),
            "is_significant": overall["p"] < alpha,
        },
        "of": len(compared),
        "ahead": _describe_ahead(overall),
        "interval": _describe_interval(overall),
    }


def _for_page(view: View, runs: int) -> View:
    """Return a table with the columns about all runs that matter most before those of single runs."""
    titles = [column.title for column in view.columns]
    first = 2 + runs
    # a run may have any name
    moved = [place for place in range(first, len(titles)) if titles[place] in (MEAN_OF_RUNS, RANDOMIZATION)]
    order = [0, 1, *moved, *(place for place in range(2, len(titles)) if place not in moved)]
    return view._replace(
        columns=[view.columns[place] for place in order],
        rows=[[row[place] for place in order] for row in view.rows],
    )


def _points(
    content: RunsContent, system: ComparedExperiment, overall: OverallDifference
) -> list[DifferencePoint]:
    """Return the differences of an experiment in the runs that have another baseline, and their mean."""
    alpha = content["significance"]["alpha"]
    points = []
    for run, one in zip(content["runs"], system["runs"], strict=True):
        difference, interval, p = one["difference"], one["interval"], one["p"]
        if difference is not None and interval is not None and p is not None:
            points.append(_point(run["name"], "run", difference, interval, p < alpha))

    mean = _point(MEAN_OF_RUNS, "mean", overall["mean"], overall["interval"], overall["p"] < alpha)
    return [*points, mean]


def _point(
    run: str, kind: str, difference: float, interval: Interval, is_significant: bool
) -> DifferencePoint:
    low, high = interval
    return {
        "run": run,
        "kind": kind,
        "difference": difference,
        "low": low,
        "high": high,
        "significant": is_significant,
    }


def _describe_mean(overall: OverallDifference, alpha: float) -> str:
    return (
        f"Mean: {overall['mean']:+z.2f} {_describe_interval(overall)}, {describe_p(overall['p'], alpha)}; "
        f"{_describe_ahead(overall)}."
    )


def _describe_interval(overall: OverallDifference) -> str:
    low, high = overall["interval"]
    return f"[{low:z.1f}, {high:z.1f}]"


def _describe_ahead(overall: OverallDifference) -> str:
    return f"ahead in {overall['ahead']} of {overall['ahead'] + overall['behind']} runs"
