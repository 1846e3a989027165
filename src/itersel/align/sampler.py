"""Word alignment in one direction by Gibbs sampling: the model of eflomal (Östling & Tiedemann 2016).

Each word of the generated side is linked to a word of the given side or to NULL. First, IBM model 1
decides (Brown et al. 1993), then the HMM as well (Vogel, Ney & Tillmann 1996), then also the fertilities of
words. The smaller the text, the more passes over it. In the end, each word is linked to what is most probable
on average over three samplers.

One thread does everything in order, so the result is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel import __version__
from itersel.align.sampler_kernels import (
    DECIDE,
    FERTILE,
    HMM,
    IBM1,
    LARGEST_FERTILITY,
    LEXICAL_PRIOR,
    LONGEST_JUMP,
    RANDOM,
    SWEEPS,
    Model,
    Pass,
    Room,
    SentencePairs,
    count_fertilities,
    move_pairs,
    sample,
)
from itersel.align.symmetrize import DIRECTIONS
from itersel.corpus.text import check_line_counts
from itersel.corpus.vocabulary import WordNumbers, read_side
from itersel.errors import FilePath, InputError
from itersel.run.progress import progress
from itersel.storage.arrays import Int16s, Int32s, UInt64s
from itersel.storage.formats import Array, Arrays, FileFormat, damaged_file, strings
from itersel.storage.hdf5 import read_arrays, write_arrays
from itersel.storage.strings import string_table, strings_in

# Words of a sentence; the aligner has to keep all pairs of its words in memory.
LONGEST = 1024
# Their links are averaged in the end. They share a table of pairs, and nothing else.
SAMPLERS = 3
# Passes over text that is aligned with a trained model, whose counts are final.
TRAINED = (RANDOM, *[IBM1] * 2, *[HMM] * 4, *[FERTILE] * 8, DECIDE)
# Slots of the smallest table of pairs, and the fraction in use at which it is rebuilt.
SLOTS = 2**16
FULL = 0.6
# Parameters of Dirichlet priors, and the number of distances that the sum of jumps begins with.
JUMP = 0.5
FERTILITY = 0.5
DISTANCES = 100
# Instead of 0, for fertilities that do not occur.
NEVER = 1e-10

MOST = 2**31 - 1
FORMAT = FileFormat(
    "word alignment model",
    1,
    ("itersel align --save",),
    {
        **strings("given", "V", "given words"),
        **strings("generated", "W", "generated words"),
        "pair_given": Array("<i4", ("P",), least=0, below="V"),
        "pair_generated": Array("<i4", ("P",), least=1, below="W"),
        "pair_links": Array("<i4", ("P", SAMPLERS), least=0, most=MOST),
        "jumps": Array("<f8", (SAMPLERS, 2 * LONGEST_JUMP + 1), least=JUMP, most=2**52),
        "ratio": Array("<f4", ("V", LARGEST_FERTILITY + 1, SAMPLERS), least=0, most=2**52),
    },
    packed=True,
)


def schedule(pairs: int) -> list[int]:
    """Return what each pass over a text does."""
    fertile = max(2, round(5000 / math.sqrt(max(1, pairs))))
    hmm = max(1, fertile // 4)
    return [RANDOM, *[IBM1] * max(2, hmm), *[HMM] * hmm, *[FERTILE] * fertile, DECIDE]


def prior_of(generated_words: int) -> float:
    """Return what is added to the number of links of a given word.

    It follows from a Dirichlet prior with a parameter of `LEXICAL_PRIOR` for at most 1,000 words: with one
    for all words of a large vocabulary, rare given words, such as compounds, would lose their links to
    frequent ones.
    """
    return min(1.0, LEXICAL_PRIOR * generated_words)


class Sampler:
    """A model and the links that it was counted from.

    `given_words` and `generated_words` are the numbers of different words on each side, with NULL.
    """

    def __init__(self, text: SentencePairs, given_words: int, generated_words: int, seed: int) -> None:
        self.text = text
        self.seed = seed
        self.room = room_for(text)
        self.links = np.zeros((len(text.generated), SAMPLERS), np.int16)
        given, generated = np.diff(text.given_start), np.diff(text.generated_start)
        jumps = np.full((SAMPLERS, 2 * LONGEST_JUMP + 1), JUMP)

        # all words are linked to NULL: one jump over each sentence
        sizes = np.minimum(given[(given > 0) & (generated > 0)] + 1, LONGEST_JUMP)
        jumps += np.bincount(sizes + LONGEST_JUMP, minlength=jumps.shape[1])

        prior = prior_of(generated_words)
        self.model = Model(
            *new_table(0),
            np.zeros((given_words, SAMPLERS), np.int32),
            prior,
            np.full((given_words, SAMPLERS), 1 / prior),
            jumps,
            np.full(SAMPLERS, DISTANCES * JUMP + len(sizes)),
            np.ones((given_words, LARGEST_FERTILITY + 1, SAMPLERS), np.float32),
        )
        self._used = 0

    def run(self) -> Int16s:
        """Run all passes; returns the link of each generated word: the position + 1 of a word, or 0."""
        stages = schedule(len(self.text.given_start) - 1)
        for number, stage in enumerate(progress(stages, "passes")):
            if stage == HMM and stages[number - 1] == IBM1:
                # most pairs of the first pass have no links any more
                self._renew_table()
            if stage >= FERTILE:
                self._set_ratios()
            self._pass(Pass(stage, 1000 * self.seed + number, True))
        return self.links[:, -1].copy()

    def _pass(self, one_pass: Pass) -> None:
        begin, end = 0, len(self.text.given_start) - 1
        while begin < end:
            free = int(FULL * len(self.model.pairs)) - self._used
            begin, added = sample(self.model, self.text, self.links, self.room, one_pass, begin, free)
            self._used += added
            if begin < end:
                self._renew_table()

    def _renew_table(self) -> None:
        """Move the pairs that are linked to a table with room for as many more."""
        used = int(np.count_nonzero(self.model.pair_links.any(axis=1)))
        pairs, pair_links = new_table(used + max(used, SWEEPS * SAMPLERS * len(self.room.next)))
        self._used = move_pairs(self.model.pairs, self.model.pair_links, pairs, pair_links)
        self.model = self.model._replace(pairs=pairs, pair_links=pair_links)

    def _set_ratios(self) -> None:
        counts = np.full(self.model.ratio.shape, FERTILITY)
        count_fertilities(self.text, self.links, self.room, counts)
        ratio = np.full(counts.shape, NEVER, np.float32)
        ratio[:, :-2] = counts[:, 1:-1] / counts[:, :-2]
        self.model = self.model._replace(ratio=ratio)


def align_with(model: Model, text: SentencePairs, seed: int, passes: Sequence[int] = TRAINED) -> Int16s:
    """Align text with a trained model that was read; returns the links as `Sampler.run` does.

    The model does not change.
    """
    links = np.zeros((len(text.generated), SAMPLERS), np.int16)
    room = room_for(text)
    for number, stage in enumerate(progress(passes, "passes")):
        # nothing is counted, so no pair gets a slot
        sample(model, text, links, room, Pass(stage, 1000 * seed + number, False), 0, 2**62)
    return links[:, -1].copy()


def room_for(text: SentencePairs) -> Room:
    """Return arrays for the longest sentences of a text."""
    given = int(np.diff(text.given_start).max(initial=1))
    generated = int(np.diff(text.generated_start).max(initial=1))
    cells = (given + 1) * generated
    slots, following = np.zeros(cells, np.int64), np.zeros(generated, np.int64)
    return Room(slots, np.zeros(cells), np.zeros(given + 1), np.zeros(given, np.int64), following)


def new_table(pairs: int) -> tuple[UInt64s, Int32s]:
    """Return an empty table with room for `pairs` pairs."""
    slots = SLOTS
    while pairs > FULL * slots:
        slots *= 2
    return np.zeros(slots, np.uint64), np.zeros((slots + 1, SAMPLERS), np.int32)


class TrainedAligner(NamedTuple):
    """A model that links each generated word to a given word or to NULL."""

    direction: str  # `FORWARD` if the target is generated, `REVERSE` if the source is
    given: Sequence[str]  # by number, the first one NULL
    generated: Sequence[str]
    model: Model  # if read from a file, with a last row for given words that are not among these


def write_model(path: FilePath, trained: TrainedAligner, seed: int) -> None:
    """Write the model of a sampler that has run, with its seed."""
    arrays = model_arrays(trained)
    attributes = {"version": __version__, "direction": trained.direction, "seed": seed}
    write_arrays(path, FORMAT, arrays, attributes)


def model_arrays(trained: TrainedAligner) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model as stored in its file."""
    _, given, generated, model = trained
    used = np.flatnonzero(model.pair_links[:-1].any(axis=1))
    used = used[np.argsort(model.pairs[used])]
    pairs = model.pairs[used]

    arrays: dict[str, NDArray[Any]] = {
        "pair_given": (pairs >> np.uint64(32)).astype(np.int32),
        "pair_generated": pairs.astype(np.uint32).astype(np.int32),
        "pair_links": model.pair_links[used],
        "jumps": model.jumps,
        # without words that are not among these
        "ratio": model.ratio[: len(given)],
    }
    for name, words in (("given", given), ("generated", generated)):
        arrays[name], arrays[f"{name}_offset"] = string_table(words)
    return arrays


