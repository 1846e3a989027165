"""Compare systems by any corpus score: approximate randomization, and confidence intervals by bootstrap.

The former is by Noreen (1989) and Riezler & Maxwell (2005); the latter by Koehn (2004), as sacrebleu does it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from itersel.arrays import Float64s
from itersel.errors import InputError, check_choice
from itersel.evaluate.metrics import DECIMALS, Metric, References, Sums, checked_references, make_metrics
from itersel.limits import CASES, METRICS, TOKENIZERS

# Trials computed in one pass: 40 MB for 5,000 sentences.
BLOCK = 1000
# The same for pooled runs: 40 MB for 5,000 sentences and 6 runs.
POOLED_BLOCK = 100
# sacrebleu's defaults, so `sacrebleu --confidence` prints the same interval.
RESAMPLES, SEED = 1000, 12345
# A seed, or a seed and the number of a run, so that runs differ; number 0 is the seed alone.
Seed = int | Sequence[int]


class Exchanged(NamedTuple):
    """The sums of a system's counts over all sentences, and over those that it keeps: trials x numbers."""

    total: Sums
    kept: Sums


class Randomization:
    """Random exchanges of sentences between two systems, the same for all pairs and metrics.

    sacrebleu makes the same exchanges with this seed.
    """

    def __init__(self, sentences: int, trials: int = 10_000, seed: Seed = 1) -> None:
        random = np.random.default_rng(seed)
        self._is_kept = random.integers(2, size=(trials, sentences), dtype=bool)

    def exchange(self, counts: Sums) -> Exchanged:
        """Return the sums in all trials of a system with these counts (sentences x numbers)."""
        starts = range(0, len(self._is_kept), BLOCK)
        kept = [self._is_kept[first : first + BLOCK].astype(np.float64) @ counts for first in starts]
        return Exchanged(counts.sum(axis=0), np.concatenate(kept))


class Differences(NamedTuple):
    """The difference between the scores of two systems, and that in each trial of a randomization."""

    observed: float
    trials: Float64s

    @property
    def p(self) -> float:
        """The p-value, two-sided.

        This is (trials with a difference at least as large as the observed one + 1) / (trials + 1): 1 for
        identical systems. For these, sacrebleu returns its smallest p-value, as it only counts larger
        differences.
        """
        at_least = int(np.count_nonzero(np.abs(self.trials) >= abs(self.observed)))
        return (at_least + 1) / (len(self.trials) + 1)


def differences(metric: Metric, one: Exchanged, other: Exchanged) -> Differences:
    """Return the differences between two systems: paired by sentence, for a two-sided test."""
    # In a trial, each system gets the sentences that the other one does not keep.
    left = one.kept + (other.total - other.kept)
    right = (one.total - one.kept) + other.kept
    observed = metric.scores(one.total) - metric.scores(other.total)
    return Differences(float(observed), metric.scores(left) - metric.scores(right))


def mean_difference(runs: Sequence[Differences]) -> Differences:
    """Return the mean over runs, in each of which the sentences are exchanged independently."""
    trials = np.stack([run.trials for run in runs]).mean(axis=0)
    observed = math.fsum(run.observed for run in runs) / len(runs)
    # differences that are equal except for rounding are equal
    return Differences(round(observed, DECIMALS), trials.round(DECIMALS))


def paired_differences(
    metrics: Sequence[Metric],
    counts: Sequence[Mapping[str, Sequence[Sums]]],
    pairs: Iterable[tuple[str, str]],
    trials: int = 10_000,
    seed: Seed = 1,
) -> Iterator[tuple[str, str, list[Differences]]]:
    """Yield each pair of systems, and their differences by each metric.

    `counts` are, for each metric, those of all runs of each system: sentences x numbers.
    """
    first, *_ = counts[0].values()
    exchanges = Randomization(len(first[0]), trials, seed)
    exchanged = [
        {name: exchanges.exchange(runs[0]) for name, runs in by_name.items() if len(runs) == 1}
        for by_name in counts
    ]
    for one, other in pairs:
        if one in exchanged[0] and other in exchanged[0]:
            sides = ((by_name[one], by_name[other]) for by_name in exchanged)
            found = [differences(metric, *side) for metric, side in zip(metrics, sides, strict=True)]
        else:
            left, right = ([by_name[name] for by_name in counts] for name in (one, other))
            found = pooled_differences(metrics, left, right, trials, seed)
        yield one, other, found


