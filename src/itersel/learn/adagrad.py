"""AdaGrad with FOBOS on the logistic loss of pairs (Green, Wang, Cer & Manning 2013)."""

from __future__ import annotations

import numpy as np

from itersel.config.learners import AdaGrad
from itersel.learn.learner import Example, Move, OnlineLearner
from itersel.learn.logistic_kernels import logistic_coefficients
from itersel.learn.pairs import leads, make_pairs


class LogisticLearner(OnlineLearner):
    """Minimises the sum of log(1 + exp(-<w, x>)) over the feature differences x of pairs.

    The step of a weight is divided by the root of the sum of its squared gradients (Duchi et al. 2011); then
    the regulariser is applied, lazily for weights without a gradient: when they are next needed.
    """

    def __init__(self, settings: AdaGrad) -> None:
        self._pairs = settings.pairs

    def learn(self, example: Example) -> Move:
        """Return the negative gradient. All pairs have a loss; only wrongly ranked ones count as updates."""
        pairs = make_pairs(self._pairs, example.bleu, example.seed)
        if pairs.shape[0] == 0:
            return Move(None, 0, 0)
        coefficient, wrong = logistic_coefficients(example.kbest.score, pairs)
        return Move(coefficient, pairs.shape[0], wrong)

    def loss(self, example: Example) -> float:
        """Return the sum of the pairs' logistic losses."""
        lead = leads(make_pairs(self._pairs, example.bleu, example.seed), example.kbest.score)
        return float(np.logaddexp(0.0, -lead).sum())
