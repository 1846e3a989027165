"""The table by task: BLEU on the sentences of each task (Simianer & Riezler 2013), and on all of them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from itersel.corpus.labels import count_labels, most_frequent
from itersel.evaluate.bleu import References
from itersel.report.labels import lines_of, pick
from itersel.report.layout import aligned, tab_separated, two_decimals
from itersel.report.scores import (
    ALPHA,
    REPEATED,
    Scores,
    Summary,
    better_than,
    describe_test,
    score_experiments,
    summarize,
)

# Names of the rows below those of the tasks; they differ from all labels, which have no spaces.
MEAN, ALL_TASKS = "mean of tasks", "all tasks"
# Line width of the notes below the table.
WIDTH = 105
COLUMNS = ("task", "sentences", "system", "experiment", "runs", "bleu", "deviation", "beats")


@dataclass(frozen=True)
class Row:
    """The scores of all experiments on the sentences of a task, or of all tasks.

    Attributes
    ----------
    name
        Label of the task, or `ALL_TASKS`.
    sentences
        Number of sentences of the task in the test set.
    scores
        Scores of the experiments by name, in the order of the table.
    signature
        sacrebleu signature of these scores.
    """

    name: str
    sentences: int
    scores: dict[str, Scores]
    signature: str

    def document(self) -> dict[str, Any]:
        """Return the row for JSON, with p-values and unrounded scores."""
        systems = [
            {
                "system": number,
                "name": name,
                "test": scores.summary._asdict(),
                "runs": [run._asdict() for run in scores.details],
                "p": scores.p,
                "beats": better_than(self.scores, name),
            }
            for number, (name, scores) in enumerate(self.scores.items(), 1)
        ]
        return {
            "name": self.name,
            "sentences": self.sentences,
            "signature": self.signature,
            "systems": systems,
        }


@dataclass(frozen=True)
class TaskTable:
    """The table of experiments by task, and how they were compared.

    Attributes
    ----------
    tasks
        One row per task.
    pooled
        Row of the sentences of all tasks together.
    left_out
        Number of sentences for each label that is not a task, the most frequent first.
    missing
        Tasks whose label no sentence has; they have no row.
    trials, seed
        Settings of approximate randomization.
    """

    tasks: tuple[Row, ...]
    pooled: Row
    left_out: dict[str, int]
    missing: tuple[str, ...]
    trials: int
    seed: int

    def mean(self, name: str) -> Summary:
        """Return the unweighted mean of an experiment's BLEU over the tasks, summarised over its runs."""
        bleu = [row.scores[name].runs for row in self.tasks]
        return summarize([statistics.mean(of_run) for of_run in zip(*bleu, strict=True)])

    def text(self) -> list[str]:
        """Return the table as aligned text, with notes."""
        if not self.tasks:
            return [self._missing()]
        return [*self._systems(), "", *self._scores(), "", *self._legend()]

    def tsv(self) -> list[str]:
        """Return the table as TSV, with one row per task and experiment."""
        rows = [cells for row in self.tasks for cells in self._spreadsheet_rows(row)]
        rows += [
            [MEAN, "", *self._spreadsheet_cells(name, self.mean(name)), ""] for name in self.pooled.scores
        ]
        return tab_separated(COLUMNS, [*rows, *self._spreadsheet_rows(self.pooled)])

    def json(self) -> list[str]:
        """Return the table as JSON, with p-values and unrounded scores."""
        mean = [
            {"system": number, "name": name, "test": self.mean(name)._asdict()}
            for number, name in enumerate(self.pooled.scores, 1)
        ]
        document: dict[str, Any] = {
            "significance": describe_test(self.trials, self.seed),
            "tasks": [row.document() for row in self.tasks],
            "mean": mean,
            "pooled": self.pooled.document(),
            "missing": list(self.missing),
            "left_out": {"sentences": sum(self.left_out.values()), "labels": self.left_out},
        }
        return [json.dumps(document, indent=2, ensure_ascii=False)]

    def _rows(self) -> tuple[Row, ...]:
        return *self.tasks, self.pooled

    def _is_repeated(self) -> bool:
        return any(len(scores.runs) > 1 for scores in self.pooled.scores.values())

    def _systems(self) -> list[str]:
        """Return the lines of the table of experiments: number, name and, with repeats, number of runs."""
        columns = ("system", "experiment", "runs")[: 3 if self._is_repeated() else 2]
        systems = [
            [str(number), name, str(len(scores.runs))][: len(columns)]
            for number, (name, scores) in enumerate(self.pooled.scores.items(), 1)
        ]
        return aligned(columns, systems, left=(1,))

    def _scores(self) -> list[str]:
        """Return the lines of the table of scores: one row per task, one column per experiment."""
        names = [*(row.name for row in self.tasks), MEAN, ALL_TASKS]
        sentences = [*(str(row.sentences) for row in self.tasks), "", str(self.pooled.sentences)]
        columns = [self._column(number, name) for number, name in enumerate(self.pooled.scores, 1)]
        header, *rows = zip(("task", *names), ("sentences", *sentences), *columns, strict=True)
        return aligned(header, rows, left=(0, *range(2, len(header))))

    def _column(self, number: int, name: str) -> list[str]:
        """Return the cells of an experiment: aligned scores, followed by the experiments that it beats."""
        cells = [(str(row.scores[name].summary), better_than(row.scores, name)) for row in self._rows()]
        cells.insert(len(self.tasks), (str(self.mean(name)), []))
        width = max(len(score) for score, _ in cells)
        marked = [f"{score:>{width}} ({','.join(map(str, beats))})" for score, beats in cells]
        return [f"{number:>{width}}", *(cell.removesuffix(" ()") for cell in marked)]

    def _legend(self) -> list[str]:
        notes = [
            f"{MEAN}: unweighted mean of the tasks' BLEU, not tested for significance.",
            f"{ALL_TASKS}: BLEU of the sentences of all tasks together.",
        ]
        systems = len(self.pooled.scores)
        if systems > 1:
            tests = systems * (systems - 1) // 2 * len(self._rows())
            notes.append(
                "In parentheses: systems whose BLEU on the sentences of the row is significantly lower "
                f"(p < {ALPHA:g}, approximate randomization, {self.trials} trials, seed {self.seed}). "
                f"There are {tests} tests, one for each pair of systems on each task and on all of them, "
                "without correction for their number: some differences may be significant by chance."
            )
        if self.left_out:
            notes.append(
                f"Sentences with other labels are left out, {sum(self.left_out.values())} in all: "
                f"{most_frequent(self.left_out)}."
            )
        if self.missing:
            notes.append(self._missing())
        lines = [line for note in notes for line in wrap(note, WIDTH, break_on_hyphens=False)]
        return [*lines, *(REPEATED if self._is_repeated() else ()), *self._signatures()]

    def _missing(self) -> str:
        return f"No sentence of the test set has the label {', '.join(self.missing)}."

    def _signatures(self) -> list[str]:
        if len({row.signature for row in self._rows()}) == 1:
            return [f"BLEU: sacrebleu {self.pooled.signature}"]
        return [f"BLEU of {row.name}: sacrebleu {row.signature}" for row in self._rows()]

    def _spreadsheet_rows(self, row: Row) -> list[list[str]]:
        sentences = str(row.sentences)
        rows = []
        for name, scores in row.scores.items():
            beats = ", ".join(map(str, better_than(row.scores, name)))
            rows.append([row.name, sentences, *self._spreadsheet_cells(name, scores.summary), beats or "-"])
        return rows

    def _spreadsheet_cells(self, name: str, bleu: Summary) -> list[str]:
        """Return the cells of an experiment in every row: number, name, runs, BLEU and its deviation."""
        number, runs = [*self.pooled.scores].index(name) + 1, len(self.pooled.scores[name].runs)
        return [str(number), name, str(runs), two_decimals(bleu.mean), two_decimals(bleu.deviation)]


