"""Word alignment in one direction by Gibbs sampling: the model of eflomal (Östling & Tiedemann 2016).

Each word of the generated side is linked to a word of the given side or to NULL. First, IBM model 1
decides (Brown et al. 1993), then the HMM as well (Vogel, Ney & Tillmann 1996), then also the fertilities of
words. The smaller the text, the more passes over it. In the end, each word is linked to what is most probable
on average over three samplers. The priors are those of eflomal, apart from `prior_of`.

One thread does everything in order, so the result is the same on every machine.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from itersel.align.sampler_kernels import (
    DECIDE,
    FERTILE,
    HMM,
    IBM1,
    LARGEST_FERTILITY,
    LEXICAL,
    LONGEST_JUMP,
    RANDOM,
    SWEEPS,
    Model,
    Pass,
    Room,
    Text,
    count_fertilities,
    move_pairs,
    sample,
)
from itersel.progress import progress

# Model 1 needs the most memory, so the samplers go through it one after the other.
SAMPLERS = 3
# Passes over text that is aligned with a trained model, whose counts are final.
TRAINED = [RANDOM, *[IBM1] * 2, *[HMM] * 4, *[FERTILE] * 8, DECIDE]
# Slots of the smallest table of pairs, and the fraction in use at which it is rebuilt.
SLOTS, FULL = 2**16, 0.6
# Parameters of Dirichlet priors, and the number of distances that the sum of jumps begins with.
JUMP, FERTILITY, DISTANCES = 0.5, 0.5, 100
# Instead of 0, for fertilities that do not occur.
NEVER = 1e-10


def schedule(pairs: int) -> list[int]:
    """Return what each pass over a text does."""
    fertile = max(2, round(5000 / math.sqrt(max(1, pairs))))
    hmm = max(1, fertile // 4)
    return [RANDOM, *[IBM1] * max(2, hmm), *[HMM] * hmm, *[FERTILE] * fertile, DECIDE]


def prior_of(generated_words: int) -> float:
    """Return what is added to the number of links of a given word.

    It is that of a Dirichlet prior with a parameter of `LEXICAL` for at most 1,000 words: with one for all
    words of a large vocabulary, rare given words, such as compounds, would lose their links to frequent ones.
    """
    return min(1.0, LEXICAL * generated_words)


class Sampler:
    """A model and the links that it was counted from.

    Parameters
    ----------
    text
        Sentence pairs.
    given_words, generated_words
        Number of different words on each side, with NULL.
    seed
        Of the sampler.
    """

    def __init__(self, text: Text, given_words: int, generated_words: int, seed: int) -> None:
        self.text, self.given_words, self.seed = text, given_words, seed
        self.prior = prior_of(generated_words)
        self.room = _room(text)
        self._begun: list[tuple[Model, NDArray[np.int16]]] = []

    def run(self) -> NDArray[np.int16]:
        """Run all passes; returns the link of each generated word: the position + 1 of a word, or 0."""
        stages = schedule(len(self.text.given_start) - 1)
        first = stages.index(HMM)
        stages = SAMPLERS * stages[:first] + stages[first:]
        for number in progress(range(len(stages)), "passes"):
            stage = stages[number]
            if stage == RANDOM:
                self._begin()
            elif stage >= FERTILE:
                self._set_ratios()
            self._pass(Pass(stage, 1000 * self.seed + number, True))
            if stage == IBM1 and stages[number + 1] != IBM1:
                self._set_aside()
        return self.links[:, -1].copy()

    def _begin(self) -> None:
        """Set the model of a sampler without links."""
        self.links = np.zeros((len(self.text.generated), 1), np.int16)
        given, generated = np.diff(self.text.given_start), np.diff(self.text.generated_start)
        jumps = np.full((1, 2 * LONGEST_JUMP + 1), JUMP)
        # all words are linked to NULL: one jump over each sentence
        sizes = np.minimum(given[(given > 0) & (generated > 0)] + 1, LONGEST_JUMP)
        jumps += np.bincount(sizes + LONGEST_JUMP, minlength=jumps.shape[1])
        self.model = Model(
            *_table(SLOTS, 1),
            np.zeros((self.given_words, 1), np.int32),
            self.prior,
            np.full((self.given_words, 1), 1 / self.prior),
            jumps,
            np.array([DISTANCES * JUMP + len(sizes)]),
            np.ones((self.given_words, LARGEST_FERTILITY + 1, 1), np.float32),
        )
        self._used = 0

    def _set_aside(self) -> None:
        """Keep the sampler, whose table becomes as small as possible; the last one joins them all."""
        used = np.flatnonzero(self.model.pair_links[:-1, 0])
        pairs, pair_links = self.model.pairs[used], self.model.pair_links[used]
        self.model = self.model._replace(pairs=pairs, pair_links=pair_links)
        self._begun.append((self.model, self.links))
        if len(self._begun) == SAMPLERS:
            self._join()

    def _join(self) -> None:
        models, links = zip(*self._begun, strict=True)
        self._begun.clear()
        table = _table(_slots(sum(len(model.pairs) for model in models)), SAMPLERS)
        self._used = sum(
            move_pairs(model.pairs, model.pair_links, *table, number) for number, model in enumerate(models)
        )
        self.links = np.concatenate(links, axis=1)
        axes = {"links": 1, "scale": 1, "jumps": 0, "all_jumps": 0, "ratio": 2}
        joined = {
            name: np.concatenate([getattr(model, name) for model in models], axis)
            for name, axis in axes.items()
        }
        self.model = Model(*table, prior=self.prior, **joined)

    def _pass(self, task: Pass) -> None:
        begin, end = 0, len(self.text.given_start) - 1
        while begin < end:
            free = int(FULL * len(self.model.pairs)) - self._used
            begin, added = sample(self.model, self.text, self.links, self.room, task, begin, free)
            self._used += added
            if begin < end:
                self._renew_table()

    def _renew_table(self) -> None:
        """Move the pairs that are linked to a table with room for as many more."""
        samplers = self.links.shape[1]
        used = int(np.count_nonzero(self.model.pair_links.any(axis=1)))
        slots = _slots(used + max(used, SWEEPS * samplers * len(self.room.next)))
        pairs, pair_links = _table(slots, samplers)
        self._used = move_pairs(self.model.pairs, self.model.pair_links, pairs, pair_links, 0)
        self.model = self.model._replace(pairs=pairs, pair_links=pair_links)

    def _set_ratios(self) -> None:
        counts = np.full(self.model.ratio.shape, FERTILITY)
        count_fertilities(self.text, self.links, self.room, counts)
        ratio = np.full(counts.shape, NEVER, np.float32)
        ratio[:, :-2] = counts[:, 1:-1] / counts[:, :-2]
        self.model = self.model._replace(ratio=ratio)


def restored_model(
    given: NDArray[np.int32],
    generated: NDArray[np.int32],
    pair_links: NDArray[np.int32],
    jumps: NDArray[np.float64],
    ratio: NDArray[np.float32],
    prior: float,
) -> Model:
    """Return a model from what cannot be computed, with a last row for given words that it does not know.

    Parameters
    ----------
    given, generated
        The words of each pair.
    pair_links, jumps, ratio
        See `Model`; the links of the pairs only.
    prior
        See `prior_of`.
    """
    samplers = pair_links.shape[1]
    table = _table(_slots(len(given)), samplers)
    keys = given.astype(np.uint64) << np.uint64(32) | generated.astype(np.uint64)
    move_pairs(keys, pair_links, *table, 0)
    links = np.zeros((len(ratio) + 1, samplers), np.int32)
    np.add.at(links, given, pair_links)
    all_jumps = (jumps - JUMP).sum(axis=1) + DISTANCES * JUMP
    # words without links in the text of the model have these ratios too
    unknown = np.ones((1, *ratio.shape[1:]), np.float32)
    unknown[:, -2:] = NEVER
    return Model(
        *table, links, prior, 1 / (links + prior), jumps, all_jumps, np.concatenate([ratio, unknown])
    )


def align_with(model: Model, text: Text, seed: int) -> NDArray[np.int16]:
    """Align text with a trained model, which does not change; returns the links as `Sampler.run` does."""
    links = np.zeros((len(text.generated), model.links.shape[1]), np.int16)
    room = _room(text)
    for number in progress(range(len(TRAINED)), "passes"):
        # nothing is counted, so no pair gets a slot
        sample(model, text, links, room, Pass(TRAINED[number], 1000 * seed + number, False), 0, 2**62)
    return links[:, -1].copy()


def _room(text: Text) -> Room:
    given = int(np.diff(text.given_start).max(initial=1))
    generated = int(np.diff(text.generated_start).max(initial=1))
    cells = (given + 1) * generated
    slots, following = np.zeros(cells, np.int64), np.zeros(generated, np.int64)
    return Room(slots, np.zeros(cells), np.zeros(given + 1), np.zeros(given, np.int64), following)


def _slots(pairs: int) -> int:
    """Return the number of slots of a table for so many pairs."""
    slots = SLOTS
    while pairs > FULL * slots:
        slots *= 2
    return slots


def _table(slots: int, samplers: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    return np.zeros(slots, np.uint64), np.zeros((slots + 1, samplers), np.int32)
