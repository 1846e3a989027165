"""Scores of experiments on a text, and the p-values of their differences."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from itersel.corpus.text_names import FIRST_ENTRIES
from itersel.evaluate.counts import Counts
from itersel.evaluate.metrics import (
    CorpusScore,
    Metric,
    ReferenceText,
    Sums,
    make_tokenized_bleu,
    score_of_counts,
)
from itersel.evaluate.names import sign_of
from itersel.evaluate.significance import Bootstrap, Interval, paired_p_values

# Significance level.
ALPHA = 0.05
# Note on repeats.
REPEATED = (
    "±: standard deviation over the repeats of an experiment. Means of repeats are compared by exchanging "
    "the translations of a sentence among all repeats of both (Clark et al. 2011). Where the deviations are "
    "as large as the difference, do not rely on its significance."
)


class MeanScore(NamedTuple):
    """The mean of a score over repeats, and its standard deviation; `None` without repeats."""

    mean: float
    deviation: float | None

    def __str__(self) -> str:
        return self.rounded(2)

    def rounded(self, digits: int) -> str:
        """Return the mean and the deviation with the given number of decimals."""
        mean = f"{self.mean:.{digits}f}"
        return mean if self.deviation is None else f"{mean} ±{self.deviation:.{digits}f}"


def summarize(scores: Sequence[float]) -> MeanScore:
    """Return the mean of scores and their sample standard deviation."""
    return MeanScore(statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else None)


class ExperimentScore(NamedTuple):
    """A score of an experiment by one metric, over its repeats, and its significant differences."""

    repeats: tuple[float, ...]  # of each repeat
    p: dict[str, float]  # of the differences from the other experiments, by name
    interval: Interval | None = None  # 95 %, of the mean over the repeats; `None` for tokenised BLEU
    details: tuple[CorpusScore, ...] = ()  # for tokenised BLEU: precisions, brevity penalty, lengths

    @property
    def summary(self) -> MeanScore:
        """The score over the repeats."""
        return summarize(self.repeats)


def numbers_of(names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of systems: from 1, or from 0 if the first is the decoder of given lists."""
    listed = list(names)
    return dict(zip(listed, itertools.count(int(listed[0] != FIRST_ENTRIES)), strict=False))


def describe_score(
    scores: Mapping[str, ExperimentScore], name: str, metric: str, numbers: Mapping[str, int]
) -> dict[str, Any]:
    """Return a score of an experiment as JSON contains it (see docs/formats.md).

    `scores` are those of all experiments by this metric, and `numbers` those of all systems.
    """
    score = scores[name]
    return {
        **score.summary._asdict(),
        "interval": score.interval,
        "repeats": score.repeats,
        "p": score.p,
        "differs_from": differs_from(scores, name, numbers),
        "better_than": better_than(scores, name, metric, numbers),
        "details": [
            {key: value for key, value in one._asdict().items() if key != "bleu"} for one in score.details
        ],
    }


def differs_from(scores: Mapping[str, ExperimentScore], name: str, numbers: Mapping[str, int]) -> list[int]:
    """Return the numbers of the systems that differ significantly from `name`."""
    return [numbers[other] for other in scores if scores[name].p.get(other, 1.0) < ALPHA]


def better_than(
    scores: Mapping[str, ExperimentScore], name: str, metric: str, numbers: Mapping[str, int]
) -> list[int]:
    """Return the numbers of significantly worse systems."""
    own = scores[name].summary.mean
    means = {numbers[other]: one.summary.mean for other, one in scores.items()}
    return [one for one in differs_from(scores, name, numbers) if sign_of(metric) * (own - means[one]) > 0]


def score_tokens(
    texts: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[ReferenceText],
    retokenize: str,
    trials: int,
    seed: int,
) -> tuple[Metric, dict[str, ExperimentScore]]:
    """Compute BLEU of tokenised lowercased text (`make_tokenized_bleu`), and test each pair of experiments.

    Returns the metric, and the scores by name of the experiment.
    """
    metric = make_tokenized_bleu(references, retokenize)
    counts = {name: [metric.counts(lines) for lines in repeats] for name, repeats in texts.items()}
    [p] = _p_values([metric], [counts], trials, seed)

    scores = {}
    for name, repeats in counts.items():
        details = tuple(score_of_counts(metric, one) for one in repeats)
        scores[name] = ExperimentScore(tuple(one.bleu for one in details), p[name], details=details)
    return metric, scores


def score_counts(
    counted: Mapping[str, Sequence[Counts]], trials: int, seed: int
) -> dict[Metric, dict[str, ExperimentScore]]:
    """Score experiments by all metrics for which their repeats have counts, and test each pair in each."""
    first = next(iter(counted.values()))[0]
    bootstrap = Bootstrap(len(next(iter(first.values()))))
    counts = [
        {name: [one[metric] for one in repeats] for name, repeats in counted.items()} for metric in first
    ]
    tested = _p_values([*first], counts, trials, seed)

    scores: dict[Metric, dict[str, ExperimentScore]] = {}
    for metric, of_metric, p in zip(first, counts, tested, strict=True):
        scores[metric] = {}
        for name, repeats in of_metric.items():
            values = tuple(map(metric.score, repeats))
            interval = bootstrap.interval(metric, repeats)
            scores[metric][name] = ExperimentScore(values, p[name], interval)

    return scores


def describe_test(trials: int, seed: int) -> dict[str, Any]:
    """Return how the p-values were computed, for JSON."""
    return {
        "test": "approximate randomization, two-sided, stratified by sentence; repeats are pooled",
        "trials": trials,
        "seed": seed,
        "alpha": ALPHA,
    }


def _p_values(
    metrics: Sequence[Metric], counts: Sequence[Mapping[str, Sequence[Sums]]], trials: int, seed: int
) -> list[dict[str, dict[str, float]]]:
    """Return p-values of the differences between experiments, by metric, in the order of the counts."""
    found: list[dict[str, dict[str, float]]] = [{name: {} for name in counts[0]} for _ in metrics]
    pairs = [*itertools.combinations(counts[0], 2)]
    values = paired_p_values(metrics, counts, pairs, trials, seed)
    for (name, other), by_metric in zip(pairs, values, strict=True):
        for p, value in zip(found, by_metric, strict=True):
            p[name][other] = p[other][name] = value
    return found
