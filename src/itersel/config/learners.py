"""The learners and the batch tuners by name, and the keys that they share.

A shard learns from its sentences in one epoch with a learner: a dataclass derived from `Online` in a module
of `itersel.learn.learners`. A batch tuner tunes on the lists of all shards and iterations: a dataclass
derived from `Batch` in a module of `itersel.tune.tuners`. The tables below name them; installed packages add
others (docs/plugins.md).

The config, its documentation, the settings of the steps and the options of ``itersel tune`` follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

from itersel.code.plugins import Extensible, Joined, Plugin
from itersel.config.options import check_section, option, section

if TYPE_CHECKING:
    from itersel.learn.learners import OnlineLearner
    from itersel.tune.problem import Tuned, TuningProblem

PAIRS = ("multipartite", "all", "pro")
# `chiang` depends on the preceding translations; lists of several iterations have no such order.
LIST_BLEUS = ("liang", "lin", "nakov", "papineni")
SENTENCE_BLEUS = (*LIST_BLEUS, "chiang")
SCHEDULES = ("constant", "1/t", "1/sqrt(t)")
REGULARIZATIONS = ("none", "l1", "l1-cumulative", "l2")
# Directions of a line search that are not features: each dense feature, and the step from the last weights.
ALL_DENSE, STEP = "dense", "step"


@dataclass(frozen=True)
class Batch:
    """The keys shared by all batch tuners."""

    # The keys with which a warm-up runs it, so that all its kernels are compiled.
    warm_up: ClassVar[Sequence[Mapping[str, object]]] = ({},)
    # Whether it reads forests instead of k-best lists.
    reads_forests: ClassVar[bool] = False
    # Whether it searches along every feature for the highest BLEU, and so cannot tune single sparse features.
    searches: ClassVar[bool] = False
    # Whether it is only for mixed weights on held-out text.
    is_held_out_only: ClassVar[bool] = False
    # A tuner of all dense weights needs to see the translations of its own weights, too, or it goes too far.
    held_out_iterations: ClassVar[int] = 6

    def __post_init__(self) -> None:
        check_section(self)

    @property
    def named_directions(self) -> tuple[str, ...] | None:
        """The directions of its search, if the key `directions` names them."""
        return None

    @property
    def searches_step(self) -> bool:
        """Whether it searches along the step from the weights of the epoch before."""
        return STEP in (self.named_directions or ())

    def tune(self, problem: TuningProblem) -> Tuned:
        """Tune weights."""
        raise NotImplementedError


@dataclass(frozen=True)
class NoTuner:
    """No tuning on dev."""


@dataclass(frozen=True)
class Online:
    """The keys shared by all online learners."""

    # The keys with which a warm-up runs it, so that all its kernels are compiled.
    warm_up: ClassVar[Sequence[Mapping[str, object]]] = ({},)
    reads_forests: ClassVar[bool] = False
    # Whether each weight has its own rate: it is divided by the root of its squared gradients.
    adaptive: ClassVar[bool] = False
    # Whether there is a loss even if all weights are 0, so that its decrease can be followed.
    has_loss_at_zero: ClassVar[bool] = True
    # For learners without such keys, like MIRA, whose step size is the solution of an optimisation problem.
    learning_rate = 1.0
    schedule = "constant"

    bleu: str = option(
        "Sentence-level BLEU used to rank the k-best list.",
        "papineni",
        choices=SENTENCE_BLEUS,
        on={"dev": "lin"},
    )
    average: bool = option(
        "Mix the weights averaged over all sentences of the epoch (Collins 2002) instead of the final ones.",
        False,
    )
    regularization: str = option(
        "Applied to all weights after every sentence. l1: `sign(w) max(0, |w|-l)` (Carpenter 2008); "
        "l1-cumulative: Tsuruoka et al. (2009); l2: `w/(1+l)`.",
        "none",
        choices=REGULARIZATIONS,
    )
    strength: float = option("Regularisation strength l.", 0.0, minimum=0)
    delay: int = option(
        "Number of sentences decoded with the same weights, in up to eight threads; their updates are "
        "applied in order. The result depends on the delay, never on the number of threads. A batch never "
        "spans two files.",
        1,
        minimum=1,
        maximum=1000,
    )

    def __post_init__(self) -> None:
        check_section(self)

    @property
    def forest_key(self) -> str | None:
        """The key by which it also learns from the forest of a sentence; None if it needs only lists."""
        return None

    def make_learner(self) -> OnlineLearner:
        """Return the learner with these settings."""
        raise NotImplementedError

    def conflict(self) -> tuple[str, str] | None:
        """Return a key that conflicts with another, and why; None if there is no conflict."""
        is_regular = self.regularization != "none"
        if is_regular and self.schedule != "constant":
            why = f"must be constant with regularization {self.regularization}"
            return "schedule", f"is {self.schedule}, {why}"
        if is_regular and self.strength == 0:
            return "strength", f"is 0, must be above 0 with regularization {self.regularization}"
        if not is_regular and self.strength != type(self).strength:
            return "strength", "has no effect without regularization; remove it"
        return None


# Built-in ones, in the order of the documentation.
BUILT_IN = {
    "perceptron": "itersel.learn.learners.perceptron:Perceptron",
    "margin-perceptron": "itersel.learn.learners.margin_perceptron:MarginPerceptron",
    "adagrad": "itersel.learn.learners.adagrad:AdaGrad",
    "mira": "itersel.learn.learners.mira:Mira",
}
BUILT_IN_TUNERS = {
    "pro": "itersel.tune.tuners.pro:Pro",
    "kbest-mira": "itersel.tune.tuners.kbest_mira:KBestMira",
    "mert": "itersel.tune.tuners.mert:Mert",
    "forest-mert": "itersel.tune.tuners.forest_mert:ForestMert",
}
# Only for mixed weights, on held-out text.
BUILT_IN_HELD_OUT = {"line-search": "itersel.tune.tuners.line_search:LineSearch"}
NO_TUNER = {"none": "itersel.config.learners:NoTuner"}

# Types of keys, and what their options need besides an explanation.
NEEDED_BOUNDS: dict[Any, tuple[str, ...]] = {float: (), int: ("minimum",), str: ("choices",), bool: ()}


def _from_plugin(base: Any, method: str, plugin: Plugin) -> Any:
    """Return the settings that a package adds; raises an `InputError` if they cannot be used."""
    kind = plugin.value
    if not (isinstance(kind, type) and issubclass(kind, base) and "__dataclass_fields__" in vars(kind)):
        raise plugin.error(f"must be a dataclass derived from {base.__module__}.{base.__name__}")
    if getattr(kind, method) is getattr(base, method):
        raise plugin.error(f"lacks the method {method}")

    types = get_type_hints(kind)
    for item in fields(kind):
        needed = NEEDED_BOUNDS.get(types[item.name])
        if needed is None or item.name == "name" or not {"explanation", *needed} <= item.metadata.keys():
            raise plugin.error(
                f"has a key that no config can have, '{item.name}': declare it with option() as float, int "
                "(with a minimum), str (with choices) or bool, and do not call it 'name'"
            )

    return kind


LEARNERS: Extensible[type[Online]] = Extensible(
    "itersel.learners", BUILT_IN, partial(_from_plugin, Online, "make_learner"), BUILT_IN_TUNERS.__contains__
)
TUNERS: Extensible[type[Batch]] = Extensible(
    "itersel.tuners",
    BUILT_IN_TUNERS,
    partial(_from_plugin, Batch, "tune"),
    {**BUILT_IN, **BUILT_IN_HELD_OUT, **NO_TUNER}.__contains__,
)
HELD_OUT_ONLY: Extensible[type[Batch]] = Extensible(None, BUILT_IN_HELD_OUT)
# What can learn from the tuning corpus, and what can tune mixed weights.
ALL_LEARNERS = Joined(LEARNERS, TUNERS)
HELD_OUT_TUNERS = Joined(Extensible(None, NO_TUNER), HELD_OUT_ONLY, TUNERS)


@dataclass(frozen=True)
class HeldOut:
    """A step on dev after each epoch: retune the dense features and one factor for all sparse features."""

    tuner: Batch | NoTuner = section(
        NoTuner, "How the mixed weights are tuned on k-best lists or forests of dev.", forms=HELD_OUT_TUNERS
    )
    iterations: int | None = option(
        "How often dev is decoded and the weights are tuned after each epoch. Each iteration starts from the "
        "weights of the previous one and reads all k-best lists so far, or only the newest forests. null: 1 "
        "for line-search, 6 for the others.",
        minimum=1,
        maximum=100,
    )
    start: str = option(
        "Which weights the next epoch starts from, if its shards start from mixed weights: those before "
        "(mixed) or after (tuned) this step.",
        "mixed",
        choices=("mixed", "tuned"),
    )


def default_learner() -> Online:
    """Return the default learner of configs, commands and Python."""
    return LEARNERS["adagrad"]()


def is_batch(name: object) -> bool:
    """Return whether a learner is a batch tuner; False for wrong names."""
    return bool(name) and ALL_LEARNERS.part(name) is TUNERS
