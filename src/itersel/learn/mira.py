"""The margin-infused relaxed algorithm (Chiang et al. 2008, 2009; Cherry & Foster 2012)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.config.learners import Mira
from itersel.decode.derivations import DerivationFinder
from itersel.learn.augmented import FEAR, HOPE, ORACLE, AugmentedSearch
from itersel.learn.learner import Example, Move, OnlineLearner
from itersel.learn.mira_kernels import hope_and_fear, solve_constraints
from itersel.learn.sentence_bleu import Target
from itersel.learn.update_kernels import gram_matrix, squared_distance


class MiraLearner(OnlineLearner):
    """Moves the weights from the fear to the hope, just far enough to make up for the difference in cost.

    The cost of a translation is 1 - BLEU, with ``chiang`` times the reference words (`Target.words`). The
    step size in the update w += a (h(hope) - h(fear)) is a = min(C, (cost(fear) - cost(hope) -
    w (h(hope) - h(fear))) / |h(hope) - h(fear)|^2).
    """

    step_setting = "C"

    def __init__(self, settings: Mira) -> None:
        self._c = settings.c
        self._is_oracle, self._is_prediction = settings.hope == "oracle", settings.fear == "prediction"
        self._all = settings.constraints == "all"
        directions = (ORACLE if self._is_oracle else HOPE, *(() if self._is_prediction else (FEAR,)))
        self._directions = directions if settings.candidates == "forest" else ()

    def finder(self, target: Target) -> DerivationFinder | None:
        """Return the search for hope and fear in the forest; None if it is not used or BLEU is always 0."""
        if not self._directions or target.references.word.shape[0] == 0:
            return None
        return AugmentedSearch(self._directions, target)

    def learn(self, example: Example) -> Move:
        """Return the update for the sentence."""
        hope, fear, loss = self._compare(example)
        score = example.kbest.score
        if self._all:
            coefficient, active = solve_constraints(
                gram_matrix(example.columns), score, _cost(example), hope, self._c
            )
            return Move(coefficient if active else None, score.shape[0] - 1, active)
        if hope == fear or loss <= 0:
            return Move(None, 1, 0)
        distance = squared_distance(example.columns, hope, fear)
        if distance == 0.0:
            return Move(None, 1, 1)
        coefficient = np.zeros(score.shape[0])
        coefficient[hope] = min(self._c, loss / distance)
        coefficient[fear] = -coefficient[hope]
        return Move(coefficient, 1, 1)

    def loss(self, example: Example) -> float:
        """Return by how much the fear violates the margin to the hope."""
        return float(max(0.0, self._compare(example)[2]))

    def _compare(self, example: Example) -> tuple[int, int, float]:
        """Return hope, fear, and their loss, which may be negative."""
        score, cost = example.kbest.score, _cost(example)
        hope, fear = hope_and_fear(score, cost, self._is_oracle, self._is_prediction)
        return hope, fear, cost[fear] - cost[hope] - (score[hope] - score[fear])


def _cost(example: Example) -> NDArray[np.float64]:
    cost: NDArray[np.float64] = example.words * (1.0 - example.bleu)
    return cost
