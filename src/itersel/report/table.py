"""The table of all experiments on a test set: BLEU and significant differences."""

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
# These depend on the epoch, which may differ between pooled test sets.
OF_EPOCHS = ("active features", "devtest BLEU", "epoch")
# Additional TSV columns about repeats.
DEVIATIONS = ("runs", "devtest BLEU deviation", "test BLEU deviation")


@dataclass(frozen=True)
class Row:
    """One experiment.

    Attributes
    ----------
    number
        Number in the table, from 1.
    runs
        Description of each run, with its scores on devtest; as many as the experiment has repeats.
    tests
        Score of each run on test.
    p
        p-values of the differences from the other experiments on test, by name.
    differs_from
        Numbers of the experiments from which it differs significantly.
    """

    number: int
    runs: tuple[System, ...]
    tests: tuple[CorpusScore, ...]
    p: dict[str, float]
    differs_from: tuple[int, ...]

    @property
    def devtest(self) -> Summary:
        """BLEU on devtest at the chosen epoch."""
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
    """All experiments on a test set, or on several pooled ones.

    Attributes
    ----------
    name
        Name of the test set.
    rows
        One row per experiment.
    sentences, references
        Number of sentences in the test set, and the largest number of references of a sentence.
    signature
        sacrebleu signature of the scores on test.
    is_pooled
        Whether several test sets are pooled, for which different epochs may have been chosen.
    alpha
        Significance level.
    evaluation
        Scores of detokenised text, if any.
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
        """Return the table as aligned text."""
        hidden = OF_EPOCHS if self.is_pooled else ()
        shown = [place for place, column in enumerate(COLUMNS) if column not in hidden]
        cells = [row.cells() for row in self.rows]
        header = [COLUMNS[place] for place in shown]
        left = [place for place, column in enumerate(header) if column in LEFT]
        return aligned(header, [[row[place] for place in shown] for row in cells], left)

    def spreadsheet_rows(self) -> list[list[str]]:
        """Return the rows for TSV, with the name of the test set, and deviations in separate cells."""
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
        """Return the table for JSON, with p-values and unrounded scores."""
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

    Systems with the same name are runs of one experiment. `tokenize` applies to BLEU of `translations`;
    `counts` are those of the detokenised translations of each system.
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
    """Group the items, one per system, by the name of the experiment."""
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
