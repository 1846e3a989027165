"""From raw parallel text to train, dev, devtest and test files."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from itersel import __version__
from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.prepare import Preparation
from itersel.corpus.recase import RecaserCounts
from itersel.corpus.split import of_tasks, sample, split_of, trainable, unique
from itersel.corpus.statistics import Statistics, count_words, describe
from itersel.corpus.text import Bitext, concatenate, split_words
from itersel.errors import InputError
from itersel.limits import SPLITS, test_split
from itersel.progress import count_up
from itersel.storage.files import open_output, write_lines

BY_HASH = "hash"


@dataclass(frozen=True)
class Settings:
    """How pairs are assigned to splits and filtered.

    Attributes
    ----------
    split
        One of `SPLITS`, or a named test set (``test.NAME``, ``devtest.NAME``), to put all pairs there.
        ``hash`` assigns pairs by a hash of their source and removes duplicates.
    split_compounds
        Learn compound splitting from the training source, and apply it to all splits.
    max_length, max_ratio
        Limits for training pairs; see `trainable`.
    modules
        Keep only pairs of these tasks and of the held-out ones; empty keeps all.
    held_out_modules
        With ``hash``: the pairs of each of these tasks become a test set of that name, except those whose
        source also occurs in another module or split.
    max_train, max_held_out
        Maximum number of pairs of train, and of each other split; 0 for no limit.
    deduplicate
        Which duplicates are removed from train, one of `DEDUPLICATION`, if it is the only split.
    """

    split: str = BY_HASH
    split_compounds: bool = False
    max_length: int = 80
    max_ratio: float = 9.0
    modules: tuple[str, ...] = ()
    held_out_modules: tuple[str, ...] = ()
    max_train: int = 0
    max_held_out: int = 0
    deduplicate: str = "pairs"


class Split(NamedTuple):
    """The prepared pairs of one split and their statistics."""

    bitext: Bitext
    statistics: Statistics


class Monolingual(NamedTuple):
    """Prepared text of one language, and the number of lines dropped because they contain no word."""

    lines: list[str]
    empty: int


class _Part:
    """The pairs collected for one split, and the number of dropped pairs by reason."""

    def __init__(self) -> None:
        self.blocks: list[Bitext] = []
        self.dropped: Counter[str] = Counter()


class _Learned(NamedTuple):
    """Statistics learned from train."""

    frequency: Counter[str]  # of source words
    case: RecaserCounts

    def count_case(self, cased: Iterable[str]) -> None:
        for line in cased:
            self.case.add(split_words(line))


def prepare_corpus(
    blocks: Iterable[Bitext], preparation: Preparation, settings: Settings, case: RecaserCounts | None = None
) -> dict[str, Split]:
    """Prepare, split and filter; learns ``preparation.compounds`` if the settings ask for it.

    All splits except train also keep their raw references.

    Parameters
    ----------
    blocks
        The pairs, in any number of blocks. Pairs that will be dropped are not held in memory, because a
        corpus may consist mostly of empty lines or duplicates.
    case
        Counts the target side of train, before it is filtered.

    Raises
    ------
    InputError
        If a module does not occur or a split would be empty.
    """
    parts = _gather(blocks, preparation, settings, case or RecaserCounts())
    splits: dict[str, Split] = {}
    seen: set[str] = set()
    for name, part in parts.items():
        dropped: dict[str, int] = {}
        pairs = concatenate(part.blocks)
        part.blocks.clear()
        pairs = pairs._replace(source=preparation.split_compounds(pairs.source))
        if settings.split == BY_HASH:
            pairs = _keep(pairs, unique(pairs), "duplicates", dropped)
            dropped["duplicates"] += part.dropped["duplicates"]
            # The hash sees unsplit compounds; splitting them can make two sources equal.
            new = [index for index, source in enumerate(pairs.source) if source not in seen]
            pairs = _keep(pairs, new, "source in another split", dropped)
            seen.update(pairs.source)
        splits[name] = _finish(name, pairs, settings, dropped, part.dropped)
    return splits


def prepare_text(blocks: Iterable[list[str]], preparation: Preparation) -> Monolingual:
    """Prepare text in the target language; only lines with words are held in memory."""
    kept: list[str] = []
    lines = 0
    for block in blocks:
        kept += filter(None, preparation.target(block))
        lines += len(block)
    return Monolingual(kept, lines - len(kept))


def _gather(
    blocks: Iterable[Bitext], preparation: Preparation, settings: Settings, case: RecaserCounts
) -> dict[str, _Part]:
    """Prepare everything but compounds, learn these, and drop what splitting them cannot make valid."""
    names: tuple[str, ...] = (settings.split,)
    if settings.split == BY_HASH:
        names = (*SPLITS, *map(test_split, settings.held_out_modules))
    parts = {name: _Part() for name in names}
    seen: set[tuple[str, str, str]] = set()
    learned = _Learned(Counter(), case)
    for block in count_up(_of_modules(blocks, settings), "pairs prepared", lambda block: block.size):
        if settings.split == "train" and not any(block.source):
            parts["train"].dropped["empty"] += block.size  # no words: nothing to learn or prepare
            continue
        cased = preparation.cased_target(block.target)
        block = _prepared(block, cased, preparation)
        if settings.split == BY_HASH:
            _distribute(block, cased, parts, seen, learned, settings.held_out_modules)
        else:
            if settings.split_compounds:
                learned.frequency.update(chain.from_iterable(map(split_words, block.source)))
            if settings.split == "train":
                learned.count_case(cased)
            _filter(block, parts[settings.split], preparation, settings)
    if settings.split_compounds:
        preparation.compounds = CompoundSplitter(learned.frequency)
    return parts


def _prepared(block: Bitext, cased: Sequence[str], preparation: Preparation) -> Bitext:
    """Prepare the text of a block, except for compounds; `cased` is its target before lowercasing."""
    further = block.further
    raw = list(zip(block.target, *zip(*further or (), strict=True), strict=True))
    if further is not None:
        references = [preparation.target(lines) for lines in zip(*further, strict=True)]
        further = list(zip(*references, strict=True))
    source, target = preparation.source(block.source), [line.lower() for line in cased]
    return block._replace(source=source, target=target, further=further, raw=raw)


def _distribute(
    block: Bitext,
    cased: Sequence[str],
    parts: dict[str, _Part],
    seen: set[tuple[str, str, str]],
    learned: _Learned,
    held_out: tuple[str, ...],
) -> None:
    """Add the pairs of a block to their splits; `seen` contains earlier pairs with their splits.

    A pair of a held-out module that also occurs in another module stays with the other module.
    """
    chosen: dict[str, list[int]] = {name: [] for name in parts}
    tasks = block.task or [""] * block.size
    for index, (source, target, task) in enumerate(zip(block.source, block.target, tasks, strict=True)):
        name = test_split(task) if task in held_out else split_of(source)
        if (source, target, name) in seen:
            parts[name].dropped["duplicates"] += 1
        else:
            seen.add((source, target, name))
            chosen[name].append(index)
        if name == "train":
            learned.frequency.update(split_words(source))
    for name, indices in chosen.items():
        if indices:
            parts[name].blocks.append(_of_split(block.take(indices), name))
    learned.count_case(cased[index] for index in chosen["train"])


def _of_split(block: Bitext, name: str) -> Bitext:
    """Return a block, without raw text if it is for train, which is never scored."""
    return block._replace(raw=None) if name == "train" else block


def _filter(block: Bitext, part: _Part, preparation: Preparation, settings: Settings) -> None:
    if settings.split == "train":
        # Splitting compounds only lengthens a source: one that is too long stays so, but its ratio may still
        # change.
        ratio = math.inf if _has_compounds(preparation, settings) else settings.max_ratio
        kept, reasons = trainable(block, settings.max_length, ratio)
        part.dropped.update(reasons)
        block = block.take(kept)
    part.blocks.append(_of_split(block, settings.split))


def _has_compounds(preparation: Preparation, settings: Settings) -> bool:
    return settings.split_compounds or preparation.compounds is not None


def _of_modules(blocks: Iterable[Bitext], settings: Settings) -> Iterator[Bitext]:
    """Yield the pairs of the selected modules, or all pairs if none is selected."""
    tasks: set[str] = set()
    named = {*settings.modules, *settings.held_out_modules}
    for block in blocks:
        tasks.update(block.task or ())
        yield block.take(of_tasks(block.task or (), named)) if settings.modules else block
    unknown = sorted(named - tasks)
    if unknown:
        there = ", ".join(sorted(tasks)) or "no tasks"
        raise InputError(f"no pair is of module {', '.join(unknown)}; there are {there}")


def _keep(bitext: Bitext, indices: list[int], reason: str, dropped: dict[str, int]) -> Bitext:
    dropped[reason] = bitext.size - len(indices)
    return bitext.take(indices)


def _finish(
    name: str, bitext: Bitext, settings: Settings, dropped: dict[str, int], before: Mapping[str, int]
) -> Split:
    """Filter and sample a split and compute its statistics, including the pairs dropped earlier."""
    bound = settings.max_train if name == "train" else settings.max_held_out
    if name == "train":
        kept, reasons = trainable(bitext, settings.max_length, settings.max_ratio)
        dropped.update({reason: count + before[reason] for reason, count in reasons.items()})
        bitext = bitext.take(kept)
        if settings.split == name and settings.deduplicate != "none":
            bitext = _keep(bitext, unique(bitext, settings.deduplicate), "duplicates", dropped)
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
    monolingual: Monolingual | None = None,
    case: RecaserCounts | None = None,
) -> None:
    """Write the splits, their preparation and their statistics to `folder`.

    Files are ``<split>.{source,target,task,alignment,raw}.gz`` (those that exist), ``monolingual.gz``, with a
    training split ``preparation.json`` and ``recaser.json``, and ``statistics.json``, or
    ``<split>.statistics.json`` for one split. The statistics are written last: if they exist, so does the
    rest.
    """
    for name, split in splits.items():
        for column, lines in split.bitext.columns().items():
            write_lines(folder / f"{name}.{column}.gz", lines)
    if "train" in splits:
        preparation.write(folder / "preparation.json")
        if case is not None:
            case.recaser().write(folder / "recaser.json")
    document: dict[str, Any] = {
        "versions": {"itersel": __version__, "sacremoses": version("sacremoses")},
        "settings": asdict(settings),
        "languages": [preparation.source_language, preparation.target_language],
        "splits": {name: split.statistics for name, split in splits.items()},
    }
    if monolingual is not None:
        write_lines(folder / "monolingual.gz", monolingual.lines)
        words = count_words(monolingual.lines)
        dropped = {"empty": monolingual.empty}
        document["monolingual"] = {"sentences": len(monolingual.lines), **words, "dropped": dropped}
    name = "statistics.json" if settings.split == BY_HASH else f"{settings.split}.statistics.json"
    with open_output(folder / name) as stream:
        json.dump(document, stream, indent=1)
        stream.write("\n")
