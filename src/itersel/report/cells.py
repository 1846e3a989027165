"""The cells of the table of systems, as text, TSV, the page and papers show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from itersel.evaluate.names import METRICS, TOKENIZED_BLEU, decimals_of
from itersel.report.columns import ON_TEST, title_on_devtest
from itersel.report.table_content import MeanScore, Score, SystemRow, TestSetTable


class Cell(NamedTuple):
    """A cell of the table."""

    text: str
    value: float | str  # to sort by
    marks: str = ""  # numbers of the systems that are significantly worse
    note: str = ""  # interval, shown beside or below the text
    is_best: bool = False
    p: str = ""  # of the difference from the baseline


# What is not known of other systems.
NOTHING = Cell("-", "")


def cells_of_systems(test_set: TestSetTable) -> list[dict[str, Cell]]:
    """Return the cells of each system by title: settings, epochs, and tokenized BLEU.

    Those about epochs, which may differ between test sets, are missing if these are pooled.
    """
    on_devtest = test_set.devtest_metrics
    return [_cells(system, on_devtest) for system in test_set.systems]


def _cells(system: SystemRow, on_devtest: Sequence[str]) -> dict[str, Cell]:
    row = {
        "system": Cell(str(system.number), system.number),
        "experiment": word_cell(system.name),
        "learner": word_cell(system.learner),
        "mixing": word_cell(system.mixing),
        "shards": _shards(system.shards, system.tasks),
        "tuned on": word_cell(system.tune_on),
        "features": word_cell(system.features),
    }

    if on_devtest:
        titles = ("active features", *map(title_on_devtest, on_devtest), "epoch")
        known = _cells_of_epochs(system) if system.is_experiment else {}
        row |= {title: known.get(title, NOTHING) for title in titles}

    score = system.scores[TOKENIZED_BLEU]
    row[ON_TEST] = score_cell(score)
    row["differs from"] = word_cell(", ".join(map(str, score.differs_from)) or NOTHING.text)
    return row


def _cells_of_epochs(system: SystemRow) -> dict[str, Cell]:
    """Return the cells of an experiment that depend on the epochs chosen for its repeats."""
    epochs = system.epochs
    on_devtest = system.devtest or {}
    active = sum(one.active_features for one in epochs) / len(epochs)
    chosen = ", ".join(str(one.epoch) for one in epochs)
    planned = len(epochs[0].devtest_tokenized_bleu)
    trained = ", ".join(str(planned - one.untrained_epochs) for one in epochs)
    note = f" ({trained} trained)" if any(one.untrained_epochs for one in epochs) else ""

    return {
        "active features": Cell(f"{active:.0f}", active),
        **{title_on_devtest(metric): score_cell(score, metric) for metric, score in on_devtest.items()},
        "epoch": Cell(f"{chosen} of {planned}{note}", epochs[0].epoch),
    }


def score_cell(score: MeanScore, metric: str = TOKENIZED_BLEU) -> Cell:
    """Return the cell of a score: its mean, with the deviation over repeats, and its interval."""
    is_user_score = metric not in METRICS
    interval = score.interval if isinstance(score, Score) else None
    digits = decimals_of(metric) if is_user_score else 1
    note = f"[{interval.low:.{digits}f}, {interval.high:.{digits}f}]" if interval else ""

    return Cell(score.rounded(decimals_of(metric)), score.mean, note=note)


def word_cell(text: object) -> Cell:
    """Return the cell of a word; a system may lack it."""
    return NOTHING if text is None else Cell(str(text), str(text))


def _shards(shards: int | None, tasks: str | None) -> Cell:
    if shards is None:
        return NOTHING
    return Cell(str(shards) if tasks == "random" else f"{shards} {tasks}", shards)
