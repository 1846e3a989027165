"""The page of several runs: their tables, and charts of the differences from a baseline."""

from __future__ import annotations

from typing import Any

import itersel
from itersel.report.page.charts import differences
from itersel.report.page.render import SHARED, fill
from itersel.report.runs_table import MEAN, notes, score_name, views
from itersel.storage.text_table import Content


def render_runs(content: Content) -> str:
    """Return the page, from the content that `itersel.report.runs.compare_runs` returns."""
    figures = {
        f"difference-{system['system']}": {
            "experiment": system["name"],
            "rows": _points(content, system),
            "told": _told(system["difference"]),
        }
        for system in content["systems"]
        if system["difference"]
    }
    # the same scale for all charts
    values = [point[key] for one in figures.values() for point in one["rows"] for key in ("low", "high")]
    low, high = min(-0.1, *values), max(0.1, *values)
    title = f"difference in {score_name(content)}"
    return fill(
        "runs.html",
        (*SHARED, "runs.js"),
        data={"figures": figures},
        charts={name: differences(title, low, high, len(one["rows"])) for name, one in figures.items()},
        title=", ".join(run["name"] for run in content["runs"]),
        version=itersel.__version__,
        views=views(content, has_intervals=True),
        notes=notes(content),
        figures=figures,
    )


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


def _told(overall: Content) -> str:
    low, high = overall["interval"]
    decided = overall["ahead"] + overall["behind"]
    return (
        f"Mean: {overall['mean']:+z.2f} [{low:z.1f}, {high:z.1f}], p = {overall['p']:.4f}; "
        f"ahead in {overall['ahead']} of {decided} runs."
    )
