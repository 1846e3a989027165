"""Minimum error rate training (Och 2003): a series of exact line searches for the highest quality.

The quality is corpus BLEU, or a mean over sentences. An `ExactLineSearch`, over lists or forests, computes it
at every point of a line. `climb` searches along each feature's axis and some random directions, moves as soon
as the quality improves, and stops after a round without improvement. It is run from the start weights and
from random points, and the best result is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean
from typing import NamedTuple

import numpy as np

from itersel.bleu.bleu_kernels import Statistics, best_bleu
from itersel.errors import InputError
from itersel.lists.table import ListTable
from itersel.run.progress import progress
from itersel.storage.arrays import Float64s, Int64s
from itersel.tune.directions import axis
from itersel.tune.line_kernels import bleu_along_line, envelope_bends, project

# Minimum gain in quality (BLEU is 0 to 1) for a move; smaller gains may be rounding errors.
MIN_GAIN = 1e-7
# Intervals narrower than this fraction of their distance from the start may be mere rounding errors.
MIN_WIDTH = 1e-9
# How far to move into an unbounded interval, in units of the scaled direction.
INTO_ENDLESS = 1.0
MAX_ROUNDS = 100


class ScoreLines(NamedTuple):
    """Translations whose scores are lines: those with the weights w + x * d are intercept + slope * x.

    `intercept` and `slope` are float64 (H), `offset` int64 (N + 1): the translations of each sentence;
    `quality` is as in `ListTable`.
    """

    intercept: Float64s
    slope: Float64s
    offset: Int64s
    statistics: Statistics
    quality: Float64s = np.zeros(0)

    @property
    def has_quality(self) -> bool:
        """Whether there is a quality to search for instead of BLEU."""
        return bool(self.quality.shape[0])


class ExactLineSearch(ABC):
    """The quality (BLEU of the corpus, or a mean) of the best translations at every point of a line."""

    # float64 (C): standard deviation of each feature within sentences; 0 if it never varies
    deviation: Float64s

    @abstractmethod
    def score_lines(self, weights: Float64s, direction: Float64s) -> ScoreLines:
        """Return the lines of all translations that may be the best at some point weights + x * direction."""

    def intervals(self, weights: Float64s, direction: Float64s) -> tuple[Float64s, Float64s]:
        """Return where on a line, weights + x * direction, the best translations change, and their quality.

        Both vectors are float64 (C). Returns the x at which each interval begins, and in it BLEU, as
        `bleu_along_line` does, or the mean quality.
        """
        score_lines = self.score_lines(weights, direction)
        start, place, lines = envelope_bends(score_lines.intercept, score_lines.slope, score_lines.offset)
        order = np.argsort(place, kind="stable")
        place, lines = place[order], lines[order]

        if not score_lines.has_quality:
            return bleu_along_line(start, place, lines, score_lines.statistics)

        quality = score_lines.quality[lines]
        # after all bends in the same place
        last = np.flatnonzero(np.append(np.diff(place) > 0, True)[: place.shape[0]])
        first = fmean(score_lines.quality[start].tolist())
        value = first + np.cumsum(quality[:, 1] - quality[:, 0])[last] / start.shape[0]
        return np.append(-np.inf, place[last]), np.append(first, value)

    def quality_of_best(self, weights: Float64s) -> float:
        """Return the quality of the best translations under `weights`: here always BLEU, 0 to 1."""
        score_lines = self.score_lines(weights, np.zeros_like(weights))
        return best_bleu(score_lines.intercept, score_lines.offset, score_lines.statistics)


class ListLineSearch(ExactLineSearch):
    """Line search over merged k-best lists."""

    def __init__(self, table: ListTable) -> None:
        self._table = table

        # Only differences within a sentence matter; subtracting the common part reduces rounding errors.
        first_of_sentence = np.repeat(table.offset[:-1], np.diff(table.offset))
        difference = table.dense - table.dense[first_of_sentence]
        self._columns = np.ascontiguousarray(difference.T)

        squared = np.array([squared_deviation(column, table.offset) for column in self._columns])
        self.deviation = np.sqrt(squared / table.dense.shape[0])

        # the lines of a round mostly start from the same weights
        self._last = np.full(self.deviation.shape[0], np.nan)
        self._last_scores = np.zeros(0)

    def quality_of_best(self, weights: Float64s) -> float:
        """Return the quality of the best translations under `weights`; see `ListTable.quality_of_best`."""
        return self._table.quality_of_best(self.score_lines(weights, np.zeros_like(weights)).intercept)

    def score_lines(self, weights: Float64s, direction: Float64s) -> ScoreLines:
        """Return the lines of all translations."""
        if not np.array_equal(weights, self._last):
            self._last = weights.copy()
            self._last_scores = project(self._columns, weights)
        slope = project(self._columns, direction)
        table = self._table
        return ScoreLines(self._last_scores, slope, table.offset, table.statistics, table.quality)


def squared_deviation(value: Float64s, offset: Int64s) -> float:
    """Return the sum of squared differences between values (H) and the means of their sentences.

    `offset`, int64 (N + 1), is where each sentence begins; it has at least one value.
    """
    counts = np.diff(offset)
    means = np.add.reduceat(value, offset[:-1]) / counts
    return float(np.sum((value - np.repeat(means, counts)) ** 2))


def choose_point(begin: Float64s, quality: Float64s) -> tuple[float, float]:
    """Choose the midpoint of the interval with the highest quality; return the quality, too.

    Intervals are as returned by `ExactLineSearch.intervals`.

    If several intervals are equally good, the point nearest to 0 is chosen. In the interval that contains 0,
    the point is 0, which is no move; in an unbounded interval, it is `INTO_ENDLESS` from its end.
    """
    end = np.append(begin[1:], np.inf)
    # differences are infinite or NaN if an interval begins and ends at minus infinity, or is the only one
    with np.errstate(invalid="ignore"):
        point = np.where(np.isinf(begin), end - INTO_ENDLESS, (begin + end) / 2)
        point = np.where(np.isinf(end), begin + INTO_ENDLESS, point)
        # at a bend, several translations have the best score: if it is at 0, neither interval contains 0
        point[(begin < 0) & (end > 0)] = 0.0
        is_wide = end - begin > MIN_WIDTH * np.maximum(1.0, np.abs(point))

    # the quality may be negative
    quality = np.where(is_wide, quality, -np.inf)
    best = np.flatnonzero(quality == quality.max())
    chosen = best[np.argmin(np.abs(point[best]))]
    return float(point[chosen]), float(quality[chosen])


def tune_mert(
    line_search: ExactLineSearch,
    start: Float64s,
    random_directions: int,
    restarts: int,
    seed: tuple[int, ...],
) -> tuple[Float64s, float]:
    """Search for the weights with the highest quality.

    Returns weights, float64 (C), whose magnitudes sum to 1 (the scale affects nothing), and their quality.
    Features that never vary within a sentence keep their start weights, before scaling.
    """
    varies = line_search.deviation > 0
    if not varies.any():
        raise InputError("no sentence has translations with different features; decode more of them")

    bits = np.random.PCG64(list(seed))
    directions = partial(_directions, line_search.deviation, random_directions, bits)
    weights, quality = climb(line_search, start, directions)

    for _ in progress(range(restarts), "MERT, restarts"):
        point = start.copy()
        point[varies] = uniform(bits, int(varies.sum())) / line_search.deviation[varies]
        other, other_quality = climb(line_search, point, directions)
        if other_quality > quality + MIN_GAIN:
            weights = other
            quality = other_quality

    total = np.abs(weights).sum()
    if total > 0:
        weights = weights / total
    return weights, quality


def climb(
    line_search: ExactLineSearch, start: Float64s, directions: Callable[[], Sequence[Float64s]]
) -> tuple[Float64s, float]:
    """Search along one direction after another, in rounds, until a round brings no improvement.

    `directions` returns the directions of a round. Returns weights, float64 (C), and their quality.
    """
    weights = start.copy()
    quality = line_search.quality_of_best(start)
    for _ in range(MAX_ROUNDS):
        before = quality
        for direction in directions():
            weights, quality = move(line_search, weights, quality, direction)
        if quality <= before + MIN_GAIN:
            break
    return weights, quality


def move(
    line_search: ExactLineSearch, weights: Float64s, quality: float, direction: Float64s
) -> tuple[Float64s, float]:
    """Move from weights with this quality to the best point on a line if it is better; return both there."""
    point, expected = choose_point(*line_search.intervals(weights, direction))
    if expected <= quality + MIN_GAIN:
        return weights, quality

    moved = weights + point * direction
    # if two translations score the same except for rounding errors, the expected quality may be too high
    moved_quality = line_search.quality_of_best(moved)
    if moved_quality > quality + MIN_GAIN:
        return moved, moved_quality

    return weights, quality


def _directions(deviation: Float64s, random: int, bits: np.random.PCG64) -> list[Float64s]:
    """Return the axes and random directions, scaled so that a unit changes scores by about the same."""
    varies = np.flatnonzero(deviation > 0)
    directions = [axis(deviation, c) for c in varies.tolist()]
    for _ in range(random):
        direction = np.zeros(deviation.shape[0])
        unit = uniform(bits, varies.shape[0])
        direction[varies] = unit / np.sqrt(np.sum(unit**2)) / deviation[varies]
        directions.append(direction)
    return directions


def uniform(bits: np.random.PCG64, count: int) -> Float64s:
    """Return random numbers between -1 and 1, float64 (count), none of them 0.

    They are made from raw bits, which do not change between numpy versions; see `itersel.learn.pairs`.
    """
    half = (bits.random_raw(count) >> np.uint64(12)).astype(np.float64) + 0.5
    return half / 2.0**51 - 1.0
