"""Compare all systems on one or more test sets and, if there are several, on all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from itersel.corpus.text_names import POOLED
from itersel.errors import InputError
from itersel.evaluate.compare import user_score_metric
from itersel.evaluate.counts import pool_counts
from itersel.evaluate.formulas import Sums
from itersel.evaluate.metrics import Metric
from itersel.evaluate.names import TOKENIZED_BLEU
from itersel.evaluate.texts import ReferenceText
from itersel.report.scores import compare_counts, describe_test, numbers_of, score_tokens, summarize
from itersel.report.table_content import EpochOfRepeat, MeanScore, Score, SystemRow, Table, TestSetTable
from itersel.report.translations import Output, Translations
from itersel.system.chosen import OF_ALL_REPEATS, ChosenSystem

if TYPE_CHECKING:
    from itersel.config.report_steps import Comparison

Item = TypeVar("Item")


def compare_systems(test_sets: Sequence[Translations], how: Comparison) -> Table:
    """Compare systems on one or more test sets, and on all sentences together, which weigh the same.

    All test sets have the same systems in the same order; those with the same name are repeats of one
    experiment. Raises an `InputError` if two test sets have the same name, or different systems.
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

    return Table(
        significance=describe_test(how),
        test_sets=tuple(_score_test_set(test_set, how) for test_set in test_sets),
        pooled=_score_test_set(_pool(test_sets), how) if len(test_sets) > 1 else None,
    )


def _score_test_set(test_set: Translations, how: Comparison) -> TestSetTable:
    """Score all systems on a test set, or on all of them together."""
    systems = test_set.systems
    texts = _by_name(systems, test_set.translations)
    numbers = numbers_of(texts)
    metric, of_tokens = score_tokens(texts, test_set.references, numbers, how)

    scores = {metric: of_tokens}
    if test_set.counts:
        scores |= compare_counts(_by_name(systems, test_set.counts), numbers, how)
    if test_set.user_scores:
        scores |= _score_numbers(_by_name(systems, test_set.user_scores), numbers, how)

    rows = []
    for name, repeats in _by_name(systems, systems).items():
        # epochs may differ between test sets
        chosen = [one for one in repeats if isinstance(one, ChosenSystem) and test_set.name != POOLED]
        epochs = {one.repeat: one.chosen_epoch for one in chosen}
        row = SystemRow(
            number=numbers[name],
            **_of_all_repeats(repeats[0]),
            devtest=_scores_on_devtest(chosen) if chosen else None,
            repeats=tuple(EpochOfRepeat(one.repeat, epochs.get(one.repeat)) for one in repeats),
            scores={
                metric.name: of_systems[name] for metric, of_systems in scores.items() if name in of_systems
            },
        )
        rows.append(row)

    return TestSetTable(
        name=test_set.name,
        sentences=len(test_set.references[0]),
        references=len(test_set.references),
        signatures={metric.name: metric.signature for metric in scores},
        systems=tuple(rows),
    )


def _score_numbers(
    counts: Mapping[str, Sequence[Mapping[str, Sums]]], numbers: Mapping[str, int], how: Comparison
) -> dict[Metric, dict[str, Score]]:
    """Compare the systems that have them by each of the user's own scores.

    `counts` are those of each repeat by name of the score, by name of the system.
    """
    found: dict[Metric, dict[str, Score]] = {}
    every = (of_repeat for repeats in counts.values() for of_repeat in repeats)
    for score in dict.fromkeys(chain.from_iterable(every)):
        metric = user_score_metric(score)
        counted = {
            name: [{metric: of_repeat[score]} for of_repeat in repeats]
            for name, repeats in counts.items()
            if all(score in of_repeat for of_repeat in repeats)
        }
        if counted:
            found |= compare_counts(counted, numbers, how)
    return found


def _scores_on_devtest(repeats: Sequence[ChosenSystem]) -> dict[str, MeanScore]:
    """Return the scores of an experiment on devtest at the chosen epochs, by metric."""
    reached = {
        TOKENIZED_BLEU: [one.devtest_tokenized_bleu[one.epoch - 1] for one in repeats],
        repeats[0].chosen_by: [one.devtest_scores[one.epoch - 1] for one in repeats],
    }
    return {metric: summarize(scores) for metric, scores in reached.items()}


def _of_all_repeats(system: ChosenSystem | Output) -> dict[str, Any]:
    return {key: getattr(system, key, None) for key in OF_ALL_REPEATS}


def _by_name(systems: Sequence[ChosenSystem | Output], items: Sequence[Item]) -> dict[str, list[Item]]:
    """Group the items, one per system, by the name of the system."""
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
