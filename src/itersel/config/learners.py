"""The online learners by name, and the keys that they share.

A shard learns from its sentences in one epoch with a learner: a dataclass derived from `Online` in a module
of `itersel.learn.learners`. The table below names them; installed packages add others (docs/plugins.md). The
config, its documentation and the settings of the steps follow from them. Batch tuners are in
`itersel.config.tuners`, so that an edit there trains no shard again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from itersel.bleu.names import SENTENCE_BLEUS
from itersel.code.plugins import Extensible
from itersel.config.conditions import TUNE_ON_DEV
from itersel.config.numbered import NONE, REGULARIZATIONS
from itersel.config.plugin_checks import section_of_plugin
from itersel.config.section_checks import check_section
from itersel.keys import key

if TYPE_CHECKING:
    from itersel.learn.learners import OnlineLearner

DEFAULT_LEARNER = "adagrad"


@dataclass(frozen=True)
class Online:
    """The keys shared by all online learners."""

    # Values of keys for runs of `itersel warm-up` that together compile all its kernels.
    warm_up: ClassVar[Sequence[Mapping[str, object]]] = ({},)
    # Whether each weight has its own rate: it is divided by the root of its squared gradients.
    adaptive: ClassVar[bool] = False
    # Whether there is a loss even if all weights are 0, so that its decrease can be followed.
    has_loss_at_zero: ClassVar[bool] = True

    sentence_bleu: str = key(
        "Sentence-level BLEU used to rank the k-best list.",
        "papineni",
        choices=tuple(SENTENCE_BLEUS),
        on={TUNE_ON_DEV: "lin"},
    )
    average: bool = key(
        "Mix the weights averaged over all sentences of the epoch (Collins 2002) instead of the final ones.",
        False,
    )
    regularization: str = key(
        "Applied to all weights after every sentence. l1: `sign(w) max(0, |w|-l)` (Carpenter 2008); "
        "l1-cumulative: Tsuruoka et al. (2009); l2: `w/(1+l)`. l is `strength_per_epoch` divided by the "
        "number of sentences of the shard.",
        "none",
        choices=tuple(REGULARIZATIONS),
    )
    strength_per_epoch: float = key(
        "Strength of regularisation: l1 takes this much from each weight in an epoch, however long "
        "the shard is.",
        0.0,
        minimum=0,
    )
    delay: int = key(
        "Number of sentences decoded with the same weights, in several threads; their updates are "
        "applied in order. The result depends on the delay, never on the number of threads. These "
        "sentences are always in one file.",
        1,
        minimum=1,
        maximum=1000,
    )

    def __post_init__(self) -> None:
        check_section(self)

    # Some learners have these two as keys, which replace the properties. Others, like MIRA, find the size of
    # a step by solving an optimisation problem.
    @property
    def learning_rate(self) -> float:
        """The factor of all steps: 1 for learners without this key."""
        return 1.0

    @property
    def schedule(self) -> str:
        """How the learning rate falls: it does not for learners without this key."""
        return "constant"

    @property
    def forest_key(self) -> str | None:
        """The key by which it also learns from the forest of a sentence; None if it needs only lists."""
        return None

    def thread_count(self, most: int) -> int:
        """Return the number of threads that decode: at most `most`, and no more than `delay` sentences."""
        return min(self.delay, most)

    def make_learner(self) -> OnlineLearner:
        """Return the learner with these settings."""
        raise NotImplementedError

    def conflict(self) -> tuple[str, str] | None:
        """Return a key that conflicts with another, and why; None if there is no conflict."""
        is_regular = REGULARIZATIONS[self.regularization] != NONE
        if is_regular and self.schedule != "constant":
            why = f"must be constant with regularization {self.regularization}"
            return "schedule", f"is {self.schedule}, {why}"
        if is_regular and self.strength_per_epoch == 0:
            return "strength_per_epoch", f"is 0, must be above 0 with regularization {self.regularization}"
        if not is_regular and self.strength_per_epoch != type(self).strength_per_epoch:
            return "strength_per_epoch", "has no effect without regularization; remove it"
        return None


# Built-in ones, in the order of the documentation.
BUILT_IN = {
    "perceptron": "itersel.learn.learners.perceptron:Perceptron",
    "margin-perceptron": "itersel.learn.learners.margin_perceptron:MarginPerceptron",
    "adagrad": "itersel.learn.learners.adagrad:AdaGrad",
    "mira": "itersel.learn.learners.mira:Mira",
}
LEARNERS: Extensible[type[Online]] = Extensible(
    "itersel.learners", BUILT_IN, partial(section_of_plugin, Online, "make_learner")
)


def default_learner() -> Online:
    """Return the default learner of configs, commands and Python."""
    return LEARNERS[DEFAULT_LEARNER]()
