"""What is in a folder of results, of a run that has ended or still goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from itersel.config.repeats import split_repeat
from itersel.errors import InputError
from itersel.storage.json_files import read_json

_EPOCH = re.compile(r"epoch-([1-9][0-9]{0,5})")
# What the workflow writes when it starts, see `itersel.report.page.provenance`.
RUN = "report/run.json"


class Run(NamedTuple):
    """One run of an experiment.

    Attributes
    ----------
    name
        Of its folder: that of the experiment, with a suffix for further repeats.
    experiment, repeat
        The name in the config, and which run it is, from 1.
    folder
        Its results.
    """

    name: str
    experiment: str
    repeat: int
    folder: Path

    @property
    def epochs(self) -> list[int]:
        """The epochs that have a folder, in order."""
        return sorted(epochs_in(self.folder))


def epochs_in(folder: Path) -> list[int]:
    """Return the numbers of the ``epoch-<t>`` folders below a folder."""
    if not folder.is_dir():
        return []
    found = (_EPOCH.fullmatch(path.name) for path in folder.iterdir())
    return [int(match[1]) for match in found if match]


def find_runs(results: Path, order: Sequence[str] = ()) -> list[Run]:
    """Return the runs in a folder of results: those of `order` first, then by name.

    Parameters
    ----------
    results
        ``<output>/<name>`` of the config.
    order
        Names of experiments; one without a folder has not begun, and is among the runs.

    Raises
    ------
    InputError
        If there is nothing to show.
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
    """Return the content of a JSON file; None if there is none yet.

    Raises
    ------
    InputError
        If it is not JSON.
    """
    if not path.is_file():
        return None
    try:
        return read_json(path)
    except ValueError:
        raise InputError("is not JSON; delete it and run snakemake again", path) from None
