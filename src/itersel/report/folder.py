"""A folder of results, finished or not: its experiments, their translations and other files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from itersel.config.experiments import split_repeat
from itersel.corpus.text_names import column_file, reference_column, split_of_test_set
from itersel.errors import InputError, checked
from itersel.results import EXPERIMENTS, best_folder
from itersel.storage.json_files import read_json

T = TypeVar("T")

# Locked by the workflow while it runs; its modification time is when the workflow last started.
LOCK = ".lock"


class Repeat(NamedTuple):
    """A repeat of an experiment, in a folder called `name`."""

    name: str
    experiment: str
    number: int  # from 1
    folder: Path


def find_repeats(results: Path, order: Sequence[str] = ()) -> list[Repeat]:
    """Return the repeats of all experiments in a folder of results, ``<output>/<name>``.

    Experiments in `order` come first, even those that have not started yet; then all others by name. If there
    are none, it is an InputError.
    """
    folder = results / EXPERIMENTS
    names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
    names |= {name for name in order if not any(split_repeat(one)[0] == name for one in names)}
    if not names:
        raise InputError("has no experiments; name the folder of a run, <output>/<name>", results)
    place = {name: number for number, name in enumerate(order)}
    repeats = (Repeat(name, *split_repeat(name), folder / name) for name in names)
    return sorted(
        repeats, key=lambda one: (place.get(one.experiment, len(place)), one.experiment, one.number)
    )


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
