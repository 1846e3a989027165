"""Compare systems by any corpus score: approximate randomization, and confidence intervals by bootstrap.

The former is by Noreen (1989) and Riezler & Maxwell (2005); the latter by Koehn (2004), as sacrebleu does it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from itersel.evaluate.formulas import Sums
from itersel.evaluate.metrics import DECIMALS, Metric
from itersel.evaluate.names import TRIALS
from itersel.storage.arrays import Float64s
from itersel.storage.numbers import DEFAULT_SEED

# Numbers in the largest array of a pass over a block of trials or drawn texts: 8 MB.
BLOCK = 1 << 20
# Numbers in the sums of all systems in a block of trials: 256 MB.
SUMS_BLOCK = 1 << 25
# Trials drawn in one call. numpy draws 32 values at a time, and drops the rest at the end of a call: with a
# multiple of 32, blocks are the same as one call for all trials, and as the draws of sacrebleu.
DRAWN = 32
# sacrebleu's defaults, so `sacrebleu --confidence` prints the same interval.
RESAMPLES, SEED = 1000, 12345
ALL = slice(None)
# A seed, or a seed and the number of a run, so that runs differ; number 0 is the seed alone.
Seed = int | Sequence[int]


def blocks(rows: int, numbers: int, most: int) -> Iterator[slice]:
    """Yield blocks of rows, each of `numbers` numbers: at most `most` numbers in a block, or one row."""
    step = max(1, most // max(1, numbers))
    return (slice(first, min(first + step, rows)) for first in range(0, rows, step))


class Exchanged(NamedTuple):
    """The sums of a system's counts over all sentences, and over those that it keeps: trials x numbers."""

    total: Sums
    kept: Sums


