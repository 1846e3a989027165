"""The pairwise perceptron with a margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from itersel.config.conditions import TUNE_ON_DEV
from itersel.config.learners import Online
from itersel.keys import documented, key_of
from itersel.learn.learners.perceptron import Perceptron


@documented
@dataclass(frozen=True)
class MarginPerceptron(Perceptron):
    """Pairwise perceptron with a margin: loss `max(0, 1-<w,x>)`."""

    warm_up: ClassVar[Sequence[Mapping[str, object]]] = ()  # has the kernels of the perceptron
    has_loss_at_zero: ClassVar[bool] = True
    margin: ClassVar[float] = 1.0

    sentence_bleu: str = key_of(Online, "sentence_bleu", default="papineni", on=None)
    learning_rate: float = key_of(Perceptron, "learning_rate", default=0.0001, on={TUNE_ON_DEV: 0.0003})