def pooled_differences(
    metrics: Sequence[Metric],
    one: Sequence[Sequence[Sums]],
    other: Sequence[Sequence[Sums]],
    trials: int = 10_000,
    seed: Seed = 1,
) -> list[Differences]:
    """Return the differences between the mean scores of two systems with several runs (Clark et al. 2011).

    In a trial, the translations of a sentence by all runs of both systems are exchanged at random: the test
    is stratified by sentences. It treats differences between the runs of a system as differences between
    single sentences: if a whole run is good or bad, small p-values are too frequent.

    `one` and `other` are, for each metric, the counts of each run: sentences x numbers. The exchanges are the
    same for all metrics.
    """
    # The counts of all metrics side by side, so an exchange is looked up once for all of them.
    counts = np.concatenate(
        [np.stack([*left, *right]) for left, right in zip(one, other, strict=True)], axis=2
    )
    runs, sentences, numbers = counts.shape
    rows = counts.reshape(runs * sentences, numbers)
    exchanged = [block @ rows for block in _exchanges(runs, sentences, trials, seed)]
    # the observed sums, then those in the trials
    sums = np.concatenate([counts.sum(axis=1), *exchanged]).reshape(1 + trials, runs, numbers)
    ends = list(accumulate(left[0].shape[1] for left in one))
    found = []
    for metric, left, columns in zip(metrics, one, np.split(sums, ends[:-1], axis=2), strict=True):
        between = _between_means(metric.scores(columns), len(left))
        found.append(Differences(float(between[0]), between[1:]))
    return found


def _exchanges(runs: int, sentences: int, trials: int, seed: Seed) -> Iterator[csr_array]:
    """Yield blocks of trials as matrices: for each run in a trial (rows), the translations that it gets.

    A column is the translation of a sentence by a run: run x sentences + sentence.
    """
    random = np.random.default_rng(seed)
    order, sentence = np.tile(np.arange(runs), (sentences, 1)), np.arange(sentences)
    for first in range(0, trials, POOLED_BLOCK):
        drawn = [random.permuted(order, axis=1).T for _ in range(min(POOLED_BLOCK, trials - first))]
        columns = (np.stack(drawn) * sentences + sentence).astype(np.int32).reshape(-1)
        starts = np.arange(0, len(columns) + 1, sentences, dtype=np.int32)
        values = np.ones(len(columns))
        yield csr_array((values, columns, starts), shape=(len(starts) - 1, runs * sentences))


def _between_means(scores: Sums, first: int) -> Float64s:
    """Return, by trial, the difference between the means of the `first` runs and the others."""
    # `fsum`, so the result does not depend on the order of the runs
    return np.array(
        [math.fsum(row[:first]) / first - math.fsum(row[first:]) / (len(row) - first) for row in scores]
    )


def sign_test(positive: int, negative: int) -> float:
    """Return the two-sided p-value of these numbers of signs, if both signs are equally likely."""
    signs = positive + negative
    at_most = sum(math.comb(signs, fewer) for fewer in range(min(positive, negative) + 1))
    return min(1.0, at_most / 2 ** (signs - 1)) if signs else 1.0


class Interval(NamedTuple):
    """The interval that contains 95 % of the resampled scores."""

    low: float
    high: float

    @classmethod
    def of(cls, resampled: Float64s) -> Interval:
        """Return the interval of these values."""
        values = np.sort(resampled)
        outside = len(values) // 40
        return cls(float(values[outside]), float(values[-1 - outside]))


