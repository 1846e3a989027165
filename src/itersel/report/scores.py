"""Scores of experiments on a text, and the p-values of their differences."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sacrebleu.metrics.bleu import BLEU

from itersel.evaluate.bleu import CorpusScore, References, make_bleu, score_corpus, signature
from itersel.evaluate.randomization import p_values, pooled_p_value, run_statistics

# What is said of repeats.
REPEATED = (
    "±: standard deviation over the runs of an experiment. Means of several runs are compared by exchanging",
    "the translations of a sentence among all runs of both (Clark et al. 2011). Where the deviations are as",
    "large as the difference, do not rely on its significance.",
)


class Summary(NamedTuple):
    """The mean of a score over runs, and its standard deviation; none of a single run."""

    mean: float
    deviation: float | None

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.deviation is None else f"{self.mean:.2f} ±{self.deviation:.2f}"


def summarize(scores: Sequence[float]) -> Summary:
    """Return the mean of scores and their sample standard deviation."""
    return Summary(statistics.mean(scores), statistics.stdev(scores) if len(scores) > 1 else None)


class Scores(NamedTuple):
    """The scores of an experiment on a text.

    Attributes
    ----------
    runs
        Of each run; one, or as many as the experiment has repeats.
    p
        By name of the other experiments, the p-value of the difference.
    """

    runs: tuple[CorpusScore, ...]
    p: dict[str, float]

    @property
    def bleu(self) -> Summary:
        """BLEU over the runs."""
        return summarize([score.bleu for score in self.runs])


def score_experiments(
    texts: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[References],
    *,
    tokenize: str = "13a",
    trials: int = 10_000,
    seed: int = 1,
) -> tuple[dict[str, Scores], str]:
    """Score the translations of a text, and test each pair of experiments for a difference.

    Parameters
    ----------
    texts
        By name of an experiment, the translations by each of its runs.
    references, tokenize
        See `itersel.evaluate.bleu.make_bleu`.
    trials, seed
        Of approximate randomization.

    Returns
    -------
    dict, str
        The scores by name, and sacrebleu's signature of them.
    """
    metric = make_bleu(references, tokenize)
    p = _compare(metric, texts, trials, seed)
    scores = {
        name: Scores(tuple(score_corpus(metric, lines) for lines in runs), p[name])
        for name, runs in texts.items()
    }
    return scores, signature(metric)


def describe_test(trials: int, seed: int, alpha: float) -> dict[str, Any]:
    """Return how the p-values were computed, for JSON."""
    return {
        "test": "approximate randomization, two-sided, stratified by sentence; runs are pooled",
        "trials": trials,
        "seed": seed,
        "alpha": alpha,
    }


def _compare(
    metric: BLEU, texts: Mapping[str, Sequence[Sequence[str]]], trials: int, seed: int
) -> dict[str, dict[str, float]]:
    """Return by name of an experiment the p-values of its differences from the others."""
    p: dict[str, dict[str, float]] = {name: {} for name in texts}
    names = list(texts)
    is_repeated = any(len(runs) > 1 for runs in texts.values())
    counts = {name: run_statistics(metric, runs) for name, runs in texts.items()} if is_repeated else {}
    for place, name in enumerate(names):
        others = names[place + 1 :]
        single = [other for other in others if len(texts[name]) == len(texts[other]) == 1]
        # one call for all: exchanges that are drawn once
        found = p_values(metric, texts[name][0], {one: texts[one][0] for one in single}, trials, seed)
        for other in others:
            if other not in found:
                found[other] = pooled_p_value(metric, counts[name], counts[other], trials, seed)
        for other, value in found.items():
            p[name][other] = p[other][name] = value
    return p
