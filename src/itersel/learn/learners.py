"""The online learners: from one k-best list, a learner decides how the weights should move.

The step along the sum of coefficient * features, the learning rate, regularisation and averaging are the same
for all learners: see `itersel.learn.state`. Hope and fear may come from the forest of a sentence, by a search
augmented with BLEU (`find_augmented`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from itersel.arrays import Float64s, Int64s
from itersel.bleu.kernels import ORDER, REFERENCE, ngram_matches
from itersel.bleu.sentence import Target
from itersel.config.learners import AdaGrad, MarginPerceptron, Mira, Online, Perceptron
from itersel.decode.decoder import DerivationFinder, KBest, SentenceForest
from itersel.decode.hypothesis_kernels import Kept, best_through_edges, keep_edges
from itersel.decode.kbest_kernels import Best, Trees, unfold
from itersel.learn.augmented_kernels import (
    Objective,
    ReferenceNgrams,
    Task,
    index_references,
    make_partials,
    search_augmented,
)
from itersel.learn.learner_kernels import (
    Columns,
    gram_matrix,
    logistic_coefficients,
    shift_columns,
    solve_constraints,
    violated_pairs,
)
from itersel.learn.pairs import make_pairs
from itersel.storage.strings import sum_rows, take_rows

# Number of partial translations kept per item; docs/learning.md has the measurements.
BEAM = 2
# Larger forests are pruned to this many edges, those with the best derivations through them (more if there
# are ties). This takes about 100 MB; a sentence of 50 words has about this many edges.
MOST_EDGES = 100_000
# Allows for model scores that were summed in different orders.
ROUNDING = 1e-9


class Direction(NamedTuple):
    """The objective share * model score + gain * words * BLEU; words is 1 except with ``chiang``."""

    share: int  # 1, or 0 if the model score only breaks ties between equally good translations
    gain: int  # 1 to look for good translations, -1 for bad ones


HOPE, ORACLE, FEAR = Direction(1, 1), Direction(0, 1), Direction(1, -1)


def find_augmented(directions: Sequence[Direction], target: Target, forest: SentenceForest) -> list[Best]:
    """Find the derivation with the best objective in each direction (Chiang, Marton & Resnik 2008).

    Returns at most one for each; see `augmented_kernels`. The references have at least one word.
    """
    found = forest.found
    ngrams = index_references(target.references, forest.table.model_word.shape[0])
    bleu = target.score(forest.best.word, forest.best.word_offset)
    through = best_through_edges(found)
    floor = least_score(through, MOST_EDGES)
    results = []
    for direction in directions:
        objective = Objective(
            float(direction.share),
            direction.gain * target.words,
            target.variant,
            target.context,
            target.order,
            target.references.lengths,
            target.references.mean_length,
            forest.model_weight,
        )
        kept = keep_edges(found, through, max(floor, _threshold(direction, target, forest.best, bleu)))
        results.append(_search(forest, kept, ngrams, objective))
    return results


def _threshold(direction: Direction, target: Target, best: Best, bleu: Float64s) -> float:
    """Return the minimum model score with which a derivation can beat the k best."""
    if not direction.share:
        return -math.inf
    gain = direction.gain * target.words
    most = gain * largest_bleu(target) if gain > 0 else 0.0
    return float(np.max(best.score + gain * bleu)) - most - ROUNDING


def least_score(through: Float64s, edges: int) -> float:
    """Return the score that the best derivations through this number of edges reach."""
    return float(np.partition(through, -edges)[-edges]) if edges < through.shape[0] else -math.inf


def largest_bleu(target: Target) -> float:
    """Return an upper bound on BLEU: the score of a translation with the most possible matching n-grams.

    Translations longer than those tried have no larger brevity penalty and no more matches.
    """
    texts, length = target.references, target.references.longest
    # those of all references in a row are the most that there can be
    available = ngram_matches(texts.word, np.array([0, texts.word.shape[0]]), texts)
    hypotheses, references = target.context[[ORDER, REFERENCE]]
    enough = int((available + np.arange(ORDER)).max())
    longest = max(enough, length, math.ceil(references + length - hypotheses)) + 1
    lengths = np.arange(longest + 1)
    matches = np.minimum(np.maximum(0, lengths[:, None] - np.arange(ORDER)), available)
    return float(target.score_matches(matches, lengths).max())


def _search(forest: SentenceForest, kept: Kept, ngrams: ReferenceNgrams, objective: Objective) -> Best:
    """Return the derivation with the best objective; none if no objective is finite."""
    found, rules, table = forest.found, forest.rules, forest.table
    task = Task(
        found.edge_rule,
        found.edge_first,
        found.edge_second,
        found.edge_model,
        kept,
        rules.rule,
        rules.score,
        table.source,
        table.source_offset,
        table.target,
        table.target_offset,
        ngrams,
        objective,
        BEAM,
    )
    items = kept.edge_offset.shape[0] - 1
    partials = make_partials(items, BEAM, ngrams.available.shape[0])
    search_augmented(task, partials)
    best = partials.rank[(items - 1) * BEAM :][: min(1, partials.size[-1])]
    trees = Trees(partials.model, partials.edge, partials.first, partials.second)
    return unfold(found, rules, table, trees, best)


@dataclass
class Example:
    """A training example: a k-best list, and the derivations that the learner's finder has added."""

    kbest: KBest  # the translations, best first
    bleu: Float64s  # (k): sentence BLEU of each
    words: float  # factor of BLEU as a cost; see `itersel.bleu.sentence.Target`
    rate: float  # learning rate of the step
    seed: tuple[int, ...]  # seed, epoch, shard, sentence

    @cached_property
    def columns(self) -> Columns:
        """The features of the translations, computed on first use."""
        kbest = self.kbest
        count = kbest.score.shape[0]
        # by feature, then by translation; no two keys are equal, so the faster unstable sort will do
        key = kbest.feature.astype(np.int64) << 32 | np.arange(kbest.feature.shape[0])
        key.sort()
        begin = np.flatnonzero(np.diff(key >> 32, prepend=-1))
        entry = key & 0xFFFFFFFF
        # columns are in order of first occurrence
        order = np.argsort(entry[begin])
        entry, offset = take_rows(entry, np.append(begin, entry.shape[0]), order)
        row = np.repeat(np.arange(count, dtype=np.int32), np.diff(kbest.feature_offset))
        shifted = shift_columns(count, offset, row[entry], kbest.feature_value[entry])
        return Columns(kbest.dense - kbest.dense[0], kbest.feature[entry[offset[:-1]]], *shifted)

    def combine(self, coefficient: Float64s) -> tuple[Float64s, Float64s]:
        """Return the sum over translations of coefficient * features, float64 (C) and (L).

        The coefficients (k) must sum to 0 because the features are shifted.
        """
        columns = self.columns
        # unlike other sums of numpy, cumsum adds in the same order on all processors
        dense = np.cumsum(coefficient[:, None] * columns.dense, axis=0)[-1]
        return dense, sum_rows(coefficient[columns.row] * columns.value, columns.offset)

    @property
    def cost(self) -> Float64s:
        """The cost of each translation, words * (1 - BLEU), float64 (k)."""
        cost: Float64s = self.words * (1.0 - self.bleu)
        return cost

    def pairs(self, strategy: str) -> Int64s:
        """Return pairs of a better and a worse translation; see `itersel.learn.pairs.make_pairs`."""
        return make_pairs(strategy, self.bleu, self.seed)

    def leads(self, strategy: str) -> Float64s:
        """Return, for each pair, the model score of the better translation minus that of the worse one."""
        pairs, score = self.pairs(strategy), self.kbest.score
        return score[pairs[:, 0]] - score[pairs[:, 1]]