def read_model(path: FilePath) -> TrainedAligner:
    """Read a model."""
    arrays, attributes = read_arrays(path, FORMAT)
    if attributes.get("direction") not in DIRECTIONS:
        raise damaged_file(path, "has no direction")
    return model_of(arrays, attributes["direction"])


def model_of(arrays: Arrays, direction: str) -> TrainedAligner:
    """Make a model from the arrays of a file, which must be as declared."""
    given, generated = (strings_in(arrays, name).to_list() for name in ("given", "generated"))
    pair_given, pair_links, jumps, ratio = (
        arrays[name] for name in ("pair_given", "pair_links", "jumps", "ratio")
    )

    table = new_table(len(pair_given))
    prior = prior_of(len(generated))
    keys = pair_given.astype(np.uint64) << np.uint64(32) | arrays["pair_generated"].astype(np.uint64)
    move_pairs(keys, pair_links, *table)
    links = np.zeros((len(ratio) + 1, SAMPLERS), np.int32)
    np.add.at(links, pair_given, pair_links)
    all_jumps = (jumps - JUMP).sum(axis=1) + DISTANCES * JUMP

    # words without links in the text of the model have these ratios too
    unknown = np.ones((1, *ratio.shape[1:]), np.float32)
    unknown[:, -2:] = NEVER
    ratio = np.concatenate([ratio, unknown])

    # a copy, because kernels change the counts of jumps, and the arrays of a bundle are mapped read-only
    model = Model(*table, links, prior, 1 / (links + prior), jumps.copy(), all_jumps, ratio)
    return TrainedAligner(direction, given, generated, model)


