"""Several runs, for example of other language pairs: each experiment against a baseline, over all runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itersel.errors import InputError, suggest
from itersel.evaluate.names import sign_of
from itersel.evaluate.significance import (
    SEED,
    Bootstrap,
    Differences,
    Interval,
    mean_difference,
    paired_differences,
    sign_test,
)
from itersel.report.baseline import best_on_devtest
from itersel.report.finished import FinishedRun
from itersel.report.run_counts import counts_of_scores, digest_of_references
from itersel.report.runs_content import (
    ComparedExperiment,
    OverallDifference,
    RunDescription,
    RunsContent,
    ScoreInRun,
)
from itersel.report.runs_settings import RunSettings, compare_settings, differing_keys, varied_numbers
from itersel.report.scores import describe_test, numbers_of, worse_systems
from itersel.report.table_content import Score
from itersel.storage.arrays import Float64s
from itersel.storage.json_files import as_content

if TYPE_CHECKING:
    from itersel.config.evaluation import SignificanceSettings


class RunComparison(NamedTuple):
    """The experiments of one run, by name, compared with its baseline."""

    baseline: str
    scores: dict[str, Score]
    differences: dict[str, Differences]  # from the baseline; 0 for itself
    resampled: dict[str, Float64s]  # differences on texts drawn from the test set
    minutes: dict[str, float | None]  # of processor time; `None` if unknown


def compare_runs(
    runs: Sequence[FinishedRun], baselines: Sequence[str], metric_name: str, how: SignificanceSettings
) -> RunsContent:
    """Compare the experiments that all runs share with a baseline, in each run and over all runs.

    If several `baselines` are given, each run uses the best of them on its devtest. `metric_name` is
    `TOKENIZED_BLEU` or one of `TABULATED` (`itersel.evaluate.names`).
    """
    shared = _shared_experiments(runs, baselines)
    numbers = numbers_of(shared)
    # the same sentences are exchanged and drawn together: repeating them is no evidence about other text
    text_numbers = _text_numbers(runs)
    compared = [
        _compare(run, shared, baselines, metric_name, how, text_number)
        for run, text_number in zip(runs, text_numbers, strict=True)
    ]

    everywhere = {name for run in runs for name in run.systems}
    settings = {
        run.name: RunSettings(run.settings, run.versions, run.training_pairs, of_run.scores)
        for run, of_run in zip(runs, compared, strict=True)
    }

    return {
        "metric": metric_name,
        "significance": as_content(describe_test(how, "run and sentence")),
        "baselines": list(baselines),
        "runs": [
            _describe_run(run, metric_name, of_run.baseline, text_number)
            for run, of_run, text_number in zip(runs, compared, text_numbers, strict=True)
        ],
        "systems": [_describe_experiment(name, compared, metric_name, numbers) for name in shared],
        "left_out": {
            name: [run.name for run in runs if name in run.systems] for name in sorted(everywhere - {*shared})
        },
        "settings": compare_settings([*settings.values()], shared),
        "varied": varied_numbers(settings, shared),
    }


def _text_numbers(runs: Sequence[FinishedRun]) -> list[int]:
    """Return a number for each run, the same for runs whose test sets have the same references."""
    digests = [digest_of_references(run) for run in runs]
    return [digests.index(digest) for digest in digests]


def _shared_experiments(runs: Sequence[FinishedRun], baselines: Sequence[str]) -> list[str]:
    """Return the experiments that all runs have, in the order of the first run.

    Raises an InputError if an experiment differs in its settings, or if there is nothing to compare.
    """
    first = runs[0]
    shared = [name for name in first.systems if all(name in run.systems for run in runs)]

    for name in baselines:
        if name not in shared:
            known = f"all runs have {', '.join(shared)}" if shared else "the runs share no experiment"
            raise InputError(f"not all runs have the baseline '{name}'{suggest(name, shared)}; {known}")
    if len(shared) < 2:
        raise InputError(f"the runs share no experiment other than '{shared[0]}'; compare more experiments")

    for run in runs[1:]:
        for name in shared:
            differing = differing_keys(run.settings, first.settings, name)
            if differing:
                key, (value, other) = differing[0]
                raise InputError(
                    f"the settings of '{name}' differ from those in {first.folder}: {key} is "
                    f"{value or 'missing'} here and {other or 'missing'} there; rename the experiment in one "
                    "of the runs",
                    run.folder,
                )

    return shared


def _compare(
    run: FinishedRun,
    shared: Sequence[str],
    baselines: Sequence[str],
    metric_name: str,
    how: SignificanceSettings,
    text_number: int,
) -> RunComparison:
    """Compare all experiments of a run with its baseline."""
    every = run.scores(metric_name)
    scores = {name: every[name] for name in shared}
    baseline = _baseline(run, baselines)
    metric, counts = counts_of_scores(run, scores, metric_name)

    pairs = [(name, baseline) for name in shared if name != baseline]
    found = paired_differences([metric], [counts], pairs, how.trials, (how.seed, text_number))
    differences = {name: one for (name, _), [one] in zip(pairs, found, strict=True)}
    bootstrap = Bootstrap(len(counts[baseline][0]), (SEED, text_number))
    means = {name: bootstrap.means(metric, repeats) for name, repeats in counts.items()}

    return RunComparison(
        baseline,
        scores,
        differences | {baseline: Differences(0.0, np.zeros(how.trials))},
        {name: means[name] - means[baseline] for name in shared},
        run.minutes(shared),
    )


def _baseline(run: FinishedRun, baselines: Sequence[str]) -> str:
    """Return the baseline of a run: of several, the best on devtest."""
    if len(baselines) == 1:
        return baselines[0]

    candidates = [run.systems[name] for name in baselines]
    if not all(one.is_experiment for one in candidates):
        raise InputError("only experiments have scores on devtest to choose a baseline by", run.folder)
    return best_on_devtest(candidates).name


def _describe_run(run: FinishedRun, metric_name: str, baseline: str, text_number: int) -> RunDescription:
    test_set = run.table.all_sentences
    return {
        "name": run.name,
        "training_pairs": run.training_pairs,
        "sentences": test_set.sentences,
        "references": test_set.references,
        "signature": test_set.signatures[metric_name],
        "baseline": baseline,
        "text": text_number,
    }


def _describe_experiment(
    name: str, compared: Sequence[RunComparison], metric_name: str, numbers: Mapping[str, int]
) -> ComparedExperiment:
    """Return what the JSON file says of an experiment: its scores and differences in each run and overall."""
    observed = [run.differences[name].observed for run in compared]
    mean = mean_difference([run.differences[name] for run in compared])
    sign = sign_of(metric_name)
    ahead = sum(sign * one > 0 for one in observed)
    behind = sum(sign * one < 0 for one in observed)
    is_baseline = [run.baseline == name for run in compared]

    overall: OverallDifference = {
        "mean": mean.observed,
        "interval": Interval.of(np.mean([run.resampled[name] for run in compared], axis=0)),
        "error": statistics.stdev(observed) / math.sqrt(len(observed)) if len(observed) > 1 else None,
        "p": mean.p,
        "ahead": ahead,
        "behind": behind,
        "sign_p": sign_test(ahead, behind),
    }

    worse = [[numbers[other] for other in _worse(run, name, metric_name)] for run in compared]
    return {
        "number": numbers[name],
        "name": name,
        "runs": [
            _describe_score(run, name, better_than) for run, better_than in zip(compared, worse, strict=True)
        ],
        "difference": None if all(is_baseline) else overall,
    }


def _describe_score(run: RunComparison, name: str, better_than: list[int]) -> ScoreInRun:
    """Return the score of an experiment in a run, with the numbers of those that are significantly worse."""
    score = run.scores[name]
    is_baseline = run.baseline == name

    return {
        "mean": score.mean,
        "deviation": score.deviation,
        "repeats": score.repeats,
        "better_than": better_than,
        "difference": None if is_baseline else run.differences[name].observed,
        "interval": None if is_baseline else Interval.of(run.resampled[name]),
        "p": None if is_baseline else score.p[run.baseline],
        "minutes": run.minutes[name],
    }


def _worse(run: RunComparison, name: str, metric_name: str) -> list[str]:
    """Return the experiments that are significantly worse in a run."""
    means = {other: score.mean for other, score in run.scores.items()}
    return worse_systems(name, means, run.scores[name].p, metric_name)
