"""Scores that users have for each line, such as COMET, compared as other metrics are."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import input_error

import itersel
from itersel.cli.main import main
from itersel.evaluate.compare import user_score_counts, user_score_metric
from itersel.storage.files import write_lines

LINES = [f"sentence number {number} has some words" for number in range(60)]
OUTPUTS = {"A": LINES, "B": [line.replace("some", "few") for line in LINES]}


def numbers(seed, center):
    source = random.Random(seed)
    return [round(source.gauss(center, 0.1), 4) for _ in LINES]


SCORES = {"COMET": {"A": numbers(1, 0.8), "B": numbers(2, 0.78)}, "human": {"A": [1] * 60, "B": [0] * 60}}


def test_means_are_compared():
    found = itersel.compare(OUTPUTS, LINES, metrics=["bleu"], user_scores=SCORES, trials=999, seed=3)
    assert [one.name for one in found] == ["bleu", "COMET", "human"]
    for one in found[1:]:
        means = [np.mean(SCORES[one.name][system]) for system in OUTPUTS]
        assert [system.score for system in one.systems] == pytest.approx(means)
        assert one.systems[1].difference == pytest.approx(means[1] - means[0])
        assert all(system.interval.low <= system.score <= system.interval.high for system in one.systems)


def test_p_value_is_that_of_plain_python():
    """In each trial, the numbers of each sentence are exchanged with probability 1/2, as for all metrics."""
    trials = 400
    (_, comet, _) = itersel.compare(
        OUTPUTS, LINES, metrics=["bleu"], user_scores=SCORES, trials=trials, seed=5
    )
    values = np.array([SCORES["COMET"][system] for system in OUTPUTS])
    observed = abs(values[0].sum() - values[1].sum())

    source = np.random.default_rng(5)
    at_least = 0
    for first in range(0, trials, 32):
        for kept in source.integers(2, size=(min(32, trials - first), len(LINES)), dtype=bool):
            left = np.where(kept, values[0], values[1])
            right = np.where(kept, values[1], values[0])
            at_least += abs(left.sum() - right.sum()) >= observed - 1e-9
    assert comet.systems[1].p == pytest.approx((at_least + 1) / (trials + 1))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.randoms())
def test_order_does_not_matter(values, source):
    metric = user_score_metric("x")
    mean = metric.score(user_score_counts(np.array(values)))
    source.shuffle(values)
    assert metric.score(user_score_counts(np.array(values))) == mean


@pytest.mark.parametrize(
    ("scores", "facts"),
    [
        ({"BLEU": SCORES["human"]}, "'BLEU'"),
        ({"": SCORES["human"]}, ()),
        ({"x": {"A": [1] * 60}}, ("'x'", "B")),
        ({"x": {**SCORES["human"], "C": [1] * 60}}, ("'x'", "C")),
        ({"x": {"A": [1] * 60, "B": [1] * 59}}, ("'x'", "B", 59, 60)),
        ({"x": {"A": [1] * 60, "B": [float("nan")] * 60}}, ("'x'", "B")),
        ({"x": {"A": [1] * 60, "B": [1.1e6] * 60}}, ("'x'", "B", 10**6)),
        ({"x": {"A": [1] * 60, "B": ["a"] * 60}}, ("'x'", "B")),
    ],
)
def test_wrong_numbers(scores, facts):
    with input_error(facts):
        itersel.compare(OUTPUTS, LINES, user_scores=scores)


def test_command(tmp_path, capsys, refused):
    for name, lines in {"reference": LINES, **OUTPUTS}.items():
        write_lines(tmp_path / name, lines)
    for system, values in SCORES["COMET"].items():
        write_lines(tmp_path / f"{system}.comet", map(str, values))
    files = [str(tmp_path / name) for name in OUTPUTS]
    command = ["compare", "--reference", str(tmp_path / "reference"), "--metrics", "bleu", "--trials", "50"]
    own = [word for file in files for word in ("--user-score", f"COMET={file}.comet")]

    assert main([*command, *own, "--json", *files]) == 0
    found = json.loads(capsys.readouterr().out)["metrics"]
    expected = itersel.compare(
        OUTPUTS, LINES, metrics=["bleu"], user_scores={"COMET": SCORES["COMET"]}, trials=50
    )
    assert [one["name"] for one in found] == ["bleu", "COMET"]
    for one, other in zip(found, expected, strict=True):
        assert [row["p"] for row in one["systems"]] == [row.p for row in other.systems]
        assert [row["score"] for row in one["systems"]] == [row.score for row in other.systems]

    assert main([*command, *own, *files]) == 0
    shown = capsys.readouterr().out
    # numbers from 0 to 1 need more digits than BLEU
    assert f"{np.mean(SCORES['COMET']['B']):.4f}" in shown

    refused([*command, *own[:2], *files], ("--user-score", 1, 2))
    write_lines(tmp_path / "B.comet", ["1"] * 59 + ["-2e6"])
    refused([*command, *own, *files], ("B.comet:60:", "'-2e6'"))
    write_lines(tmp_path / "B.comet", ["1"] * 59)
    refused([*command, *own, *files], ("B.comet:", 59, 60))