class NumberedBitext(NamedTuple):
    """A text whose source is the given side, and its words on both sides, the first one NULL."""

    text: SentencePairs
    source_words: Sequence[str]
    target_words: Sequence[str]

    def turned(self) -> NumberedBitext:
        """Return the same text with the target as the given side."""
        source, source_start, target, target_start = self.text
        return NumberedBitext(
            SentencePairs(target, target_start, source, source_start), self.target_words, self.source_words
        )

    def renumbered(self, source_words: Sequence[str], target_words: Sequence[str]) -> SentencePairs:
        """Return the text with the numbers of other words; words not among them get the next number."""
        source, source_start, target, target_start = self.text
        source = _numbers_in(source_words, self.source_words)[source]
        return SentencePairs(
            source, source_start, _numbers_in(target_words, self.target_words)[target], target_start
        )


def read_bitext(source: FilePath, target: FilePath) -> NumberedBitext:
    """Read parallel text, tokenised, one sentence per line; none may have more than `LONGEST` words."""
    source_numbers = WordNumbers({"": 0})
    target_numbers = WordNumbers({"": 0})
    source_side = read_side(source, source_numbers)
    target_side = read_side(target, target_numbers)

    source_lines = range(source_side.sentence_count)
    target_lines = range(target_side.sentence_count)
    check_line_counts((source, source_lines), (target, target_lines))

    for path, side in ((source, source_side), (target, target_side)):
        long = np.flatnonzero(np.diff(side.offset) > LONGEST)
        if long.size:
            why = f"has over {LONGEST:,} words, too many for the aligner; drop it (data.max_length)"
            raise InputError(why, path, int(long[0]) + 1)

    pairs = SentencePairs(*source_side, *target_side)
    return NumberedBitext(pairs, list(source_numbers), list(target_numbers))


def _numbers_in(known: Sequence[str], words: Sequence[str]) -> Int32s:
    numbers = {word: number for number, word in enumerate(known)}
    return np.array([numbers.get(word, len(numbers)) for word in words], np.int32)
