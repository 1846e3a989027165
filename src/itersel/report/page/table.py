"""The table of the systems as the page shows it, from table.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from itersel.errors import InputError
from itersel.limits import CASES, LOWER_IS_BETTER, METRICS
from itersel.report.page.folder import read_optional
from itersel.report.system import sign_of

POOLED = "all test sets together"


class Cell(NamedTuple):
    """A cell of the table.

    Attributes
    ----------
    text
        Text to show.
    value
        Number or text to sort by.
    marks
        Numbers of the systems that are significantly worse.
    note
        Interval, shown below the text.
    is_best
        Whether no other system has a better score.
    """

    text: str
    value: float | str
    marks: str = ""
    note: str = ""
    is_best: bool = False


class Column(NamedTuple):
    """A column: its title, whether it contains numbers, and the signature of scores."""

    title: str
    is_number: bool
    signature: str = ""


class View(NamedTuple):
    """The table of a test set."""

    name: str
    sentences: int
    references: int
    columns: list[Column]
    rows: list[list[Cell]]


def read_table(path: Path) -> dict[str, Any] | None:
    """Return the content of table.json; None if it does not exist yet.

    Raises
    ------
    InputError
        If the file is not a table of systems.
    """
    table: dict[str, Any] | None = read_optional(path)
    if table is None:
        return None
    try:
        table_view({"table": table, "runs": [], "costs": {"runs": {}}})
        for test_set in table["test_sets"]:
            max(map(score_on_devtest, test_set["systems"]))
        significance = table["significance"]
        if not table["test_sets"] or not significance["alpha"] * significance["trials"]:
            raise ValueError("empty")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError):
        raise InputError("is not a table of systems; make it with 'itersel report table'", path) from None
    return table


def score_on_devtest(system: Mapping[str, Any]) -> float:
    """Return the score by which a system's epochs were chosen, averaged over its runs; higher is better."""
    scores = [
        sign_of(run["chosen_by"]) * float(run["devtest_scores"][run["epoch"] - 1]) for run in system["runs"]
    ]
    return sum(scores) / len(scores)


def table_view(document: Mapping[str, Any]) -> list[View]:
    """Return one table per test set and, if there are several, one for all of them together."""
    table = document["table"]
    if not table:
        return []
    views = [_view(one, one["name"], document) for one in table["test_sets"]]
    if table.get("pooled"):
        views.append(_view(table["pooled"], POOLED, document))
    return views


def _view(one: Mapping[str, Any], name: str, document: Mapping[str, Any]) -> View:
    is_pooled = name == POOLED
    systems: Sequence[Mapping[str, Any]] = one["systems"]
    columns = [Column("system", True), Column("experiment", False)]
    cells = [
        [Cell(str(system["system"]), system["system"]), Cell(system["name"], system["name"])]
        for system in systems
    ]
    for title, signature, scores, sign in _scores(one):
        columns.append(Column(title, True, signature))
        best = max(sign * score["mean"] for score in scores)
        for row, score in zip(cells, scores, strict=True):
            row.append(_score(score, sign * score["mean"] == best))
    if not is_pooled:
        columns += [Column("devtest BLEU", True), Column("epoch", True), Column("active features", True)]
        for row, system in zip(cells, systems, strict=True):
            row += _of_epochs(system)
    columns += [Column("learner", False), Column("mixing", False), Column("shards", True)]
    columns += [Column("tuned on", False), Column("features", False)]
    for row, system in zip(cells, systems, strict=True):
        row += _description(system)
    if not is_pooled:
        columns += [Column("processor hours", True), Column("memory (MB)", True)]
        for row, system in zip(cells, systems, strict=True):
            row += _costs(system["name"], document)
    return View(name, one["sentences"], one["references"], columns, cells)


def _description(system: Mapping[str, Any]) -> Iterator[Cell]:
    for key in ("learner", "mixing"):
        yield Cell(str(system[key]), str(system[key]))
    tasks = "" if system["tasks"] == "random" else f" {system['tasks']}"
    yield Cell(f"{system['shards']}{tasks}", system["shards"])
    for key in ("tune_on", "features"):
        yield Cell(str(system[key]), str(system[key]))


def _of_epochs(system: Mapping[str, Any]) -> Iterator[Cell]:
    runs = system["runs"]
    active = sum(run["active_features"] for run in runs) / len(runs)
    devtest = system["devtest"]
    yield Cell(summary(devtest), devtest["mean"])
    epochs = ", ".join(str(run["epoch"]) for run in runs)
    yield Cell(f"{epochs} of {len(runs[0]['devtest_bleu'])}", runs[0]["epoch"])
    yield Cell(f"{active:,.0f}", active)


def _scores(one: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any], int]]:
    """Yield title, signature, the score of each system, and -1 if lower scores are better, else 1."""
    systems = one["systems"]
    means = {system["system"]: system["test"]["mean"] for system in systems}
    own = []
    for system in systems:
        beaten = [other for other in system["differs_from"] if means[other] < means[system["system"]]]
        own.append({**system["test"], "better_than": beaten})
    is_text = any(system.get("scores") for system in systems)
    if is_text:
        for case, metric in product(CASES, METRICS):
            found = [system["scores"][metric][case] for system in systems]
            signature = one["signatures"][metric][case]
            yield f"{case} {metric}", signature, found, -1 if metric in LOWER_IS_BETTER else 1
    yield "test BLEU, tokenised" if is_text else "test BLEU", one["signature"], own, 1


def _score(score: Mapping[str, Any], is_best: bool) -> Cell:
    marks = join_numbers(score.get("better_than", ()))
    interval = score.get("interval")
    note = f"[{interval[0]:.1f}, {interval[1]:.1f}]" if interval else ""
    return Cell(summary(score), score["mean"], marks, note, is_best)


def _costs(name: str, document: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield the costs of all runs of an experiment: total hours, maximum memory."""
    runs = [run["run"] for run in document["runs"] if run["experiment"] == name]
    costs = [cost for run in runs if (cost := document["costs"]["runs"].get(run))]
    hours = [cost["hours"] for cost in costs if cost["hours"] is not None]
    memory = [cost["memory"] for cost in costs if cost["memory"] is not None]
    yield Cell(f"{sum(hours):.3g}", sum(hours)) if hours else Cell("–", "")
    yield Cell(f"{max(memory):,.0f}", max(memory)) if memory else Cell("–", "")


def join_numbers(numbers: Iterable[int]) -> str:
    """Join ascending numbers with commas; three or more consecutive ones become a range: 1,3–7."""
    groups: list[list[int]] = []
    for number in numbers:
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    texts = [f"{one[0]}–{one[-1]}" if len(one) > 2 else ",".join(map(str, one)) for one in groups]
    return ",".join(texts)


def summary(score: Mapping[str, Any]) -> str:
    """Return a mean, with its standard deviation if there are several runs."""
    deviation = score.get("deviation")
    return f"{score['mean']:.2f}" if deviation is None else f"{score['mean']:.2f} ±{deviation:.2f}"
