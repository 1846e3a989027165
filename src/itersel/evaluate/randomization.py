"""Approximate randomization (Noreen 1989; Riezler & Maxwell 2005) by sacrebleu's code."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu import significance
from sacrebleu.metrics.bleu import BLEU

METRIC = "BLEU"


def p_values(
    metric: BLEU,
    baseline: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    trials: int = 10_000,
    seed: int = 1,
) -> dict[str, float]:
    """Test whether systems differ from a baseline in BLEU: paired, two-sided.

    Parameters
    ----------
    metric
        With references; see `itersel.evaluate.bleu.make_bleu`.
    baseline, systems
        Translations, one a sentence.
    trials
        Number of random exchanges of sentences between the two systems.
    seed
        Of the exchanges; they are the same for all systems.

    Returns
    -------
    dict
        (trials with a difference at least as large as the observed one + 1) / (trials + 1), by system;
        1 for a system identical to the baseline.
    """
    statistics = metric._extract_corpus_statistics(baseline, None)
    observed = metric._aggregate_and_compute(statistics)
    information = {METRIC: (np.array(statistics), significance.Result(observed.score))}
    result = {}
    with _ties_counted():
        for name, translations in systems.items():
            _, tests = significance._paired_ar_test(
                information, name, translations, None, {METRIC: metric}, n_samples=trials, seed=seed
            )
            p = tests[METRIC].p_value
            assert p is not None  # only a baseline has none
            result[name] = p
    return result


def run_statistics(metric: BLEU, runs: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return what BLEU of the runs of a system is computed from: runs x sentences x numbers."""
    return np.array([metric._extract_corpus_statistics(run, None) for run in runs])


def pooled_p_value(
    metric: BLEU, one: NDArray[np.int64], other: NDArray[np.int64], trials: int = 10_000, seed: int = 1
) -> float:
    """Test whether two systems with several runs differ in the mean BLEU of their runs (Clark et al. 2011).

    In a trial, the translations of a sentence by all runs of both systems are exchanged at random: the test
    is stratified by sentences. It takes differences between the runs of a system for those of single
    sentences: where a whole run is good or bad, small p-values are too frequent.

    Parameters
    ----------
    metric
        With references; see `itersel.evaluate.bleu.make_bleu`.
    one, other
        By `run_statistics`, with any number of runs each.
    trials
        Number of random exchanges.
    seed
        Of the exchanges.

    Returns
    -------
    float
        (trials with a difference at least as large as the observed one + 1) / (trials + 1).
    """
    statistics = np.concatenate([one, other])
    runs, sentences, _ = statistics.shape

    def difference(sums: NDArray[Any]) -> float:
        bleu = [metric._compute_score_from_stats(row).score for row in sums.tolist()]
        # the order of the runs is of no account
        return abs(math.fsum(bleu[: len(one)]) / len(one) - math.fsum(bleu[len(one) :]) / len(other))

    observed = difference(statistics.sum(axis=1))
    random = np.random.default_rng(seed)
    order, sentence = np.tile(np.arange(runs), (sentences, 1)), np.arange(sentences)
    at_least = 0
    for _ in range(trials):
        exchanged = random.permuted(order, axis=1)
        at_least += difference(statistics[exchanged.T, sentence].sum(axis=1)) >= observed
    return (at_least + 1) / (trials + 1)


@contextlib.contextmanager
def _ties_counted() -> Iterator[None]:
    """Make sacrebleu count trials that equal the observed difference.

    It counts those strictly greater, so that two identical systems get p = 1 / (trials + 1), the most
    significant of all results.
    """
    original = significance._compute_p_value
    significance._compute_p_value = _p_value
    try:
        yield
    finally:
        significance._compute_p_value = original


def _p_value(stats: NDArray[Any], real_difference: float) -> float:
    return (int(np.count_nonzero(stats >= real_difference)) + 1) / (len(stats) + 1)
