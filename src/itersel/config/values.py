"""The config and its experiments: their keys, with types, defaults, bounds and explanations.

Other modules declare most sections in them, such as `data`, `evaluation`, `learners` and `mixing`.

`reading` checks a config against these classes, and `rendering` generates the JSON schema, the documentation
and config.yaml from them. From a config, `itersel.plan` makes the settings of the steps and the names of
their files; the command lines are in workflow/rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from itersel.code.plugins import Joined
from itersel.config.conditions import (
    BATCH_TUNER,
    MIXED_WEIGHTS,
    TUNE_ON_DEV,
    TUNE_ON_TRAIN,
    algorithm_is,
    all_of,
    mixing_is,
)
from itersel.config.data import Data
from itersel.config.evaluation import Evaluation, Report
from itersel.config.extraction import ExtractionSettings
from itersel.config.learners import DEFAULT_LEARNER, LEARNERS, Online, default_learner
from itersel.config.mbr import MbrSettings
from itersel.config.mixing import (
    ALGORITHMS,
    DEFAULT_MIXING,
    DEFAULT_MIXING_ON_DEV,
    MIXINGS,
    NO_MIXING,
    PATH_FOLLOWING,
    SGD,
    Mixing,
)
from itersel.config.names import NAME_PATTERN, Names, check_name
from itersel.config.retune import DEFAULT_RETUNER, Retuning
from itersel.config.search import ForestSettings, KBestSettings, Search, WithFeatures
from itersel.config.tasks import TASKS, RandomTasks, Tasks
from itersel.config.text_features import TextFeatures
from itersel.config.text_steps import EstimateSettings, SymmetrizationSettings
from itersel.config.tuners import START_IN_RUN, TUNERS, Batch
from itersel.keys import key, key_of, section, seed_key
from itersel.vectors.feature_names import ALL_TEMPLATES

TUNING_SETS = ("dev", "train")
# What can learn from the tuning set.
ALL_LEARNERS = Joined(LEARNERS, TUNERS)


@dataclass(frozen=True)
class Align:
    """Word alignment of the training corpus."""

    symmetrization: str = key_of(SymmetrizationSettings, "symmetrization")


@dataclass(frozen=True)
class LanguageModelSettings:
    """Language model of the target side."""

    order: int = key_of(EstimateSettings, "order", default=3)
    open_vocabulary: bool = key(
        "Replace words that do not occur on the target side of the training corpus by `<unk>` before "
        "estimation; useful with data.monolingual.",
        False,
    )
    arpa: str | None = key(
        "Use this ARPA file (plain or compressed, of order language_model.order) instead of estimating one.",
        path=True,
    )


@dataclass(frozen=True)
class DecoderSettings:
    """Search, in training and testing."""

    pop_limit: int = key_of(Search, "pop_limit")
    k_best: int = key_of(KBestSettings, "k_best")
    forest_density: int = key_of(ForestSettings, "forest_density")
    pieces: int = key(
        "Number of pieces of each of devtest and test, and dev for retune, each of which is extracted and "
        "decoded by a job of its own; at most one per sentence. Does not change any result.",
        1,
        minimum=1,
        maximum=1000,
        changes_no_result=True,
    )


@dataclass(frozen=True)
class Experiment(WithFeatures):
    """One way to learn weights. All experiments share the corpus, its alignment and its models."""

    algorithm: str | None = key(
        f"{', '.join(ALGORITHMS)}: the algorithms of Simianer, Riezler & Dyer (2012), in their order. Each "
        "implies a mixing (docs/learning.md), which can then be left out.",
        choices=tuple(ALGORITHMS),
    )
    tune_on: str = key(
        "Corpus from which weights are learned.",
        "train",
        choices=TUNING_SETS,
        on={algorithm_is(SGD): "dev", BATCH_TUNER: "dev"},
    )
    features: str = key_of(Search, "features")
    templates: tuple[str, ...] | None = key_of(
        Search,
        "templates",
        explanation="With features: all, use only these templates of grammar.templates (data.kind: lists: of "
        "text_features.templates; [] uses only the features of the lists); by default all of them.",
        choices=ALL_TEMPLATES,
    )
    epochs: int = key(
        "Number of epochs T; the best one on devtest is used.",
        3,
        minimum=1,
        maximum=1000,
        on={TUNE_ON_DEV: 10},
    )
    patience: int | None = key(
        "Stop training after this many epochs without a better score on devtest; the remaining epochs pass "
        "on the weights. null: train in all epochs.",
        minimum=1,
        maximum=1000,
    )
    start_from: str | None = key(
        "Another experiment: its weights at its best epoch are the start weights of this one. null: 0 for "
        f"all features; for a batch tuner, {START_IN_RUN}.",
        pattern=NAME_PATTERN,
    )
    k_best: int | None = key_of(
        KBestSettings,
        "k_best",
        default=None,
        explanation="Size of the k-best lists used for training; null: decoder.k_best. Forests have no such "
        "limit, nor have the lists of another decoder that a batch tuner reads.",
    )
    seed: int | None = seed_key(
        "Seed of the shuffle of the tuning corpus and of all random draws; null: the seed of the run.", None
    )
    repeats: int = key(
        "Number of repeats of the experiment, with consecutive seeds; the table shows mean and standard "
        "deviation. Elsewhere, the second repeat is called `<name>.repeat-2`.",
        1,
        minimum=1,
        maximum=100,
    )
    tasks: Tasks = section(
        RandomTasks,
        "How the tuning corpus is divided into Z shards. Default: resharding on train if the weights of "
        f"shards are mixed (except with {PATH_FOLLOWING}), otherwise random.",
        forms=TASKS,
        on={mixing_is(PATH_FOLLOWING): "random", all_of(TUNE_ON_TRAIN, MIXED_WEIGHTS): "resharding"},
    )
    learner: Online | Batch = section(
        default_learner,
        "How a shard learns from its sentences in one epoch; for a batch tuner, how weights are tuned on the "
        f"k-best lists or forests of all shards and epochs; {DEFAULT_LEARNER} by default.",
        forms=ALL_LEARNERS,
    )
    mixing: Mixing = section(
        MIXINGS[DEFAULT_MIXING],
        "How the Z weight vectors are combined after an epoch; none if a single vector is tuned on all "
        f"shards. By default that of the algorithm or, without one, {DEFAULT_MIXING_ON_DEV} on dev and "
        f"{DEFAULT_MIXING} on train.",
        forms=MIXINGS,
        on={
            BATCH_TUNER: NO_MIXING,
            **{algorithm_is(name): mixing for name, mixing in ALGORITHMS.items()},
            TUNE_ON_DEV: DEFAULT_MIXING_ON_DEV,
        },
    )
    retune: Retuning = section(
        Retuning,
        "tune_on train: after each epoch, retune the weights of the dense features and one factor for all "
        f"sparse features on dev; by default with {DEFAULT_RETUNER}. The epoch is still chosen on devtest.",
    )

    @property
    def shard_learner(self) -> Online | None:
        """What each shard learns its own weights with; None if a batch tuner learns."""
        return self.learner if isinstance(self.learner, Online) else None

    @property
    def batch_tuner(self) -> Batch | None:
        """What tunes one weight vector on all shards; None if shards learn."""
        return self.learner if isinstance(self.learner, Batch) else None


@dataclass(frozen=True)
class Config:
    """A run: data, models and experiments; `itersel.config.reading` says what holds when it is read."""

    name: str = key("Name of the run; its files are in `<output>/<name>`.", "run", pattern=NAME_PATTERN)
    output: str = key("Folder for all results.", "results", path=True)
    cache: str | None = key(
        "Folder for compiled kernels; any number of runs, machines and versions may share it. $VARIABLES are "
        "expanded where a job runs. By default, $ITERSEL_CACHE or the user's cache folder, ~/.cache/itersel.",
        path=True,
    )
    seed: int = seed_key(
        "Seed for everything random: alignment, shuffling, sampling of pairs, significance tests."
    )
    data: Data = section(Data)
    text_features: TextFeatures = section(TextFeatures)
    align: Align = section(Align)
    language_model: LanguageModelSettings = section(LanguageModelSettings)
    grammar: ExtractionSettings = section(ExtractionSettings)
    decoder: DecoderSettings = section(DecoderSettings)
    mbr: MbrSettings = section(MbrSettings)
    evaluation: Evaluation = section(Evaluation)
    report: Report = section(Report)
    experiments: dict[str, Experiment] = section(
        dict,
        "Experiments by name; the table at the end compares all of them. A list in place of a single value "
        "makes a grid: an experiment for each value, named after it (docs/learning.md).",
        names=Names("'name: settings'", partial(check_name, "an experiment")),
    )
