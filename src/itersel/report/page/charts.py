"""The charts of the page as Vega-Lite specifications, without their data.

The page's scripts add the data, which depend on the experiments that the reader selects.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from itersel.evaluate.names import BLEU, QUALITY, SENTENCE_BLEU, TOKENIZED_BLEU, title_of
from itersel.report.columns import ON_DEVTEST, ON_TEST

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
HEIGHT = 240
# Numbers that differ by a larger factor have a logarithmic scale.
WIDE = 20
# 0.001 or 20,000 (format of d3)
AMOUNT = ",~r"
# The axis of a number of things: no fractions, and no unit at zero.
COUNTS = {"format": "~s", "tickMinStep": 1, "labelExpr": "datum.value ? datum.label : '0'"}
UPRIGHT = {"labelAngle": 0, "labelOverlap": True}


def _channel(field: str, kind: str, **settings: Any) -> dict[str, Any]:
    return {"field": field, "type": kind, **settings}


def _layer(mark: str, settings: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    return {"mark": {"type": mark, **settings}, "encoding": encoding}


def _chart(**parts: Any) -> dict[str, Any]:
    return {"$schema": SCHEMA, "width": "container", **parts}


# The colour of an experiment, which is the same in all charts; the page has one legend.
EXPERIMENT_COLOR = _channel("color", "nominal", scale=None, legend=None)
# The colour of a group of features.
GROUP_COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8a8a00", "#999999"]
GROUP_COLOR = _channel(
    "group",
    "nominal",
    title=None,
    sort=None,
    scale={"range": GROUP_COLORS},
    legend={"orient": "top", "columns": 4},
)
# Names of runs, or of groups of repeats, from top to bottom. The page's scripts have cut them so that all
# differ.
NAMES = {"title": None, "sort": None, "axis": {"labelLimit": 200}}
# The line of no difference.
ZERO = {"strokeDash": [4, 3], "color": "#888888"}
# Format of numbers of things (d3).
COUNT = ","


class Curve(NamedTuple):
    """A measure of an epoch."""

    title: str
    number: str  # format of d3
    note: str


CURVES: dict[str, Curve] = {
    "devtest_tokenized_bleu": Curve(
        ON_DEVTEST,
        ".2f",
        "Higher is better. Unless evaluation.choose_by names another score, the epoch with the highest "
        f"{title_of(TOKENIZED_BLEU)} is chosen, or the earliest in case of ties.",
    ),
    "updates": Curve(
        "Updates",
        COUNT,
        "Pairs of translations that the learner corrected, summed over shards. Batch tuners have none.",
    ),
    "pairs_with_loss": Curve(
        "Pairs with a loss (%)",
        ".1f",
        "Share of the sampled pairs that the model ranked wrongly or too closely. It falls as the model "
        "learns to rank its training data.",
    ),
    "active_features": Curve(
        "Active features", COUNT, "Weights that are not zero after mixing and selection."
    ),
    "norm": Curve(
        "Norm of the weights",
        ".3~g",
        "Euclidean norm. If it grows steadily without better scores, try a smaller learning rate or "
        "regularisation.",
    ),
    "brevity_penalty": Curve(
        "Brevity penalty on devtest",
        ".3f",
        "1 if the translations are at least as long as the references; lower if they are too short.",
    ),
}


def curves(learned_by: Collection[str] = (BLEU,)) -> dict[str, Curve]:
    """Return the curves by measure; `learned_by` is what the experiments learn by: BLEU, quality or both."""
    what = {
        QUALITY: "Mean quality (as the config gives it, scaled to 100) of the best translation of each "
        "training sentence during training; for a batch tuner, of the translations that it chooses from "
        "the lists.",
        BLEU: f"Mean {SENTENCE_BLEU} of the best translation of each training sentence during training; for "
        f"a batch tuner, corpus {title_of(BLEU)} of the translations that it chooses from the lists.",
    }
    names = [name for name in what if name in learned_by] or [BLEU]
    notes = " Without quality: ".join(what[name] for name in names)
    training = Curve(
        f"Training {' or '.join(map(title_of, names))}",
        ".2f",
        f"{notes} Scales differ between learners: compare epochs, not experiments.",
    )
    first, *others = CURVES.items()
    return dict([first, ("training_quality", training), *others])


def curve(measure: str, shown: Curve) -> dict[str, Any]:
    """Return the chart of a measure over epochs, with the chosen epochs marked."""
    title, number, _ = shown
    points = {"type": "point", "padding": 0.3}
    near = {"zero": False, "padding": 10}
    x = _channel("epoch", "ordinal", title="epoch", axis={**UPRIGHT, "grid": True}, scale=points)
    # the heading of the chart is its title
    axis = {"title": None, **(COUNTS if number == COUNT else {"format": number})}
    y = _channel(measure, "quantitative", axis=axis, scale=near)

    tooltip = [{"field": "repeat"}, {"field": "epoch"}, {"field": measure, "title": title, "format": number}]

    lines = _layer(
        "line",
        {"point": {"size": 22}},
        x=x,
        y=y,
        detail={"field": "repeat"},
        color=EXPERIMENT_COLOR,
        opacity={"condition": {"test": "datum.order == 1", "value": 1}, "value": 0.4},
        strokeDash=_channel("dash", "nominal", scale=None, legend=None),
        tooltip=tooltip,
    )

    ring = {"size": 170, "shape": "circle", "strokeWidth": 2.5, "filled": False}
    chosen = {
        "transform": [{"filter": "datum.chosen && datum.order == 1"}],
        **_layer("point", ring, x=x, y=y, color=EXPERIMENT_COLOR, tooltip=tooltip),
    }

    known = [{"filter": f"isValid(datum.{measure})"}]
    return _chart(height=HEIGHT, transform=known, layer=[lines, chosen])


def boxes() -> dict[str, Any]:
    """Return boxplots of the scores of all repeats: figure 4 of Simianer, Riezler & Dyer (2012)."""
    y = _channel("label", "nominal", **NAMES)
    near = {"zero": False, "padding": 16}
    ticks = {"tickCount": {"expr": "max(3, width / 80)"}}
    x = _channel("score", "quantitative", title=ON_TEST, scale=near, axis=ticks)
    box = {"extent": "min-max", "size": 16, "opacity": 0.55}
    tooltip = [{"field": "repeat"}, {"field": "score", "title": ON_TEST, "format": ".2f"}]
    points = _layer("point", {"filled": True, "size": 36}, y=y, x=x, color=EXPERIMENT_COLOR, tooltip=tooltip)
    # the page knows the number of groups and sets the height
    return _chart(layer=[_layer("boxplot", box, y=y, x=x, color={"value": "#0072B2"}), points])


def differences(title: str, low: float, high: float, rows: int) -> dict[str, Any]:
    """Return a chart of differences from a baseline with their intervals, between `low` and `high`."""
    y = _channel("label", "nominal", **NAMES)
    x = {"type": "quantitative", "title": title, "scale": {"domain": [low, high], "padding": 8}}
    x["axis"] = {"labelFlush": False}
    numbers = [{"field": field, "format": "+.2f"} for field in ("difference", "low", "high")]

    zero = _layer("rule", ZERO, x={"datum": 0})
    ends = {"x": {"field": "low", **x}, "x2": {"field": "high"}}
    intervals = _layer("rule", {"strokeWidth": 2}, y=y, **ends, color=EXPERIMENT_COLOR)

    shapes = {"domain": ["run", "mean"], "range": ["circle", "diamond"]}
    filled = {"test": "datum.significant", "field": "color", "scale": None}
    points = _layer(
        "point",
        {"size": 90, "opacity": 1},
        y=y,
        x={"field": "difference", **x},
        shape=_channel("kind", "nominal", scale=shapes, legend=None),
        color=EXPERIMENT_COLOR,
        fill={"condition": filled, "value": None},
        tooltip=[_channel("run", "nominal"), *numbers],
    )

    return _chart(height=26 * rows, layer=[zero, intervals, points])


def scores_against(key: str, title: str, values: Collection[float], has_intervals: bool) -> dict[str, Any]:
    """Return a chart of scores, which may have intervals, against a number, with a line for each series.

    The scale is logarithmic if the largest of the `values` is more than `WIDE` times the smallest.
    """
    is_wide = min(values) > 0 and max(values) > WIDE * min(values)
    y = {"title": title, "scale": {"zero": False, "padding": 10}}
    return _chart(height=HEIGHT, layer=_lines(_number(key, values, is_wide), y, ".2f", has_intervals))


def differences_against(key: str, title: str, values: Collection[float]) -> dict[str, Any]:
    """Return a chart of differences, with intervals, against a number on a logarithmic scale."""
    y = {"title": title, "scale": {"padding": 10}}
    intervals, lines = _lines(_number(key, values, True), y, "+.2f", has_intervals=True)
    # once, not for each point
    zero = {"data": {"values": [{}]}, **_layer("rule", ZERO, y={"datum": 0})}
    return _chart(height=HEIGHT, layer=[intervals, zero, lines])


def times_against(key: str, title: str, values: Collection[float]) -> dict[str, Any]:
    """Return a chart of times against a number, both on a logarithmic scale."""
    axis = {"format": AMOUNT, "labelOverlap": True}
    y = {"title": title, "scale": {"type": "log", "nice": False, "padding": 10}, "axis": axis}
    return _chart(height=HEIGHT, layer=_lines(_number(key, values, True), y, ".2f", has_intervals=False))


def _number(key: str, values: Collection[float], is_logarithmic: bool) -> dict[str, Any]:
    """Return the horizontal axis of a number, with these values."""
    scale = {"type": "log"} if is_logarithmic else {"zero": False}
    axis = {**UPRIGHT, "values": sorted({*values}), "format": AMOUNT, "grid": True}
    return _channel("x", "quantitative", title=key, scale={**scale, "nice": False, "padding": 14}, axis=axis)


def _lines(x: dict[str, Any], y: dict[str, Any], digits: str, has_intervals: bool) -> list[dict[str, Any]]:
    """Return the layers of charts against a number: any intervals, and a line for each series."""
    y = {"type": "quantitative", **y}
    interval = ("low", "high") if has_intervals else ()
    tooltip = [
        _channel("run", "nominal"),
        _channel("experiment", "nominal"),
        {"field": "x", "title": x["title"], "format": AMOUNT},
        {"field": "y", "title": y["title"], "format": digits},
        *({"field": field, "format": digits} for field in interval),
    ]

    ends = {"y": {"field": "low", **y}, "y2": {"field": "high"}}
    intervals = {
        "transform": [{"filter": "isValid(datum.low)"}],
        **_layer("rule", {"strokeWidth": 1.5, "opacity": 0.5}, x=x, **ends, color=EXPERIMENT_COLOR),
    }
    lines = _layer(
        "line",
        {"point": {"size": 40}},
        x=x,
        y={"field": "y", **y},
        detail={"field": "series"},
        color=EXPERIMENT_COLOR,
        strokeDash=_channel("dash", "nominal", scale=None, legend=None),
        tooltip=tooltip,
    )
    # Vega warns about layers without data
    return [intervals, lines] if has_intervals else [lines]


def _bars(
    x: dict[str, Any], color: dict[str, Any], title: str = "selected features", point: str | None = None
) -> dict[str, Any]:
    """Return bars of numbers of features, stacked by colour; tooltips show `point`, by default x."""
    told = [{"field": field} for field in (point or x["field"], color["field"])]
    y = _channel("features", "quantitative", title=title, axis=COUNTS)
    tooltip = [*told, {"field": "features", "format": ","}]
    return _chart(height=HEIGHT, **_layer("bar", {}, x=x, y=y, color=color, tooltip=tooltip))


def charts(of_epochs: Mapping[str, Curve]) -> dict[str, dict[str, Any]]:
    """Return all charts by name, with these curves."""
    kinds = {"domain": ["selected before", "new"], "range": ["#0072B2", "#E69F00"]}
    powers = {"labelAngle": -45, "labelExpr": "format(pow(10, datum.value), '.1~g')", "labelOverlap": True}
    epoch = _channel("epoch", "ordinal", axis={"labelAngle": 0})
    kind = _channel("kind", "nominal", title=None, scale=kinds, legend={"orient": "top"})
    exponent = _channel("exponent", "ordinal", title="absolute weight, from", axis=powers)

    return {
        **{measure: curve(measure, one) for measure, one in of_epochs.items()},
        "boxes": boxes(),
        # selected features that are active in 1, 2, ... Z shards
        "shared": _bars(_channel("shards", "ordinal", title="shards", axis=UPRIGHT), GROUP_COLOR),
        # those selected in each epoch, newly or again
        "selected": _bars(epoch, kind),
        # histogram of the absolute weights, on a logarithmic scale
        "distribution": _bars(exponent, GROUP_COLOR, title="features", point="from"),
    }
