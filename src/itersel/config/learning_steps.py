"""The settings of the steps that learn: what their results depend on, besides files and the place in a run.

- ``itersel train``: `TrainSettings`; with given lists, `GivenListTrainSettings`
- ``itersel step mix``: `MixSettings`
- ``itersel step tune``: `TuneSettings`

`itersel.plan` makes the settings of a step from a config, and the step reads them with
`itersel.config.settings`, which names the modules with the settings of all steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.learners import DEFAULT_LEARNER, LEARNERS, Online, default_learner
from itersel.config.messages import wrong
from itersel.config.mixing import DEFAULT_MIXING, MIXINGS, Mixing, Nothing
from itersel.config.search import (
    FeatureSettings,
    GivenListFeatures,
    IterationSearch,
    KBestSettings,
    Search,
    WithFeatures,
)
from itersel.config.section_checks import check_section
from itersel.config.tuners import ALL_TUNERS, Batch, NoTuner
from itersel.keys import REQUIRED, documented, key, key_of, name_in, section, seed_key


@dataclass(frozen=True)
class LearningSettings(FeatureSettings):
    """How a shard is trained, whether our decoder or another one translates its sentences."""

    k_best: int = key_of(KBestSettings, "k_best")
    seed: int = seed_key("Random seed for pairs: pro.")
    learner: Online = section(
        default_learner,
        f"How the shard learns from its sentences; by default with {DEFAULT_LEARNER}.",
        forms=LEARNERS,
    )
    epoch: int = key(
        "Number of the epoch, from 1, which is recorded and determines the seed of pairs and the position in "
        "schedules.",
        1,
        minimum=1,
        place=True,
    )
    shard_number: int = key(
        "Number of the shard, from 0, which is recorded and is part of the seed of pairs.",
        0,
        minimum=0,
        place=True,
    )
    # files contain the loss if it was measured, or that training had stopped
    measure_loss: bool = key(
        "For path following: first decode all sentences with the start weights, and record their loss; if "
        "the path has ended, pass its weights on without training.",
        False,
        recorded_otherwise=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if conflict := self.learner.conflict():
            raise wrong(f"learner.{conflict[0]}", conflict[1])


@documented
@dataclass(frozen=True)
class TrainSettings(LearningSettings, Search):
    """Everything that affects the result of training a shard, except the contents of files.

    Shards with given lists have `GivenListTrainSettings`.
    """


@dataclass(frozen=True)
class GivenListTrainSettings(LearningSettings, GivenListFeatures):
    """How a shard with given lists is trained."""


@documented
@dataclass(frozen=True)
class MixSettings:
    """How the weights of all shards of an epoch are mixed."""

    mixing: Mixing = section(
        MIXINGS[DEFAULT_MIXING], "How the weight vectors of the shards are combined.", forms=MIXINGS
    )
    shards: int = key("Number of shards Z; fewer are never mixed.", 1, minimum=1)
    epoch: int = key("Number of the epoch, from 1.", 1, minimum=1, place=True)

    def __post_init__(self) -> None:
        check_section(self)
        if conflict := self.mixing.conflict():
            raise wrong(f"mixing.{conflict[0]}", conflict[1])
        if isinstance(self.mixing, Nothing) and self.shards != 1:
            raise wrong("shards", f"is {self.shards}, but mixing none is for one shard")

    @property
    def name(self) -> str:
        """The name of the mixing."""
        return name_in(MIXINGS, self.mixing)


@documented
@dataclass(frozen=True)
class TuneSettings(WithFeatures):
    """How weights are tuned on the lists or forests of all sentences and iterations so far."""

    tuner: Batch = section(REQUIRED, "What tunes the weights.", forms=ALL_TUNERS)
    files: int = key("Number of files with the sentences: of all shards, or pieces.", 1, minimum=1)
    iteration: int = key_of(IterationSearch, "iteration")
    seed: int = seed_key("Random seed.")
    features: str = key_of(
        Search, "features", explanation="dense: ignore the sparse features of lists; all: use them."
    )
    retune: bool = key(
        "Retune mixed weights: tune the dense features and one factor for all sparse ones (of forests, only "
        "on those of this iteration).",
        False,
    )
    left_out_templates: tuple[str, ...] = key_of(GivenListFeatures, "left_out_templates")

    def __post_init__(self) -> None:
        check_section(self)
        if isinstance(self.tuner, NoTuner):
            raise wrong("tuner.name", "is none; choose a tuner")
