"""The charts of the page as Vega-Lite specifications, without their data.

The page's scripts add the data, which depend on the experiments that the reader selects.
"""

from __future__ import annotations

from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
HEIGHT = 240
# The colour of an experiment, which is the same in all charts; the page has one legend.
EXPERIMENT_COLOR = {"field": "color", "type": "nominal", "scale": None, "legend": None}
# The colour of a group of features.
GROUP_COLOR = {
    "field": "group",
    "type": "nominal",
    "title": None,
    "sort": None,
    "scale": {
        "range": ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8a8a00", "#999999"]
    },
    "legend": {"orient": "top", "columns": 4},
}

# Measures of an epoch: title, number format, caption.
CURVES: dict[str, tuple[str, str, str]] = {
    "devtest_bleu": (
        "BLEU on devtest",
        ".2f",
        "Higher is better. Unless evaluation.choose_by names another score, the epoch with the highest BLEU "
        "is chosen, or the earliest in case of ties.",
    ),
    "training_bleu": (
        "Training BLEU",
        ".2f",
        "Mean sentence BLEU of the best translation of each training sentence during training; for a batch "
        "tuner, corpus BLEU of the translations that it chooses from the lists. Scales differ between "
        "learners: compare epochs, not experiments.",
    ),
    "updates": (
        "Updates",
        "s",
        "Pairs of translations that the learner corrected, summed over shards. Batch tuners have none.",
    ),
    "pairs_with_loss": (
        "Pairs with a loss (%)",
        ".1f",
        "Share of the sampled pairs that the model ranked wrongly or too closely. It falls as the model "
        "learns to rank its training data.",
    ),
    "active_features": ("Active features", "s", "Weights that are not zero after mixing and selection."),
    "norm": (
        "Norm of the weights",
        ".3~g",
        "Euclidean norm. If it grows steadily without better scores, try a smaller learning rate or "
        "regularisation.",
    ),
    "brevity_penalty": (
        "Brevity penalty on devtest",
        ".3f",
        "1 if the translations are at least as long as the references; lower if they are too short.",
    ),
}


def curve(measure: str) -> dict[str, Any]:
    """Return the chart of a measure over epochs, with the chosen epochs marked."""
    title, number, _ = CURVES[measure]
    x = {
        "field": "epoch",
        "type": "ordinal",
        "title": "epoch",
        "axis": {"labelAngle": 0, "labelOverlap": True, "grid": True},
        "scale": {"type": "point", "padding": 0.3},
    }
    y = {
        "field": measure,
        "type": "quantitative",
        "title": title,
        "axis": {"format": number},
        "scale": {"zero": False, "padding": 10},
    }
    tooltip = [
        {"field": "run", "title": "run"},
        {"field": "epoch"},
        {"field": measure, "title": title, "format": number},
    ]
    lines = {
        "mark": {"type": "line", "point": {"size": 22}},
        "encoding": {
            "x": x,
            "y": y,
            "detail": {"field": "run"},
            "color": EXPERIMENT_COLOR,
            "opacity": {"condition": {"test": "datum.order == 1", "value": 1}, "value": 0.4},
            "strokeDash": {"field": "dash", "type": "nominal", "scale": None, "legend": None},
            "tooltip": tooltip,
        },
    }
    chosen = {
        "transform": [{"filter": "datum.chosen && datum.order == 1"}],
        "mark": {"type": "point", "size": 170, "shape": "circle", "strokeWidth": 2.5, "filled": False},
        "encoding": {"x": x, "y": y, "color": EXPERIMENT_COLOR, "tooltip": tooltip},
    }
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": HEIGHT,
        "transform": [{"filter": f"isValid(datum.{measure})"}],
        "layer": [lines, chosen],
    }


