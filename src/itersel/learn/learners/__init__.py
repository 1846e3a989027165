"""The online learners: from one k-best list, a learner decides how the weights should move.

Each has a module, which `itersel.config.learners` names: its keys, and the `OnlineLearner` that they make.
Reading a config imports the modules, so they import numpy and kernels, which takes longer than all the rest,
only in the methods that use them.

The step along the sum of coefficient * features, the learning rate, regularisation and averaging are the same
for all learners: see `itersel.learn.weight_table`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from itersel.code.plugins import refuse_old_names

if TYPE_CHECKING:
    from itersel.bleu.sentence import ReferenceBleu
    from itersel.decode.translations import DerivationFinder
    from itersel.learn.example import Example
    from itersel.storage.arrays import Float64s


class Move(NamedTuple):
    """A learner's update for a k-best list."""

    coefficient: Float64s | None  # float64 (k): sums to 0; None if there is no update
    pairs: int  # number of pairs (or constraints) considered
    updates: int  # of those with a loss


class OnlineLearner(Protocol):
    """Learns from one sentence after another.

    `rate_name` is the setting that makes steps larger or smaller, as error messages name it.
    """

    rate_name: ClassVar[str] = "learning rate"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        refuse_old_names(cls, step_setting="rate_name")

    def finder(self, bleu: ReferenceBleu) -> DerivationFinder | None:
        """Return the search for translations to learn from besides the k best; None if there is none."""
        return None

    @abstractmethod
    def learn(self, example: Example) -> Move:
        """Return how the weights should move."""

    @abstractmethod
    def loss(self, example: Example) -> float:
        """Return the loss of the weights that the list was decoded with, without learning."""
