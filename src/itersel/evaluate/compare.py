"""Compare outputs of any systems with a baseline: all metrics, with intervals and significance tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from itersel.errors import InputError, check_choice
from itersel.evaluate.metrics import References, checked_references, make_metrics
from itersel.evaluate.significance import Bootstrap, Interval, Randomization, differences
from itersel.limits import CASES, METRICS, TOKENIZERS


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
