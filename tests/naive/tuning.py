"""Batch tuning in plain Python: merged lists, exhaustive line search, MIRA step by step."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from tests.naive.decoder import substitute
from tests.naive.learning import closest, difference, dot

ORDER = 4
Line = tuple[Fraction, Fraction]  # intercept and slope


class Translation(NamedTuple):
    """Clipped matches, number of words, and features by name."""

    matches: tuple[int, ...]
    length: int
    features: dict[str, float]


class Sentence(NamedTuple):
    """Length of each reference, and translations."""

    reference_lengths: tuple[int, ...]
    translations: Sequence[Translation]

    def reference_length(self, one: Translation) -> int:
        return int(closest(one.length, self.reference_lengths))


def reference_length(sentences: Sequence[Sentence], chosen: Sequence[Translation]) -> int:
    """Return the total length of the references closest to the chosen translations."""
    return sum(sentence.reference_length(one) for sentence, one in zip(sentences, chosen, strict=True))


def corpus_bleu(chosen: Sequence[Translation], reference_length: int) -> float:
    """Return BLEU (Papineni et al. 2002), 0 to 1."""
    matches = [sum(one.matches[n] for one in chosen) for n in range(ORDER)]
    ngrams = [sum(max(0, one.length - n) for one in chosen) for n in range(ORDER)]
    if 0 in matches:
        return 0.0
    penalty = 1.0 if ngrams[0] > reference_length else math.exp(1 - reference_length / ngrams[0])
    return penalty * math.prod(m / n for m, n in zip(matches, ngrams, strict=True)) ** (1 / ORDER)


def best(scores: Sequence[float | Fraction]) -> int:
    """Return the index of the highest score, the first if there are several."""
    return max(range(len(scores)), key=lambda i: (scores[i], -i))


def bleu_of_weights(sentences: Sequence[Sentence], weights: dict[str, float]) -> float:
    scores = [[dot(weights, one.features) for one in sentence.translations] for sentence in sentences]
    chosen = [one.translations[best(each)] for one, each in zip(sentences, scores, strict=True)]
    return corpus_bleu(chosen, reference_length(sentences, chosen))


def crossings(lists: Sequence[Sequence[Line]]) -> list[Fraction]:
    """Return the points where any two lines of a list cross, in ascending order."""
    pairs = (pair for lines in lists for pair in itertools.combinations(lines, 2))
    return sorted({(c - a) / (b - d) for (a, b), (c, d) in pairs if b != d})


def points_between(found: Sequence[Fraction]) -> list[Fraction]:
    """Return a point to the left, midpoints, and a point to the right."""
    if not found:
        return [Fraction(0)]
    return [found[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(found)), found[-1] + 1]


def bleu_along_line(
    sentences: Sequence[Sentence], weights: dict[str, float], direction: dict[str, float]
) -> list[tuple[Fraction, float]]:
    """Return BLEU of the weights w + x * d at a point x of each interval between crossings."""
    lists = [
        [(Fraction(dot(weights, one.features)), Fraction(dot(direction, one.features))) for one in each[1]]
        for each in sentences
    ]
    found = []
    for x in points_between(crossings(lists)):
        numbers = [best([a + b * x for a, b in lines]) for lines in lists]
        chosen = [each.translations[i] for each, i in zip(sentences, numbers, strict=True)]
        found.append((x, corpus_bleu(chosen, reference_length(sentences, chosen))))
    return found


class Mira:
    """k-best MIRA (Cherry and Foster 2012, algorithm 1) that stores the weights of every step."""

    def __init__(self, start: dict[str, float], limit: float, decay: float) -> None:
        self.weights, self.limit, self.decay = dict(start), limit, decay
        self.matches, self.ngrams = [4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0]
        self.reference = 4.0
        self.history: list[dict[str, float]] = []

    def bleu(self, one: Translation, sentence: Sentence) -> float:
        matches = [a + b for a, b in zip(self.matches, one.matches, strict=True)]
        ngrams = [a + max(0, one.length - n) for n, a in enumerate(self.ngrams)]
        reference = self.reference + sentence.reference_length(one)
        penalty = min(1.0, math.exp(1 - reference / ngrams[0]))
        words = self.reference + sum(sentence.reference_lengths) / len(sentence.reference_lengths)
        return words * penalty * math.prod(m / n for m, n in zip(matches, ngrams, strict=True)) ** (1 / 4)

    def step(self, sentence: Sentence) -> None:
        scores = [dot(self.weights, one.features) for one in sentence.translations]
        bleu = [self.bleu(one, sentence) for one in sentence.translations]
        hope = best([s + b for s, b in zip(scores, bleu, strict=True)])
        fear = best([s - b for s, b in zip(scores, bleu, strict=True)])
        good = sentence.translations[hope]
        moved = difference(sentence.translations, hope, fear)
        loss = bleu[hope] - bleu[fear] - dot(self.weights, moved)
        norm = sum(value**2 for value in moved.values())
        if loss > 0 and norm > 0:
            for name, value in moved.items():
                self.weights[name] = self.weights.get(name, 0.0) + min(self.limit, loss / norm) * value
        self.matches = [self.decay * a + b for a, b in zip(self.matches, good.matches, strict=True)]
        self.ngrams = [self.decay * a + max(0, good.length - n) for n, a in enumerate(self.ngrams)]
        self.reference = self.decay * self.reference + sentence.reference_length(good)
        self.history.append(dict(self.weights))

    def mean(self) -> dict[str, float]:
        names = {name for weights in self.history for name in weights}
        return {name: sum(one.get(name, 0.0) for one in self.history) / len(self.history) for name in names}


class Edge(NamedTuple):
    """An edge: its line, antecedents (item numbers), and target side (words, or -1 and -2 for these)."""

    line: Line
    antecedents: tuple[int, ...]
    target: tuple[int, ...]


def derivations(forest: Sequence[Sequence[Edge]], item: int) -> list[tuple[Line, tuple[int, ...]]]:
    """Return the line and words of each derivation of an item; a forest is a list of edges per item."""
    found = []
    for edge in forest[item]:
        for parts in itertools.product(*(derivations(forest, one) for one in edge.antecedents)):
            lines = [edge.line, *(line for line, _ in parts)]
            total = (sum((a for a, _ in lines), Fraction(0)), sum((b for _, b in lines), Fraction(0)))
            found.append((total, substitute(edge.target, [words for _, words in parts])))
    return found
