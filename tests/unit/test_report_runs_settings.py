"""The settings in which several runs differ, and scores against those that are numbers."""

import json

import pytest

from itersel.config.plain import recorded
from itersel.config.reading import read_config
from itersel.evaluate.significance import Interval
from itersel.report.page.charts import scores_against
from itersel.report.runs_settings import (
    RunSettings,
    common_name,
    compare_settings,
    differing_keys,
    varied_numbers,
)
from itersel.report.table_content import Score

GRID = {"learner": {"learning_rate": [0.01, 0.3]}, "k_best": [50, 100]}
NAMES = [f"grid-learning_rate-{rate}-k_best-{k}" for rate in ("0.01", "0.3") for k in (50, 100)]


def a_run(config, *, pairs=None, versions=None, first=30.0):
    """Return the settings of a run; the scores of its experiments are `first`, `first` + 1, ..."""
    settings = recorded(read_config({"name": "a", **config}))
    scores = {
        name: Score(
            mean=first + number,
            deviation=None,
            interval=Interval(first, first + 9),
            repeats=(first + number,),
            p={},
            differs_from=(),
            better_than=(),
            details=(),
        )
        for number, name in enumerate(settings["experiments"])
    }
    return RunSettings(settings, versions or {}, pairs, scores)


def lines(one):
    """Return the name, the numbers and the scores of each series."""
    return [
        (series["name"], [(point["value"], point["score"]) for point in series["points"]])
        for series in one["series"]
    ]


def test_a_grid():
    """For each number, a line for each combination of the others, which are in the config in any order."""
    grid = GRID | {"learner": {"learning_rate": [0.3, 0.01]}}
    found = varied_numbers(
        {"a": a_run({"experiments": {"grid": grid, "other": {"features": "dense"}}})}, [*NAMES, "other"]
    )
    assert {one["key"]: lines(one) for one in found} == {
        "learner.learning_rate": [
            ("grid-learning_rate-…-k_best-50", [(0.01, 32), (0.3, 30)]),
            ("grid-learning_rate-…-k_best-100", [(0.01, 33), (0.3, 31)]),
        ],
        "k_best": [
            ("grid-learning_rate-0.01-k_best-…", [(50, 32), (100, 33)]),
            ("grid-learning_rate-0.3-k_best-…", [(50, 30), (100, 31)]),
        ],
    }
    assert found[0]["series"][0]["points"][0]["interval"] == (30, 39)


def test_other_systems_have_no_settings():
    """Such as first entries of lists, or outputs of other systems, which all runs share."""
    runs = {
        name: a_run({"experiments": {"x": {}, "y": {}}, "seed": seed}) for name, seed in (("a", 1), ("b", 2))
    }
    expected = compare_settings([*runs.values()], ["x", "y"]), varied_numbers(runs, ["x", "y"])
    for run in runs.values():
        run.scores["moses"] = run.scores["x"]
    names = ["moses", "x", "y"]
    assert (compare_settings([*runs.values()], names), varied_numbers(runs, names)) == expected


def test_grids_in_several_runs():
    runs = {
        "a": a_run({"experiments": {"grid": GRID}}),
        "b": a_run({"experiments": {"grid": GRID}}, first=20),
    }
    rates, _ = varied_numbers(runs, NAMES)
    assert [series["name"][:2] for series in rates["series"]] == ["a:"] * 2 + ["b:"] * 2
    assert {point["run"] for point in rates["series"][2]["points"]} == {"b"}


def test_numbers_of_runs():
    """Runs that differ in something else are not joined; seeds, trials and repeats are no amounts."""
    experiments = {"experiments": {"x": {}, "y": {"epochs": 2, "features": "dense"}}}
    experiments["evaluation"] = {"outputs": {"moses": "moses.en"}}
    order, pop = ({"language_model": {"order": 4}}, {"decoder": {"pop_limit": 100}})
    runs = {
        "a": a_run(experiments),
        "b": a_run(experiments | order | {"evaluation": {"trials": 7}}, first=31, versions={"numpy": "1"}),
        "c": a_run(experiments | order | {"seed": 9}, first=32),
        "d": a_run(experiments | order | pop | {"report": {"derivations": 3}}, first=33),
    }
    found = varied_numbers(runs, ["x", "y"])
    assert {one["key"]: lines(one) for one in found} == {
        "language_model.order": [("x", [(3, 30), (4, 31)]), ("y", [(3, 31), (4, 32)])],
        "decoder.pop_limit": [("x", [(100, 33), (200, 31)]), ("y", [(100, 34), (200, 32)])],
    }


