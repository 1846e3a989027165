"""The table of systems as text and TSV, from the content of table.json (see docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from itersel.corpus.text_names import POOLED
from itersel.evaluate.names import COMPARED, METRICS, TABULATED, TOKENIZED_BLEU, title_of
from itersel.report.baseline import baseline_and_best, is_experiment
from itersel.report.columns import ON_DEVTEST, ON_TEST
from itersel.report.scores import REPEATED, MeanScore, summarize
from itersel.storage.text_table import Content, aligned, tab_separated, wrapped

DEVTEST = "devtest"
# Title of the table of the sentences of all test sets.
ALL_TEST_SETS = "all test sets together"
# Titles of the columns that are not numbers.
WORDS = ("experiment", "learner", "mixing", "tuned on", "features", "differs from")
# Notes on the scores of text, by what the text is.
NOTES = {
    "detokenized": f"{title_of(TOKENIZED_BLEU)} is of tokenised lowercased text, as the papers report it. "
    "All other scores are of detokenised translations against the original references.",
    "tokenized": "All scores are of tokenised text, as the corpus was given tokenised: compare them only "
    "with scores that were computed on the same tokens. Case has been restored.",
    "listed": "All scores are of translations and references as they were given, but cleaned.",
}
MARKS = "In brackets: 95 % intervals (bootstrap). In parentheses: systems that are significantly worse."


class Cell(NamedTuple):
    """A cell of the table."""

    text: str
    value: float | str  # to sort by
    marks: str = ""  # numbers of the systems that are significantly worse
    note: str = ""  # interval, shown beside or below the text
    is_best: bool = False
    p: str = ""  # of the difference from the baseline


# The smallest p-value that is shown as a number.
SMALLEST_P = 0.0001
# A number with so many digits is itself again.
EXACT_DIGITS = 17

# In place of the signature of a score of the user's own.
OWN_MEAN = "mean of the given numbers"
# Decimals of the user's own scores, which may be from 0 to 1.
OWN_DIGITS = 4

# What is not known of other systems.
NOTHING = Cell("-", "")
NO_SCORE: Content = {"mean": None, "deviation": None, "interval": (None, None), "better_than": None, "p": {}}


def choosing_score(one: Content) -> str | None:
    """Return the score by which epochs were chosen; None for tokenised BLEU, and for pooled test sets."""
    runs = next(filter(is_experiment, one["systems"]))["runs"]
    chosen_by: str | None = runs[0].get("chosen_by")
    return None if chosen_by == TOKENIZED_BLEU else chosen_by


def title_of_choice(metric: str) -> str:
    """Return the title of the column of the score by which epochs were chosen."""
    return f"{DEVTEST} {title_of(metric)}"


def cells(system: Content, chosen_by: str | None = None) -> dict[str, Cell]:
    """Return the cells of a system by title; pooled test sets have none about epochs, which may differ.

    `chosen_by` is the `choosing_score`.
    """
    runs, shards = system["runs"], system["shards"]
    row = {
        "system": Cell(str(system["system"]), system["system"]),
        "experiment": _word(system["name"]),
        "learner": _word(system["learner"]),
        "mixing": _word(system["mixing"]),
        "shards": _shards(shards, system["tasks"]),
        "tuned on": _word(system["tune_on"]),
        "features": _word(system["features"]),
    }

    if "devtest" in system and not is_experiment(system):
        choice = [] if chosen_by is None else [title_of_choice(chosen_by)]
        row |= dict.fromkeys(("active features", ON_DEVTEST, *choice, "epoch"), NOTHING)
    elif "devtest" in system:
        active = sum(run["active_features"] for run in runs) / len(runs)
        epochs = ", ".join(str(run["epoch"]) for run in runs)
        row["active features"] = Cell(f"{active:.0f}", active)
        row[ON_DEVTEST] = score_cell(system["devtest"])
        if chosen_by is not None:
            reached = summarize([run["devtest_scores"][run["epoch"] - 1] for run in runs])
            row[title_of_choice(chosen_by)] = score_cell(reached._asdict(), chosen_by)
        planned = len(runs[0]["devtest_bleu"])
        trained = ", ".join(str(planned - run["passed_on"]) for run in runs)
        note = f" ({trained} trained)" if any(run["passed_on"] for run in runs) else ""
        row["epoch"] = Cell(f"{epochs} of {planned}{note}", runs[0]["epoch"])

    row[ON_TEST] = score_cell(system["test"])
    row["differs from"] = _word(", ".join(map(str, system["differs_from"])) or "-")
    return row


def score_cell(score: Content, metric: str = TOKENIZED_BLEU) -> Cell:
    """Return the cell of a score: its mean, with the deviation over repeats, and its interval."""
    is_own = metric not in METRICS
    interval = score.get("interval")
    digits = OWN_DIGITS if is_own else 1
    note = f"[{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]" if interval else ""
    mean = MeanScore(score["mean"], score.get("deviation"))
    return Cell(mean.rounded(OWN_DIGITS) if is_own else str(mean), score["mean"], note=note)


def own_scores(one: Content) -> list[str]:
    """Return the names of the user's own scores in the table of a test set."""
    return [name for name in one["signatures"] if name not in METRICS]


