"""A folder of results, finished or not: its experiments, their translations and other files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from itersel.config.experiments import PlannedRepeat
from itersel.corpus.text_names import column_file, reference_column, split_of_test_set
from itersel.errors import InputError, checked
from itersel.results import BEST, EXPERIMENTS, SYSTEM, best_folder, plain_reference, translation_file
from itersel.storage.json_files import check_counts, check_texts, read_json

T = TypeVar("T")

# Locked by the workflow while it runs; its modification time is when the workflow last started.
LOCK = ".lock"


class FoundRepeat(NamedTuple):
    """A repeat in a folder of results."""

    system: str
    repeat: int  # from 1
    path: Path  # its folder

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return self.path.name


def find_repeats(results: Path, planned: Sequence[PlannedRepeat] = ()) -> list[FoundRepeat]:
    """Return the repeats of all systems in a folder of results, ``<output>/<name>``.

    Experiments that are `planned` come first, even those that have not started yet; then all others by name.
    If there are none, it is an InputError.
    """
    experiments = results / EXPERIMENTS
    known = {one.folder: one for one in planned}
    folders = (
        {path.name for path in experiments.iterdir() if path.is_dir()} if experiments.is_dir() else set()
    )
    started = {known[folder].system for folder in folders if folder in known}
    folders |= {folder for folder, one in known.items() if one.repeat == 1 and one.system not in started}
    if not folders:
        raise InputError("has no experiments; name the folder of a run, <output>/<name>", results)

    repeats = []
    for folder in folders:
        path = experiments / folder
        one = known.get(folder)
        repeats.append(FoundRepeat(one.system, one.repeat, path) if one else _unplanned_repeat(path))

    systems = dict.fromkeys(one.system for one in planned)
    place = {system: number for number, system in enumerate(systems)}
    return sorted(repeats, key=lambda one: (place.get(one.system, len(place)), one.system, one.repeat))


def _unplanned_repeat(path: Path) -> FoundRepeat:
    """Return a repeat that is no longer planned; if it has no description, it is a system of its own."""
    otherwise = "is not the description of a system; run snakemake again"
    system, repeat = read_optional(path / BEST / SYSTEM, _described_repeat, otherwise) or (path.name, 1)
    return FoundRepeat(system, repeat, path)


def _described_repeat(description: Any) -> tuple[str, int]:
    """Return the system and the number of the repeat in a description, or raise an error of Python."""
    check_texts((description["name"],))
    check_counts({"repeat": description["repeat"]})
    return description["name"], description["repeat"]


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


def translation_of(repeat: Path, test_set: str) -> Path | None:
    """Return the file of translations of a test set at the epoch chosen for it; None if not written yet."""
    split = split_of_test_set(test_set)
    for stage in (best_folder(test_set), best_folder()):
        if (path := repeat / stage / translation_file(split)).is_file():
            return path
    return None


def references_of(corpus: Path, split: str) -> list[Path]:
    """Return the files of the references of a split, the first one without a number."""
    return _existing(corpus / column_file(split, reference_column(number)) for number in count())


def plain_references_of(results: Path, test_set: str) -> list[Path]:
    """Return the files of the references of a test set as plain text."""
    return _existing(results / plain_reference(test_set, number) for number in count())


def _existing(numbered: Iterable[Path]) -> list[Path]:
    """Return the files before the first that does not exist."""
    return list(takewhile(Path.is_file, numbered))
