"""Compare all systems on one or more test sets and, if there are several, on all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain, zip_longest
from typing import Any, TypeVar

import numpy as np

from itersel.corpus.text_names import POOLED
from itersel.errors import InputError
from itersel.evaluate.compare import user_metric
from itersel.evaluate.counts import pool_counts
from itersel.evaluate.metrics import Metric, ReferenceText, Sums
from itersel.evaluate.names import DEFAULT_TOKENIZER, TOKENIZED_BLEU, TRIALS
from itersel.report.scores import (
    ExperimentScore,
    describe_score,
    describe_test,
    numbers_of,
    score_counts,
    score_tokens,
    summarize,
)
from itersel.report.translations import Output, Translations
from itersel.storage.numbers import DEFAULT_SEED
from itersel.system.chosen import OF_ALL_REPEATS, ChosenSystem

Item = TypeVar("Item")


def compare_systems(
    test_sets: Sequence[Translations],
    *,
    retokenize: str = DEFAULT_TOKENIZER,
    trials: int = TRIALS,
    seed: int = DEFAULT_SEED,
) -> dict[str, Any]:
    """Compare systems on one or more test sets, and on all sentences together, which weigh the same.

    All test sets have the same systems in the same order; those with the same name are repeats of one
    experiment. Returns the content of table.json, see docs/formats.md. Raises an `InputError` if two test
    sets have the same name, or different systems.
    """
    first = test_sets[0]
    repeats = [(system.name, system.repeat) for system in first.systems]
    for number, test_set in enumerate(test_sets):
        if test_set.name in {other.name for other in test_sets[:number]}:
            raise InputError(f"two test sets are named '{test_set.name}'; rename one of them")
        if [(system.name, system.repeat) for system in test_set.systems] != repeats:
            raise InputError(
                f"test sets '{first.name}' and '{test_set.name}' have different systems; give the same "
                "systems in the same order"
            )

    how = (retokenize, trials, seed)
    return {
        "significance": describe_test(trials, seed),
        "test_sets": [_describe_test_set(test_set, *how) for test_set in test_sets],
        "pooled": _describe_test_set(_pool(test_sets), *how) if len(test_sets) > 1 else None,
    }


def _describe_test_set(test_set: Translations, retokenize: str, trials: int, seed: int) -> dict[str, Any]:
    """Return the content of table.json for a test set, or for all of them together."""
    systems = test_set.systems
    texts = _by_name(systems, test_set.translations)
    metric, of_tokens = score_tokens(texts, test_set.references, retokenize, trials, seed)

    scores = {metric: of_tokens}
    if test_set.counts:
        scores |= score_counts(_by_name(systems, test_set.counts), trials, seed)
    if test_set.user_scores:
        scores |= _score_numbers(_by_name(systems, test_set.user_scores), trials, seed)

    numbers = numbers_of(texts)
    described = []
    for name, repeats in _by_name(systems, systems).items():
        row = {
            "number": numbers[name],
            **{key: getattr(repeats[0], key, None) for key in OF_ALL_REPEATS},
            **_describe_repeats(repeats, is_pooled=test_set.name == POOLED),
            "scores": {
                metric.name: describe_score(of_systems, name, metric.name, numbers)
                for metric, of_systems in scores.items()
                if name in of_systems
            },
        }
        described.append(row)

    return {
        "name": test_set.name,
        "sentences": len(test_set.references[0]),
        "references": len(test_set.references),
        "signatures": {metric.name: metric.signature for metric in scores},
        "systems": described,
    }


def _score_numbers(
    numbers: Mapping[str, Sequence[Mapping[str, Sums]]], trials: int, seed: int
) -> dict[Metric, dict[str, ExperimentScore]]:
    """Compare the systems that have them by each of the user's own scores.

    `numbers` are the counts of each repeat by name of the score, by name of the experiment.
    """
    found: dict[Metric, dict[str, ExperimentScore]] = {}
    every = (counts for repeats in numbers.values() for counts in repeats)
    for score in dict.fromkeys(chain.from_iterable(every)):
        metric = user_metric(score)
        counted = {
            name: [{metric: counts[score]} for counts in repeats]
            for name, repeats in numbers.items()
            if all(score in counts for counts in repeats)
        }
        if counted:
            found |= score_counts(counted, trials, seed)
    return found


def _describe_repeats(repeats: Sequence[ChosenSystem | Output], is_pooled: bool) -> dict[str, Any]:
    """Return what a row of table.json says of the repeats of a system, and of their scores on devtest."""
    if is_pooled:
        # epochs may differ between test sets
        return {"repeats": [{"repeat": one.repeat} for one in repeats]}

    described = [
        {key: value for key, value in asdict(one).items() if key not in (*OF_ALL_REPEATS, "settings")}
        for one in repeats
    ]
    chosen = [one for one in repeats if isinstance(one, ChosenSystem)]
    return {"devtest": _describe_devtest(chosen) if chosen else None, "repeats": described}


def _describe_devtest(repeats: Sequence[ChosenSystem]) -> dict[str, Any]:
    """Return the scores of an experiment on devtest at the chosen epochs, by metric."""
    reached = {
        TOKENIZED_BLEU: [one.devtest_tokenized_bleu[one.epoch - 1] for one in repeats],
        repeats[0].chosen_by: [one.devtest_scores[one.epoch - 1] for one in repeats],
    }
    return {metric: summarize(scores)._asdict() for metric, scores in reached.items()}


def _by_name(systems: Sequence[ChosenSystem | Output], items: Sequence[Item]) -> dict[str, list[Item]]:
    """Group the items, one per system, by the name of the experiment."""
    by_name: dict[str, list[Item]] = {}
    for system, item in zip(systems, items, strict=True):
        by_name.setdefault(system.name, []).append(item)
    return by_name


def _pool(test_sets: Sequence[Translations]) -> Translations:
    return Translations(
        POOLED,
        test_sets[0].systems,
        [list(chain(*texts)) for texts in zip(*(one.translations for one in test_sets), strict=True)],
        _joined_references([one.references for one in test_sets]),
        [pool_counts(counts) for counts in zip(*(one.counts for one in test_sets), strict=True)],
        [_pool_user_scores(parts) for parts in zip(*(one.user_scores for one in test_sets), strict=False)],
    )


def _pool_user_scores(parts: Sequence[Mapping[str, Sums]]) -> dict[str, Sums]:
    """Concatenate the counts of the scores that a system has for all test sets."""
    return {
        name: np.vstack([part[name] for part in parts])
        for name in parts[0]
        if all(name in part for part in parts)
    }


def _joined_references(sets: Sequence[Sequence[ReferenceText]]) -> list[list[str | None]]:
    """Return the references of all test sets; `None` where a test set has fewer than others."""
    joined: list[list[str | None]] = [[] for _ in range(max(map(len, sets)))]
    for references in sets:
        for lines, further in zip_longest(joined, references):
            lines.extend(further or [None] * len(references[0]))
    return joined