def boxes() -> dict[str, Any]:
    """Return boxplots of the scores of all runs: figure 4 of Simianer, Riezler & Dyer (2012)."""
    y = {"field": "group", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 140}}
    x = {
        "field": "score",
        "type": "quantitative",
        "title": "BLEU on test",
        "scale": {"zero": False, "padding": 16},
    }
    box = {
        "mark": {"type": "boxplot", "extent": "min-max", "size": 16, "opacity": 0.55},
        "encoding": {"y": y, "x": x, "color": {"value": "#0072B2"}},
    }
    points = {
        "mark": {"type": "point", "filled": True, "size": 36},
        "encoding": {
            "y": y,
            "x": x,
            "color": EXPERIMENT_COLOR,
            "tooltip": [{"field": "run"}, {"field": "score", "title": "BLEU on test", "format": ".2f"}],
        },
    }
    # the page knows the number of groups and sets the height
    return {"$schema": SCHEMA, "width": "container", "layer": [box, points]}


def differences(title: str, low: float, high: float, rows: int) -> dict[str, Any]:
    """Return a chart of differences from a baseline with their intervals, between `low` and `high`."""
    y = {"field": "run", "type": "nominal", "title": None, "sort": None, "axis": {"labelLimit": 140}}
    x = {"type": "quantitative", "title": title, "scale": {"domain": [low, high], "padding": 8}}
    tooltip = [
        {"field": "run", "type": "nominal"},
        *({"field": field, "format": "+.2f"} for field in ("difference", "low", "high")),
    ]
    zero = {
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#888888"},
        "encoding": {"x": {"datum": 0}},
    }
    intervals = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"y": y, "x": {"field": "low", **x}, "x2": {"field": "high"}, "color": EXPERIMENT_COLOR},
    }
    shape = {
        "field": "kind",
        "type": "nominal",
        "scale": {"domain": ["run", "mean"], "range": ["circle", "diamond"]},
        "legend": None,
    }
    points = {
        "mark": {"type": "point", "size": 90, "opacity": 1},
        "encoding": {
            "y": y,
            "x": {"field": "difference", **x},
            "shape": shape,
            "color": EXPERIMENT_COLOR,
            "fill": {
                "condition": {"test": "datum.significant", "field": "color", "scale": None},
                "value": None,
            },
            "tooltip": tooltip,
        },
    }
    return {"$schema": SCHEMA, "width": "container", "height": 26 * rows, "layer": [zero, intervals, points]}


def _bars(
    x: dict[str, Any], color: dict[str, Any], title: str = "selected features", point: str | None = None
) -> dict[str, Any]:
    """Return bars of numbers of features, stacked by colour; tooltips show `point`, by default x."""
    told = (point or x["field"], color["field"])
    tooltip = [*({"field": field} for field in told), {"field": "features", "format": ","}]
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": HEIGHT,
        "mark": {"type": "bar"},
        "encoding": {
            "x": x,
            "y": {"field": "features", "type": "quantitative", "title": title, "axis": {"format": "s"}},
            "color": color,
            "tooltip": tooltip,
        },
    }


def charts() -> dict[str, dict[str, Any]]:
    """Return all charts by name."""
    shards = {
        "field": "shards",
        "type": "ordinal",
        "title": "shards",
        "axis": {"labelAngle": 0, "labelOverlap": True},
    }
    epoch = {"field": "epoch", "type": "ordinal", "axis": {"labelAngle": 0}}
    kind = {
        "field": "kind",
        "type": "nominal",
        "title": None,
        "scale": {"domain": ["selected before", "new"], "range": ["#0072B2", "#E69F00"]},
        "legend": {"orient": "top"},
    }
    exponent = {
        "field": "exponent",
        "type": "ordinal",
        "title": "absolute weight, from",
        "axis": {
            "labelAngle": -45,
            "labelExpr": "format(pow(10, datum.value), '.1~g')",
            "labelOverlap": True,
        },
    }
    return {
        **{measure: curve(measure) for measure in CURVES},
        "boxes": boxes(),
        # selected features that are active in 1, 2, ... Z shards
        "shared": _bars(shards, GROUP_COLOR),
        # those selected in each epoch, newly or again
        "selected": _bars(epoch, kind),
        # histogram of the absolute weights, on a logarithmic scale
        "distribution": _bars(exponent, GROUP_COLOR, title="features", point="from"),
    }
