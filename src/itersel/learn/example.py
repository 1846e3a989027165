"""What a learner learns from: the k-best list of a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from itersel.decode.translations import Candidates
from itersel.learn.learner_kernels import ShiftedFeatures, shift_columns
from itersel.learn.pairs import make_pairs
from itersel.storage.arrays import Float64s, Int64s
from itersel.storage.ragged import sum_rows, take_rows


@dataclass
class Example:
    """A training example: a k-best list, and the derivations that the learner's finder has added."""

    kbest: Candidates  # the translations, best first
    quality: Float64s  # (k): of each, 0 to 1: sentence BLEU, or the quality that the lists have
    length_factor: float  # scales quality where it is a cost; see `itersel.bleu.sentence.ReferenceBleu`
    rate: float  # learning rate of the step
    seed: tuple[int, ...]  # seed, epoch, shard, sentence

    @cached_property
    def columns(self) -> ShiftedFeatures:
        """The features of the translations, computed on first use."""
        kbest = self.kbest
        count = kbest.score.shape[0]

        # by feature, then by translation; no two keys are equal, so the faster unstable sort will do
        key = kbest.feature.astype(np.int64) << 32 | np.arange(kbest.feature.shape[0])
        key.sort()
        begin = np.flatnonzero(np.diff(key >> 32, prepend=-1))
        entry = key & 0xFFFFFFFF

        # columns are in order of first occurrence
        order = np.argsort(entry[begin])
        entry, offset = take_rows(entry, np.append(begin, entry.shape[0]), order)

        row = np.repeat(np.arange(count, dtype=np.int32), np.diff(kbest.feature_offset))
        shifted = shift_columns(count, offset, row[entry], kbest.feature_value[entry])
        return ShiftedFeatures(kbest.dense - kbest.dense[0], kbest.feature[entry[offset[:-1]]], *shifted)

    def combine(self, coefficient: Float64s) -> tuple[Float64s, Float64s]:
        """Return the sum over translations of coefficient * features, float64 (C) and (L).

        The coefficients (k) must sum to 0 because the features are shifted.
        """
        columns = self.columns
        # unlike other sums of numpy, cumsum adds in the same order on all processors
        dense = np.cumsum(coefficient[:, None] * columns.dense, axis=0)[-1]
        return dense, sum_rows(coefficient[columns.row] * columns.value, columns.offset)

    @property
    def cost(self) -> Float64s:
        """The cost of each translation, length_factor * (1 - quality), float64 (k)."""
        cost: Float64s = self.length_factor * (1.0 - self.quality)
        return cost

    def pairs(self, strategy: str) -> Int64s:
        """Return pairs of a better and a worse translation; see `itersel.learn.pairs.make_pairs`."""
        return make_pairs(strategy, self.quality, self.seed)

    def leads(self, strategy: str) -> Float64s:
        """Return, for each pair, the model score of the better translation minus that of the worse one."""
        pairs = self.pairs(strategy)
        score = self.kbest.score
        return score[pairs[:, 0]] - score[pairs[:, 1]]
