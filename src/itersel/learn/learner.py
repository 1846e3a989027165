"""The interface of learners: from one k-best list, a learner decides how the weights should move.

Each learner is an `OnlineLearner` in its own module. Its method `learn` returns a coefficient for each
translation. The step along the sum of coefficient * features, the learning rate, regularisation and averaging
are the same for all learners: see `itersel.learn.parameters`.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from itersel.learn.sentence_bleu import Target
from itersel.learn.update_kernels import Columns, make_columns

if TYPE_CHECKING:
    from itersel.decode.decoder import KBest
    from itersel.decode.derivations import DerivationFinder


class Example:
    """A training example: a k-best list, and the derivations that the learner's finder has added.

    Parameters
    ----------
    kbest
        The translations, best first.
    bleu
        float64 (k): sentence BLEU of each.
    words
        Factor of BLEU as a cost; see `itersel.learn.sentence_bleu.Target`.
    rate
        Learning rate of the step.
    seed
        Random seed: seed, epoch, shard, sentence.
    column_of
        int32 (F), all -1: scratch space.
    """

    def __init__(
        self,
        kbest: KBest,
        bleu: NDArray[np.float64],
        words: float,
        rate: float,
        seed: tuple[int, ...],
        column_of: NDArray[np.int32],
    ) -> None:
        self.kbest, self.bleu, self.words, self.rate, self.seed = kbest, bleu, words, rate, seed
        self._column_of = column_of

    @cached_property
    def columns(self) -> Columns:
        """The features of the translations, computed on first use."""
        kbest = self.kbest
        return make_columns(
            kbest.dense, kbest.feature, kbest.feature_value, kbest.feature_offset, self._column_of
        )


class Move(NamedTuple):
    """A learner's update for a k-best list.

    Attributes
    ----------
    coefficient
        float64 (k): sums to 0; None if there is no update.
    pairs, updates
        Number of pairs (or constraints) considered, and of those with a loss.
    """

    coefficient: NDArray[np.float64] | None
    pairs: int
    updates: int


class OnlineLearner(Protocol):
    """Learns from one sentence after another.

    Attributes
    ----------
    step_setting
        The setting that makes steps larger or smaller, as error messages name it.
    """

    step_setting: ClassVar[str] = "learning rate"

    def finder(self, target: Target) -> DerivationFinder | None:
        """Return the search for translations to learn from besides the k best; None if there is none."""
        return None

    @abstractmethod
    def learn(self, example: Example) -> Move:
        """Return how the weights should move."""
        ...

    @abstractmethod
    def loss(self, example: Example) -> float:
        """Return the loss of the weights that the list was decoded with, without learning."""
        ...
