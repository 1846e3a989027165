"""The pairwise perceptron, with and without a margin (Simianer, Riezler & Dyer 2012, algorithm 1)."""

from __future__ import annotations

import numpy as np

from itersel.config.learners import MarginPerceptron, Perceptron
from itersel.learn.learner import Example, Move, OnlineLearner
from itersel.learn.pairs import leads, make_pairs
from itersel.learn.parameters import StepSettings
from itersel.learn.update_kernels import gram_matrix, violated_pairs

# A pair whose better translation leads by less than this has a loss. (The loss of the perceptron has no
# gradient where the lead is 0. Counting a lead of 0 as a mistake, as dtrain does, is what makes
# learning start: with all weights zero, all leads are 0.)
MARGIN = {Perceptron: 0.0, MarginPerceptron: 1.0}


class PairLearner(OnlineLearner):
    """Moves the weights towards the better translation of every pair that has a loss.

    With ``update: sequential`` each pair sees the weights that the pair before has left [S12, algorithm 1];
    with ``sentence`` the scores of the decoder decide for all pairs of a sentence (so does dtrain).
    """

    def __init__(self, settings: Perceptron) -> None:
        self._pairs, self._margin = settings.pairs, MARGIN[type(settings)]
        self._sequential = settings.update == "sequential"
        self.steps = StepSettings(
            settings.learning_rate,
            settings.schedule,
            regularization=settings.regularization,
            strength=settings.strength,
        )

    def learn(self, example: Example) -> Move:
        """Return how often each translation won minus how often it lost an update."""
        pairs = make_pairs(self._pairs, example.bleu, example.seed)
        if pairs.shape[0] == 0:
            return Move(None, 0, 0)
        gram = gram_matrix(example.columns) if self._sequential else np.zeros((0, 0))
        coefficient, updates = violated_pairs(
            example.kbest.score, pairs, gram, example.rate, self._margin, self._sequential
        )
        return Move(coefficient if updates else None, pairs.shape[0], updates)

    def loss(self, example: Example) -> float:
        """Return the sum over the pairs of how far the better one is from leading by the margin."""
        lead = leads(make_pairs(self._pairs, example.bleu, example.seed), example.kbest.score)
        return float(np.maximum(self._margin - lead, 0.0).sum())
