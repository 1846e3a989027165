"""The table by task: BLEU on the sentences of each task (Simianer & Riezler 2013), and on all of them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from itersel.corpus.labels import count_labels, lines_of, most_frequent, pick
from itersel.evaluate.names import TOKENIZED_BLEU, title_of
from itersel.evaluate.texts import ReferenceText
from itersel.report.scores import REPEATED, describe_test, numbers_of, score_tokens, summarize
from itersel.report.table_content import MeanScore, Score, SignificanceTest
from itersel.storage.text_table import aligned, tab_separated, wrapped

if TYPE_CHECKING:
    from itersel.config.report_steps import Comparison

# Names of the rows below the tasks; they differ from all labels, which have no spaces.
MEAN_OF_TASKS, ALL_TASKS = "mean of tasks", "all tasks"
TITLE = title_of(TOKENIZED_BLEU)
TSV_COLUMNS = (
    "task",
    "sentences",
    "system",
    "experiment",
    "repeats",
    "tokenized_bleu",
    "deviation",
    "better_than",
)


@dataclass(frozen=True)
class TaskScore:
    """The BLEU of a system on the sentences of a task, or of all tasks together."""

    number: int  # of the system
    name: str
    score: Score


@dataclass(frozen=True)
class TaskRow:
    """The scores of all systems on the sentences of a task, or of all tasks together."""

    name: str
    sentences: int
    signature: str  # of sacrebleu; empty without sentences
    systems: tuple[TaskScore, ...]  # empty without sentences


@dataclass(frozen=True)
class TaskMean:
    """The unweighted mean of the BLEU of a system over the tasks."""

    number: int  # of the system
    name: str
    score: MeanScore


@dataclass(frozen=True)
class LeftOut:
    """The sentences whose label is not a task, and how many have each label, the most frequent first."""

    sentences: int
    labels: dict[str, int]


@dataclass(frozen=True)
class TaskTable:
    """The table by task, with the keys of its JSON file."""

    significance: SignificanceTest
    tasks: tuple[TaskRow, ...]
    mean: tuple[TaskMean, ...]
    pooled: TaskRow  # the sentences of all tasks together
    missing: tuple[str, ...]  # tasks that no sentence has
    left_out: LeftOut


def compare_tasks(
    texts: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[ReferenceText],
    labels: Sequence[str],
    tasks: Sequence[str],
    how: Comparison,
) -> TaskTable:
    """Compare systems on the sentences of each task, and of all tasks together.

    `texts` are the translations of the test set by each repeat, by name of the system. Sentences whose
    label is not in `tasks` are left out; tasks that no sentence has get no row.
    """
    numbers = numbers_of(texts)

    def row(name: str, lines: Sequence[int]) -> TaskRow:
        if not lines:
            return TaskRow(name, 0, "", ())

        chosen = {system: [pick(repeat, lines) for repeat in repeats] for system, repeats in texts.items()}
        picked = [pick(reference, lines) for reference in references]
        metric, scores = score_tokens(chosen, picked, numbers, how)
        systems = tuple(TaskScore(numbers[system], system, scores[system]) for system in texts)
        return TaskRow(name, len(lines), metric.signature, systems)

    rows = tuple(row(task, lines_of(labels, [task])) for task in tasks if task in labels)
    pooled = row(ALL_TASKS, lines_of(labels, tasks))
    others = {label: count for label, count in count_labels(labels).items() if label not in tasks}
    return TaskTable(
        significance=describe_test(how),
        tasks=rows,
        mean=tuple(
            TaskMean(system.number, system.name, _mean(rows, place))
            for place, system in enumerate(pooled.systems)
        ),
        pooled=pooled,
        missing=tuple(task for task in tasks if task not in labels),
        left_out=LeftOut(sum(others.values()), others),
    )


def _mean(rows: Sequence[TaskRow], place: int) -> MeanScore:
    """Return the mean of a system's BLEU over the tasks, summarised over its repeats."""
    by_task = [row.systems[place].score.repeats for row in rows]
    return summarize([statistics.mean(of_repeat) for of_repeat in zip(*by_task, strict=True)])


def text_table(table: TaskTable) -> list[str]:
    """Return the table as aligned text, with notes."""
    if not table.tasks:
        return [_missing(table)]
    return [*_systems(table), "", *_scores(table), "", *_legend(table)]


