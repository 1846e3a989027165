"""Runs with more or fewer training pairs: their costs, a table with a row for each run, and charts."""

import json
import re

import pytest
from tests.made_up_run import BENCHMARK, MadeUpRun

from itersel.config.evaluation import SignificanceSettings
from itersel.config.reading import read_config
from itersel.report.description import write_run
from itersel.report.finished import read_runs
from itersel.report.page.lines import charts_of_pairs, charts_of_scores
from itersel.report.page.runs import render_runs
from itersel.report.runs import compare_runs
from itersel.report.runs_table import text_table, tsv_table
from itersel.storage.files import write_lines

NAMES = ["small", "large", "ours"]
BASELINES = NAMES[:2]
PAIRS = {"b": 64_000, "c": 8_000, "a": 16_000}
# Seconds of processor time of the jobs of each experiment, by run.
SECONDS = {
    "b": {"small": 60, "large": 90, "ours": 3000},
    "c": {"small": 66, "large": 30, "ours": 150},
    "a": {"small": 72, "large": 48, "ours": 600},
}


def make_run(folder, pairs, seconds, data=None, repeats=1):
    """Make a run with this number of training pairs (`None`: unknown), and these costs of its experiments."""
    run = MadeUpRun(folder, NAMES, epochs=1, sentences=8, repeats=repeats, seed=ord(folder.name[0]))
    config = {
        "name": folder.name,
        "data": data or {"max_train": pairs},
        "experiments": {name: {} for name in NAMES},
    }
    write_run(folder, config, read_config(config))

    corpus = folder / "report/corpus.json"
    if pairs is None:
        corpus.unlink()
    else:
        content = json.loads(corpus.read_text())
        content["splits"]["train"]["sentences"] = pairs
        corpus.write_text(json.dumps(content))

    for path in folder.glob("benchmarks/train/*/*/*.tsv"):
        path.unlink()
    for name, spent in seconds.items():
        for step, share in (("train", 0.5), ("mix", 0.2), ("tune", 0.3)):
            spend(folder / f"benchmarks/{step}/{name}/epoch-1/0.tsv", share * spent)
    # shared by all experiments
    spend(folder / "benchmarks/align/forward.tsv", 1000)
    return run


def spend(path, seconds):
    write_lines(path, [BENCHMARK, f"1\t0:00:01\t300\t0\t0\t0\t0\t0\t99\t{seconds}"])


def compared(runs):
    return compare_runs(
        read_runs([run.folder for run in runs]), BASELINES, "tokenized-bleu", SignificanceSettings(trials=20)
    )


@pytest.fixture(scope="module")
def curve(tmp_path_factory):
    """Return the comparison of three runs that differ in their training pairs, which are in no order."""
    folder = tmp_path_factory.mktemp("curve")
    return compared([make_run(folder / name, pairs, SECONDS[name]) for name, pairs in PAIRS.items()])


def by_name(content):
    """Return what is said of each experiment in each run."""
    runs = [run["name"] for run in content["runs"]]
    return {system["name"]: dict(zip(runs, system["runs"], strict=True)) for system in content["systems"]}


def test_pairs_and_minutes_of_each_run(curve):
    assert {run["name"]: run["training_pairs"] for run in curve["runs"]} == PAIRS
    for name, of_runs in by_name(curve).items():
        minutes = {run: one["minutes"] for run, one in of_runs.items()}
        assert minutes == {run: pytest.approx(SECONDS[run][name] / 60) for run in PAIRS}


def test_a_row_of_tsv_has_all_of_a_point(curve):
    header, *lines = (line.split("\t") for line in tsv_table(curve))
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    for row in rows:
        if row["run"] not in PAIRS:
            assert (row["training_pairs"], row["minutes"], row["baseline_minutes"]) == ("", "", "")
            continue
        seconds = SECONDS[row["run"]]
        assert int(row["training_pairs"]) == PAIRS[row["run"]]
        assert row["minutes"] == f"{seconds[row['experiment']] / 60:.2f}"
        assert row["baseline_minutes"] == f"{seconds[row['baseline']] / 60:.2f}"
        if row["difference"]:
            difference = float(row["score"]) - float(row["baseline_score"])
            assert float(row["difference"]) == pytest.approx(difference, abs=0.02)


