"""The pairwise perceptron."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from itersel.config.learners import Online
from itersel.keys import documented, key
from itersel.learn.learners import Move, OnlineLearner
from itersel.learn.schedules import SCHEDULES

if TYPE_CHECKING:
    from itersel.learn.example import Example

PAIRS = ("multipartite", "all", "pro")
UPDATES = ("sequential", "sentence")


@documented
@dataclass(frozen=True)
class Perceptron(Online):
    """Pairwise perceptron with loss `max(0, -<w,x>)` for difference vectors x (Simianer et al. 2012)."""

    warm_up: ClassVar[Sequence[Mapping[str, object]]] = (
        {"update": "sentence"},
        {"update": "sequential", "regularization": "l1", "strength_per_epoch": 0.1},
    )
    has_loss_at_zero: ClassVar[bool] = False
    # A pair has a loss if its better translation leads by less than this. (The perceptron loss has no
    # gradient where the lead is 0. A lead of 0 counts as a mistake, as in dtrain, because otherwise
    # learning would never start: with all weights zero, all leads are 0.)
    margin: ClassVar[float] = 0.0

    learning_rate: float = key("Learning rate.", 0.0001, above=0)
    schedule: str = key(
        "constant: a fixed learning rate; 1/t, 1/sqrt(t): divided by t or sqrt(t), where t is the number of "
        "sentences so far. Regularisation requires a constant rate.",
        "constant",
        choices=tuple(SCHEDULES),
    )
    pairs: str = key("Which translations of the k-best list are compared.", "multipartite", choices=PAIRS)
    update: str = key(
        "sequential: each pair sees the weights after the update of the previous pair; sentence: the "
        "decoder's scores decide for all pairs of a sentence.",
        "sentence",
        choices=UPDATES,
    )

    def make_learner(self) -> OnlineLearner:
        """Return the learner."""
        return PairLearner(self)


class PairLearner(OnlineLearner):
    """The pairwise perceptron, with and without a margin (Simianer, Riezler & Dyer 2012, algorithm 1).

    Moves the weights towards the better translation of every pair that has a loss. With ``update:
    sequential``, each pair is scored with the weights after the previous pair's update; with ``sentence``,
    all pairs of a sentence use the decoder's scores (as in dtrain).
    """

    def __init__(self, settings: Perceptron) -> None:
        self._strategy = settings.pairs
        self._sequential = settings.update == "sequential"
        self._margin = settings.margin

    def learn(self, example: Example) -> Move:
        """Return how often each translation was the better one in an update minus how often the worse."""
        import numpy as np

        from itersel.learn.learner_kernels import gram_matrix, violated_pairs

        pairs = example.pairs(self._strategy)
        gram = gram_matrix(example.columns) if self._sequential else np.zeros((0, 0))
        coefficient, updates = violated_pairs(example.kbest.score, pairs, gram, example.rate, self._margin)
        return Move(coefficient if updates else None, pairs.shape[0], updates)

    def loss(self, example: Example) -> float:
        """Return the sum over pairs of how much the better translation's lead falls short of the margin."""
        import numpy as np

        return float(np.maximum(self._margin - example.leads(self._strategy), 0.0).sum())