def format_p(p: float, alpha: float) -> str:
    """Format a p-value to read, with four decimals; with more where these would place it beside `alpha`."""
    if p < SMALLEST_P <= alpha:
        return f"< {SMALLEST_P}"
    return _rounded(p, alpha, 4, "f")


def told_p(p: float, alpha: float) -> str:
    """Return an equation or inequality of a p-value; large ones have two decimals."""
    text = _rounded(p, alpha, 2, "f") if p >= 0.1 else format_p(p, alpha)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def precise_p(p: float, alpha: float) -> str:
    """Format a p-value for programs, with four significant digits or as many as `format_p` needs."""
    return _rounded(p, alpha, 4, "g")


def _rounded(p: float, alpha: float, digits: int, form: str) -> str:
    """Round a p-value to at least so many digits, so that it is below `alpha` if it was."""
    for precision in range(digits, EXACT_DIGITS):
        text = f"{p:.{precision}{form}}"
        if (float(text) < alpha) == (p < alpha) and (float(text) > 0 or p == 0):
            return text
    return repr(p)


def all_test_sets(table: Content) -> list[Content]:
    """Return the test sets and, if there are several, all of them together."""
    return [*table["test_sets"], *([table["pooled"]] if table["pooled"] else [])]


def text_table(table: Content, text: str = "detokenized") -> list[str]:
    """Return the table as aligned text, with notes; `text`: what the translated text is, from `NOTES`."""
    lines: list[str] = []
    for one in all_test_sets(table):
        if table["pooled"]:
            lines.append(f"{_title(one)}:")
        chosen_by = choosing_score(one)
        rows = [
            {title: cell.text for title, cell in cells(system, chosen_by).items()}
            for system in one["systems"]
        ]
        lines += [*aligned(rows, WORDS), ""]
        for names in (COMPARED, TABULATED[len(COMPARED) :], own_scores(one)):
            if names and one["signatures"].keys() >= set(names):
                lines += [*_scores(one["systems"], names), ""]

    first = table["test_sets"][0]
    how = table["significance"]
    run = next(filter(is_experiment, first["systems"]))["runs"][0]
    lines += [
        f"differs from: systems whose {ON_TEST} differs significantly (p < {how['alpha']:g}, approximate",
        f"randomization, {how['trials']} trials, seed {how['seed']}). Epochs are chosen by {DEVTEST} "
        f"{title_of(run['chosen_by'])}.",
    ]
    if first["signatures"]:
        lines += wrapped([NOTES[text], MARKS])

    own = [
        one["name"]
        for one in table["test_sets"]
        if next(filter(is_experiment, one["systems"]))["runs"][0]["devtest"] != DEVTEST
    ]
    if own:
        lines.append(f"With their own devtest: {', '.join(own)}.")

    if any(len(system["runs"]) > 1 for system in first["systems"]):
        lines += wrapped([REPEATED])
    return [*lines, *signatures(table)]


