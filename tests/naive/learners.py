"""Online learners in plain Python, which visit every weight after every sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.naive.learning import Hypothesis, Pair

from itersel.config.learners import Learner

Vector = dict[str, float]


def difference(kbest: Sequence[Hypothesis], better: int, worse: int) -> Vector:
    names = kbest[better].features.keys() | kbest[worse].features.keys()
    return {
        name: kbest[better].features.get(name, 0.0) - kbest[worse].features.get(name, 0.0) for name in names
    }


def logistic_gradient(kbest: Sequence[Hypothesis], pairs: Sequence[Pair]) -> Vector:
    """Return the negative gradient of sum log(1 + exp(-<w, x>)); scores are <w, h>."""
    total: Vector = {}
    for better, worse in pairs:
        slope = 1 / (1 + math.exp(kbest[better].score - kbest[worse].score))
        for name, value in difference(kbest, better, worse).items():
            total[name] = total.get(name, 0.0) + slope * value
    return total


def mira_step(
    kbest: Sequence[Hypothesis], bleu: Sequence[float], words: float, c: float, hope: str, fear: str
) -> Vector:
    """Return the update for a single constraint."""
    cost, count = [words * (1 - score) for score in bleu], range(len(kbest))
    if hope == "oracle":
        good = max(count, key=lambda i: (-cost[i], kbest[i].score, -i))
    else:
        good = max(count, key=lambda i: (kbest[i].score - cost[i], -i))
    if fear == "prediction":
        bad = max(count, key=lambda i: (kbest[i].score, -i))
    else:
        bad = max(count, key=lambda i: (kbest[i].score + cost[i], -i))
    x = difference(kbest, good, bad)
    length = sum(value * value for value in x.values())
    loss = cost[bad] - cost[good] - (kbest[good].score - kbest[bad].score)
    if loss <= 0 or length == 0:
        return {}
    return {name: min(c, loss / length) * value for name, value in x.items()}


class EagerWeights:
    """Weights that are all regularised and summed after every step."""

    def __init__(self, weights: Vector, names: Sequence[str], learner: Learner) -> None:
        self.weights = {name: weights.get(name, 0.0) for name in names}
        self.learner, self.count = learner, 0
        self.squares = dict.fromkeys(names, 0.0)
        self.paid = dict.fromkeys(names, 0.0)
        self.sum = dict.fromkeys(names, 0.0)

    def step(self, gradient: Vector) -> None:
        self.count += 1
        scale = {"constant": 1.0, "1/t": 1 / self.count, "1/sqrt(t)": 1 / math.sqrt(self.count)}
        rate = self.learner.learning_rate * scale[self.learner.schedule]
        for name, value in gradient.items():
            if value == 0:
                continue
            self.squares[name] += value * value
            if self.learner.adaptive and self.squares[name] == 0:
                continue
            step = value / math.sqrt(self.squares[name]) if self.learner.adaptive else value
            self.weights[name] += rate * step
        for name in self.weights:
            before = self.weights[name]
            self.weights[name] = self.regularized(name, before)
            self.paid[name] += self.weights[name] - before
            self.sum[name] += self.weights[name]

    def regularized(self, name: str, w: float) -> float:
        strength, owed = self.learner.strength, self.learner.strength * self.count
        if self.learner.regularization == "l1":
            return math.copysign(max(0.0, abs(w) - strength), w) if w else 0.0
        if self.learner.regularization == "l1-cumulative":
            if w > 0:
                return max(0.0, w - (owed + self.paid[name]))
            return min(0.0, w + (owed - self.paid[name]))
        return w / (1 + strength) if self.learner.regularization == "l2" else w

    def average(self) -> Vector:
        return {name: total / self.count for name, total in self.sum.items()}
