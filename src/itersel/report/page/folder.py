"""The runs and files in a folder of results, finished or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from itersel.config.experiments import split_repeat
from itersel.errors import InputError
from itersel.storage.json_files import read_json

_EPOCH = re.compile(r"epoch-([1-9][0-9]{0,5})")
# Written when the workflow starts, see `itersel.report.page.provenance`.
RUN = "report/run.json"


class Run(NamedTuple):
    """One run of an experiment.

    Attributes
    ----------
    name
        Name of its folder: that of the experiment, with a suffix for repeats after the first.
    experiment, repeat
        Name in the config, and number of the run, from 1.
    folder
        Folder of its results.
    """

    name: str
    experiment: str
    repeat: int
    folder: Path

    @property
    def epochs(self) -> list[int]:
        """The epochs that have a folder, in order."""
        if not self.folder.is_dir():
            return []
        found = (_EPOCH.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted(int(match[1]) for match in found if match)


def find_runs(results: Path, order: Sequence[str] = ()) -> list[Run]:
    """Return the runs in a folder of results: those of `order` first, then by name.

    Parameters
    ----------
    results
        ``<output>/<name>`` of the config.
    order
        Names of experiments. Those without a folder have not started yet, but are included.

    Raises
    ------
    InputError
        If there are no runs.
    """
    folder = results / "experiments"
    names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
    names |= {name for name in order if not any(split_repeat(one)[0] == name for one in names)}
    if not names:
        raise InputError("has no experiments; name the folder of a run, <output>/<name>", results)
    place = {name: number for number, name in enumerate(order)}

    def rank(name: str) -> tuple[int, str, int]:
        experiment, repeat = split_repeat(name)
        return place.get(experiment, len(place)), experiment, repeat

    return [Run(name, *split_repeat(name), folder / name) for name in sorted(names, key=rank)]


def read_optional(path: Path) -> Any:
    """Return the content of a JSON file; None if it does not exist yet.

    Raises
    ------
    InputError
        If the file is not JSON.
    """
    if not path.is_file():
        return None
    try:
        return read_json(path)
    except ValueError:
        raise InputError("is not JSON; delete it and run snakemake again", path) from None
