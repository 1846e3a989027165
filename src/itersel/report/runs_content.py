"""What `compare_runs` finds, a document whose file docs/formats.md describes, and from which tables are made.

Scores, differences and their intervals are in the unit of the metric: from 0 to 100, but TER may be higher.
"""

from __future__ import annotations

from typing import Any, TypedDict

from itersel.evaluate.significance import Interval
from itersel.report.settings import CommonKey, DifferingKey, ExperimentSettings


class RunDescription(TypedDict):
    """A run."""

    name: str
    training_pairs: int | None  # `None` if unknown
    sentences: int  # of all test sets together
    references: int
    signature: str  # of sacrebleu
    baseline: str  # name of the experiment
    text: int  # the same for runs whose test sets have the same references


class ScoreInRun(TypedDict):
    """The score of an experiment in a run, and its difference from the baseline; `None` for the baseline."""

    mean: float  # over the repeats
    deviation: float | None  # `None` without repeats
    repeats: tuple[float, ...]
    better_than: list[int]  # numbers of the experiments that are significantly worse
    difference: float | None
    interval: Interval | None  # 95 %, of the difference
    p: float | None  # of the difference
    minutes: float | None  # of processor time, the mean over the repeats; `None` if unknown


class OverallDifference(TypedDict):
    """The differences of an experiment from the baselines, over all runs."""

    mean: float
    interval: Interval  # 95 %, of the mean
    error: float | None  # standard error of the mean; `None` for one run
    p: float  # by approximate randomization
    ahead: int  # number of runs in which it is better
    behind: int
    sign_p: float  # by a sign test


class ComparedExperiment(TypedDict):
    """An experiment in all runs."""

    number: int
    name: str
    runs: list[ScoreInRun]  # in the order of the runs
    difference: OverallDifference | None  # `None` for the baseline of all runs


class RunsSettings(TypedDict):
    """The settings of the runs, which are the columns."""

    differing: list[DifferingKey]
    common: list[CommonKey]
    experiments: ExperimentSettings  # in the first run


class VariedPoint(TypedDict):
    """The score of an experiment in a run, at a value of the number that varies."""

    value: float
    run: str
    experiment: str
    score: float
    interval: Interval | None  # 95 %, of the score; `None` if unknown


class VariedSeries(TypedDict):
    """Scores that differ in nothing but the number that varies, in its order."""

    name: str
    points: list[VariedPoint]


class VariedNumber(TypedDict):
    """A number in which runs or experiments differ."""

    key: str
    series: list[VariedSeries]


class RunsContent(TypedDict):
    """The comparison of several runs."""

    metric: str  # its name
    significance: dict[str, Any]  # the content of a `SignificanceTest`
    baselines: list[str]
    runs: list[RunDescription]
    systems: list[ComparedExperiment]
    left_out: dict[str, list[str]]  # experiments that not all runs have, with the runs that have them
    settings: RunsSettings
    varied: list[VariedNumber]