class Move(NamedTuple):
    """A learner's update for a k-best list."""

    coefficient: Float64s | None  # float64 (k): sums to 0; None if there is no update
    pairs: int  # number of pairs (or constraints) considered
    updates: int  # of those with a loss


class OnlineLearner(Protocol):
    """Learns from one sentence after another.

    `step_setting` is the setting that makes steps larger or smaller, as error messages name it.
    """

    step_setting: ClassVar[str] = "learning rate"

    def finder(self, target: Target) -> DerivationFinder | None:
        """Return the search for translations to learn from besides the k best; None if there is none."""
        return None

    @abstractmethod
    def learn(self, example: Example) -> Move:
        """Return how the weights should move."""

    @abstractmethod
    def loss(self, example: Example) -> float:
        """Return the loss of the weights that the list was decoded with, without learning."""


class PairLearner(OnlineLearner):
    """The pairwise perceptron, with and without a margin (Simianer, Riezler & Dyer 2012, algorithm 1).

    Moves the weights towards the better translation of every pair that has a loss. With ``update:
    sequential``, each pair is scored with the weights after the previous pair's update; with ``sentence``,
    all pairs of a sentence use the decoder's scores (as in dtrain).
    """

    def __init__(self, settings: Perceptron) -> None:
        self._pairs, self._sequential = settings.pairs, settings.update == "sequential"
        # A pair has a loss if its better translation leads by less than this. (The perceptron loss has no
        # gradient where the lead is 0. A lead of 0 counts as a mistake, as in dtrain, because otherwise
        # learning would never start: with all weights zero, all leads are 0.)
        self._margin = 1.0 if isinstance(settings, MarginPerceptron) else 0.0

    def learn(self, example: Example) -> Move:
        """Return how often each translation was the better one in an update minus how often the worse."""
        pairs = example.pairs(self._pairs)
        gram = gram_matrix(example.columns) if self._sequential else np.zeros((0, 0))
        coefficient, updates = violated_pairs(example.kbest.score, pairs, gram, example.rate, self._margin)
        return Move(coefficient if updates else None, pairs.shape[0], updates)

    def loss(self, example: Example) -> float:
        """Return the sum over pairs of how much the better translation's lead falls short of the margin."""
        return float(np.maximum(self._margin - example.leads(self._pairs), 0.0).sum())


