"""Tuning with several seeds, of which the weights that are best on other lists are kept.

MERT finds different weights with each seed, and those that are best on the tuning lists need not be best on
other text (Clark et al. 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from itersel.tune.nbest import PreparedLists, TunedLists
from itersel.vectors.weights import Weights


class SeedQuality(NamedTuple):
    """The quality that is reached with a seed, as in `TunedLists`."""

    seed: int
    dev_points: float  # on the lists that are tuned on
    devtest_points: float


class BestSeed(NamedTuple):
    """The result with the seed that is best on devtest."""

    seed: int  # the first of those that are equally good
    tuned: TunedLists
    start_quality_points: float  # of the start weights, on devtest
    qualities: list[SeedQuality]  # in the order of the seeds


def tune_with_seeds(
    prepared: PreparedLists, seeds: Sequence[int], points_on_devtest: Callable[[Weights], float]
) -> BestSeed:
    """Tune with each seed; `points_on_devtest` is made by `PreparedLists.quality_points_on`."""
    best = None
    reached = []
    for seed in seeds:
        tuned = prepared.tune(seed)
        of_seed = SeedQuality(seed, tuned.quality_points, points_on_devtest(tuned.weights))
        reached.append(of_seed)
        if best is None or prepared.measure.is_better(of_seed.devtest_points, best[0].devtest_points):
            best = of_seed, tuned

    assert best is not None, "there is no seed"
    return BestSeed(best[0].seed, best[1], points_on_devtest(prepared.all_start_weights), reached)