def compare_tasks(
    texts: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[References],
    labels: Sequence[str],
    tasks: Sequence[str],
    *,
    tokenize: str = "13a",
    trials: int = 10_000,
    seed: int = 1,
) -> TaskTable:
    """Compare experiments on the sentences of each task, and on those of all tasks.

    Parameters
    ----------
    texts
        Translations of the test set by each run, by name of the experiment.
    references
        One or more references, each with one line per sentence.
    labels
        Label of each sentence. Sentences whose label is not in `tasks` are left out.
    tasks
        Labels of the rows; those that no sentence has get no row.
    tokenize, trials, seed
        Settings of BLEU and of approximate randomization.
    """

    def row(name: str, lines: Sequence[int]) -> Row:
        if not lines:
            return Row(name, 0, {}, "")
        scores, signature = score_experiments(
            {one: [pick(run, lines) for run in runs] for one, runs in texts.items()},
            [pick(one, lines) for one in references],
            tokenize,
            trials,
            seed,
        )
        return Row(name, len(lines), scores, signature)

    others = {label: count for label, count in count_labels(labels).items() if label not in tasks}
    rows = tuple(row(task, lines_of(labels, [task])) for task in tasks if task in labels)
    missing = tuple(task for task in tasks if task not in labels)
    pooled = row(ALL_TASKS, lines_of(labels, tasks))
    return TaskTable(rows, pooled, others, missing, trials, seed)
