"""Approximate randomization (Noreen 1989; Riezler & Maxwell 2005) by sacrebleu's code."""

from __future__ import annotations

import contextlib
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