def test_text_has_a_row_for_each_run(curve):
    """The runs of an experiment are in the order of their pairs; each stands beside its baseline."""
    text = "\n".join(text_table(curve))
    table = next(part for part in text.split("\n\n") if "training pairs" in part).splitlines()[3:]
    rows = [line.split() for line in table]
    ours = [row for row in rows if row[1] == "ours"]
    assert [row[2:4] for row in ours] == [["c", "8,000"], ["a", "16,000"], ["b", "64,000"]]
    baselines = {run["name"]: run["baseline"] for run in curve["runs"]}
    for row in ours:
        _, _, run, _, score, minutes, baseline, _, of_baseline, difference, *_ = row
        one = by_name(curve)["ours"][run]
        assert (score, difference) == (f"{one['mean']:.2f}", f"{one['difference']:+.2f}")
        assert float(minutes) == pytest.approx(SECONDS[run]["ours"] / 60)
        assert baseline == baselines[run]
        assert float(of_baseline) == pytest.approx(SECONDS[run][baseline] / 60)
    # the other baseline of each run is compared, too
    assert len(rows) == 2 * len(PAIRS)


def lines_of_page(content):
    """Return the points of each line of each chart, as the page's scripts read them."""
    data = json.loads(re.search('id="data">(.*?)</script>', render_runs(content))[1])
    return {name: {line["name"]: line["points"] for line in lines} for name, lines in data["lines"].items()}


def test_charts_of_the_page(curve):
    """For each number of pairs, the difference with its interval, and minutes, also of the baseline."""
    found = lines_of_page(curve)
    differences, times = found["differences-by-pairs-0"], found["times-by-pairs-0"]
    assert [*differences] == ["ours"]
    assert [*times] == ["ours", "baseline"]

    ours, order = by_name(curve)["ours"], sorted(PAIRS, key=PAIRS.get)
    assert [(point["x"], point["y"], tuple(point["interval"])) for point in differences["ours"]] == [
        (PAIRS[run], ours[run]["difference"], ours[run]["interval"]) for run in order
    ]
    assert [(point["x"], point["y"]) for point in times["ours"]] == [
        (PAIRS[run], pytest.approx(SECONDS[run]["ours"] / 60)) for run in order
    ]
    baselines = {run["name"]: run["baseline"] for run in curve["runs"]}
    assert [(point["x"], point["y"], point["experiment"]) for point in times["baseline"]] == [
        (PAIRS[run], pytest.approx(SECONDS[run][baselines[run]] / 60), baselines[run]) for run in order
    ]


def test_scales(curve):
    """Pairs and minutes are on logarithmic scales, differences on one with the line of no difference."""
    scales = {}
    for name, chart in charts_of_pairs(curve).items():
        *_, lines = chart.specification["layer"]
        scales[name] = [lines["encoding"][axis]["scale"].get("type") for axis in "xy"]
    assert scales == {"differences-by-pairs-0": ["log", None], "times-by-pairs-0": ["log", "log"]}
    _, zero, _ = charts_of_pairs(curve)["differences-by-pairs-0"].specification["layer"]
    assert zero["encoding"]["y"] == {"datum": 0}


def test_tooltips_state_only_intervals_that_are_known(curve):
    """Those of differences; scores by tokenized BLEU have none, and minutes never do."""
    charts = charts_of_pairs(curve) | charts_of_scores(curve)
    for name, chart in charts.items():
        *_, lines = chart.specification["layer"]
        fields = [one["field"] for one in lines["encoding"]["tooltip"]]
        interval = ["low", "high"] if name.startswith("differences") else []
        assert fields == ["run", "experiment", "x", "y", *interval]
    assert len(charts) == 3


@pytest.mark.parametrize(
    ("pairs", "languages"), [((8000, 8000), ("de", "de")), ((8000, 9000), ("de", "fr"))], ids=str
)
def test_other_runs_have_no_such_charts(tmp_path, pairs, languages):
    """The same number of pairs, or other languages; the table by run shows the pairs nevertheless."""
    runs = [
        make_run(tmp_path / name, size, SECONDS["a"], {"source_language": language, "max_train": size})
        for name, size, language in zip("ab", pairs, languages, strict=True)
    ]
    content = compared(runs)
    assert charts_of_pairs(content) == {}
    assert not any("by-pairs" in name for name in lines_of_page(content))
    assert [run["training_pairs"] for run in content["runs"]] == [*pairs]


