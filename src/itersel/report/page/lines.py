"""Line charts of several runs: what was measured, against a number in which runs or experiments differ.

There are scores against any such number; against the training pairs, also differences from the baseline, and
processor time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from itersel.evaluate.names import title_of
from itersel.report.page.charts import differences_against, scores_against, times_against
from itersel.report.runs_content import RunsContent, ScoreInRun, VariedPoint, VariedSeries
from itersel.report.runs_settings import PAIRS
from itersel.report.runs_table import MINUTES

# Lines in a chart that can be told apart.
MAX_LINES = 8
# The line of the baselines, which may be other experiments in other runs.
BASELINE = "baseline"

# `x`, `y`, the `interval` of y (`None` if unknown), and the `run` and `experiment` that were measured.
Point = dict[str, Any]


class Line(NamedTuple):
    """A line of a chart."""

    name: str
    points: list[Point]


class LineChart(NamedTuple):
    """A chart: its title, its specification without data, and its lines."""

    title: str
    specification: dict[str, Any]
    lines: list[Line]


def charts_of_scores(content: RunsContent) -> dict[str, LineChart]:
    """Return charts of scores by name: for each number that varies, one or as many as its lines need."""
    title = title_of(content["metric"])
    charts = []
    for number in content["varied"]:
        key = number["key"]
        for part in _parts(number["series"], MAX_LINES):
            lines = [Line(one["name"], _scores(one["points"])) for one in part]
            has_intervals = any(point["interval"] for line in lines for point in line.points)
            chart = scores_against(key, title, _values(lines), has_intervals)
            charts.append(LineChart(key, chart, lines))

    return {f"varied-{place}": chart for place, chart in enumerate(charts)}


def charts_of_pairs(content: RunsContent) -> dict[str, LineChart]:
    """Return charts of differences from the baseline, and of processor time, against the training pairs.

    There are none unless runs differ only in their training pairs. Experiments named as baselines have no
    lines; the processor time of each run's baseline has one.
    """
    varied = [series for number in content["varied"] if number["key"] == PAIRS for series in number["series"]]
    compared = [one for one in varied if one["points"][0]["experiment"] not in content["baselines"]]
    measured = _measured(content)
    difference = f"difference in {title_of(content['metric'])}"

    charts = {}
    # each line may need one of its baseline
    for place, part in enumerate(_parts(compared, MAX_LINES // 2)):
        lines = [Line(one["name"], _differences(one["points"], measured)) for one in part]
        chart = differences_against(PAIRS, difference, _values(lines))
        charts[f"differences-by-pairs-{place}"] = LineChart("difference from the baseline", chart, lines)

        lines = [Line(one["name"], _times(one["points"], measured)) for one in part]
        lines += [Line(name, _times(points, measured)) for name, points in _baselines(part, content).items()]
        if _values(lines):
            chart = times_against(PAIRS, MINUTES, _values(lines))
            charts[f"times-by-pairs-{place}"] = LineChart("processor time", chart, lines)

    return charts


def _parts(series: Sequence[VariedSeries], most: int) -> list[Sequence[VariedSeries]]:
    """Return the series in parts of about the same size, each with at most `most` of them."""
    if not series:
        return []
    size = math.ceil(len(series) / math.ceil(len(series) / most))
    return [series[begin : begin + size] for begin in range(0, len(series), size)]


def _values(lines: Sequence[Line]) -> list[float]:
    return [point["x"] for line in lines for point in line.points]


def _measured(content: RunsContent) -> dict[tuple[str, str], ScoreInRun]:
    """Return what was measured of each experiment in each run, by their names."""
    names = [run["name"] for run in content["runs"]]
    return {
        (system["name"], run): of_run
        for system in content["systems"]
        for run, of_run in zip(names, system["runs"], strict=True)
    }


def _baselines(series: Sequence[VariedSeries], content: RunsContent) -> dict[str, list[VariedPoint]]:
    """Return points of the baselines in the same runs, by the name of their line."""
    baselines = {run["name"]: run["baseline"] for run in content["runs"]}
    groups = {tuple(point["run"] for point in one["points"]): one["points"] for one in series}
    return {
        BASELINE if len(groups) == 1 else f"{BASELINE}: {', '.join(runs)}": [
            {**point, "experiment": baselines[point["run"]]} for point in points
        ]
        for runs, points in groups.items()
    }


def _scores(points: Sequence[VariedPoint]) -> list[Point]:
    return [_point(point, point["score"], point["interval"]) for point in points]


def _differences(
    points: Sequence[VariedPoint], measured: Mapping[tuple[str, str], ScoreInRun]
) -> list[Point]:
    of_runs = [measured[point["experiment"], point["run"]] for point in points]
    return [
        _point(point, of_run["difference"], of_run["interval"])
        for point, of_run in zip(points, of_runs, strict=True)
    ]


def _times(points: Sequence[VariedPoint], measured: Mapping[tuple[str, str], ScoreInRun]) -> list[Point]:
    """Return the points whose time is known, and not 0, for which a logarithmic scale has no place."""
    times = [measured[point["experiment"], point["run"]]["minutes"] for point in points]
    return [_point(point, time) for point, time in zip(points, times, strict=True) if time]


def _point(point: VariedPoint, y: float | None, interval: Sequence[float] | None = None) -> Point:
    place = {"x": point["value"], "run": point["run"], "experiment": point["experiment"]}
    return {**place, "y": y, "interval": interval}
