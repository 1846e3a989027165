"""The pairwise perceptron, with and without a margin (Simianer, Riezler & Dyer 2012, algorithm 1)."""

from __future__ import annotations

import numpy as np

from itersel.config.learners import MarginPerceptron, Perceptron
from itersel.learn.learner import Example, Move, OnlineLearner
from itersel.learn.pairs import leads, make_pairs
from itersel.learn.update_kernels import gram_matrix, violated_pairs

# A pair has a loss if its better translation leads by less than this. (The perceptron loss has no gradient
# where the lead is 0. A lead of 0 counts as a mistake, as in dtrain, because otherwise learning would never
# start: with all weights zero, all leads are 0.)
MARGIN = {Perceptron: 0.0, MarginPerceptron: 1.0}


class PairLearner(OnlineLearner):
    """Moves the weights towards the better translation of every pair that has a loss.

    With ``update: sequential``, each pair is scored with the weights after the previous pair's update [S12,
    algorithm 1]; with ``sentence``, all pairs of a sentence use the decoder's scores (as in dtrain).
    """

    def __init__(self, settings: Perceptron) -> None:
        self._pairs, self._margin = settings.pairs, MARGIN[type(settings)]
        self._sequential = settings.update == "sequential"

    def learn(self, example: Example) -> Move:
        """Return how often each translation was the better one in an update minus how often the worse."""
        pairs = make_pairs(self._pairs, example.bleu, example.seed)
        if pairs.shape[0] == 0:
            return Move(None, 0, 0)
        gram = gram_matrix(example.columns) if self._sequential else np.zeros((0, 0))
        coefficient, updates = violated_pairs(
            example.kbest.score, pairs, gram, example.rate, self._margin, self._sequential
        )
        return Move(coefficient if updates else None, pairs.shape[0], updates)

    def loss(self, example: Example) -> float:
        """Return the sum over pairs of how much the better translation's lead falls short of the margin."""
        lead = leads(make_pairs(self._pairs, example.bleu, example.seed), example.kbest.score)
        return float(np.maximum(self._margin - lead, 0.0).sum())
