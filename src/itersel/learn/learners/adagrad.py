"""AdaGrad on the logistic loss of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from itersel.config.conditions import TUNE_ON_DEV
from itersel.config.learners import Online
from itersel.keys import documented, key_of
from itersel.learn.learners import Move, OnlineLearner
from itersel.learn.learners.perceptron import Perceptron

if TYPE_CHECKING:
    from itersel.learn.example import Example


@documented
@dataclass(frozen=True)
class AdaGrad(Online):
    """Logistic loss of pairs, with a separate learning rate for each weight (Green et al. 2013)."""

    adaptive: ClassVar[bool] = True

    sentence_bleu: str = key_of(Online, "sentence_bleu", default="nakov", on=None)
    learning_rate: float = key_of(Perceptron, "learning_rate", default=0.3, on={TUNE_ON_DEV: 0.1})
    schedule: str = key_of(Perceptron, "schedule")
    pairs: str = key_of(Perceptron, "pairs", default="pro")
    regularization: str = key_of(Online, "regularization", default="l1")
    strength_per_epoch: float = key_of(Online, "strength_per_epoch", default=0.1)

    def make_learner(self) -> OnlineLearner:
        """Return the learner."""
        return LogisticLearner(self)


class LogisticLearner(OnlineLearner):
    """AdaGrad with FOBOS on the logistic loss of pairs (Green, Wang, Cer & Manning 2013).

    Minimises the sum of log(1 + exp(-<w, x>)) over the feature differences x of pairs. The step of a weight
    is divided by the root of the sum of its squared gradients (Duchi et al. 2011); then the regulariser is
    applied, lazily for weights without a gradient: when they are next needed.
    """

    def __init__(self, settings: AdaGrad) -> None:
        self._strategy = settings.pairs

    def learn(self, example: Example) -> Move:
        """Return the negative gradient. All pairs have a loss; only wrongly ranked ones count as updates."""
        from itersel.learn.learner_kernels import logistic_coefficients

        pairs = example.pairs(self._strategy)
        coefficient, wrong = logistic_coefficients(example.kbest.score, pairs)
        return Move(coefficient if pairs.shape[0] else None, pairs.shape[0], wrong)

    def loss(self, example: Example) -> float:
        """Return the sum of the pairs' logistic losses."""
        import numpy as np

        return float(np.logaddexp(0.0, -example.leads(self._strategy)).sum())
