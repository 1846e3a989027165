"""Tables as the page and papers show them, and the columns of scores that their tables of systems share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Any, NamedTuple

from itersel.evaluate.names import METRICS, TOKENIZED_BLEU, sign_of, title_of
from itersel.report.answer import main_metric
from itersel.report.columns import DIFFERENCE, ON_TEST
from itersel.report.table import NOTHING, Cell, score_cell, told_p
from itersel.storage.text_table import Content

# The cell of the baseline in the column of differences from it.
BASELINE = Cell("baseline", 0.0)


class Column(NamedTuple):
    """A column: its title, whether it contains numbers, the signature of scores, and when it is folded."""

    title: str
    is_number: bool
    signature: str = ""
    is_secondary: bool = False
    is_setting: bool = False  # also folded in narrow windows


class View(NamedTuple):
    """The table of a test set."""

    name: str
    sentences: int
    references: int
    columns: list[Column]
    rows: list[list[Cell]]
    caption: str = ""


def score_columns(
    one: Content, baseline: str | None, alpha: float
) -> Iterator[tuple[str, tuple[list[Cell], str]]]:
    """Yield title, cells and signature of each score; after the main one, differences from the baseline."""
    names = [system["name"] for system in one["systems"]]
    main = main_metric(one)
    for metric, signature, scores in _scores(one):
        title = ON_TEST if metric == TOKENIZED_BLEU else title_of(metric)
        sign = sign_of(metric)
        is_known = [score is not None for score in scores]
        best = max(sign * score["mean"] for score in compress(scores, is_known))
        column = [
            NOTHING
            if score is None
            else score_cell(score, metric)._replace(
                marks=join_numbers(score.get("better_than", ())),
                is_best=sign * score["mean"] == best,
                p=told_p(score["p"][baseline], alpha) if baseline in score["p"] else "",
            )
            for score in scores
        ]
        yield title, (column, signature)

        if metric == main and baseline in names:
            own = scores[names.index(baseline)]["mean"]
            gains = [
                BASELINE if name == baseline else _gain(score["mean"] - own)
                for name, score in zip(names, scores, strict=True)
            ]
            yield DIFFERENCE, (gains, "")


def _gain(difference: float) -> Cell:
    return Cell(f"{difference:+z.2f}", difference)


def _scores(one: Content) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield each metric, its signature, and the score of each system; None if it lacks one of the user's."""
    systems = one["systems"]
    for metric, signature in one["signatures"].items():
        is_own = metric not in METRICS
        yield (
            metric,
            signature,
            [system["scores"].get(metric) if is_own else system["scores"][metric] for system in systems],
        )
    means = {system["system"]: system["test"]["mean"] for system in systems}
    own = []
    for system in systems:
        beaten = [other for other in system["differs_from"] if means[other] < means[system["system"]]]
        own.append({**system["test"], "p": system["p"], "better_than": beaten})
    yield TOKENIZED_BLEU, one["signature"], own


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
