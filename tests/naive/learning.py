"""Learning in plain Python: sentence BLEU, pairs, learners, and weights that are always up to date."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from itersel.config.learners import Online

ORDER = 4
Vector = dict[str, float]
Pair = tuple[int, int]


class Hypothesis(NamedTuple):
    """A translation, with its features by name and its model score."""

    words: tuple[int, ...]
    features: Vector
    score: float


def ngrams(words: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def counts(hypothesis: Sequence[int], *references: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return clipped matches and n-grams of the hypothesis for n = 1 to N."""
    matches, totals = [], []
    for n in range(1, ORDER + 1):
        ours, theirs = ngrams(hypothesis, n), [ngrams(reference, n) for reference in references]
        matches.append(sum(min(count, max(one[gram] for one in theirs)) for gram, count in ours.items()))
        totals.append(sum(ours.values()))
    return matches, totals


def closest(length: float, lengths: Sequence[float]) -> float:
    """Return the length of the closest reference; ties go to the shorter."""
    return min(lengths, key=lambda one: (abs(length - one), one))


def mean_length(references: Sequence[Sequence[int]]) -> float:
    return sum(map(len, references)) / len(references)


class Bleu:
    """Sentence BLEU; one object for the sentences of an epoch of a shard."""

    def __init__(self, variant: str) -> None:
        self.variant = variant
        self.context: list[float] = [0.0] * (2 * ORDER + 2)

    def of(self, hypothesis: Sequence[int], *references: Sequence[int], share: float = 1.0) -> float:
        """Return BLEU; for a partial translation, with a share of the references' lengths."""
        matches, totals = counts(hypothesis, *references)
        h = float(len(hypothesis))
        r = closest(h, [share * len(one) for one in references])
        order = min(ORDER, max(map(len, references)))
        if self.variant == "chiang":
            matches = [a + b for a, b in zip(matches, self.context[:ORDER], strict=True)]
            totals = [a + b for a, b in zip(totals, self.context[ORDER : 2 * ORDER], strict=True)]
            h, r = h + self.context[-2], r + self.context[-1]
        if h == 0 or order == 0:
            return 0.0
        penalty = 1.0 if h > r else math.exp(1 - r / h)
        if self.variant == "liang":
            return penalty * sum(
                product_mean(matches[:n], totals[:n]) / 2 ** (ORDER - n + 1) for n in range(1, order + 1)
            )
        if self.variant in ("lin", "nakov"):
            if self.variant == "nakov":
                penalty = 1.0 if h > r + 1 else math.exp(1 - (r + 1) / h)
            matches = matches[:1] + [c + 1 for c in matches[1:]]
            totals = totals[:1] + [s + 1 for s in totals[1:]]
        return penalty * product_mean(matches[:order], totals[:order])

    def words(self, *references: Sequence[int]) -> float:
        """Return the factor of BLEU in the cost."""
        return self.context[-1] + mean_length(references) if self.variant == "chiang" else 1.0

    def of_all(self, hypotheses: Sequence[Sequence[int]], *references: Sequence[int]) -> list[float]:
        """Return BLEU of a k-best list, then add its first translation to the decaying context."""
        bleu = [self.of(words, *references) for words in hypotheses]
        matches, totals = counts(hypotheses[0], *references)
        length = len(hypotheses[0])
        now = [*matches, *totals, length, closest(length, list(map(len, references)))]
        self.context = [0.9 * (a + b) for a, b in zip(self.context, now, strict=True)]
        return bleu


def product_mean(matches: Sequence[float], totals: Sequence[float]) -> float:
    """Return the geometric mean of matches / totals, using logarithms for the same ties as in the kernel."""
    if 0 in matches:
        return 0.0
    return math.exp(sum(math.log(c / s) for c, s in zip(matches, totals, strict=True)) / len(matches))


def ranking(bleu: Sequence[float]) -> list[int]:
    return sorted(range(len(bleu)), key=lambda i: (-bleu[i], i))