def test_minutes_of_repeats_are_means(tmp_path):
    seconds = {"small": 60, "large": 60, "ours": 60, "ours.repeat-2": 180}
    content = compared([make_run(tmp_path / "a", 500, seconds, repeats=2)])
    assert by_name(content)["ours"]["a"]["minutes"] == pytest.approx(2)


def test_what_is_unknown(tmp_path):
    """An older run without statistics of its corpus, and an experiment whose jobs were not measured."""
    content = compared([make_run(tmp_path / "old", None, {"small": 60, "large": 60})])
    (run,) = content["runs"]
    assert run["training_pairs"] is None
    assert {system["name"]: system["runs"][0]["minutes"] for system in content["systems"]} == {
        "small": pytest.approx(1),
        "large": pytest.approx(1),
        "ours": None,
    }
    header, *lines = (line.split("\t") for line in tsv_table(content))
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    (ours,) = [row for row in rows if (row["experiment"], row["run"]) == ("ours", "old")]
    assert (ours["training_pairs"], ours["minutes"], ours["baseline_minutes"]) == ("", "", "1.00")
    text = next(line for line in text_table(content) if " old " in line and " ours " in line)
    assert text.split()[3:6:2] == ["-", "-"]
    render_runs(content)


def made_up(minutes, groups=(("a", "b"),)):
    """Return content of runs with these minutes of each experiment; the lines join the runs of each group.

    Experiment 0 is the baseline, from which experiment n differs by n.
    """
    names = [name for group in groups for name in group]
    pairs = {name: 1000 * 2**place for place, name in enumerate(names)}
    series = [
        {
            "name": experiment,
            "points": [
                {"value": pairs[run], "run": run, "experiment": experiment, "score": 30, "interval": None}
                for run in group
            ],
        }
        for experiment in minutes
        for group in groups
    ]
    return {
        "metric": "bleu",
        "baselines": ["0"],
        "runs": [{"name": name, "training_pairs": pairs[name], "baseline": "0"} for name in names],
        "systems": [
            {
                "name": name,
                "runs": [
                    {"difference": int(name) or None, "interval": (0, 9), "minutes": one} for one in of_runs
                ],
            }
            for name, of_runs in minutes.items()
        ],
        "varied": [
            {"key": "decoder.pop_limit", "series": series},
            {"key": "training pairs", "series": series},
        ],
    }


def points(chart):
    return {line.name: [(point["x"], point["y"]) for point in line.points] for line in chart.lines}


def test_unknown_minutes_are_left_out():
    """So are those of jobs that took no time: a logarithmic scale has no zero."""
    charts = charts_of_pairs(made_up({"0": (0.0, 3.0), "1": (None, 5.0)}))
    assert points(charts["differences-by-pairs-0"]) == {"1": [(1000, 1), (2000, 1)]}
    assert points(charts["times-by-pairs-0"]) == {"1": [(2000, 5)], "baseline": [(2000, 3)]}
    assert [*charts_of_pairs(made_up({"0": (None, None), "1": (None, None)}))] == ["differences-by-pairs-0"]


def test_many_lines_are_split():
    """There are eight colours, and the minutes of the baseline need one."""
    charts = charts_of_pairs(made_up({str(number): (1.0, 2.0) for number in range(10)}))
    differences = [points(chart) for name, chart in charts.items() if name.startswith("differences")]
    assert [[*one] for one in differences] == [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]]
    times = [points(chart) for name, chart in charts.items() if name.startswith("times")]
    assert [[*one] for one in times] == [[*one, "baseline"] for one in differences]


def test_runs_of_two_corpora():
    """Each has a line of its own, and one of its baselines."""
    groups = ("de-small", "de-large"), ("it-small", "it-large")
    charts = charts_of_pairs(made_up({"0": (1.0, 2.0, 3.0, 4.0), "1": (5.0, 6.0, 7.0, 8.0)}, groups))
    lines = [(line.name, [point["y"] for point in line.points]) for line in charts["times-by-pairs-0"].lines]
    assert lines == [
        ("1", [5, 6]),
        ("1", [7, 8]),
        ("baseline: de-small, de-large", [1, 2]),
        ("baseline: it-small, it-large", [3, 4]),
    ]
