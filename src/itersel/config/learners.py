"""The learners and the batch tuners, and their keys.

A shard learns from its sentences in one epoch with a learner: a dataclass here, an entry in `BUILT_IN`, and a
class in `itersel.learn.learners` that `make_learner` knows. Installed packages add others (docs/plugins.md).

A batch tuner tunes on the lists of all shards and iterations: a dataclass here, an entry in `TUNERS`, and a
function in `itersel.tune.tuner`.

The config, its documentation and the options of ``itersel train`` and ``itersel tune`` follow.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, get_type_hints

from itersel.config.options import check_section, documented, option, option_of, section
from itersel.plugins import Extensible, Plugin

PAIRS = ("multipartite", "all", "pro")
UPDATES = ("sequential", "sentence")
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

    def __post_init__(self) -> None:
        check_section(self)


@documented
@dataclass(frozen=True)
class Mert(Batch):
    """Minimum error rate training on k-best lists, by exact line searches (Och 2003)."""

    directions: int = option(
        "Number of random directions searched in every round, in addition to the axes.",
        12,
        minimum=0,
        maximum=1000,
    )
    restarts: int = option(
        "Number of random points from which to start the search, in addition to the previous weights.",
        5,
        minimum=0,
        maximum=1000,
    )


@dataclass(frozen=True)
class ForestMert(Mert):
    """Minimum error rate training on forests (Kumar et al. 2009)."""

    # A search takes longer than over lists but sees far more translations, so more of them would gain little.
    directions: int = option_of(Mert, "directions", default=5)
    restarts: int = option_of(Mert, "restarts", default=0)


@documented
@dataclass(frozen=True)
class Pro(Batch):
    """Pairwise ranking optimisation: logistic regression on sampled pairs (Hopkins & May 2011)."""

    bleu: str = option("Sentence-level BLEU used for ranking; lin: BLEU+1.", "lin", choices=LIST_BLEUS)
    strength: float = option("Strength of l2 regularisation.", 1.0, minimum=0)
    interpolation: float = option(
        "Share of the new weights in the result; the rest comes from the previous weights.",
        0.1,
        above=0,
        maximum=1,
    )
    max_difference: float = option(
        "Drop pairs with a larger difference in BLEU (0 to 1), to guard against overlong translations (Nakov "
        "et al. 2013); 1 drops none.",
        1.0,
        above=0.05,
        maximum=1,
    )


@documented
@dataclass(frozen=True)
class KBestMira(Batch):
    """Batch MIRA on k-best lists (Cherry & Foster 2012)."""

    c: float = option("Maximum step size C.", 0.01, above=0, on={"train": 0.001})
    passes: int = option("Number of passes over the lists; the best is used.", 60, minimum=1, maximum=10_000)
    decay: float = option(
        "Factor by which the background of BLEU decays after each sentence.", 0.999, above=0, maximum=1
    )


@dataclass(frozen=True)
class LineSearch(Batch):
    """Exact line searches along given directions, for corpus BLEU (Flanigan et al. 2013)."""

    directions: tuple[str, ...] = option(
        "Lines to search along, repeatedly, until none improves BLEU: names of dense features; dense: each "
        "of them; step: from the weights of the previous epoch (with start: tuned, the tuned ones) to the "
        "mixed weights of this one.",
        ("WordPenalty",),
    )


@dataclass(frozen=True)
class NoTuner:
    """No tuning on dev."""


TUNERS: dict[str, type[Batch]] = {
    "pro": Pro,
    "kbest-mira": KBestMira,
    "mert": Mert,
    "forest-mert": ForestMert,
}
# These search along every feature.
DENSE_TUNERS = (Mert, ForestMert)
# Tuners of mixed weights, on held-out text.
HELD_OUT_TUNERS: dict[str, type[Batch | NoTuner]] = {"none": NoTuner, "line-search": LineSearch, **TUNERS}


@dataclass(frozen=True)
class HeldOut:
    """A step on dev after each epoch: retune the dense features and one factor for all sparse features."""

    tuner: Batch | NoTuner = section(
        NoTuner, "How the mixed weights are tuned on k-best lists or forests of dev."
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


@dataclass(frozen=True)
class Online:
    """The keys shared by all online learners."""

    # Whether each weight has its own rate: it is divided by the root of its squared gradients.
    adaptive: ClassVar[bool] = False
    # Of learners without such keys, as MIRA, whose step size is the solution of an optimisation problem.
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

    def make_learner(self) -> Any:
        """Return the `OnlineLearner` of a plugin; `itersel.learn.learners` makes the built-in ones."""
        raise NotImplementedError


@documented
@dataclass(frozen=True)
class Perceptron(Online):
    """Pairwise perceptron with loss `max(0, -<w,x>)` for difference vectors x (Simianer et al. 2012)."""

    learning_rate: float = option("Learning rate.", 0.0001, above=0)
    schedule: str = option(
        "constant: a fixed learning rate; 1/t, 1/sqrt(t): divided by t or sqrt(t), where t is the number of "
        "sentences so far. Regularisation requires a constant rate.",
        "constant",
        choices=SCHEDULES,
    )
    pairs: str = option("Which translations of the k-best list are compared.", "multipartite", choices=PAIRS)
    update: str = option(
        "sequential: each pair sees the weights after the update of the previous pair; sentence: the "
        "decoder's scores decide for all pairs of a sentence.",
        "sentence",
        choices=UPDATES,
    )


@documented
@dataclass(frozen=True)
class MarginPerceptron(Perceptron):
    """Pairwise perceptron with a margin: loss `max(0, 1-<w,x>)`."""

    bleu: str = option_of(Online, "bleu", default="papineni", on=None)
    learning_rate: float = option_of(Perceptron, "learning_rate", default=0.0001, on={"dev": 0.0003})


@documented
@dataclass(frozen=True)
class AdaGrad(Online):
    """Logistic loss of pairs, with a separate learning rate for each weight (Green et al. 2013)."""

    adaptive: ClassVar[bool] = True

    bleu: str = option_of(Online, "bleu", default="nakov", on=None)
    learning_rate: float = option_of(Perceptron, "learning_rate", default=0.3, on={"dev": 0.1})
    schedule: str = option_of(Perceptron, "schedule")
    pairs: str = option_of(Perceptron, "pairs", default="pro")
    regularization: str = option_of(Online, "regularization", default="l1")
    strength: float = option_of(Online, "strength", default=0.0001)


@documented
@dataclass(frozen=True)
class Mira(Online):
    """Margin-infused relaxed algorithm (Chiang et al. 2008; Cherry & Foster 2012)."""

    bleu: str = option_of(
        Online,
        "bleu",
        default="chiang",
        on=None,
        explanation="Sentence-level BLEU that defines the cost; chiang: BLEU of a pseudo-corpus.",
    )
    c: float = option("Maximum step size C.", 1.0, above=0, on={"dev": 0.1})
    hope: str = option(
        "cost-diminished: the translation with the largest score minus cost; oracle: the one with the least "
        "cost.",
        "cost-diminished",
        choices=("cost-diminished", "oracle"),
    )
    fear: str = option(
        "cost-augmented: the translation with the largest score plus cost; prediction: the one with the "
        "largest score.",
        "cost-augmented",
        choices=("cost-augmented", "prediction"),
    )
    candidates: str = option(
        "Candidates for hope and fear: the k-best list, or the k-best list and the translations found by "
        "cost-augmented decoding of the forest.",
        "k-best",
        choices=("k-best", "forest"),
    )
    constraints: str = option(
        "hope-fear: one constraint per sentence; all: the hope against every candidate.",
        "hope-fear",
        choices=("hope-fear", "all"),
    )


# Types of keys, and what their options need besides an explanation.
NEEDED_BOUNDS: dict[Any, tuple[str, ...]] = {float: (), int: ("minimum",), str: ("choices",), bool: ()}

BUILT_IN: dict[str, type[Online]] = {
    "perceptron": Perceptron,
    "margin-perceptron": MarginPerceptron,
    "adagrad": AdaGrad,
    "mira": Mira,
}


def _from_plugin(plugin: Plugin) -> type[Online]:
    """Return the settings of a learner that a package adds; raises an `InputError` if they cannot be used."""
    kind = plugin.value
    if not (isinstance(kind, type) and issubclass(kind, Online) and "__dataclass_fields__" in vars(kind)):
        raise plugin.error("must be a dataclass derived from itersel.config.learners.Online")
    if kind.make_learner is Online.make_learner:
        raise plugin.error("lacks the method make_learner")
    types = get_type_hints(kind)
    for item in fields(kind):
        needed = NEEDED_BOUNDS.get(types[item.name])
        if needed is None or item.name == "name" or not {"explanation", *needed} <= item.metadata.keys():
            raise plugin.error(
                f"has a key that no config can have, '{item.name}': declare it with option() as float, int "
                "(with a minimum), str (with choices) or bool, and do not call it 'name'"
            )
    return kind


# Wherever none is named: in a config, a command and Python.
DEFAULT_LEARNER = "adagrad"
LEARNERS = Extensible("itersel.learners", BUILT_IN, _from_plugin, TUNERS.__contains__)


def find_conflict(learner: Online) -> tuple[str, str] | None:
    """Return a key that conflicts with another, and why; None if there is no conflict."""
    is_regular = learner.regularization != "none"
    if is_regular and learner.schedule != "constant":
        why = f"must be constant with regularization {learner.regularization}"
        return "schedule", f"is {learner.schedule}, {why}"
    if is_regular and learner.strength == 0:
        return "strength", f"is 0, must be above 0 with regularization {learner.regularization}"
    if not is_regular and learner.strength != type(learner).strength:
        return "strength", "has no effect without regularization; remove it"
    if isinstance(learner, Mira) and learner.constraints == "all" and learner.fear != Mira.fear:
        return "fear", "has no effect with constraints: all, where every translation is feared; remove it"
    return None
