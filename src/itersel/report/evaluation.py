"""The part of the table with scores of detokenised text: BLEU, chrF2++ and TER, cased and lowercased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from itersel.limits import CASES, METRICS
from itersel.report.layout import aligned, two_decimals
from itersel.report.scores import Column, MetricScores

SPREADSHEET_COLUMNS = tuple(
    f"{case} {metric}{what}"
    for case in CASES
    for metric in METRICS
    for what in ("", " deviation", " low", " high", " better than")
)


@dataclass(frozen=True)
class Evaluation:
    """Scores of all experiments on a test set.

    Attributes
    ----------
    columns
        One column per metric: those of `METRICS` for each of `CASES` in turn.
    """

    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """The experiments, in the order of their numbers."""
        return list(self.columns[0].scores)

    def text(self, alpha: float) -> list[str]:
        """Return a table for cased and one for lowercased text, as aligned text."""
        lines: list[str] = []
        for case in CASES:
            columns = [column for column in self.columns if column.case == case]
            header = ["system", "experiment", *(f"{case} {column.metric}" for column in columns)]
            rows = [
                [str(number), name, *(_cell(column, name, alpha) for column in columns)]
                for number, name in enumerate(self.names, 1)
            ]
            lines += [*aligned(header, rows, left=range(1, len(header))), ""]
        return lines

    def signatures(self) -> list[str]:
        """Return the signatures of the scores, one per line."""
        return [f"{column.case} {column.metric}: sacrebleu {column.signature}" for column in self.columns]

    def spreadsheet_cells(self, name: str, alpha: float) -> list[str]:
        """Return the cells of an experiment, in the order of `SPREADSHEET_COLUMNS`."""
        cells: list[str] = []
        for column in self.columns:
            scores = column.scores[name]
            numbers = (scores.summary.mean, scores.summary.deviation, *scores.interval)
            better = ", ".join(map(str, column.better_than(name, alpha)))
            cells += [*map(two_decimals, numbers), better or "-"]
        return cells

    def signature_document(self) -> dict[str, Any]:
        """Return the signatures by metric and case."""
        document: dict[str, Any] = {}
        for column in self.columns:
            document.setdefault(column.metric, {})[column.case] = column.signature
        return document

    def document(self, name: str, alpha: float) -> dict[str, Any]:
        """Return the unrounded scores of an experiment by metric and case."""
        document: dict[str, Any] = {}
        for column in self.columns:
            document.setdefault(column.metric, {})[column.case] = _document(column, name, alpha)
        return document


def _cell(column: Column, name: str, alpha: float) -> str:
    scores = column.scores[name]
    interval = f"[{scores.interval.low:.1f}, {scores.interval.high:.1f}]"
    better: Sequence[int] = column.better_than(name, alpha)
    marks = f" ({','.join(map(str, better))})" if better else ""
    return f"{scores.summary} {interval}{marks}"


def _document(column: Column, name: str, alpha: float) -> dict[str, Any]:
    scores: MetricScores = column.scores[name]
    numbers = {other: number for number, other in enumerate(column.scores, 1)}
    return {
        **scores.summary._asdict(),
        "interval": list(scores.interval),
        "runs": list(scores.runs),
        "p": scores.p,
        "differs_from": [numbers[other] for other, p in scores.p.items() if p < alpha],
        "better_than": column.better_than(name, alpha),
    }
