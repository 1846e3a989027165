"""From raw parallel text to prepared pairs of train, dev, devtest and test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import NamedTuple

from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.filters import sample_pairs, trainable, unique
from itersel.corpus.overlaps import HeldOutPairs, Overlap
from itersel.corpus.prepare import Preparation
from itersel.corpus.recase import RecaserCounts
from itersel.corpus.settings import CorpusSettings
from itersel.corpus.split import Cut, split_of
from itersel.corpus.statistics import CorpusStatistics, describe
from itersel.corpus.text import Bitext, concatenate_bitexts, split_words
from itersel.corpus.text_names import BY_HASH, SPLITS, text_name
from itersel.corpus.tokenization import protected
from itersel.errors import InputError
from itersel.run.processes import map_blocks
from itersel.run.progress import count_up


class PreparedSplit(NamedTuple):
    """The prepared pairs of one split and their statistics."""

    bitext: Bitext
    statistics: CorpusStatistics


class PreparedCorpus(NamedTuple):
    """The splits by name, the pairs that some of them share, and the case of the target side of train."""

    splits: dict[str, PreparedSplit]
    overlaps: list[Overlap]
    case: RecaserCounts


def prepare_corpus(
    blocks: Iterable[Bitext],
    preparation: Preparation,
    settings: CorpusSettings,
    held_out: Mapping[str, Iterable[Bitext]],
    processes: int,
) -> PreparedCorpus:
    """Prepare, split and filter; learns ``preparation.compounds`` if the settings ask for it.

    All splits except train also keep their raw text. Pairs that will be dropped are not kept in memory,
    because a corpus may consist mostly of empty lines or duplicates. Case is counted before train is
    filtered. `held_out` are sets with their own files, with which the pairs are compared. The result does not
    depend on the number of processes.
    """
    others = HeldOutPairs()
    for split, further in held_out.items():
        for block in further:
            others.add(split, _prepared(preparation, settings, block))

    collected = _Collected(preparation, settings, others)
    collected.add_all(blocks, processes)

    splits: dict[str, PreparedSplit] = {}
    seen: set[str] = set()
    for name, parts in collected.parts.items():
        before = collected.dropped[name]
        dropped = dict[str, int]()
        pairs = concatenate_bitexts(parts)
        parts.clear()
        pairs = pairs._replace(source=preparation.split_compounds(pairs.source))

        if settings.split == BY_HASH:
            pairs = _keep(pairs, unique(pairs), "duplicates", dropped, before)
        if len(collected.parts) > 1:
            # The hash sees unsplit compounds; splitting them can make two sources equal.
            new = [index for index, source in enumerate(pairs.source) if source not in seen]
            pairs = _keep(pairs, new, "source in another split", dropped, before)
            seen.update(pairs.source)

        splits[name] = _finish(name, pairs, settings, dropped, before)

    # what is dropped from train is counted there
    remaining = [one for one in others.overlaps() if one.other != "train" or not settings.drop_overlap]
    return PreparedCorpus(splits, remaining, collected.case)


def prepare_text(blocks: Iterable[list[str]], preparation: Preparation) -> tuple[list[str], int]:
    """Prepare text in the target language; returns the lines with words, and the number of the others."""
    kept: list[str] = []
    lines = 0
    for block in blocks:
        # others may be many, and are not kept in memory
        kept += filter(None, preparation.target(block))
        lines += len(block)
    return kept, lines - len(kept)


class _Collected:
    """The pairs of each split, prepared except for compounds, and what is learned from train.

    Pairs that splitting compounds cannot make valid are dropped.
    """

    def __init__(self, preparation: Preparation, settings: CorpusSettings, held_out: HeldOutPairs) -> None:
        names: tuple[str, ...] = (settings.split, *settings.cut.by_split)
        if settings.split == BY_HASH:
            names = (*SPLITS, *(text_name("test", label) for label in settings.held_out_labels))

        self.parts: dict[str, list[Bitext]] = {name: [] for name in names}
        # by split and reason
        self.dropped = {name: Counter[str]() for name in names}
        words = preparation.words
        self.case = RecaserCounts(words.target_language, protected(words.protected))

        self._preparation = preparation
        self._settings = settings
        self._held_out = held_out
        self._frequency: Counter[str] = Counter()  # of source words
        # Pairs of blocks without words. Not in `dropped`: threads of `map_blocks` count them meanwhile.
        self._empty = 0
        # the pairs that the hash has put into splits, with their splits
        self._seen: set[tuple[str, str, str]] = set()

    def add_all(self, blocks: Iterable[Bitext], processes: int) -> None:
        """Add a corpus, and learn to split compounds."""
        settings = self._settings
        sizes = settings.cut.by_split
        cut = Cut(sizes)
        raw = _with_labels(blocks, settings)
        if settings.split == "train":
            raw = self._with_words(raw)

        make = partial(_preparing, self._preparation, settings)
        prepared = map_blocks(make, raw, processes)

        for block in count_up(prepared, "pairs prepared", lambda block: block.size):
            if self._held_out:
                block = self._compared(block)
            if sizes:
                offered, _ = self._trainable(block)
                block = cut.hold_back(block, offered)

            if settings.split == BY_HASH:
                self._distribute(block)
            else:
                self._add(block)

        if self._empty:
            self.dropped["train"]["empty"] += self._empty
        if sizes:
            self._add(cut.released())
            for name, held in cut.sets().items():
                self.parts[name].append(_of_split(held, name))
            self.dropped["train"]["source in another split"] += cut.further()

        if settings.compound_splitting:
            self._preparation.compounds = CompoundSplitter(dict(self._frequency))

    def _with_words(self, blocks: Iterable[Bitext]) -> Iterator[Bitext]:
        """Yield the blocks from which something can be learned, and count the pairs of the others."""
        for block in blocks:
            if any(block.source):
                yield block
            else:
                self._empty += block.size

    def _distribute(self, block: Bitext) -> None:
        """Add pairs to the splits that a hash chooses.

        A pair with a held-out label that also occurs with another label stays with the other label.
        """
        chosen: dict[str, list[int]] = {name: [] for name in self.parts}
        for index, (source, target) in enumerate(zip(block.source, block.target, strict=True)):
            name = _split_name(block, index, self._settings)
            if (source, target, name) in self._seen:
                self.dropped[name]["duplicates"] += 1
            else:
                self._seen.add((source, target, name))
                chosen[name].append(index)
            if name == "train":
                self._frequency.update(split_words(source))

        for name, indices in chosen.items():
            if indices:
                self.parts[name].append(_of_split(block.take(indices), name))

        self.case.add(map(split_words, block.take(chosen["train"]).cased or ()))

    def _compared(self, block: Bitext) -> Bitext:
        """Look for pairs in the held-out sets, and drop those that must not be in train."""
        of_train = list(range(block.size))
        if self._settings.split == BY_HASH:
            of_train = [index for index in of_train if _split_name(block, index, self._settings) == "train"]

        found = dict(zip(of_train, self._held_out.find(block.take(of_train)), strict=True))
        if not self._settings.drop_overlap or not any(found.values()):
            return block

        self.dropped["train"].update(f"also in {split}" for split in found.values() if split)
        return block.take([index for index in range(block.size) if not found.get(index)])

    def _add(self, block: Bitext) -> None:
        """Add pairs to the split that all of them belong to."""
        split = self._settings.split
        if self._settings.compound_splitting:
            self._frequency.update(chain.from_iterable(map(split_words, block.source)))

        if split == "train":
            self.case.add(map(split_words, block.cased or ()))
            kept, reasons = self._trainable(block)
            self.dropped[split].update(reasons)
            block = block.take(kept)

        self.parts[split].append(_of_split(block, split))

    def _trainable(self, block: Bitext) -> tuple[list[int], dict[str, int]]:
        # Splitting compounds only lengthens a source: if it is too long, it stays so; its ratio may change.
        has_compounds = self._settings.compound_splitting or self._preparation.compounds is not None
        ratio = math.inf if has_compounds else self._settings.max_ratio
        return trainable(block, self._settings.max_length, ratio)


def _preparing(preparation: Preparation, settings: CorpusSettings) -> Callable[[Bitext], Bitext]:
    """Return the function that prepares a block; called once in each process."""
    return partial(_prepared, preparation, settings)


def _prepared(preparation: Preparation, settings: CorpusSettings, block: Bitext) -> Bitext:
    """Prepare the text of a block, except for compounds."""
    further = block.further
    raw = None
    # train, from which nothing is cut, is never scored
    if settings.split != "train" or settings.cut.by_split:
        columns = block.source, block.target, *zip(*further or (), strict=True)
        raw = list(zip(*map(preparation.clean, columns), strict=True))

    if further is not None:
        references = [preparation.target(lines) for lines in zip(*further, strict=True)]
        further = list(zip(*references, strict=True))

    source = preparation.source(block.source)
    cased = preparation.cased_target(block.target)
    target = preparation.lower_target(cased)
    return block._replace(source=source, target=target, further=further, raw=raw, cased=cased)


def _split_name(block: Bitext, index: int, settings: CorpusSettings) -> str:
    """Return the split of a pair, if a hash decides."""
    label = block.labels[index] if block.labels else ""
    if label in settings.held_out_labels:
        return text_name("test", label)

    return split_of(block.source[index])


def _of_split(block: Bitext, name: str) -> Bitext:
    """Return a block without cased text and, if it is for train, which is never scored, without raw text."""
    raw = None if name == "train" else block.raw
    return block._replace(cased=None, raw=raw)


def _with_labels(blocks: Iterable[Bitext], settings: CorpusSettings) -> Iterator[Bitext]:
    """Yield the pairs with the selected labels, or all pairs if none is selected."""
    found: set[str] = set()
    named = {*settings.only_labels, *settings.held_out_labels}

    for block in blocks:
        found.update(block.labels or ())
        if settings.only_labels:
            block = block.take([index for index, label in enumerate(block.labels or ()) if label in named])
        yield block

    unknown = sorted(named - found)
    if unknown:
        there = ", ".join(sorted(found)) or "no labels"
        raise InputError(f"no pair has the label {', '.join(unknown)}; the corpus has {there}")


def _keep(
    bitext: Bitext, indices: list[int], reason: str, dropped: dict[str, int], before: Mapping[str, int]
) -> Bitext:
    dropped[reason] = bitext.size - len(indices) + before[reason]
    return bitext.take(indices)


def _finish(
    name: str, bitext: Bitext, settings: CorpusSettings, dropped: dict[str, int], before: Mapping[str, int]
) -> PreparedSplit:
    """Filter and sample a split and compute its statistics, including the pairs dropped earlier."""
    bound = settings.max_train if name == "train" else settings.max_held_out

    if name == "train":
        kept, reasons = trainable(bitext, settings.max_length, settings.max_ratio)
        dropped.update({reason: count + before[reason] for reason, count in reasons.items()})
        dropped.update({reason: count for reason, count in before.items() if reason not in dropped})
        bitext = bitext.take(kept)
        if settings.split == name and settings.deduplicate != "none":
            bitext = _keep(bitext, unique(bitext, settings.deduplicate), "duplicates", dropped, before)

    if bound:
        bitext = _keep(bitext, sample_pairs(bitext, bound), "beyond the bound", dropped, before)
    if bitext.size == 0:
        raise InputError(f"no sentence pairs remain in {name}; add text or relax the limits")
    return PreparedSplit(bitext, describe(bitext, dropped))
