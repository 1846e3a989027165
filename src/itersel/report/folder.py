"""A folder of results, finished or not: its experiments, their translations and other files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from itersel.config.experiments import Member
from itersel.corpus.text_names import column_file, reference_column, split_of_test_set
from itersel.errors import InputError, checked
from itersel.results import BEST, EXPERIMENTS, SYSTEM, best_folder
from itersel.storage.json_files import check_counts, check_texts, read_json

T = TypeVar("T")

# Locked by the workflow while it runs; its modification time is when the workflow last started.
LOCK = ".lock"


class Repeat(NamedTuple):
    """A repeat of an experiment, in a folder called `name`."""

    name: str
    experiment: str  # or a single one of its independent tasks
    number: int  # from 1
    folder: Path


def find_repeats(results: Path, planned: Sequence[Member] = ()) -> list[Repeat]:
    """Return the repeats of all experiments in a folder of results, ``<output>/<name>``.

    Experiments that are `planned` come first, even those that have not started yet; then all others by name.
    If there are none, it is an InputError.
    """
    folder = results / EXPERIMENTS
    known = {member.name: member for member in planned}
    names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
    started = {known[name].system for name in names if name in known}
    names |= {name for name, one in known.items() if one.repeat == 1 and one.system not in started}
    if not names:
        raise InputError("has no experiments; name the folder of a run, <output>/<name>", results)

    repeats = []
    for name in names:
        system, number = _identity(known.get(name), folder / name)
        repeats.append(Repeat(name, system, number, folder / name))

    systems = dict.fromkeys(member.system for member in planned)
    place = {system: number for number, system in enumerate(systems)}
    return sorted(
        repeats, key=lambda one: (place.get(one.experiment, len(place)), one.experiment, one.number)
    )


def _identity(planned: Member | None, folder: Path) -> tuple[str, int]:
    """Return the experiment and the number of a repeat; one that is no longer planned may describe itself."""
    if planned is not None:
        return planned.system, planned.repeat
    otherwise = "is not the description of a system; run snakemake again"
    found = read_optional(folder / BEST / SYSTEM, _described_identity, otherwise)
    return found or (folder.name, 1)


def _described_identity(system: Any) -> tuple[str, int]:
    """Return these of the description of a system, or raise an error of Python."""
    check_texts((system["name"],))
    check_counts({"repeat": system["repeat"]})
    return system["name"], system["repeat"]


def read_optional(path: Path, parse: Callable[[Any], T], otherwise: str) -> T | None:
    """Return what `parse` makes of the content of a JSON file; None if the file does not exist yet.

    `parse` raises an error of Python if others cannot rely on the content; it becomes an InputError with the
    message `otherwise`.
    """
    if not path.is_file():
        return None
    try:
        content = read_json(path)
    except ValueError:
        raise InputError("is not JSON; delete it and run snakemake again", path) from None
    with checked(path, otherwise):
        return parse(content)


def translation_of(repeat: Path, name: str) -> Path | None:
    """Return the file of translations of a test set at the epoch chosen for it; None if not written yet."""
    split = split_of_test_set(name)
    for stage in (best_folder(name), best_folder()):
        if (path := repeat / stage / f"{split}.txt").is_file():
            return path
    return None


def references_of(corpus: Path, split: str) -> list[Path]:
    """Return the files of the references of a split, the first one without a number."""
    paths = (corpus / column_file(split, reference_column(number)) for number in count())
    return list(takewhile(Path.is_file, paths))
