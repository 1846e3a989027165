"""The table of all experiments on a test set: BLEU, and which differences are significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from itersel.evaluate.bleu import CorpusScore, References
from itersel.evaluate.counts import Counts
from itersel.report.evaluation import Evaluation
from itersel.report.layout import aligned, two_decimals
from itersel.report.scores import Summary, evaluate_experiments, score_experiments, summarize
from itersel.report.system import OF_ALL_RUNS, System

Item = TypeVar("Item")

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
LEFT = ("experiment", "learner", "mixing", "tuned on", "features", "differs from")
# They depend on the epoch, which may differ between the test sets that are pooled.
OF_EPOCHS = ("active features", "devtest BLEU", "epoch")
# Of repeats: further columns for spreadsheets.
DEVIATIONS = ("runs", "devtest BLEU deviation", "test BLEU deviation")


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
            str(system.shards) if system.tasks == "random" else f"{system.shards} {system.tasks}",
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
    """All experiments on a test set, or on several that are pooled.

    Attributes
    ----------
    name
        Of the test set.
    rows
        An experiment each.
    sentences, references
        Sentences of the test set, and the most references that one of them has.
    signature
        sacrebleu's, of the scores on test.
    is_pooled
        It is of several test sets, for which different epochs may have been chosen.
    alpha
        Smaller p-values are significant.
    evaluation
        Scores of detokenised text, if there is any.
    """

    name: str
    rows: tuple[Row, ...]
    sentences: int
    references: int
    signature: str
    is_pooled: bool
    alpha: float
    evaluation: Evaluation | None

    def text(self) -> list[str]:
        """Return the table for people."""
        hidden = OF_EPOCHS if self.is_pooled else ()
        shown = [place for place, column in enumerate(COLUMNS) if column not in hidden]
        cells = [row.cells() for row in self.rows]
        header = [COLUMNS[place] for place in shown]
        left = [place for place, column in enumerate(header) if column in LEFT]
        return aligned(header, [[row[place] for place in shown] for row in cells], left)

    def spreadsheet_rows(self) -> list[list[str]]:
        """Return the rows, with the name of the test set, and deviations in cells of their own."""
        hidden = {COLUMNS.index(column) for column in OF_EPOCHS} if self.is_pooled else set()
        rows = []
        for row in self.rows:
            cells = _spreadsheet_cells(row)
            cells = ["" if place in hidden else cell for place, cell in enumerate(cells)]
            deviations = (
                "" if self.is_pooled else two_decimals(row.devtest.deviation),
                two_decimals(row.test.deviation),
            )
            scores = self.evaluation and self.evaluation.spreadsheet_cells(row.runs[0].name, self.alpha)
            rows.append([self.name, *cells, str(len(row.runs)), *deviations, *(scores or ())])
        return rows

    def document(self) -> dict[str, Any]:
        """Return everything, with p-values and scores in full."""
        return {
            "name": self.name,
            "sentences": self.sentences,
            "references": self.references,
            "signature": self.signature,
            "signatures": {} if self.evaluation is None else self.evaluation.signature_document(),
            "systems": [self._system(row) for row in self.rows],
        }

    def _system(self, row: Row) -> dict[str, Any]:
        runs = [
            {**self._run(run), "test": score._asdict()}
            for run, score in zip(row.runs, row.tests, strict=True)
        ]
        return {
            "system": row.number,
            **{key: getattr(row.runs[0], key) for key in OF_ALL_RUNS},
            **({} if self.is_pooled else {"devtest": row.devtest._asdict()}),
            "test": row.test._asdict(),
            "runs": runs,
            "p": row.p,
            "differs_from": row.differs_from,
            "scores": {}
            if self.evaluation is None
            else self.evaluation.document(row.runs[0].name, self.alpha),
        }

    def _run(self, run: System) -> dict[str, Any]:
        if self.is_pooled:
            return {"repeat": run.repeat}
        return {key: value for key, value in asdict(run).items() if key not in OF_ALL_RUNS}


def make_table(
    name: str,
    systems: Sequence[System],
    translations: Sequence[Sequence[str]],
    references: Sequence[References],
    counts: Sequence[Counts] = (),
    *,
    tokenize: str = "13a",
    trials: int = 10_000,
    seed: int = 1,
    alpha: float = 0.05,
    is_pooled: bool = False,
) -> Table:
    """Score the translations of a test set, and test each pair of experiments for a difference.

    Systems of one name are runs of one experiment. `tokenize` is for BLEU of `translations`; `counts` are
    those of the detokenised translations of each system.
    """
    runs: dict[str, list[System]] = {}
    for system in systems:
        runs.setdefault(system.name, []).append(system)
    texts = _by_name(systems, translations)
    scores, signature = score_experiments(texts, references, tokenize=tokenize, trials=trials, seed=seed)
    rows = tuple(
        Row(
            number,
            tuple(runs[one]),
            scores[one].runs,
            scores[one].p,
            _different(scores[one].p, list(texts), alpha),
        )
        for number, one in enumerate(texts, 1)
    )
    evaluation = None
    if counts:
        columns = evaluate_experiments(_by_name(systems, counts), trials=trials, seed=seed)
        evaluation = Evaluation(tuple(columns))
    return Table(name, rows, len(references[0]), len(references), signature, is_pooled, alpha, evaluation)


def _by_name(systems: Sequence[System], items: Sequence[Item]) -> dict[str, list[Item]]:
    """Return what there is of each system by the name of its experiment."""
    by_name: dict[str, list[Item]] = {}
    for system, item in zip(systems, items, strict=True):
        by_name.setdefault(system.name, []).append(item)
    return by_name


def _different(p: Mapping[str, float], names: Sequence[str], alpha: float) -> tuple[int, ...]:
    return tuple(number for number, name in enumerate(names, 1) if name in p and p[name] < alpha)


def _spreadsheet_cells(row: Row) -> list[str]:
    cells = row.cells()
    cells[COLUMNS.index("shards")] = str(row.runs[0].shards)
    for column, summary in (("devtest BLEU", row.devtest), ("test BLEU", row.test)):
        cells[COLUMNS.index(column)] = two_decimals(summary.mean)
    return cells
