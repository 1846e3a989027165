"""The table of systems as text and TSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from itersel.evaluate.epochs import ChosenEpoch
from itersel.evaluate.names import DEFAULT_METRICS, METRICS, TABULATED, TOKENIZED_BLEU, decimals_of, title_of
from itersel.report.baseline import baseline_and_best
from itersel.report.cells import NOTHING, Cell, cells_of_systems, score_cell, word_cell
from itersel.report.columns import ON_DEVTEST, ON_TEST, WORDS, title_on_devtest
from itersel.report.p_values import precise_p
from itersel.report.scores import REPEATED
from itersel.report.table_content import MeanScore, Score, SystemRow, Table, TestSetTable
from itersel.storage.text_table import aligned, tab_separated, wrapped

# Title of the table of the sentences of all test sets.
ALL_TEST_SETS = "all test sets together"
# Notes on the scores of text, by what the text is.
NOTES = {
    "detokenized": f"{title_of(TOKENIZED_BLEU)} is of tokenised lowercased text, as the papers report it. "
    "All other scores are of detokenised translations against the original references.",
    "tokenized": "All scores are of tokenised text, as the corpus was given tokenised: compare them only "
    "with scores that were computed on the same tokens. Case has been restored.",
    "listed": "All scores are of translations and references as they were given, but cleaned.",
}
MARKS = "In brackets: 95 % intervals (bootstrap). In parentheses: systems that are significantly worse."
# In place of the signature of one of the user's own scores.
USER_MEAN = "mean of the given numbers"


def text_table(table: Table, text: str = "detokenized") -> list[str]:
    """Return the table as aligned text, with notes; `text`, one of `NOTES`, is the scored text's form."""
    lines: list[str] = []
    for test_set in table.all_test_sets:
        if table.pooled:
            lines.append(f"{_title(test_set)}:")
        rows = [{title: cell.text for title, cell in row.items()} for row in cells_of_systems(test_set)]
        lines += [*aligned(rows, WORDS), ""]

        for metrics in (DEFAULT_METRICS, TABULATED[len(DEFAULT_METRICS) :], test_set.user_score_names):
            if metrics and test_set.signatures.keys() >= set(metrics):
                lines += [*_scores(test_set.systems, metrics), ""]

    return [*lines, *_notes(table, text), *signatures(table)]


def _title(test_set: TestSetTable) -> str:
    if test_set.is_pooled:
        return f"{ALL_TEST_SETS}, {test_set.sentences} sentences"
    references = "" if test_set.references == 1 else f", {test_set.references} references"
    return f"test set {test_set.name}, {test_set.sentences} sentences{references}"


def _scores(systems: Sequence[SystemRow], metrics: Sequence[str]) -> list[str]:
    """Return the lines of the table of scores by metrics of detokenised text, or of the user's own scores."""
    rows = []
    for system in systems:
        row = {"system": str(system.number), "experiment": system.name}
        for metric in metrics:
            score = system.scores.get(metric)
            row[title_of(metric)] = (
                NOTHING.text if score is None else _score(score_cell(score, metric), score)
            )
        rows.append(row)
    return aligned(rows, left=rows[0].keys() - {"system"})


def _score(cell: Cell, score: Score) -> str:
    better_than = ",".join(map(str, score.better_than))
    return f"{cell.text} {cell.note}" + (f" ({better_than})" if better_than else "")


def _notes(table: Table, text: str) -> list[str]:
    first = table.test_sets[0]
    how = table.significance
    notes = [
        f"differs from: systems whose {ON_TEST} differs significantly (p < {how.alpha:g}, approximate",
        f"randomization, {how.trials} trials, seed {how.seed}). Epochs are chosen by "
        f"{title_on_devtest(_first_epoch(first).chosen_by)}.",
    ]

    if first.metrics_of_text:
        notes += wrapped([NOTES[text], MARKS])
    own = [one.name for one in table.test_sets if _first_epoch(one).devtest != "devtest"]
    if own:
        notes.append(f"With their own devtest: {', '.join(own)}.")
    if any(len(system.repeats) > 1 for system in first.systems):
        notes += wrapped([REPEATED])
    return notes


def _first_epoch(test_set: TestSetTable) -> ChosenEpoch:
    """Return the epoch of a repeat of an experiment; all were chosen in the same way."""
    return test_set.experiments[0].epochs[0]


def signatures(table: Table) -> list[str]:
    """Return how all scores were computed, only once if this is the same for all test sets."""
    found = {
        test_set.name: [
            f"{title_of(metric)}: sacrebleu {signature}" if signature else f"{title_of(metric)}: {USER_MEAN}"
            for metric, signature in test_set.signatures.items()
        ]
        for test_set in table.all_test_sets
    }
    first, *others = found.values()
    if all(other == first for other in others):
        return first
    return [f"{name}, {line}" for name, lines in found.items() for line in lines]


def tsv_table(table: Table) -> list[str]:
    """Return the tables of the test sets as TSV, one below the other."""
    baseline, _ = baseline_and_best(table)
    alpha = table.significance.alpha
    # pooled test sets lack columns
    return tab_separated(
        [
            _spreadsheet_row(test_set, system, row, baseline, alpha)
            for test_set in table.all_test_sets
            for system, row in zip(test_set.systems, cells_of_systems(test_set), strict=True)
        ]
    )


def _spreadsheet_row(
    test_set: TestSetTable, system: SystemRow, cells: Mapping[str, Cell], baseline: str | None, alpha: float
) -> dict[str, object]:
    """Return a row of TSV by the titles of its columns; deviations have their own cells.

    With a `baseline`, each score has the p-value of its difference from the score of that system.
    """
    row: dict[str, object] = {
        "test set": test_set.name,
        **{title: cell.text for title, cell in cells.items()},
        "shards": word_cell(system.shards).text,
        "repeats": len(system.repeats),
    }

    tokenized_bleu = system.scores[TOKENIZED_BLEU]
    on_devtest = system.devtest[TOKENIZED_BLEU] if system.devtest else None
    row |= _means(ON_DEVTEST, on_devtest) | _means(ON_TEST, tokenized_bleu)

    against = {
        # only the number of a system is the same in lower case
        f"p against system {other.number}": other.name
        for other in test_set.systems
        if other.name == baseline
    }
    row |= _p_values(ON_TEST, tokenized_bleu, against, alpha)

    for metric in test_set.metrics_of_text:
        title = title_of(metric)
        # a system may lack some of the user's own scores
        score = system.scores.get(metric)
        interval = score.interval if score else None
        numbers = _means(title, score) | {
            f"{title} low": interval.low if interval else None,
            f"{title} high": interval.high if interval else None,
        }
        for column, value in numbers.items():
            is_user_score = metric not in METRICS and value is not None
            row[column] = f"{value:.{decimals_of(metric)}f}" if is_user_score else value
        row[f"{title} better than"] = list(score.better_than) if score else None
        row |= _p_values(title, score, against, alpha)
    return row


def _means(title: str, score: MeanScore | None) -> dict[str, float | None]:
    """Return the cells of a mean and its deviation; `None` for a score that a system lacks."""
    return {title: score.mean if score else None, f"{title} deviation": score.deviation if score else None}


def _p_values(
    title: str, score: Score | None, against: Mapping[str, str], alpha: float
) -> dict[str, str | None]:
    """Return the cell of a p-value; `None` for the baseline itself, and for a score that a system lacks."""
    p = score.p if score else {}
    return {
        f"{title} {column}": precise_p(p[name], alpha) if name in p else None
        for column, name in against.items()
    }
