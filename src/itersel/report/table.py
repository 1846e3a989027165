"""The table of all experiments: BLEU on devtest and test, and which differences are significant."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sacrebleu.metrics.bleu import BLEU

from itersel.evaluate.bleu import CorpusScore, make_bleu, score_corpus, signature
from itersel.evaluate.randomization import p_values, pooled_p_value, run_statistics
from itersel.report.layout import aligned, tab_separated
from itersel.report.system import OF_ALL_RUNS, System

COLUMNS = (
    "system",
    "experiment",
    "learner",
    "mixing",
    "shards",
    "tuned on",
    "features",
    "active features",
    "devtest BLEU",
    "epoch",
    "test BLEU",
    "differs from",
)
LEFT = (1, 2, 3, 5, 6, 11)
# Of repeats: further columns for spreadsheets, and what is said below the table.
DEVIATIONS = ("runs", "devtest BLEU deviation", "test BLEU deviation")
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


@dataclass(frozen=True)
class Row:
    """One experiment.

    Attributes
    ----------
    number
        From 1, in the order of the table.
    runs
        What each of its runs is, and its scores on devtest; one, or as many as it has repeats.
    tests
        The score of each run on test.
    p
        By name of the other experiments, the p-value of the difference on test.
    differs_from
        The numbers of the experiments that it differs from significantly.
    """

    number: int
    runs: tuple[System, ...]
    tests: tuple[CorpusScore, ...]
    p: dict[str, float]
    differs_from: tuple[int, ...]

    @property
    def devtest(self) -> Summary:
        """BLEU on devtest at the epoch chosen."""
        return summarize([run.devtest_bleu[run.epoch - 1] for run in self.runs])

    @property
    def test(self) -> Summary:
        """BLEU on test."""
        return summarize([score.bleu for score in self.tests])

    def cells(self) -> list[str]:
        """Return the row as text, in the order of `COLUMNS`."""
        system, active = self.runs[0], [run.active_features for run in self.runs]
        return [
            str(self.number),
            system.name,
            system.learner,
            system.mixing,
            str(system.shards),
            system.tune_on,
            system.features,
            f"{sum(active) / len(active):.0f}",
            str(self.devtest),
            f"{', '.join(str(run.epoch) for run in self.runs)} of {len(system.devtest_bleu)}",
            str(self.test),
            ", ".join(map(str, self.differs_from)) or "-",
        ]


@dataclass(frozen=True)
class Table:
    """All experiments, and how they were compared."""

    rows: tuple[Row, ...]
    signature: str
    trials: int
    seed: int
    alpha: float

    def text(self) -> list[str]:
        """Return the table for people."""
        return [
            *aligned(COLUMNS, [row.cells() for row in self.rows], LEFT),
            "",
            f"differs from: systems whose test BLEU differs significantly (p < {self.alpha:g}, approximate",
            f"randomization, {self.trials} trials, seed {self.seed}). Epochs are chosen on devtest.",
            *(REPEATED if any(len(row.runs) > 1 for row in self.rows) else ()),
            f"BLEU: sacrebleu {self.signature}",
        ]

    def tsv(self) -> list[str]:
        """Return the table for spreadsheets."""
        names = [column.replace(" ", "_").lower() for column in (*COLUMNS, *DEVIATIONS)]
        return tab_separated(names, [_spreadsheet_cells(row) for row in self.rows])

    def json(self) -> list[str]:
        """Return everything, with p-values and scores in full, for programs."""
        document: dict[str, Any] = {
            "signature": self.signature,
            "significance": {
                "test": "approximate randomization, two-sided, stratified by sentence; runs are pooled",
                "trials": self.trials,
                "seed": self.seed,
                "alpha": self.alpha,
            },
            "systems": [
                {
                    "system": row.number,
                    **{key: getattr(row.runs[0], key) for key in OF_ALL_RUNS},
                    "devtest": row.devtest._asdict(),
                    "test": row.test._asdict(),
                    "runs": [
                        {
                            **{key: value for key, value in asdict(run).items() if key not in OF_ALL_RUNS},
                            "test": score._asdict(),
                        }
                        for run, score in zip(row.runs, row.tests, strict=True)
                    ],
                    "p": row.p,
                    "differs_from": row.differs_from,
                }
                for row in self.rows
            ],
        }
        return [json.dumps(document, indent=2, ensure_ascii=False)]


def make_table(
    systems: Sequence[System],
    translations: Sequence[Sequence[str]],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    trials: int = 10_000,
    seed: int = 1,
    alpha: float = 0.05,
) -> Table:
    """Score the translations of test, and test each pair of experiments for a difference.

    Systems of one name are runs of one experiment.
    """
    metric = make_bleu(references, tokenize)
    runs: dict[str, list[System]] = {}
    texts: dict[str, list[Sequence[str]]] = {}
    for system, lines in zip(systems, translations, strict=True):
        runs.setdefault(system.name, []).append(system)
        texts.setdefault(system.name, []).append(lines)
    p = _compare(metric, texts, trials, seed)
    rows = tuple(
        Row(
            number,
            tuple(runs[name]),
            tuple(score_corpus(metric, lines) for lines in texts[name]),
            p[name],
            _different(p[name], list(texts), alpha),
        )
        for number, name in enumerate(texts, 1)
    )
    return Table(rows, signature(metric), trials, seed, alpha)


def _compare(
    metric: BLEU, texts: Mapping[str, list[Sequence[str]]], trials: int, seed: int
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


def _different(p: Mapping[str, float], names: Sequence[str], alpha: float) -> tuple[int, ...]:
    return tuple(number for number, name in enumerate(names, 1) if name in p and p[name] < alpha)


def _spreadsheet_cells(row: Row) -> list[str]:
    """Return the cells of a row with a number in each, not a number and its deviation."""
    cells = row.cells()
    for column, summary in (("devtest BLEU", row.devtest), ("test BLEU", row.test)):
        cells[COLUMNS.index(column)] = f"{summary.mean:.2f}"
    deviations = (row.devtest.deviation, row.test.deviation)
    return [*cells, str(len(row.runs)), *("" if one is None else f"{one:.2f}" for one in deviations)]