def multipartite_pairs(bleu: Sequence[float]) -> list[Pair]:
    order = ranking(bleu)
    tenth = max(1, math.floor(len(bleu) / 10 + 0.5))
    high, middle, low = order[:tenth], order[tenth : len(bleu) - tenth], order[len(bleu) - tenth :]
    if len(bleu) == 1:
        return []
    pairs = [(a, b) for a in high for b in middle + low] + [(a, b) for a in middle for b in low]
    return [(a, b) for a, b in pairs if bleu[a] > bleu[b]]


def all_pairs(bleu: Sequence[float]) -> list[Pair]:
    order = ranking(bleu)
    return [(a, b) for i, a in enumerate(order) for b in order[i + 1 :] if bleu[a] > bleu[b]]


def pro_pairs(bleu: Sequence[float], raw: Sequence[int], max_quality_difference: float = 1.0) -> list[Pair]:
    """Return the pairs that 10,000 raw draws of 64 bits select (Hopkins & May 2011, figure 4)."""
    drawn = [(word >> 32) * len(bleu) >> 32 for word in raw]
    pairs = [(a, b) if bleu[a] > bleu[b] else (b, a) for a, b in zip(drawn[::2], drawn[1::2], strict=True)]
    far = [(a, b) for a, b in pairs if 0.05 <= bleu[a] - bleu[b] <= max_quality_difference]
    return sorted(far, key=lambda pair: bleu[pair[1]] - bleu[pair[0]])[:50]


PAIRS = {"multipartite": multipartite_pairs, "all": all_pairs}