class LogisticLearner(OnlineLearner):
    """AdaGrad with FOBOS on the logistic loss of pairs (Green, Wang, Cer & Manning 2013).

    Minimises the sum of log(1 + exp(-<w, x>)) over the feature differences x of pairs. The step of a weight
    is divided by the root of the sum of its squared gradients (Duchi et al. 2011); then the regulariser is
    applied, lazily for weights without a gradient: when they are next needed.
    """

    def __init__(self, settings: AdaGrad) -> None:
        self._pairs = settings.pairs

    def learn(self, example: Example) -> Move:
        """Return the negative gradient. All pairs have a loss; only wrongly ranked ones count as updates."""
        pairs = example.pairs(self._pairs)
        coefficient, wrong = logistic_coefficients(example.kbest.score, pairs)
        return Move(coefficient if pairs.shape[0] else None, pairs.shape[0], wrong)

    def loss(self, example: Example) -> float:
        """Return the sum of the pairs' logistic losses."""
        return float(np.logaddexp(0.0, -example.leads(self._pairs)).sum())


class MiraLearner(OnlineLearner):
    """The margin-infused relaxed algorithm (Chiang et al. 2008, 2009; Cherry & Foster 2012).

    Moves the weights from the fear to the hope, just far enough to make up for the difference in cost. The
    cost of a translation is 1 - BLEU, with ``chiang`` times the reference words (`Target.words`). The step
    size in the update w += a (h(hope) - h(fear)) is a = min(C, (cost(fear) - cost(hope) -
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
        return partial(find_augmented, self._directions, target)

    def learn(self, example: Example) -> Move:
        """Return the update for the sentence."""
        hope, fear, loss = self._compare(example)
        score = example.kbest.score
        if self._all:
            coefficient, active = solve_constraints(
                gram_matrix(example.columns), score, example.cost, hope, self._c
            )
            return Move(coefficient if active else None, score.shape[0] - 1, active)
        if hope == fear or loss <= 0:
            return Move(None, 1, 0)
        direction = np.zeros(score.shape[0])
        direction[hope], direction[fear] = 1.0, -1.0
        difference = np.concatenate(([0.0], *example.combine(direction)))
        distance = np.cumsum(difference**2)[-1]
        if distance == 0.0:
            return Move(None, 1, 1)
        return Move(min(self._c, loss / distance) * direction, 1, 1)

    def loss(self, example: Example) -> float:
        """Return by how much the fear violates the margin to the hope."""
        return float(max(0.0, self._compare(example)[2]))

    def _compare(self, example: Example) -> tuple[int, int, float]:
        """Return hope, fear, and their loss, which may be negative."""
        score, cost = example.kbest.score, example.cost
        # ties go to the first; of oracles with the same cost, to the one with the largest score
        hope = int(np.lexsort((-score, cost))[0] if self._is_oracle else np.argmax(score - cost))
        fear = int(np.argmax(score if self._is_prediction else score + cost))
        return hope, fear, cost[fear] - cost[hope] - (score[hope] - score[fear])


def make_learner(settings: Online) -> OnlineLearner:
    """Return the learner for the settings."""
    makers: dict[type[Online], Callable[[Any], OnlineLearner]] = {
        Perceptron: PairLearner,
        MarginPerceptron: PairLearner,
        AdaGrad: LogisticLearner,
        Mira: MiraLearner,
    }
    make = makers.get(type(settings))
    learner: OnlineLearner = settings.make_learner() if make is None else make(settings)
    return learner
