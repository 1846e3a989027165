"""The best system in table.json, and the baseline that it is compared with."""

from __future__ import annotations

from collections.abc import Iterable

from itersel.corpus.text_names import FIRST_ENTRIES
from itersel.evaluate.names import sign_of
from itersel.report.table_content import is_experiment
from itersel.storage.text_table import Content


def baseline_and_best(table: Content) -> tuple[str | None, str]:
    """Return the baseline and the best system on devtest.

    The baseline is the decoder whose lists were learned from or else the first experiment that is not the
    best; `None` if there is none.
    """
    systems = table["test_sets"][0]["systems"]
    best = str(best_on_devtest(systems)["name"])
    names = [one["name"] for one in systems if one["name"] == FIRST_ENTRIES or is_experiment(one)]
    return next((str(name) for name in names if name != best), None), best


def best_on_devtest(systems: Iterable[Content]) -> Content:
    """Return the experiment with the best score of those by which its epochs were chosen."""
    best: Content = max(filter(is_experiment, systems), key=lambda one: score_on_devtest(one["repeats"]))
    return best


def score_on_devtest(repeats: Iterable[Content]) -> float:
    """Return the score by which a system's epochs were chosen, the mean of its repeats; higher is better."""
    scores = [sign_of(one["chosen_by"]) * float(one["devtest_scores"][one["epoch"] - 1]) for one in repeats]
    return sum(scores) / len(scores)