class Bootstrap:
    """Texts with as many sentences as the original, drawn with replacement.

    They are the same for all systems and metrics, so that intervals are paired, and the same as sacrebleu's.
    """

    def __init__(self, sentences: int, seed: Seed = SEED) -> None:
        drawn = np.random.default_rng(seed).choice(sentences, size=(RESAMPLES, sentences), replace=True)
        self._times: Float64s = np.zeros((RESAMPLES, sentences))
        for times, indices in zip(self._times, drawn, strict=True):
            times += np.bincount(indices, minlength=sentences)

    def interval(self, metric: Metric, runs: Sequence[Sums]) -> Interval:
        """Return the interval of the mean score of runs, given their counts (sentences x numbers)."""
        return Interval.of(self.means(metric, runs))

    def means(self, metric: Metric, runs: Sequence[Sums]) -> Float64s:
        """Return the mean score of runs on each drawn text."""
        return np.asarray(np.mean([metric.scores(self._times @ counts) for counts in runs], axis=0))


class SystemScore(NamedTuple):
    """A score of one system, and how it differs from the baseline.

    Attributes
    ----------
    score
        0 to 100; TER may be higher.
    interval
        95 % confidence interval, by bootstrap.
    difference, p
        Difference from the baseline and its p-value by approximate randomization; None for the baseline.
    """

    system: str
    score: float
    interval: Interval
    difference: float | None
    p: float | None


class MetricScores(NamedTuple):
    """The scores of all systems by one metric, the baseline first.

    Attributes
    ----------
    name
        ``BLEU``, ``chrF2++`` or ``TER``.
    case
        ``cased`` or ``lowercased``.
    signature
        sacrebleu's signature.
    """

    name: str
    case: str
    signature: str
    systems: tuple[SystemScore, ...]


def compare(
    outputs: Mapping[str, Sequence[str]],
    *references: References,
    metrics: Sequence[str] = METRICS,
    lowercase: bool = False,
    tokenize: str = "13a",
    trials: int = 10_000,
    seed: int = 1,
) -> list[MetricScores]:
    """Score systems, and test their differences from the first, as ``itersel compare`` does.

    Parameters
    ----------
    outputs
        Translations by name of the system, one per sentence; the first system is the baseline.
    *references
        One or more reference translations, each with one line per sentence; None or an empty line where a
        sentence has fewer references than others.
    metrics
        Some of ``BLEU``, ``chrF2++`` and ``TER``.
    lowercase
        Ignore case.
    tokenize
        sacrebleu's tokenizer for BLEU; ``none`` for tokenised text.
    trials, seed
        Number and seed of the random exchanges.

    Returns
    -------
    list of MetricScores
        For each metric, the scores of all systems with 95 % intervals, differences and p-values.

    Raises
    ------
    InputError
        If there is no reference or no sentence, or the numbers of lines differ.
    """
    for name in metrics:
        check_choice("metric", name, METRICS)
    check_choice("tokenize", tokenize, TOKENIZERS)
    if trials < 1:
        raise InputError(f"trials is {trials}; at least 1 is needed")
    if not outputs or not references or not references[0]:
        raise InputError("there is nothing to compare; give outputs and references of at least one sentence")
    sentences = len(references[0])
    for name, lines in outputs.items():
        if isinstance(lines, str):
            raise InputError(f"the output of {name} is a string, a list of lines was expected")
        if len(lines) != sentences:
            raise InputError(f"{name} has {len(lines)} lines, but the reference has {sentences}")
    exchanges, bootstrap = Randomization(sentences, trials, seed), Bootstrap(sentences)
    found = []
    for metric in make_metrics(checked_references(references), tokenize):
        if metric.case != CASES[lowercase] or metric.name not in metrics:
            continue
        counts = {name: metric.counts(lines) for name, lines in outputs.items()}
        baseline, *others = counts
        first, base = exchanges.exchange(counts[baseline]), metric.score(counts[baseline])
        systems = [SystemScore(baseline, base, bootstrap.interval(metric, [counts[baseline]]), None, None)]
        for name in others:
            score = metric.score(counts[name])
            p = differences(metric, first, exchanges.exchange(counts[name])).p
            interval = bootstrap.interval(metric, [counts[name]])
            systems.append(SystemScore(name, score, interval, score - base, p))
        found.append(MetricScores(metric.name, metric.case, metric.signature, tuple(systems)))
    return found
