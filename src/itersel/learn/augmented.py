"""Hope and fear from cost-augmented decoding of the forest (Chiang, Marton & Resnik 2008)."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from itersel.decode.derivations import SentenceForest, extend
from itersel.decode.kbest_kernels import Best
from itersel.learn.augmented_kernels import Objective, index_reference, search_augmented
from itersel.learn.sentence_bleu import Target

BEAM = 4


class Direction(NamedTuple):
    """The objective share * model score + gain * BLEU.

    Attributes
    ----------
    share
        1, or 0: the model score only decides between equally good ones.
    gain
        1 to look for good translations, -1 for bad ones.
    """

    share: int
    gain: int


HOPE, ORACLE, FEAR = Direction(1, 1), Direction(0, 1), Direction(1, -1)


class AugmentedSearch:
    """Finds the derivation of the best objective in every direction, as well as `augmented_kernels` can.

    Parameters
    ----------
    directions
        What to look for.
    target
        What translations are compared with; its reference has at least one word.
    """

    def __init__(self, directions: tuple[Direction, ...], target: Target) -> None:
        self._directions, self._target = directions, target

    def __call__(self, forest: SentenceForest) -> Best:
        """Return at most one derivation for each direction."""
        target = self._target
        ngrams = index_reference(target.reference, forest.table.model_word.shape[0])
        bleu = target.score(forest.best.word, forest.best.word_offset)
        found = []
        for share, gain in self._directions:
            objective = Objective(
                float(share),
                float(gain),
                target.variant,
                target.context,
                target.reference.shape[0],
                forest.model_weight,
            )
            threshold = -np.inf
            if share:
                # BLEU is between 0 and 1: what beats the k best has at least this model score
                threshold = float(np.max(forest.best.score + gain * bleu)) - max(gain, 0)
            found.append(
                search_augmented(
                    forest.found, forest.rules, forest.table, ngrams, objective, threshold, BEAM
                )
            )
        return reduce(extend, found)
