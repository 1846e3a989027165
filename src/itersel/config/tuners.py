"""The batch tuners by name, and what they share.

A batch tuner tunes on the lists of all sentences and iterations: a dataclass derived from `Batch` in a module
of `itersel.tune.tuners`. The tables below name them; installed packages add others (docs/plugins.md). The
config, its documentation, the settings of the steps and the options of ``itersel tune`` follow from them.
Online learners are in `itersel.config.learners`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from itersel.code.plugins import Extensible, Joined, refuse_old_names
from itersel.config.plugin_checks import section_of_plugin
from itersel.config.section_checks import check_section

if TYPE_CHECKING:
    from itersel.vectors.weights import Weights

# The direction of a line search that is not a dense feature: the step of the epoch so far.
EPOCH_STEP = "step"

# What tuners start from where no weights are given (`itersel.tune.start_weights`): in a run, and elsewhere.
START_IN_RUN = (
    "fixed weights of the dense features (docs/tuning.md), or 1 for each dense feature if the lists have "
    "none of those (data.kind: lists)"
)
START_ON_LISTS = "0 for all features, or 1 for tuners that search lines, such as mert"


class Tuned(NamedTuple):
    """Result of a tuner."""

    weights: Weights  # all that are not zero
    quality: float  # of the best translations under these weights: corpus BLEU, 0 to 1, or their mean quality
    sentences: int
    translations: int  # distinct ones; 0 for forests


@dataclass(frozen=True)
class Batch:
    """The keys shared by all batch tuners."""

    # The keys with which a warm-up runs it, so that all its kernels are compiled.
    warm_up: ClassVar[Sequence[Mapping[str, object]]] = ({},)
    # Whether it reads forests instead of k-best lists.
    reads_forests: ClassVar[bool] = False
    # Whether it tunes only dense features, by searching along the line of each for the highest BLEU.
    searches_lines: ClassVar[bool] = False
    # Whether it can only retune mixed weights on dev.
    only_retunes: ClassVar[bool] = False
    # More than one: with the lists of the mixed weights alone, a tuner of all dense weights moves them too
    # far, because it does not see the translations that the new weights prefer.
    retune_iterations: ClassVar[int] = 6

    def __init_subclass__(cls) -> None:
        refuse_old_names(cls, searches="searches_lines")

    def __post_init__(self) -> None:
        check_section(self)

    @property
    def named_directions(self) -> tuple[str, ...] | None:
        """The directions of its search, if the key `directions` names them."""
        return None

    @property
    def searches_epoch_step(self) -> bool:
        """Whether it searches along the step from the epoch's start weights to its own."""
        return EPOCH_STEP in (self.named_directions or ())

    # `Any`, because a tuner takes only one of the two
    def tune(self, problem: Any) -> Tuned:
        """Tune on a `ListProblem`, or on a `ForestProblem` if it reads forests."""
        raise NotImplementedError


@dataclass(frozen=True)
class NoTuner:
    """No tuning on dev."""


# Built-in ones, in the order of docs/config.md.
BUILT_IN_TUNERS = {
    "pro": "itersel.tune.tuners.pro:Pro",
    "kbest-mira": "itersel.tune.tuners.kbest_mira:KBestMira",
    "mert": "itersel.tune.tuners.mert:Mert",
}
BUILT_IN_FOREST = {"forest-mert": "itersel.tune.tuners.forest_mert:ForestMert"}
# These only retune mixed weights.
BUILT_IN_RETUNE_ONLY = {"line-search": "itersel.tune.tuners.line_search:LineSearch"}
NO_TUNER = {"none": "itersel.config.tuners:NoTuner"}


def _tuners(built_in: Mapping[str, str]) -> Extensible[type[Batch]]:
    others = {**BUILT_IN_FOREST, **BUILT_IN_RETUNE_ONLY, **NO_TUNER}
    return Extensible(
        "itersel.tuners", built_in, partial(section_of_plugin, Batch, "tune"), others.__contains__
    )


TUNERS = _tuners({**BUILT_IN_TUNERS, **BUILT_IN_FOREST})
# What can tune on the n-best lists of any decoder.
LIST_TUNERS = _tuners(BUILT_IN_TUNERS)
RETUNE_ONLY: Extensible[type[Batch]] = Extensible(None, BUILT_IN_RETUNE_ONLY)
# What can retune mixed weights.
ALL_TUNERS = Joined(Extensible(None, NO_TUNER), RETUNE_ONLY, TUNERS)
