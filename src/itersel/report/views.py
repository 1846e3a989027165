"""Tables as the page and papers show them, and the columns of scores that their tables of systems share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from itersel.evaluate.names import TOKENIZED_BLEU, sign_of
from itersel.report.cells import NOTHING, Cell, score_cell
from itersel.report.columns import DIFFERENCE, title_on_test
from itersel.report.p_values import describe_p
from itersel.report.table_content import Score, TestSetTable

# The cell of the baseline in the column of differences from it.
BASELINE = Cell("baseline", 0.0)


class Column(NamedTuple):
    """A column: its title, whether it contains numbers, the signature of scores, and when it is folded."""

    title: str
    is_number: bool
    signature: str = ""
    is_secondary: bool = False
    is_setting: bool = False  # also folded in narrow windows


class View(NamedTuple):
    """The table of a test set."""

    name: str
    sentences: int
    references: int
    columns: list[Column]
    rows: list[list[Cell]]
    caption: str = ""


class ScoreColumn(NamedTuple):
    """The cells of a score, or of differences in it, and the score's signature."""

    cells: list[Cell]
    signature: str = ""


def score_columns(test_set: TestSetTable, baseline: str | None, alpha: float) -> dict[str, ScoreColumn]:
    """Return the column of each score by its title; after the main one, differences from the baseline."""
    main = test_set.main_metric
    columns = {}
    for metric in (*test_set.metrics_of_text, TOKENIZED_BLEU):
        cells = _score_cells(test_set, metric, baseline, alpha)
        columns[title_on_test(metric)] = ScoreColumn(cells, test_set.signatures[metric])
        if metric == main and baseline is not None:
            columns[DIFFERENCE] = ScoreColumn(_differences(test_set, main, baseline))
    return columns


def _score_cells(test_set: TestSetTable, metric: str, baseline: str | None, alpha: float) -> list[Cell]:
    """Return the cell of each system, with its p-value against the baseline."""
    scores = [system.scores.get(metric) for system in test_set.systems]
    sign = sign_of(metric)
    best = max(sign * score.mean for score in scores if score is not None)

    def cell(score: Score | None) -> Cell:
        if score is None:
            return NOTHING
        return score_cell(score, metric)._replace(
            marks=join_numbers(score.better_than),
            is_best=sign * score.mean == best,
            p=describe_p(score.p[baseline], alpha) if baseline in score.p else "",
        )

    return list(map(cell, scores))


def _differences(test_set: TestSetTable, metric: str, baseline: str) -> list[Cell]:
    """Return the cell of each system's difference from the baseline."""
    means = {system.name: system.scores[metric].mean for system in test_set.systems}
    return [BASELINE if name == baseline else _gain(mean - means[baseline]) for name, mean in means.items()]


def _gain(difference: float) -> Cell:
    return Cell(f"{difference:+z.2f}", difference)


def join_numbers(numbers: Iterable[int]) -> str:
    """Join ascending numbers with commas; three or more consecutive ones become a range: 1,3–7."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    texts = [f"{group[0]}–{group[-1]}" if len(group) > 2 else ",".join(map(str, group)) for group in groups]
    return ",".join(texts)