def tsv_table(table: Content) -> list[str]:
    """Return the tables of the test sets as TSV, one below the other."""
    baseline, _ = baseline_and_best(table)
    alpha = table["significance"]["alpha"]
    # pooled test sets lack columns
    return tab_separated(
        [
            _spreadsheet_row(one, system, baseline, alpha)
            for one in all_test_sets(table)
            for system in one["systems"]
        ]
    )


def _word(text: object) -> Cell:
    return NOTHING if text is None else Cell(str(text), str(text))


def _shards(shards: int | None, tasks: str) -> Cell:
    if shards is None:
        return NOTHING
    return Cell(str(shards) if tasks == "random" else f"{shards} {tasks}", shards)


def _title(one: Content) -> str:
    if one["name"] == POOLED:
        return f"{ALL_TEST_SETS}, {one['sentences']} sentences"
    references = "" if one["references"] == 1 else f", {one['references']} references"
    return f"test set {one['name']}, {one['sentences']} sentences{references}"


def _scores(systems: list[Content], metrics: Sequence[str]) -> list[str]:
    """Return the lines of the table of scores by some metrics of detokenised text, or of the user's own."""
    rows = []
    for system in systems:
        row = {"system": str(system["system"]), "experiment": system["name"]}
        for metric in metrics:
            row[title_of(metric)] = NOTHING.text
            # other systems may lack the user's own scores
            if (score := system["scores"].get(metric)) is not None:
                cell = score_cell(score, metric)
                better = ",".join(map(str, score["better_than"]))
                row[title_of(metric)] = f"{cell.text} {cell.note}" + (f" ({better})" if better else "")
        rows.append(row)
    return aligned(rows, left=rows[0].keys() - {"system"})


def _spreadsheet_row(one: Content, system: Content, baseline: str | None, alpha: float) -> dict[str, object]:
    """Return the cells of a row of TSV by the titles of their columns; deviations have their own cells.

    With a `baseline`, each score has the p-value of its difference from the score of that system.
    """
    row: dict[str, object] = {
        "test set": one["name"],
        **{key: cell.text for key, cell in cells(system, choosing_score(one)).items()},
    }
    row |= {"shards": _word(system["shards"]).text, "runs": len(system["runs"])}

    for key, title in ((DEVTEST, ON_DEVTEST), ("test", ON_TEST)):
        score = system.get(key) or {"mean": None, "deviation": None}
        row |= {title: score["mean"], f"{title} deviation": score["deviation"]}

    against = {
        # only the number of a system is the same in lower case
        f"p against system {other['system']}": str(other["name"])
        for other in one["systems"]
        if other["name"] == baseline
    }
    row |= _p_values(ON_TEST, system["p"], against, alpha)

    for metric in one["signatures"]:
        title = title_of(metric)
        score = system["scores"].get(metric, NO_SCORE)
        numbers: tuple[float | None, ...] = score["mean"], score["deviation"], *score["interval"]
        for what, value in zip(("", " deviation", " low", " high"), numbers, strict=True):
            row[f"{title}{what}"] = value
            if metric not in METRICS and value is not None:
                row[f"{title}{what}"] = f"{value:.{OWN_DIGITS}f}"
        row[f"{title} better than"] = score["better_than"]
        row |= _p_values(title, score["p"], against, alpha)
    return row


def _p_values(
    title: str, p: Mapping[str, float], against: Mapping[str, str], alpha: float
) -> dict[str, str | None]:
    """Return the cell of a p-value; `None` for the baseline itself."""
    return {
        f"{title} {what}": precise_p(p[name], alpha) if name in p else None for what, name in against.items()
    }


def signatures(table: Content) -> list[str]:
    """Return how all scores were computed, only once if this is the same for all test sets."""
    found = {}
    for one in all_test_sets(table):
        of_scores = {title_of(TOKENIZED_BLEU): one["signature"]}
        of_scores |= {title_of(metric): signature for metric, signature in one["signatures"].items()}
        found[one["name"]] = [
            f"{score}: sacrebleu {signature}" if signature else f"{score}: {OWN_MEAN}"
            for score, signature in of_scores.items()
        ]
    first, *others = found.values()
    if all(other == first for other in others):
        return first
    return [f"{name}, {line}" for name, lines in found.items() for line in lines]
