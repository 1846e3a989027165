"""The page of several runs, from what `compare_runs` returns: their tables and charts."""

from __future__ import annotations

from typing import Any

from itersel import __version__
from itersel.evaluate.names import sign_of, title_of
from itersel.report.answer import describe_size
from itersel.report.p_values import describe_p
from itersel.report.page.charts import differences
from itersel.report.page.lines import charts_of_pairs, charts_of_scores
from itersel.report.page.render import SHARED, fill
from itersel.report.runs_table import MEAN_OF_RUNS, RANDOMIZATION, notes, views
from itersel.report.views import View
from itersel.storage.text_table import Content


def render_runs(content: Content) -> str:
    """Return the page of several runs."""
    figures = {
        f"difference-{system['number']}": {
            "experiment": system["name"],
            "rows": _points(content, system),
            "caption": _describe_mean(system["difference"], content["significance"]["alpha"]),
        }
        for system in content["systems"]
        if system["difference"]
    }

    # the same scale for all charts
    ends = [row[key] for figure in figures.values() for row in figure["rows"] for key in ("low", "high")]
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


def _answer(content: Content) -> dict[str, Any]:
    """Return the experiment with the best mean difference, and what the page says of it."""
    metric_name = content["metric"]
    sign = sign_of(metric_name)
    compared = [system for system in content["systems"] if system["difference"]]
    best = max(compared, key=lambda system: sign * float(system["difference"]["mean"]))
    overall = best["difference"]

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


def _points(content: Content, system: Content) -> list[dict[str, Any]]:
    """Return the differences of an experiment in the runs that have another baseline, and their mean."""
    keys = "run", "kind", "difference", "low", "high", "significant"
    overall = system["difference"]
    shown = [
        (run["name"], "run", of_run["difference"], of_run)
        for run, of_run in zip(content["runs"], system["runs"], strict=True)
        if of_run["interval"]
    ]
    shown.append((MEAN_OF_RUNS, "mean", overall["mean"], overall))

    alpha = content["significance"]["alpha"]
    return [
        dict(zip(keys, (*place, *one["interval"], one["p"] < alpha), strict=True)) for *place, one in shown
    ]


def _describe_mean(overall: Content, alpha: float) -> str:
    return (
        f"Mean: {overall['mean']:+z.2f} {_describe_interval(overall)}, {describe_p(overall['p'], alpha)}; "
        f"{_describe_ahead(overall)}."
    )


def _describe_interval(overall: Content) -> str:
    low, high = overall["interval"]
    return f"[{low:z.1f}, {high:z.1f}]"


def _describe_ahead(overall: Content) -> str:
    return f"ahead in {overall['ahead']} of {overall['ahead'] + overall['behind']} runs"