@pytest.mark.parametrize("key", [{"max_train": 500}, {"train": {"source": "s", "target": "t"}}])
def test_training_pairs(key):
    """They are known even if the config names other files, or all pairs of them."""
    files = {one: {"source": f"{one}.s", "target": f"{one}.t"} for one in ("train", "dev", "devtest", "test")}
    config = {"data": {"kind": "files", "max_length": 70} | files, "experiments": {"x": {}}}
    less = config | {"data": config["data"] | key}
    runs = {"a": a_run(config, pairs=2000), "b": a_run(less, pairs=500, first=29)}
    [one] = varied_numbers(runs, ["x"])
    assert (one["key"], lines(one)) == ("training pairs", [("x", [(500, 29), (2000, 30)])])
    # another limit also changes the number of pairs, but is what the runs differ in
    longer = config | {"data": config["data"] | {"max_length": 80}}
    [one] = varied_numbers({"a": runs["a"], "b": a_run(longer, pairs=2100)}, ["x"])
    assert one["key"] == "data.max_length"


def test_runs_with_other_training_pairs_are_not_joined():
    limits = {"a": (100, 2000), "b": (200, 500), "c": (300, 500)}
    runs = {
        name: a_run({"decoder": {"pop_limit": limit}, "experiments": {"x": {}}}, pairs=pairs)
        for name, (limit, pairs) in limits.items()
    }
    [one] = varied_numbers(runs, ["x"])
    assert (one["key"], lines(one)) == ("decoder.pop_limit", [("x", [(200, 30), (300, 30)])])


def test_no_templates_are_null_in_earlier_versions():
    """A run of today can be compared with one of an earlier version, but not with one that used others."""

    def differing(*values):
        return differing_keys(*({"experiments": {"x": {"templates": value}}} for value in values), "x")

    assert differing(None, []) == differing([], None) == []
    assert (
        [key for key, _ in differing(None, ["R"])]
        == [key for key, _ in differing([], ["R"])]
        == ["templates"]
    )


def test_compared_settings():
    runs = [
        a_run({"experiments": {"x": {}, "y": {"epochs": 2}}, "output": "elsewhere"}, versions={"numpy": "1"}),
        a_run({"experiments": {"x": {}, "y": {"epochs": 2, "seed": 4}}, "seed": 2}, versions={"numpy": "2"}),
    ]
    found = compare_settings(runs, ["x", "y"])
    # the seed of x is that of its run
    assert found["differing"] == [
        ("seed", ["1", "2"]),
        ("versions.numpy", ["1", "2"]),
        ("experiments.y.seed", ["", "4"]),
    ]
    assert ("language_model.order", "3") in found["common"]
    assert found["experiments"]["differing"] == [("epochs", ["3", "2"])]
    assert not any(key.startswith("experiments") for key, _ in found["common"])
    json.dumps(found)


@pytest.mark.parametrize(
    ("names", "common"),
    [
        (["a-1", "a-2"], "a-…"),
        (["x", "y"], "x, y"),
        (["a-b-1-c", "a-d-2-c"], "a-…-…-c"),
        (["a-1", "a-b-1"], "a-1, a-b-1"),
    ],
)
def test_common_names(names, common):
    assert common_name(names) == common


@pytest.mark.parametrize(("values", "scale"), [([1, 21], "log"), ([1, 20], None), ([0, 99], None)])
def test_wide_ranges_have_a_logarithmic_scale(values, scale):
    intervals, points = scores_against("k_best", "BLEU", values, has_intervals=True)["layer"]
    assert {one["encoding"]["x"]["scale"].get("type") for one in (intervals, points)} == {scale}