def tsv_table(table: TaskTable) -> list[str]:
    """Return the table as TSV, with one row per task and system."""
    repeats = {system.name: len(system.score.repeats) for system in table.pooled.systems}
    rows = []
    for name, sentences, systems in _rows(table):
        for system in systems:
            place = name, sentences, system.number, system.name, repeats[system.name]
            cells = *place, system.score.mean, system.score.deviation, _better_than(system)
            rows.append(dict(zip(TSV_COLUMNS, cells, strict=True)))
    return tab_separated(rows, TSV_COLUMNS)


def _rows(table: TaskTable) -> list[tuple[str, int | None, Sequence[TaskScore | TaskMean]]]:
    """Return the rows of the tasks, of their mean and of all tasks: name, sentences, scores by system."""
    return [
        *((row.name, row.sentences, row.systems) for row in table.tasks),
        (MEAN_OF_TASKS, None, table.mean),
        (ALL_TASKS, table.pooled.sentences, table.pooled.systems),
    ]


def _better_than(system: TaskScore | TaskMean) -> list[int] | None:
    """Return the numbers of the systems that are significantly worse; `None` for a mean."""
    return list(system.score.better_than) if isinstance(system, TaskScore) else None


def _is_repeated(table: TaskTable) -> bool:
    return any(len(system.score.repeats) > 1 for system in table.pooled.systems)


def _systems(table: TaskTable) -> list[str]:
    """Return the lines of the table of systems: number, name and, if repeated, how often."""
    rows = []
    for system in table.pooled.systems:
        repeats = {"repeats": str(len(system.score.repeats))} if _is_repeated(table) else {}
        rows.append({"system": str(system.number), "experiment": system.name, **repeats})
    return aligned(rows, left=("experiment",))


def _scores(table: TaskTable) -> list[str]:
    """Return the lines of the table of scores: one row per task, one column per system."""
    rows = _rows(table)
    names = [name for name, _, _ in rows]
    sentences = ["" if count is None else str(count) for _, count, _ in rows]
    columns = [_column([systems[place] for _, _, systems in rows]) for place in range(len(table.mean))]
    header, *cells = zip(("task", *names), ("sentences", *sentences), *columns, strict=True)
    return aligned([dict(zip(header, row, strict=True)) for row in cells], left={*header} - {"sentences"})


def _column(systems: Sequence[TaskScore | TaskMean]) -> list[str]:
    """Return the cells of a system: number, and aligned scores, followed by the systems that are worse."""
    texts = [str(system.score) for system in systems]
    width = max(map(len, texts))
    cells = [f"{systems[0].number:>{width}}"]
    for text, system in zip(texts, systems, strict=True):
        better_than = ",".join(map(str, _better_than(system) or ()))
        cells.append(f"{text:>{width}}" + (f" ({better_than})" if better_than else ""))
    return cells


def _legend(table: TaskTable) -> list[str]:
    notes = [
        f"{MEAN_OF_TASKS}: unweighted mean of the tasks' {TITLE}, not tested for significance.",
        f"{ALL_TASKS}: {TITLE} of the sentences of all tasks together.",
    ]

    systems = len(table.mean)
    if systems > 1:
        how = table.significance
        tests = systems * (systems - 1) // 2 * (len(table.tasks) + 1)
        notes.append(
            f"In parentheses: systems whose {TITLE} on the sentences of the row is significantly lower "
            f"(p < {how.alpha:g}, approximate randomization, {how.trials} trials, seed {how.seed}). "
            f"There are {tests} tests, one for each pair of systems on each task and on all of them, "
            "without correction for their number: some differences may be significant by chance."
        )

    others = table.left_out
    if others.labels:
        notes.append(
            f"Sentences with other labels are left out, {others.sentences} in all: "
            f"{most_frequent(others.labels)}."
        )
    if table.missing:
        notes.append(_missing(table))
    if _is_repeated(table):
        notes.append(REPEATED)
    return [*wrapped(notes), *_signatures(table)]


def _missing(table: TaskTable) -> str:
    return f"No sentence of the test set has the label {', '.join(table.missing)}."


def _signatures(table: TaskTable) -> list[str]:
    rows = [*table.tasks, table.pooled]
    if len({row.signature for row in rows}) == 1:
        return [f"{TITLE}: sacrebleu {rows[0].signature}"]
    return [f"{TITLE} of {row.name}: sacrebleu {row.signature}" for row in rows]
