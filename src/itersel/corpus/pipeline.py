"""From raw parallel text to the files of train, dev, devtest and test."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from itersel import __version__
from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.prepare import Preparation
from itersel.corpus.split import of_tasks, sample, split_of, trainable, unique
from itersel.corpus.statistics import Statistics, count_words, describe
from itersel.corpus.text import Bitext
from itersel.errors import InputError
from itersel.files import open_output, write_lines
from itersel.limits import SPLITS

BY_HASH = "hash"


@dataclass(frozen=True)
class Settings:
    """What goes where.

    Attributes
    ----------
    split
        One of `SPLITS`: all pairs go there. ``hash``: the source decides, and of equal pairs one stays.
    split_compounds
        Learn to split compounds from the training source, and do it in all splits.
    max_length, max_ratio
        Bounds of training pairs, see `trainable`.
    modules
        Keep only pairs of these tasks; empty: all.
    max_train, max_held_out
        The most pairs of train, and of each of the other splits; 0: no bound.
    """

    split: str = BY_HASH
    split_compounds: bool = False
    max_length: int = 80
    max_ratio: float = 9.0
    modules: tuple[str, ...] = ()
    max_train: int = 0
    max_held_out: int = 0


class Split(NamedTuple):
    """The prepared pairs of one split and their statistics."""

    bitext: Bitext
    statistics: Statistics


def prepare_corpus(bitext: Bitext, preparation: Preparation, settings: Settings) -> dict[str, Split]:
    """Prepare, split and filter; learns ``preparation.compounds`` if the settings say so.

    Raises
    ------
    InputError
        If a module does not occur or a split would be empty.
    """
    bitext = bitext.take(_wanted(bitext, settings.modules))
    bitext = bitext._replace(
        source=preparation.source(bitext.source), target=preparation.target(bitext.target)
    )
    parts = _parts(bitext, settings.split)
    if settings.split_compounds:
        preparation.compounds = CompoundSplitter.learn(parts["train"].source)
    splits: dict[str, Split] = {}
    seen: set[str] = set()
    for name, part in parts.items():
        dropped: dict[str, int] = {}
        part = part._replace(source=preparation.split_compounds(part.source))
        if settings.split == BY_HASH:
            part = _keep(part, unique(part), "duplicates", dropped)
            # The hash parts whole words: compounds that are split may make two sources equal.
            new = [index for index, source in enumerate(part.source) if source not in seen]
            part = _keep(part, new, "source in another split", dropped)
            seen.update(part.source)
        splits[name] = _finish(name, part, settings, dropped)
    return splits


def _wanted(bitext: Bitext, modules: tuple[str, ...]) -> list[int]:
    if not modules:
        return list(range(bitext.size))
    tasks = bitext.task or []
    unknown = sorted(set(modules) - set(tasks))
    if unknown:
        there = ", ".join(sorted(set(tasks))) or "no tasks"
        raise InputError(f"no pair is of module {', '.join(unknown)}; there are {there}")
    return of_tasks(tasks, modules)


def _parts(bitext: Bitext, split: str) -> dict[str, Bitext]:
    if split != BY_HASH:
        return {split: bitext}
    indices: dict[str, list[int]] = {name: [] for name in SPLITS}
    for index, source in enumerate(bitext.source):
        indices[split_of(source)].append(index)
    return {name: bitext.take(indices[name]) for name in SPLITS}


def _keep(bitext: Bitext, indices: list[int], reason: str, dropped: dict[str, int]) -> Bitext:
    dropped[reason] = bitext.size - len(indices)
    return bitext.take(indices)


def _finish(name: str, bitext: Bitext, settings: Settings, dropped: dict[str, int]) -> Split:
    bound = settings.max_train if name == "train" else settings.max_held_out
    if name == "train":
        kept, reasons = trainable(bitext, settings.max_length, settings.max_ratio)
        dropped.update(reasons)
        bitext = bitext.take(kept)
    if bound:
        bitext = _keep(bitext, sample(bitext, bound), "beyond the bound", dropped)
    if bitext.size == 0:
        raise InputError(f"no pair is left for {name}; give more text or wider bounds")
    return Split(bitext, describe(bitext, dropped))


def write_corpus(
    folder: Path,
    splits: dict[str, Split],
    preparation: Preparation,
    settings: Settings,
    monolingual: list[str] | None = None,
) -> None:
    """Write the splits, how they were made, and their statistics, below `folder`.

    ``<split>.{source,target,task,alignment}.gz`` as far as there; ``monolingual.gz``; with a training
    split ``preparation.json``; ``statistics.json``, or ``<split>.statistics.json`` for one split. The
    statistics come last: where they are, all the rest is.
    """
    for name, split in splits.items():
        for column, lines in split.bitext.columns().items():
            write_lines(folder / f"{name}.{column}.gz", lines)
    if "train" in splits:
        preparation.write(folder / "preparation.json")
    document: dict[str, Any] = {
        "versions": {"itersel": __version__, "sacremoses": version("sacremoses")},
        "settings": asdict(settings),
        "languages": [preparation.source_language, preparation.target_language],
        "splits": {name: split.statistics for name, split in splits.items()},
    }
    if monolingual is not None:
        lines = [line for line in monolingual if line]
        write_lines(folder / "monolingual.gz", lines)
        words = count_words(lines)
        dropped = {"empty": len(monolingual) - len(lines)}
        document["monolingual"] = {"sentences": len(lines), **words, "dropped": dropped}
    name = "statistics.json" if settings.split == BY_HASH else f"{settings.split}.statistics.json"
    with open_output(folder / name) as stream:
        json.dump(document, stream, indent=1)
        stream.write("\n")
