"""The margin-infused relaxed algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from itersel.config.conditions import TUNE_ON_DEV
from itersel.config.learners import Online
from itersel.keys import documented, key, key_of
from itersel.learn.learners import Move, OnlineLearner

if TYPE_CHECKING:
    from itersel.bleu.sentence import ReferenceBleu
    from itersel.decode.translations import DerivationFinder
    from itersel.learn.example import Example


@documented
@dataclass(frozen=True)
class Mira(Online):
    """Margin-infused relaxed algorithm (Chiang et al. 2008; Cherry & Foster 2012)."""

    warm_up: ClassVar[Sequence[Mapping[str, object]]] = (
        {"constraints": "hope-fear", "candidates": "forest"},
        {"constraints": "all"},
    )

    sentence_bleu: str = key_of(
        Online,
        "sentence_bleu",
        default="chiang",
        on=None,
        explanation="Sentence-level BLEU that defines the cost; chiang: BLEU of a pseudo-corpus.",
    )
    c: float = key("Maximum step size C.", 1.0, above=0, on={TUNE_ON_DEV: 0.1})
    hope: str = key(
        "cost-diminished: the translation with the largest score minus cost; oracle: the one with the least "
        "cost.",
        "cost-diminished",
        choices=("cost-diminished", "oracle"),
    )
    fear: str = key(
        "cost-augmented: the translation with the largest score plus cost; prediction: the one with the "
        "largest score.",
        "cost-augmented",
        choices=("cost-augmented", "prediction"),
    )
    candidates: str = key(
        "Candidates for hope and fear: the k-best list, or the k-best list and the translations found by "
        "cost-augmented decoding of the forest.",
        "k-best",
        choices=("k-best", "forest"),
    )
    constraints: str = key(
        "hope-fear: one constraint per sentence; all: the hope against every candidate.",
        "hope-fear",
        choices=("hope-fear", "all"),
    )

    @property
    def forest_key(self) -> str | None:
        """The key by which it learns from forests."""
        return "candidates" if self.candidates == "forest" else None

    def conflict(self) -> tuple[str, str] | None:
        """Return a key that conflicts with another, and why."""
        conflict = super().conflict()
        if conflict is None and self.constraints == "all" and self.fear != type(self).fear:
            why = "has no effect with constraints: all, where every translation is feared; remove it"
            conflict = "fear", why
        return conflict

    def make_learner(self) -> OnlineLearner:
        """Return the learner."""
        return MiraLearner(self)


class MiraLearner(OnlineLearner):
    """The margin-infused relaxed algorithm (Chiang et al. 2008, 2009; Cherry & Foster 2012).

    Moves the weights from the fear to the hope, just far enough to make up for the difference in cost. The
    cost of a translation is 1 - BLEU, with ``chiang`` times the reference words
    (`ReferenceBleu.length_factor`). The step size in the update w += a (h(hope) - h(fear)) is a = min(C,
    (cost(fear) - cost(hope) - w (h(hope) - h(fear))) / |h(hope) - h(fear)|^2).
    """

    rate_name = "C"

    def __init__(self, settings: Mira) -> None:
        self._c = settings.c
        self._is_oracle = settings.hope == "oracle"
        self._is_prediction = settings.fear == "prediction"
        self._has_all_constraints = settings.constraints == "all"
        self._searches_forest = settings.candidates == "forest"

    def finder(self, bleu: ReferenceBleu) -> DerivationFinder | None:
        """Return the search for hope and fear in the forest; None if it is not used or BLEU is always 0."""
        if not self._searches_forest or bleu.lengths.longest == 0:
            return None

        from itersel.learn.augmented import FEAR, HOPE, ORACLE, find_augmented

        objectives = [ORACLE if self._is_oracle else HOPE]
        if not self._is_prediction:
            objectives.append(FEAR)
        return partial(find_augmented, objectives, bleu)

    def learn(self, example: Example) -> Move:
        """Return the update for the sentence."""
        import numpy as np

        from itersel.learn.learner_kernels import gram_matrix, solve_constraints

        hope, fear, loss = self._compare(example)
        score = example.kbest.score
        if self._has_all_constraints:
            coefficient, active = solve_constraints(
                gram_matrix(example.columns), score, example.cost, hope, self._c
            )
            return Move(coefficient if active else None, score.shape[0] - 1, active)

        if hope == fear or loss <= 0:
            return Move(None, 1, 0)

        direction = np.zeros(score.shape[0])
        direction[hope] = 1.0
        direction[fear] = -1.0
        difference = np.concatenate(([0.0], *example.combine(direction)))
        distance = np.cumsum(difference**2)[-1]
        if distance == 0.0:
            return Move(None, 1, 1)
        return Move(min(self._c, loss / distance) * direction, 1, 1)

    def loss(self, example: Example) -> float:
        """Return by how much the margin between hope and fear is too small."""
        return float(max(0.0, self._compare(example)[2]))

    def _compare(self, example: Example) -> tuple[int, int, float]:
        """Return hope, fear, and their loss, which may be negative."""
        import numpy as np

        score = example.kbest.score
        cost = example.cost

        # ties go to the first; of oracles with the same cost, to the one with the largest score
        hope = int(np.argmax(score - cost))
        if self._is_oracle:
            hope = int(np.lexsort((-score, cost))[0])

        feared = score if self._is_prediction else score + cost
        fear = int(np.argmax(feared))

        difference = cost[fear] - cost[hope]
        lead = score[hope] - score[fear]
        return hope, fear, difference - lead
