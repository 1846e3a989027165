"""Finished runs: their tables, settings and versions."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from itersel.config.experiments import repeat_folder
from itersel.errors import InputError, located
from itersel.report.corpus import read_corpus
from itersel.report.costs import read_costs
from itersel.report.description import read_run, settings_of
from itersel.report.table_content import Score, SystemRow, Table, read_table
from itersel.results import RUN, TABLE
from itersel.run.processor_time import minutes_of
from itersel.storage.text_table import Content


class FinishedRun(NamedTuple):
    """A finished run."""

    name: str
    folder: Path
    table: Table
    settings: Content  # what was `recorded` when it last ran
    versions: Mapping[str, str]  # of packages, then
    training_pairs: int | None  # `None` if unknown

    @property
    def systems(self) -> dict[str, SystemRow]:
        """The rows of the first test set by name of the system."""
        return {system.name: system for system in self.table.test_sets[0].systems}

    @property
    def test_set_names(self) -> list[str]:
        """The names of the test sets."""
        return [test_set.name for test_set in self.table.test_sets]

    def scores(self, metric_name: str) -> dict[str, Score]:
        """Return the scores on all test sets by name of the system, or raise an InputError."""
        test_set = self.table.all_sentences
        if metric_name not in test_set.signatures:
            why = f"has no scores by '{metric_name}'; choose another --metric, or run snakemake again"
            raise InputError(why, self.folder / TABLE)
        return {system.name: system.scores[metric_name] for system in test_set.systems}

    def repeat_folders(self, system: str) -> list[str]:
        """Return the names of the folders of a system's repeats."""
        return [repeat_folder(system, one.repeat) for one in self.systems[system].repeats]

    def minutes(self, systems: Iterable[str]) -> dict[str, float | None]:
        """Return minutes of processor time by name of the system: the mean over its repeats.

        They are `None` if none of its jobs was measured.
        """
        folders = {name: self.repeat_folders(name) for name in systems}
        costs = read_costs(self.folder, {*chain.from_iterable(folders.values())})["repeats"]

        minutes: dict[str, float | None] = {}
        for name, of_system in folders.items():
            known = [costs[one]["hours"] for one in of_system if one in costs]
            hours = [one for one in known if one is not None]
            minutes[name] = round(minutes_of(statistics.mean(hours)), 4) if hours else None
        return minutes


def read_runs(folders: Sequence[Path]) -> list[FinishedRun]:
    """Read finished runs from their folders of results.

    A run has the name in its config or, where two names are equal, the path of its folder.
    """
    for number, folder in enumerate(folders):
        if any(folder.resolve() == other.resolve() for other in folders[:number]):
            raise InputError("is given twice; give each run once", folder)

    runs = [_read_run(folder) for folder in folders]
    names = [run.name for run in runs]
    # also different from the titles of the first columns
    if len({*names, "system", "experiment"}) < len(names) + 2:
        names = [str(folder) if len(folder.parts) > 1 else f"./{folder}" for folder in folders]

    for folder, name in zip(folders, names, strict=True):
        if not name.isprintable():
            raise InputError("has control characters in its name; rename the folder", folder)
    return [run._replace(name=name) for run, name in zip(runs, names, strict=True)]


def _read_run(folder: Path) -> FinishedRun:
    table = read_table(folder / TABLE)
    if table is None:
        raise InputError(f"has no {TABLE}; name the folder of a finished run, <output>/<name>", folder)
    description = read_run(folder)
    if not description:
        raise InputError(f"has no {RUN}; run snakemake again to record the config", folder)
    with located(folder / RUN):
        settings = settings_of(description)

    corpus = read_corpus(folder) or {"splits": {}}
    return FinishedRun(
        name=settings["name"],
        folder=folder,
        table=table,
        settings=settings,
        versions=description.get("versions", {}),
        training_pairs=corpus["splits"].get("train", {}).get("sentences"),
    )