class Randomization:
    """Random exchanges of sentences between two systems, the same for all pairs and metrics.

    sacrebleu makes the same exchanges with this seed. A sentence takes one bit for each trial.
    """

    def __init__(self, sentences: int, trials: int = TRIALS, seed: Seed = DEFAULT_SEED) -> None:
        random = np.random.default_rng(seed)
        self._sentences = sentences
        self._kept_bits = np.empty((trials, -(-sentences // 8)), np.uint8)
        for first in range(0, trials, DRAWN):
            size = min(DRAWN, trials - first), sentences
            self._kept_bits[first : first + DRAWN] = np.packbits(
                random.integers(2, size=size, dtype=bool), axis=1
            )

    def exchange(self, counts: Sums, trials: slice = ALL) -> Exchanged:
        """Return the sums in these trials of a system with these counts (sentences x numbers)."""
        bits = self._kept_bits[trials]
        kept = np.empty((len(bits), counts.shape[1]))
        for rows in blocks(len(bits), self._sentences, BLOCK):
            is_kept = np.unpackbits(bits[rows], axis=1, count=self._sentences)
            np.matmul(is_kept.astype(np.float64), counts, out=kept[rows])
        return Exchanged(counts.sum(axis=0), kept)


class Differences(NamedTuple):
    """The difference between the scores of two systems, and that in each trial of a randomization."""

    observed: float
    by_trial: Float64s

    @property
    def p(self) -> float:
        """The p-value, two-sided.

        This is (trials with a difference at least as large as the observed one + 1) / (trials + 1): 1 for
        identical systems. For these, sacrebleu returns its smallest p-value, as it only counts larger
        differences.
        """
        return p_value(self.at_least, len(self.by_trial))

    @property
    def at_least(self) -> int:
        """The number of trials with a difference at least as large as the observed one."""
        return int(np.count_nonzero(np.abs(self.by_trial) >= abs(self.observed)))


def p_value(at_least: int, trials: int) -> float:
    """Return the p-value of a difference that `at_least` of the trials reach; see `Differences`."""
    return (at_least + 1) / (trials + 1)


def differences(metric: Metric, one: Exchanged, other: Exchanged) -> Differences:
    """Return the differences between two systems: paired by sentence, for a two-sided test."""
    # In a trial, each system gets the sentences that the other one does not keep.
    left = one.kept + (other.total - other.kept)
    right = (one.total - one.kept) + other.kept
    observed = metric.scores(one.total) - metric.scores(other.total)
    return Differences(float(observed), metric.scores(left) - metric.scores(right))


def mean_difference(runs: Sequence[Differences]) -> Differences:
    """Return the mean over runs, in each of which the sentences are exchanged independently."""
    trials = np.stack([run.by_trial for run in runs]).mean(axis=0)
    observed = math.fsum(run.observed for run in runs) / len(runs)
    # differences that are equal except for rounding are equal
    return Differences(round(observed, DECIMALS), trials.round(DECIMALS))


def paired_differences(
    metrics: Sequence[Metric],
    counts: Sequence[Mapping[str, Sequence[Sums]]],
    pairs: Sequence[tuple[str, str]],
    trials: int = TRIALS,
    seed: Seed = DEFAULT_SEED,
) -> list[list[Differences]]:
    """Return, for each pair of systems, their differences by each metric.

    `counts` are, for each metric, the counts of all repeats of each system: sentences x numbers.
    """
    found: list[list[Differences]] = [[] for _ in pairs]
    for pair, by_metric in _differences_in_blocks(metrics, counts, pairs, trials, seed):
        so_far = found[pair] or [one._replace(by_trial=np.empty(0)) for one in by_metric]
        joined = zip(so_far, by_metric, strict=True)
        found[pair] = [old._replace(by_trial=np.append(old.by_trial, new.by_trial)) for old, new in joined]
    return found


def paired_p_values(
    metrics: Sequence[Metric],
    counts: Sequence[Mapping[str, Sequence[Sums]]],
    pairs: Sequence[tuple[str, str]],
    trials: int = TRIALS,
    seed: Seed = DEFAULT_SEED,
) -> list[list[float]]:
    """Return the p-values of `paired_differences`, for which only few differences are in memory at a time."""
    at_least = np.zeros((len(pairs), len(metrics)), np.int64)
    for pair, by_metric in _differences_in_blocks(metrics, counts, pairs, trials, seed):
        at_least[pair] += [one.at_least for one in by_metric]
    return [[p_value(number, trials) for number in row] for row in at_least.tolist()]


def _differences_in_blocks(
    metrics: Sequence[Metric],
    counts: Sequence[Mapping[str, Sequence[Sums]]],
    pairs: Sequence[tuple[str, str]],
    trials: int,
    seed: Seed,
) -> Iterator[tuple[int, list[Differences]]]:
    """Yield the number of a pair, and its differences by metric in a block of trials, until all are there."""
    single = {name for name, repeats in counts[0].items() if len(repeats) == 1}
    paired = {number: pair for number, pair in enumerate(pairs) if single.issuperset(pair)}

    if paired:
        # the counts of all metrics side by side, so an exchange is looked up once for all of them
        ends = _ends([next(iter(by_name.values()))[0] for by_name in counts])
        names = [name for name in counts[0] if name in single]
        exchanges = Randomization(len(counts[0][names[0]][0]), trials, seed)

        for block in blocks(trials, ends[-1] * len(names), SUMS_BLOCK):
            exchanged = {
                name: _by_metric(
                    exchanges.exchange(np.hstack([by_name[name][0] for by_name in counts]), block), ends
                )
                for name in names
            }

            for number, (one, other) in paired.items():
                sides = zip(metrics, exchanged[one], exchanged[other], strict=True)
                yield number, [differences(*side) for side in sides]

    for number, pair in enumerate(pairs):
        if number not in paired:
            left, right = ([by_name[name] for by_name in counts] for name in pair)
            yield number, pooled_differences(metrics, left, right, trials, seed)


def _ends(counts: Sequence[Sums]) -> list[int]:
    """Return where the columns of each metric end, if the counts are side by side."""
    return list(accumulate(one.shape[1] for one in counts))


def _by_metric(exchanged: Exchanged, ends: Sequence[int]) -> list[Exchanged]:
    total = np.split(exchanged.total, ends[:-1])
    kept = np.hsplit(exchanged.kept, ends[:-1])
    return [Exchanged(*pair) for pair in zip(total, map(np.ascontiguousarray, kept), strict=True)]


def pooled_differences(
    metrics: Sequence[Metric],
    one: Sequence[Sequence[Sums]],
    other: Sequence[Sequence[Sums]],
    trials: int = TRIALS,
    seed: Seed = DEFAULT_SEED,
) -> list[Differences]:
    """Return the differences between the mean scores of two systems with several repeats (Clark et al. 2011).

    In a trial, the translations of a sentence by all repeats of both systems are exchanged at random: the
    test is stratified by sentences. It treats differences between the repeats of a system as differences
    between single sentences: if a whole repeat is good or bad, small p-values are too frequent.

    `one` and `other` are, for each metric, the counts of each repeat: sentences x numbers. The exchanges are
    the same for all metrics.
    """
    # The counts of all metrics side by side, so an exchange is looked up once for all of them.
    counts = np.concatenate(
        [np.stack([*left, *right]) for left, right in zip(one, other, strict=True)], axis=2
    )

    repeats, sentences, numbers = counts.shape
    rows = counts.reshape(repeats * sentences, numbers)
    exchanged = [block @ rows for block in _exchanges(repeats, sentences, trials, seed)]

    # the observed sums, then those in the trials
    sums = np.concatenate([counts.sum(axis=1), *exchanged]).reshape(1 + trials, repeats, numbers)
    ends = _ends([left[0] for left in one])

    found = []
    for metric, left, columns in zip(metrics, one, np.split(sums, ends[:-1], axis=2), strict=True):
        between = _between_means(metric.scores(columns), len(left))
        found.append(Differences(float(between[0]), between[1:]))
    return found


def _exchanges(repeats: int, sentences: int, trials: int, seed: Seed) -> Iterator[csr_array]:
    """Yield blocks of trials as matrices: for each repeat in a trial (rows), the translations that it gets.

    A column is the translation of a sentence by a repeat: repeat x sentences + sentence.
    """
    random = np.random.default_rng(seed)
    order = np.tile(np.arange(repeats), (sentences, 1))
    sentence = np.arange(sentences)
    for block in blocks(trials, repeats * sentences, BLOCK):
        drawn = [random.permuted(order, axis=1).T for _ in range(trials)[block]]
        columns = (np.stack(drawn) * sentences + sentence).astype(np.int32).reshape(-1)
        starts = np.arange(0, len(columns) + 1, sentences, dtype=np.int32)
        values = np.ones(len(columns))
        yield csr_array((values, columns, starts), shape=(len(starts) - 1, repeats * sentences))


def _between_means(scores: Sums, first: int) -> Float64s:
    """Return, by trial, the difference between the means of the `first` repeats and the others."""
    # `fsum`, so the result does not depend on the order of the repeats
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
        random = np.random.default_rng(seed)
        small = np.iinfo(np.uint8).max
        self._times = np.zeros((RESAMPLES, sentences), np.uint8 if sentences <= small else np.uint16)
        for times in self._times:
            drawn = np.bincount(random.choice(sentences, size=sentences, replace=True), minlength=sentences)
            times += drawn.astype(times.dtype)

    def interval(self, metric: Metric, repeats: Sequence[Sums]) -> Interval:
        """Return the interval of the mean score of repeats, given their counts (sentences x numbers)."""
        return Interval.of(self.means(metric, repeats))

    def means(self, metric: Metric, repeats: Sequence[Sums]) -> Float64s:
        """Return the mean score of repeats on each drawn text."""
        sums = [np.empty((RESAMPLES, counts.shape[1])) for counts in repeats]
        for rows in blocks(*self._times.shape, BLOCK):
            times = self._times[rows].astype(np.float64)
            for own, counts in zip(sums, repeats, strict=True):
                np.matmul(times, counts, out=own[rows])
        return np.asarray(np.mean([metric.scores(own) for own in sums], axis=0))
