"""The best system in table.json, and the baseline that it is compared with."""

from __future__ import annotations

from collections.abc import Iterable

from itersel.corpus.text_names import FIRST_ENTRIES
from itersel.evaluate.epochs import ChosenEpoch
from itersel.evaluate.names import sign_of
from itersel.report.table_content import SystemRow, Table


def baseline_and_best(table: Table) -> tuple[str | None, str]:
    """Return the baseline and the best system on devtest.

    The baseline is the decoder whose lists were learned from or else the first experiment that is not the
    best; `None` if there is none.
    """
    systems = table.test_sets[0].systems
    best = best_on_devtest(systems).name
    names = [one.name for one in systems if one.name == FIRST_ENTRIES or one.is_experiment]
    return next((name for name in names if name != best), None), best


def best_on_devtest(systems: Iterable[SystemRow]) -> SystemRow:
    """Return the experiment with the best score of those by which its epochs were chosen."""
    experiments = [system for system in systems if system.is_experiment]
    return max(experiments, key=lambda one: score_on_devtest(one.epochs))


def score_on_devtest(repeats: Iterable[ChosenEpoch]) -> float:
    """Return the score by which a system's epochs were chosen, the mean of its repeats; higher is better."""
    scores = [sign_of(one.chosen_by) * one.devtest_scores[one.epoch - 1] for one in repeats]
    return sum(scores) / len(scores)
