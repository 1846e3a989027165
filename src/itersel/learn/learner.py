"""What a learner is: it looks at one k-best list and says which translations the weights should move to.

A learner is an `OnlineLearner` in a module of its own. Its method `learn` returns a coefficient for each
translation; the step along the sum of coefficient * features, its learning rate, the regularisation and the
average are the same for all learners: see `itersel.learn.parameters`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from itersel.config.learners import Learner, learner_name
from itersel.learn.parameters import StepSettings
from itersel.learn.sentence_bleu import Target
from itersel.learn.update_kernels import Columns, make_columns

if TYPE_CHECKING:
    from itersel.decode.decoder import KBest
    from itersel.decode.derivations import DerivationFinder


class Example:
    """A k-best list to learn from, with what the learner's finder has added.

    Parameters
    ----------
    kbest
        The translations, best first.
    bleu
        float64 (k): sentence BLEU of each.
    words
        What BLEU counts for as a cost, see `itersel.learn.sentence_bleu.Target`.
    rate
        Learning rate of the step.
    seed
        For what is drawn at random: seed, epoch, shard, sentence.
    column_of
        int32 (F), all -1: scratch.
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
        """The features of the translations; made when first asked for."""
        kbest = self.kbest
        return make_columns(
            kbest.dense, kbest.feature, kbest.feature_value, kbest.feature_offset, self._column_of
        )


class Move(NamedTuple):
    """What a learner makes of a k-best list.

    Attributes
    ----------
    coefficient
        float64 (k): adds up to 0; None where nothing is to be learned.
    pairs, updates
        Number of pairs (or constraints) that were looked at, and of those that had a loss.
    """

    coefficient: NDArray[np.float64] | None
    pairs: int
    updates: int


class OnlineLearner(Protocol):
    """Learns from one sentence after another."""

    steps: StepSettings

    def finder(self, target: Target) -> DerivationFinder | None:
        """Return what finds translations to learn from beside the k best; None: these are enough."""
        return None

    def learn(self, example: Example) -> Move:
        """Return where the weights should move."""
        ...

    def loss(self, example: Example) -> float:
        """Return the loss of the weights that the list was made with; nothing is learned."""
        ...


def make_learner(settings: Learner) -> OnlineLearner:
    """Return the learner of some settings."""
    # They import this module. Named one by one, so that edited code of theirs runs again (`itersel.sources`).
    from itersel.learn import adagrad, mira, perceptron

    makers: dict[str, Any] = {
        "perceptron": perceptron.PairLearner,
        "margin-perceptron": perceptron.PairLearner,
        "adagrad": adagrad.LogisticLearner,
        "mira": mira.MiraLearner,
    }
    learner: OnlineLearner = makers[learner_name(settings)](settings)
    return learner