def dot(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def update_pairs(
    weights: Vector, kbest: Sequence[Hypothesis], pairs: Sequence[Pair], loss: str, update: str, rate: float
) -> tuple[Vector, int]:
    """Update by each pair; returns the new weights and the number of updates."""
    weights, updates = dict(weights), 0
    for better, worse in pairs:
        if update == "sentence":
            margin = kbest[better].score - kbest[worse].score
        else:
            margin = dot(weights, kbest[better].features) - dot(weights, kbest[worse].features)
        if margin <= 0 if loss == "perceptron" else margin < 1:
            updates += 1
            for sign, hypothesis in ((1, kbest[better]), (-1, kbest[worse])):
                for name, value in hypothesis.features.items():
                    weights[name] = weights.get(name, 0.0) + sign * rate * value
    return weights, updates


def difference(kbest: Sequence[Hypothesis], better: int, worse: int) -> Vector:
    ours, theirs = kbest[better].features, kbest[worse].features
    return {name: ours.get(name, 0.0) - theirs.get(name, 0.0) for name in ours.keys() | theirs.keys()}


def logistic_gradient(kbest: Sequence[Hypothesis], pairs: Sequence[Pair]) -> Vector:
    """Return the negative gradient of sum log(1 + exp(-<w, x>)); scores are <w, h>."""
    total: Vector = {}
    for better, worse in pairs:
        slope = 1 / (1 + math.exp(kbest[better].score - kbest[worse].score))
        for name, value in difference(kbest, better, worse).items():
            total[name] = total.get(name, 0.0) + slope * value
    return total


def mira_update(
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


class Naive(NamedTuple):
    """The formulas of a learner: functions of its settings, a k-best list, BLEU, and the factor of BLEU."""

    direction: Callable[[Any, Sequence[Hypothesis], Sequence[float], float], Vector]
    loss: Callable[[Any, Sequence[Hypothesis], Sequence[float], float], float]
    # keys with which one step changes the translations that are best after it
    large_steps: Mapping[str, object] = MappingProxyType({"learning_rate": 0.1})


def pair_leads(learner: Any, kbest: Sequence[Hypothesis], bleu: Sequence[float]) -> list[float]:
    return [kbest[better].score - kbest[worse].score for better, worse in PAIRS[learner.pairs](bleu)]


def perceptron(name: str, margin: float) -> Naive:
    def direction(learner, kbest, bleu, words):
        return update_pairs({}, kbest, PAIRS[learner.pairs](bleu), name, "sentence", 1.0)[0]

    def loss(learner, kbest, bleu, words):
        return sum(max(0.0, margin - lead) for lead in pair_leads(learner, kbest, bleu))

    return Naive(direction, loss)


def logistic_loss(learner, kbest, bleu, words) -> float:
    return sum(math.log1p(math.exp(-lead)) for lead in pair_leads(learner, kbest, bleu))


def mira_loss(learner, kbest, bleu, words) -> float:
    score, cost = [one.score for one in kbest], [words * (1 - value) for value in bleu]
    hope = max(range(len(kbest)), key=lambda i: (score[i] - cost[i], -i))
    return max(0.0, *(cost[i] - cost[hope] - (score[hope] - score[i]) for i in range(len(kbest))), 0.0)


NAIVE = {
    "perceptron": perceptron("perceptron", 0.0),
    "margin-perceptron": perceptron("margin-perceptron", 1.0),
    "adagrad": Naive(
        lambda learner, kbest, bleu, words: logistic_gradient(kbest, PAIRS[learner.pairs](bleu)),
        logistic_loss,
    ),
    "mira": Naive(
        lambda learner, kbest, bleu, words: mira_update(
            kbest, bleu, words, learner.c, learner.hope, learner.fear
        ),
        mira_loss,
        large_steps={"c": 1.0},
    ),
}


def formulas_of(name: str) -> Naive:
    if name not in NAIVE:
        raise LookupError(f"add the formulas of learner '{name}' to NAIVE in tests/naive/learning.py")
    return NAIVE[name]


class EagerWeights:
    """Weights that are all regularised and summed after every step of an epoch with `steps` steps."""

    def __init__(self, weights: Vector, names: Sequence[str], learner: Online, steps: int) -> None:
        self.weights = {name: weights.get(name, 0.0) for name in names}
        self.learner, self.count = learner, 0
        self.strength = learner.strength_per_epoch / steps
        self.squares = dict.fromkeys(names, 0.0)
        self.paid = dict.fromkeys(names, 0.0)
        self.sum = dict.fromkeys(names, 0.0)

    def step(self, gradient: Vector) -> None:
        self.count += 1
        factor = {"constant": 1.0, "1/t": 1 / self.count, "1/sqrt(t)": 1 / math.sqrt(self.count)}
        rate = self.learner.learning_rate * factor[self.learner.schedule]
        for name, value in gradient.items():
            self.squares[name] += value * value
            if not self.learner.adaptive:
                self.weights[name] += rate * value
            elif self.squares[name]:
                self.weights[name] += rate * (value / math.sqrt(self.squares[name]))
        for name in self.weights:
            before = self.weights[name]
            self.weights[name] = self.regularized(name, before)
            self.paid[name] += self.weights[name] - before
            self.sum[name] += self.weights[name]

    def regularized(self, name: str, w: float) -> float:
        strength, owed = self.strength, self.strength * self.count
        if self.learner.regularization == "l1":
            return math.copysign(max(0.0, abs(w) - strength), w) if w else 0.0
        if self.learner.regularization == "l1-cumulative":
            if w > 0:
                return max(0.0, w - (owed + self.paid[name]))
            return min(0.0, w + (owed - self.paid[name]))
        return w / (1 + strength) if self.learner.regularization == "l2" else w

    def average(self) -> Vector:
        return {name: total / self.count for name, total in self.sum.items()}


def last_trained(scores: Sequence[float], patience: int) -> int | None:
    """Return the epoch after which training stops; None if it does not."""
    best, since = float("-inf"), 0
    for epoch, score in enumerate(scores, 1):
        best, since = (score, 0) if score > best else (best, since + 1)
        if since == patience:
            return epoch
    return None
