"""Confidence intervals of corpus scores by bootstrap resampling (Koehn 2004), as sacrebleu computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.evaluate.metrics import Metric, Sums

# sacrebleu's defaults, so `sacrebleu --confidence` prints the same interval.
RESAMPLES, SEED = 1000, 12345


class Interval(NamedTuple):
    """The interval that contains 95 % of the resampled scores."""

    low: float
    high: float


class Bootstrap:
    """Resampled texts; the same for all systems and metrics, so that intervals are paired.

    Parameters
    ----------
    sentences
        Number of sentences in the text, and of sentences drawn with replacement for each resampled text.
    resamples
        Number of resampled texts.
    seed
        Random seed; sacrebleu draws the same sentences with this seed.
    """

    def __init__(self, sentences: int, resamples: int = RESAMPLES, seed: int = SEED) -> None:
        random = np.random.default_rng(seed)
        drawn = random.choice(sentences, size=(resamples, sentences), replace=True)
        self._times: NDArray[np.float64] = np.zeros((resamples, sentences))
        for times, indices in zip(self._times, drawn, strict=True):
            times += np.bincount(indices, minlength=sentences)

    def interval(self, metric: Metric, runs: Sequence[Sums]) -> Interval:
        """Return the interval of the mean score of runs, given their counts (sentences x numbers)."""
        scores = np.mean([metric.scores(self._times @ counts) for counts in runs], axis=0)
        scores.sort()
        outside = len(scores) // 40
        return Interval(float(scores[outside]), float(scores[-1 - outside]))
