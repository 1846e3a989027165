"""Compare the outputs of systems by metrics and by the user's own scores, as ``itersel compare`` does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from itersel.errors import InputError, check_choice
from itersel.evaluate.formulas import USER_SCALE, Sums
from itersel.evaluate.metrics import Metric, TextMetric, make_metrics
from itersel.evaluate.names import (
    DEFAULT_METRICS,
    DEFAULT_TOKENIZER,
    MAX_USER_SCORE,
    METRICS,
    OF_TEXT,
    TOKENIZERS,
    TRIALS,
    check_metric_name,
)
from itersel.evaluate.significance import Bootstrap, Interval, Randomization, differences
from itersel.evaluate.texts import ReferenceText, checked_references
from itersel.storage.arrays import Float64s
from itersel.storage.numbers import DEFAULT_SEED


class SystemScore(NamedTuple):
    """A score of one system, and how it differs from the baseline.

    Attributes
    ----------
    score
        0 to 100; TER may be higher, and scores of your own have the scale of their numbers.
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
        As in `compare`, in lower case, or of a score of your own.
    signature
        sacrebleu's signature; empty for a score of your own.
    """

    name: str
    signature: str
    systems: tuple[SystemScore, ...]


def compare(
    outputs: Mapping[str, Sequence[str]],
    *references: ReferenceText,
    metrics: Sequence[str] = DEFAULT_METRICS,
    tokenizer: str = DEFAULT_TOKENIZER,
    user_scores: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    trials: int = TRIALS,
    seed: int = DEFAULT_SEED,
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
        Some of ``bleu``, ``chrf``, ``chrf++`` and ``ter``, and ``lowercased-bleu`` and so on, which ignore
        case.
    tokenizer
        sacrebleu's tokenizer for BLEU, by default 13a whatever the language; ``none`` for tokenised text.
    user_scores
        Scores of your own, such as COMET: by name and by system, a number for each sentence, higher is
        better. Their mean is compared.
    trials, seed
        Number and seed of the random exchanges.

    Returns
    -------
    list of MetricScores
        For each metric, then each of your scores: those of all systems with 95 % intervals, differences
        and p-values.

    Raises
    ------
    InputError
        If there is no reference or no sentence, or the numbers of lines differ.
    """
    names = [*dict.fromkeys(check_metric_name(name, OF_TEXT) for name in metrics)]
    check_choice("tokenizer", tokenizer, TOKENIZERS)

    if trials < 1:
        raise InputError(f"trials is {trials}; at least 1 is needed")
    if not outputs or not references or not references[0]:
        raise InputError("there is nothing to compare; give outputs and references of at least one sentence")

    sentences = len(references[0])
    _check_outputs(outputs, sentences)

    of_user = _user_score_counts(user_scores or {}, outputs, sentences)
    text_metrics = make_metrics(checked_references(references), tokenizer, names)
    counted = chain(
        _counted(outputs, text_metrics), ((one, counts.items()) for one, counts in of_user.items())
    )

    exchanges = Randomization(sentences, trials, seed)
    bootstrap = Bootstrap(sentences)
    return [_score_systems(metric, by_system, exchanges, bootstrap) for metric, by_system in counted]


def _check_outputs(outputs: Mapping[str, Sequence[str]], sentences: int) -> None:
    for name, lines in outputs.items():
        if isinstance(lines, str):
            raise InputError(f"the output of {name} is a string, expected a list of lines")
        if len(lines) != sentences:
            raise InputError(f"{name} has {len(lines)} lines, but the reference has {sentences}")


def _counted(
    outputs: Mapping[str, Sequence[str]], metrics: Sequence[TextMetric]
) -> Iterator[tuple[Metric, Iterator[tuple[str, Sums]]]]:
    """Yield each metric with the counts of its systems, one at a time: all may not fit into memory."""
    for metric in metrics:
        yield metric, ((name, metric.counts(lines)) for name, lines in outputs.items())


def _score_systems(
    metric: Metric, by_system: Iterable[tuple[str, Sums]], exchanges: Randomization, bootstrap: Bootstrap
) -> MetricScores:
    """Return the scores of all systems, given the counts of each; the first is the baseline."""
    systems: list[SystemScore] = []
    for name, counts in by_system:
        score = metric.score(counts)
        interval = bootstrap.interval(metric, [counts])
        exchanged = exchanges.exchange(counts)

        if not systems:
            base = score
            first = exchanged
            systems.append(SystemScore(name, score, interval, None, None))
            continue

        p = differences(metric, first, exchanged).p
        systems.append(SystemScore(name, score, interval, score - base, p))

    return MetricScores(metric.name, metric.signature, tuple(systems))


def _user_score_counts(
    user_scores: Mapping[str, Mapping[str, ArrayLike]], systems: Collection[str], sentences: int
) -> dict[Metric, dict[str, Sums]]:
    """Return the counts of a user's own scores; see `compare`."""
    for name, by_system in user_scores.items():
        if name.lower() in METRICS or not name.isprintable() or not name.strip():
            raise InputError(f"'{name}' cannot be the name of a score of your own; choose another")

        if set(by_system) != set(systems):
            missing = ", ".join(sorted(set(systems) ^ set(by_system)))
            raise InputError(
                f"the score '{name}' needs numbers for each of the systems, unlike for {missing}"
            )

    return {
        user_score_metric(name): {
            system: user_score_counts(
                _checked_numbers(by_system[system], sentences, f"the scores '{name}' of {system}")
            )
            for system in systems
        }
        for name, by_system in user_scores.items()
    }


def user_score_metric(name: str) -> Metric:
    """Return the mean of a score that a user has for each sentence, such as COMET."""
    return Metric(name, "", USER_SCALE)


def user_score_counts(values: Float64s) -> Sums:
    """Return the counts of `user_score_metric`, sentences x 2, given checked numbers of all sentences."""
    return np.column_stack((np.rint(values * USER_SCALE), np.ones(values.shape[0])))


def _checked_numbers(values: ArrayLike, sentences: int, what: str) -> Float64s:
    """Return a number for each sentence; an `InputError` names `what` the values are."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} are not numbers") from None

    if found.shape != (sentences,):
        size = "x".join(map(str, found.shape))
        raise InputError(f"{what} have the shape {size} for {sentences} sentences; give a number for each")
    if not (np.abs(found) <= MAX_USER_SCORE).all():
        raise InputError(f"{what} contain a number that is not finite, or beyond {MAX_USER_SCORE:,}")
    return found
