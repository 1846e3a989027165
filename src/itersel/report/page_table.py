"""The table of the systems with all of its columns, as the page shows it, from table.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from itersel.evaluate.names import METRICS, TOKENIZED_BLEU
from itersel.report.baseline import baseline_and_best
from itersel.report.cells import NOTHING, Cell, cells_of_systems
from itersel.report.columns import DIFFERENCE, OF_EPOCHS, ON_DEVTEST, SETTINGS, WORDS, title_on_devtest
from itersel.report.costs import Cost
from itersel.report.settings import SettingsTable
from itersel.report.table import ALL_TEST_SETS
from itersel.report.table_content import SystemRow, Table, TestSetTable
from itersel.report.views import Column, View, score_columns
from itersel.run.processor_time import format_hours
from itersel.storage.text_table import Content

COSTS = ("processor time", "memory (MB)")
# Columns that are folded.
SECONDARY = (
    *(
        title
        for title, _, is_lowercased, is_tokenized in METRICS.values()
        if is_lowercased and not is_tokenized
    ),
    ON_DEVTEST,
    COSTS[1],
)
# Names of settings in the caption of a table in which all experiments agree on them.
PHRASES = dict.fromkeys((*SETTINGS, *OF_EPOCHS), "{title} {value}") | {
    "shards": "{value} shards",
    "active features": "{value} active features",
}
# Titles of columns that no key may take.
TITLES = ("system", "experiment", *SETTINGS, DIFFERENCE, *OF_EPOCHS, *COSTS)
# Keys that the other columns show.
IN_COLUMNS = (
    *("learner.name", "mixing.name", "tasks.name", "tasks.shards"),
    *("tune_on", "features", "templates", "epochs"),
)
# Keys that differ between experiments and have no column otherwise: as many as fit.
MAX_VARIED_KEYS = 3


class Shown(NamedTuple):
    """What is shown beside the table of the systems."""

    costs: Mapping[str, Sequence[Cost]]  # of the repeats of an experiment, by its name
    settings: Mapping[str, Mapping[str, str]]  # of each experiment, by its name: keys that differ
    baseline: str | None
    alpha: float  # of the significance tests


def table_view(
    table: Table,
    repeats: Sequence[Content] = (),
    costs: Mapping[str, Cost] | None = None,
    settings: SettingsTable | None = None,
) -> list[View]:
    """Return one table per test set and, if there are several, one for all of them together.

    `repeats` are those of all experiments, and `costs` their costs by name; without them, no costs are known.
    `settings` are those of the experiments (`settings_table`).
    """
    of_experiments: dict[str, list[Cost]] = {}
    for repeat in repeats:
        if costs and repeat["name"] in costs:
            of_experiments.setdefault(repeat["experiment"], []).append(costs[repeat["name"]])

    shown = Shown(
        costs=of_experiments,
        settings=_differing(settings) if settings else {},
        baseline=baseline_and_best(table)[0],
        alpha=table.significance.alpha,
    )
    return [_view(test_set, shown) for test_set in table.all_test_sets]


def _differing(settings: SettingsTable) -> dict[str, dict[str, str]]:
    """Return the keys that differ, and that all experiments have, with their values by experiment."""
    rows = {key: values for key, values in settings["differing"] if all(values) and key not in IN_COLUMNS}
    return {
        name: {key: values[place] for key, values in rows.items()}
        for place, name in enumerate(settings["systems"])
    }


def _view(test_set: TestSetTable, shown: Shown) -> View:
    """Return the table of a test set: settings that differ, scores, the epoch and costs, in this order."""
    is_pooled = test_set.is_pooled
    systems = test_set.systems
    rows = _rows(test_set, shown)

    # settings that are the same for all experiments are shown once
    experiments = [row for row, system in zip(rows, systems, strict=True) if system.is_experiment]
    around = (*SETTINGS, *(() if is_pooled else OF_EPOCHS))
    agreed = [
        title
        for title in around
        if title != ON_DEVTEST and len(experiments) > 1 and len({row[title].text for row in experiments}) == 1
    ]

    differing = [title for title in SETTINGS if title not in agreed]
    values = [[row[title].text for row in experiments] for title in differing]
    varied = _varied(systems, values, shown.settings, test_set.user_score_names)

    scores = score_columns(test_set, shown.baseline, shown.alpha)
    columns = {title: [row[title] for row in rows] for title in ("system", "experiment", *differing)}
    columns |= varied
    columns |= {title: column.cells for title, column in scores.items()}

    if not is_pooled:
        chosen_by = [title_on_devtest(one) for one in test_set.devtest_metrics if one != TOKENIZED_BLEU]
        after = (*chosen_by, *(title for title in OF_EPOCHS if title not in agreed), *COSTS)
        columns |= {title: [row[title] for row in rows] for title in after}

    titles = [
        Column(
            title,
            title not in WORDS and all(not isinstance(cell.value, str) or not cell.value for cell in column),
            scores[title].signature if title in scores else "",
            title in SECONDARY,
            title in differing or title in varied,
        )
        for title, column in columns.items()
    ]
    facts = {title: experiments[0][title].text for title in agreed}
    return View(
        ALL_TEST_SETS if is_pooled else test_set.name,
        test_set.sentences,
        test_set.references,
        titles,
        [list(row) for row in zip(*columns.values(), strict=True)],
        _caption(test_set, facts),
    )


def _rows(test_set: TestSetTable, shown: Shown) -> list[dict[str, Cell]]:
    """Return the cells of each system by title, with its costs."""
    rows = cells_of_systems(test_set)
    for row, system in zip(rows, test_set.systems, strict=True):
        if "active features" in row and system.is_experiment:
            active = row["active features"].value
            row["active features"] = Cell(f"{active:,.0f}", active)
        row |= zip(COSTS, _costs(shown.costs.get(system.name, ())), strict=True)
    return rows


def _varied(
    systems: Sequence[SystemRow],
    known: Sequence[Sequence[str]],
    settings: Mapping[str, Mapping[str, str]],
    user_titles: Sequence[str],
) -> dict[str, list[Cell]]:
    """Return columns of keys, unless these tell experiments apart just as the `known` columns do.

    `user_titles` are names of the user's own scores, which no such column may have.
    """
    names = [system.name for system in systems if system.is_experiment]
    if not all(name in settings for name in names):
        return {}

    patterns = {_pattern(values) for values in known} | {_pattern([""] * len(names))}
    chosen: list[str] = []
    for key in settings[names[0]]:
        pattern = _pattern([settings[name][key] for name in names])
        if pattern not in patterns and len(chosen) < MAX_VARIED_KEYS:
            patterns.add(pattern)
            chosen.append(key)

    titles = [key.removesuffix(".name").rpartition(".")[2] for key in chosen]
    if len({*titles} - {*TITLES, *user_titles}) < len(titles):
        titles = chosen
    return {
        title: [
            _setting(settings[system.name][key]) if system.is_experiment else NOTHING for system in systems
        ]
        for title, key in zip(titles, chosen, strict=True)
    }


def _pattern(values: Sequence[str]) -> tuple[int, ...]:
    """Return which values are equal: for each value, the place of the first equal one."""
    return tuple(values.index(value) for value in values)


def _setting(text: str) -> Cell:
    try:
        return Cell(text, float(text))
    except ValueError:
        return Cell(text, text)


def _caption(test_set: TestSetTable, agreed: Mapping[str, str]) -> str:
    """Return the caption: the size of the test set, and the settings that all experiments share."""
    references = f"{test_set.references} reference{'' if test_set.references == 1 else 's'}"
    facts = [f"{test_set.sentences:,} sentences, {references}."]

    said = [PHRASES[title].format(title=title, value=text) for title, text in agreed.items() if text != "-"]
    if said:
        facts.append(f"All experiments: {', '.join(said)}.")
    return " ".join(facts)


def _costs(costs: Sequence[Cost]) -> Iterator[Cell]:
    """Yield the costs of all repeats of an experiment: total time, maximum memory."""
    hours = [cost["hours"] for cost in costs if cost["hours"] is not None]
    memory = [cost["memory"] for cost in costs if cost["memory"] is not None]
    yield Cell(format_hours(sum(hours)), sum(hours)) if hours else NOTHING
    yield Cell(f"{max(memory):,.0f}", max(memory)) if memory else NOTHING
