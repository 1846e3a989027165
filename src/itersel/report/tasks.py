"""The table by task: BLEU on the sentences of each task (Simianer & Riezler 2013), and on all of them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from itersel.corpus.labels import count_labels, lines_of, most_frequent, pick
from itersel.evaluate.metrics import ReferenceText
from itersel.evaluate.names import DEFAULT_TOKENIZER, TOKENIZED_BLEU, TRIALS, title_of
from itersel.report.scores import (
    REPEATED,
    MeanScore,
    describe_score,
    describe_test,
    numbers_of,
    score_tokens,
    summarize,
)
from itersel.storage.numbers import DEFAULT_SEED
from itersel.storage.text_table import Content, aligned, tab_separated, wrapped

# Names of the rows below the tasks; they differ from all labels, which have no spaces.
MEAN_OF_TASKS, ALL_TASKS = "mean of tasks", "all tasks"
BLEU = title_of(TOKENIZED_BLEU)
TSV_COLUMNS = ("task", "sentences", "system", "experiment", "repeats", "tokenized_bleu", "deviation", "beats")


def compare_tasks(
    texts: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[ReferenceText],
    labels: Sequence[str],
    tasks: Sequence[str],
    *,
    retokenize: str = DEFAULT_TOKENIZER,
    trials: int = TRIALS,
    seed: int = DEFAULT_SEED,
) -> dict[str, Any]:
    """Compare experiments on the sentences of each task, and of all tasks together.

    `texts` are the translations of the test set by each repeat, by name of the experiment. Sentences whose
    label is not in `tasks` are left out; tasks that no sentence has get no row.

    Returns ``tasks``: a row per task, with its ``name``, number of ``sentences``, sacrebleu's ``signature``,
    and for each of ``systems`` its BLEU (``score``, as in table.json); ``pooled``: the row of the sentences
    of all tasks together; ``mean``: for each system, the unweighted mean of its BLEU over the tasks;
    ``left_out``: numbers of sentences of the labels that are not tasks, the most frequent first; ``missing``:
    tasks that no sentence has.
    """
    numbers = numbers_of(texts)

    def row(name: str, lines: Sequence[int]) -> dict[str, Any]:
        if not lines:
            return {"name": name, "sentences": 0, "signature": "", "systems": []}

        chosen = {system: [pick(repeat, lines) for repeat in repeats] for system, repeats in texts.items()}
        picked = [pick(reference, lines) for reference in references]
        metric, scores = score_tokens(chosen, picked, retokenize, trials, seed)
        systems = [
            {
                "number": numbers[system],
                "name": system,
                "score": describe_score(scores, system, metric.name, numbers),
            }
            for system in texts
        ]
        return {"name": name, "sentences": len(lines), "signature": metric.signature, "systems": systems}

    rows = [row(task, lines_of(labels, [task])) for task in tasks if task in labels]
    pooled = row(ALL_TASKS, lines_of(labels, tasks))
    others = {label: count for label, count in count_labels(labels).items() if label not in tasks}
    return {
        "significance": describe_test(trials, seed),
        "tasks": rows,
        "mean": [
            {"number": system["number"], "name": system["name"], "score": _mean(rows, place)._asdict()}
            for place, system in enumerate(pooled["systems"])
        ],
        "pooled": pooled,
        "missing": [task for task in tasks if task not in labels],
        "left_out": {"sentences": sum(others.values()), "labels": others},
    }


def _mean(rows: Sequence[Content], place: int) -> MeanScore:
    """Return the mean of a system's BLEU over the tasks, summarised over its repeats."""
    by_task = [row["systems"][place]["score"]["repeats"] for row in rows]
    return summarize([statistics.mean(of_repeat) for of_repeat in zip(*by_task, strict=True)])


def text_table(table: Content) -> list[str]:
    """Return the table as aligned text, with notes."""
    if not table["tasks"]:
        return [_missing(table)]
    return [*_systems(table), "", *_scores(table), "", *_legend(table)]


