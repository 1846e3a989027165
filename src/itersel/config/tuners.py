"""The batch tuners and their keys: tuning on the lists of all shards and iterations.

A tuner is a dataclass here, an entry in `TUNERS`, and a function in `itersel.tune.tuner`. The config, its
documentation and the options of ``itersel tune`` follow.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.options import documented, option, option_of, section

# `chiang` depends on the preceding translations; lists of several iterations have no such order.
LIST_BLEUS = ("liang", "lin", "nakov", "papineni")
# Directions of a line search that are not features: each dense feature, and the step from the last weights.
ALL_DENSE, STEP = "dense", "step"


@dataclass(frozen=True)
class Batch:
    """The keys shared by all batch tuners."""


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

    c: float = option("Maximum step size C.", 0.01, above=0, on_train=0.001)
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
        "for line-search, 4 for the others.",
        minimum=1,
        maximum=100,
    )
    start: str = option(
        "Which weights the next epoch starts from, if its shards start from mixed weights: those before "
        "(mixed) or after (tuned) this step.",
        "mixed",
        choices=("mixed", "tuned"),
    )
