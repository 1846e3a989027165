"""Scores of experiments on a text, and the p-values of their differences."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from itersel.corpus.text_names import FIRST_ENTRIES
from itersel.evaluate.counts import Counts
from itersel.evaluate.formulas import Sums
from itersel.evaluate.metrics import Metric, make_tokenized_bleu, score_of_counts
from itersel.evaluate.names import sign_of
from itersel.evaluate.significance import Bootstrap, Interval, paired_p_values
from itersel.evaluate.texts import ReferenceText
from itersel.report.table_content import BleuDetails, MeanScore, Score, SignificanceTest

if TYPE_CHECKING:
    from itersel.config.evaluation import SignificanceSettings
    from itersel.config.report_steps import Comparison

# Significance level.
ALPHA = 0.05
# Note on repeats.
REPEATED = (
    "±: standard deviation over the repeats of an experiment. Means of repeats are compared by exchanging "
    "the translations of a sentence among all repeats of both (Clark et al. 2011). Where the deviations are "
    "as large as the difference, do not rely on its significance."
)


def summarize(scores: Sequence[float]) -> MeanScore:
    """Return the mean of scores and their sample standard deviation."""
    return MeanScore(statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else None)


def numbers_of(names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of systems: from 1, or from 0 if the first is the decoder of given lists."""
    listed = list(names)
    return dict(zip(listed, itertools.count(int(listed[0] != FIRST_ENTRIES)), strict=False))


def differing_systems(names: Iterable[str], p: Mapping[str, float]) -> list[str]:
    """Return the systems that differ significantly from one with these p-values."""
    return [name for name in names if p.get(name, 1.0) < ALPHA]


def worse_systems(
    name: str, means: Mapping[str, float], p: Mapping[str, float], metric_name: str
) -> list[str]:
    """Return the systems that are significantly worse than `name`, whose p-values are `p`."""
    sign = sign_of(metric_name)
    return [other for other in differing_systems(means, p) if sign * (means[name] - means[other]) > 0]


def score_tokens(
    texts: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[ReferenceText],
    numbers: Mapping[str, int],
    how: Comparison,
) -> tuple[Metric, dict[str, Score]]:
    """Compute BLEU of tokenised lowercased text (`make_tokenized_bleu`), and test each pair of experiments.

    `numbers` are those of all systems. Returns the metric, and the scores by name of the experiment.
    """
    metric = make_tokenized_bleu(references, how.retokenize)
    counts = {name: [metric.counts(lines) for lines in repeats] for name, repeats in texts.items()}
    [p] = _p_values([metric], [counts], how)

    values = {}
    details = {}
    for name, repeats in counts.items():
        scores = [score_of_counts(metric, one) for one in repeats]
        values[name] = [one.bleu for one in scores]
        details[name] = tuple(
            BleuDetails(one.precisions, one.brevity_penalty, one.length, one.reference_length)
            for one in scores
        )
    return metric, _scores(metric, values, p, numbers, details=details)


def compare_counts(
    counted: Mapping[str, Sequence[Counts]], numbers: Mapping[str, int], how: SignificanceSettings
) -> dict[Metric, dict[str, Score]]:
    """Score experiments by all metrics for which their repeats have counts, and test each pair in each.

    `numbers` are those of all systems.
    """
    first = next(iter(counted.values()))[0]
    bootstrap = Bootstrap(len(next(iter(first.values()))))
    counts = [
        {name: [one[metric] for one in repeats] for name, repeats in counted.items()} for metric in first
    ]
    tested = _p_values([*first], counts, how)

    scores: dict[Metric, dict[str, Score]] = {}
    for metric, of_metric, p in zip(first, counts, tested, strict=True):
        values = {name: [*map(metric.score, repeats)] for name, repeats in of_metric.items()}
        intervals = {name: bootstrap.interval(metric, repeats) for name, repeats in of_metric.items()}
        scores[metric] = _scores(metric, values, p, numbers, intervals=intervals)

    return scores


def _scores(
    metric: Metric,
    values: Mapping[str, Sequence[float]],
    p: Mapping[str, dict[str, float]],
    numbers: Mapping[str, int],
    *,
    intervals: Mapping[str, Interval] | None = None,
    details: Mapping[str, tuple[BleuDetails, ...]] | None = None,
) -> dict[str, Score]:
    """Return the score of each experiment from the `values` of its repeats, by name."""
    summaries = {name: summarize(of_repeats) for name, of_repeats in values.items()}
    means = {name: summary.mean for name, summary in summaries.items()}

    return {
        name: Score(
            mean=summary.mean,
            deviation=summary.deviation,
            interval=intervals[name] if intervals else None,
            repeats=tuple(values[name]),
            p=p[name],
            differs_from=tuple(numbers[other] for other in differing_systems(means, p[name])),
            better_than=tuple(numbers[other] for other in worse_systems(name, means, p[name], metric.name)),
            details=details[name] if details else (),
        )
        for name, summary in summaries.items()
    }


def describe_test(
    how: SignificanceSettings, stratified_by: str = "sentence; repeats are pooled"
) -> SignificanceTest:
    """Return how the p-values were computed."""
    test = f"approximate randomization, two-sided, stratified by {stratified_by}"
    return SignificanceTest(test, how.trials, how.seed, ALPHA)


def _p_values(
    metrics: Sequence[Metric], counts: Sequence[Mapping[str, Sequence[Sums]]], how: SignificanceSettings
) -> list[dict[str, dict[str, float]]]:
    """Return p-values of the differences between experiments, by metric, in the order of the counts."""
    found: list[dict[str, dict[str, float]]] = [{name: {} for name in counts[0]} for _ in metrics]
    pairs = [*itertools.combinations(counts[0], 2)]
    values = paired_p_values(metrics, counts, pairs, how.trials, how.seed)
    for (name, other), by_metric in zip(pairs, values, strict=True):
        for p, value in zip(found, by_metric, strict=True):
            p[name][other] = p[other][name] = value
    return found