def tsv_table(table: Content) -> list[str]:
    """Return the table as TSV, with one row per task and system."""
    repeats = {system["name"]: _number_of_repeats(system) for system in table["pooled"]["systems"]}
    rows = []
    for row in _rows(table):
        for system in row["systems"]:
            name, score = system["name"], system["score"]
            place = row["name"], row["sentences"], system["number"], name, repeats[name]
            cells = *place, score["mean"], score["deviation"], score.get("better_than")
            rows.append(dict(zip(TSV_COLUMNS, cells, strict=True)))
    return tab_separated(rows, TSV_COLUMNS)


def _rows(table: Content) -> list[Content]:
    """Return the rows of the tasks, of their mean, which is not tested, and of all tasks."""
    mean = {"name": MEAN_OF_TASKS, "sentences": "", "systems": table["mean"]}
    return [*table["tasks"], mean, table["pooled"]]


def _is_repeated(table: Content) -> bool:
    return any(_number_of_repeats(system) > 1 for system in table["pooled"]["systems"])


def _number_of_repeats(system: Content) -> int:
    return len(system["score"]["repeats"])


def _systems(table: Content) -> list[str]:
    """Return the lines of the table of systems: number, name and, if repeated, how often."""
    rows = []
    for system in table["pooled"]["systems"]:
        repeats = {"repeats": str(_number_of_repeats(system))} if _is_repeated(table) else {}
        rows.append({"system": str(system["number"]), "experiment": system["name"], **repeats})
    return aligned(rows, left=("experiment",))


def _scores(table: Content) -> list[str]:
    """Return the lines of the table of scores: one row per task, one column per system."""
    rows = _rows(table)
    names = [row["name"] for row in rows]
    sentences = [str(row["sentences"]) for row in rows]
    columns = [_column([row["systems"][place] for row in rows]) for place in range(len(table["mean"]))]
    header, *cells = zip(("task", *names), ("sentences", *sentences), *columns, strict=True)
    return aligned([dict(zip(header, row, strict=True)) for row in cells], left={*header} - {"sentences"})


def _column(systems: Sequence[Content]) -> list[str]:
    """Return the cells of a system: its number, and aligned scores, followed by the systems that it beats."""
    scores = [system["score"] for system in systems]
    texts = [str(MeanScore(one["mean"], one["deviation"])) for one in scores]
    width = max(map(len, texts))
    cells = [f"{systems[0]['number']:>{width}}"]
    for text, score in zip(texts, scores, strict=True):
        beaten = ",".join(map(str, score.get("better_than", ())))
        cells.append(f"{text:>{width}}" + (f" ({beaten})" if beaten else ""))
    return cells


def _legend(table: Content) -> list[str]:
    notes = [
        f"{MEAN_OF_TASKS}: unweighted mean of the tasks' {BLEU}, not tested for significance.",
        f"{ALL_TASKS}: {BLEU} of the sentences of all tasks together.",
    ]

    systems = len(table["mean"])
    if systems > 1:
        how = table["significance"]
        tests = systems * (systems - 1) // 2 * (len(table["tasks"]) + 1)
        notes.append(
            f"In parentheses: systems whose {BLEU} on the sentences of the row is significantly lower "
            f"(p < {how['alpha']:g}, approximate randomization, {how['trials']} trials, seed {how['seed']}). "
            f"There are {tests} tests, one for each pair of systems on each task and on all of them, "
            "without correction for their number: some differences may be significant by chance."
        )

    others = table["left_out"]
    if others["labels"]:
        notes.append(
            f"Sentences with other labels are left out, {others['sentences']} in all: "
            f"{most_frequent(others['labels'])}."
        )
    if table["missing"]:
        notes.append(_missing(table))
    if _is_repeated(table):
        notes.append(REPEATED)
    return [*wrapped(notes), *_signatures(table)]


def _missing(table: Content) -> str:
    return f"No sentence of the test set has the label {', '.join(table['missing'])}."


def _signatures(table: Content) -> list[str]:
    rows = [*table["tasks"], table["pooled"]]
    if len({row["signature"] for row in rows}) == 1:
        return [f"{BLEU}: sacrebleu {rows[0]['signature']}"]
    return [f"{BLEU} of {row['name']}: sacrebleu {row['signature']}" for row in rows]
