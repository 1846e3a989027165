"""The epochs of the experiments: what each shard is trained on, what it starts from, and what is mixed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from itersel.config.mixing import EpochsMean, PathFollowing, Selection
from itersel.config.tasks import IndependentTask, PooledTasks, Resharding, files_of
from itersel.config.values import Config, Experiment
from itersel.corpus.sharding import deal_files
from itersel.plan import commands
from itersel.plan.files import Files
from itersel.plan.shards import Shards

# Most threads that a job requests; --set-threads train_shard=N changes the number.
MOST_THREADS = 8


class Epochs:
    """The epochs of all experiments.

    Attributes
    ----------
    batch, held_out, mixed
        Experiments by how the weights of an epoch are made: by `tune`, by `tune` after `mix`, or by `mix`.
    selecting
        Those that select features.
    """

    def __init__(self, config: Config, files: Files, shards: Shards) -> None:
        self.config, self.files, self.shards = config, files, shards
        experiments = config.experiments
        self.batch = [name for name, one in experiments.items() if commands.is_batch(one)]
        self.held_out = [name for name, one in experiments.items() if commands.held_out_tuner(one)]
        self.mixed = [name for name in experiments if name not in (*self.batch, *self.held_out)]
        self.selecting = [
            name
            for name in [*self.mixed, *self.held_out]
            if isinstance(experiments[name].mixing, Selection | PathFollowing)
        ]

    @functools.cache  # noqa: B019  (there is one plan)
    def epoch(self, name: str, number: int) -> Epoch:
        """Return an epoch of an experiment, counted from 1."""
        return Epoch(self, name, number)

    def _of(self, wildcards: Any) -> Epoch:
        return self.epoch(wildcards.experiment, int(wildcards.epoch))

    def _shard(self, wildcards: Any) -> Shard:
        return self._of(wildcards).shard(int(wildcards.shard))

    @functools.cache  # noqa: B019
    def options(self, name: str) -> str:
        """Return the options of `itersel train` that all shards of an experiment share."""
        return commands.train_options(self.config, self.config.experiments[name])

    def training_files(self, wildcards: Any) -> list[str]:
        """Return `Shard.files`."""
        return self._shard(wildcards).files

    def training_models(self, wildcards: Any) -> list[str]:
        """Return `Shard.models`."""
        return self._shard(wildcards).models

    def start_weights(self, wildcards: Any) -> list[str]:
        """Return `Shard.start`."""
        return self._shard(wildcards).start

    def train_options(self, wildcards: Any) -> str:
        """Return `Shard.options`."""
        return self._shard(wildcards).options

    def level_before(self, wildcards: Any) -> list[str]:
        """Return `Epoch.level_before`."""
        return self._of(wildcards).level_before

    def trained_shards(self, wildcards: Any) -> list[str]:
        """Return the weights of all shards."""
        epoch = self._of(wildcards)
        return [epoch.shard(number).output for number in range(epoch.experiment.tasks.shards)]

    def previous_weights(self, wildcards: Any) -> list[str]:
        """Return the weights of the epoch before, if mixing depends on them."""
        return self._of(wildcards).mixed_before

    def mix_options(self, wildcards: Any) -> str:
        """Return the options of `itersel mix`."""
        epoch = self._of(wildcards)
        place = commands.options(epoch=epoch.number, previous=epoch.mixed_before)
        return f"{commands.mix_options(epoch.experiment)} {place}"

    def array_name(self, wildcards: Any) -> str:
        """Return the name of the array job of an epoch or iteration."""
        name = f"{wildcards.experiment}.{wildcards.epoch}"
        iteration = getattr(wildcards, "iteration", None)
        return f"{name}.{iteration}" if iteration else name

    def shards_per_job(self, wildcards: Any) -> int:
        """Return the number of shards that a task of an array trains."""
        return self.config.experiments[wildcards.experiment].tasks.shards_per_job

    def decoding_threads(self, wildcards: Any) -> int:
        """Return the number of threads that decode a shard; it does not change any result."""
        learner = self.config.experiments[wildcards.experiment].learner
        return min(getattr(learner, "delay", 1), MOST_THREADS)

    def of_all(self, path: str) -> Any:
        """Return a function of wildcards that gives the files with this name in all epochs."""

        def files(wildcards: Any) -> list[str]:
            name, path_of_job = wildcards.experiment, path.format(**dict(wildcards.items()))
            epochs = range(1, self.config.experiments[name].epochs + 1)
            return [f"{self.epoch(name, epoch).folder}/{path_of_job}" for epoch in epochs]

        return files


@dataclass(frozen=True)
class Epoch:
    """An epoch of an experiment, counted from 1."""

    epochs: Epochs
    name: str
    number: int

    @property
    def experiment(self) -> Experiment:
        """The settings."""
        return self.epochs.config.experiments[self.name]

    @property
    def folder(self) -> str:
        """Where its files are."""
        return self.epochs.files.experiment(self.name, f"epoch-{self.number}")

    @property
    def weights(self) -> str:
        """The weights of the epoch."""
        return f"{self.folder}/weights.h5"

    @property
    def mixed(self) -> str:
        """The weights that `itersel mix` makes, which may be tuned afterwards."""
        return f"{self.folder}/mixed.h5" if self.name in self.epochs.held_out else self.weights

    @property
    def before(self) -> Epoch:
        """The epoch before."""
        return self.epochs.epoch(self.name, self.number - 1)

    @property
    def start(self) -> list[str]:
        """The weights that all shards start with: none, another experiment's, tuned or mixed ones."""
        if self.number == 1:
            start = self.experiment.start_from
            return [self.epochs.files.experiment(start, "best/weights.h5")] if start else []
        is_tuned = self.experiment.held_out.start == "tuned"
        return [self.before.weights if is_tuned else self.before.mixed]

    @property
    def goes_on_alone(self) -> bool:
        """Whether each shard starts with its own weights of the epoch before."""
        return self.number > 1 and commands.goes_on_alone(self.experiment)

    @property
    def mixed_before(self) -> list[str]:
        """The mixed weights of the epoch before, if those of this one depend on them."""
        if self.number == 1 or not isinstance(self.experiment.mixing, EpochsMean | PathFollowing):
            return []
        return [self.before.mixed]

    @property
    def level_before(self) -> list[str]:
        """The lists of files that all shards wait for, so that they start together: one array job."""
        if self.goes_on_alone:
            return [f"{self.before.folder}/files.txt"]
        if self.number > 1:
            return []
        shards, experiment = self.epochs.shards, self.experiment
        name, folds = shards.name(experiment), shards.folds(experiment)
        lists = [f"{shards.folder(experiment.tune_on, name)}/files.txt"]
        return [*lists, f"{shards.fold_folder(name, folds)}/files.txt"] if folds > 1 else lists

    @functools.cached_property
    def dealt(self) -> list[list[int]]:
        """With resharding: the numbers of the files in each shard."""
        tasks, seed = self.experiment.tasks, commands.own_seed(self.epochs.config, self.experiment)
        return deal_files(files_of(tasks), tasks.shards, seed, self.number)

    def shard(self, number: int) -> Shard:
        """Return a shard, counted from 0."""
        return Shard(self, number)


@dataclass(frozen=True)
class Shard:
    """The training of a shard in an epoch, counted from 0."""

    epoch: Epoch
    number: int

    @property
    def file_numbers(self) -> list[int]:
        """The numbers of the files with its sentences, in training order."""
        tasks = self.epoch.experiment.tasks
        if isinstance(tasks, Resharding):
            return self.epoch.dealt[self.number]
        if isinstance(tasks, PooledTasks):
            return list(range(tasks.parts))
        return [tasks.first + self.number] if isinstance(tasks, IndependentTask) else [self.number]

    @property
    def files(self) -> list[str]:
        """The grammars of its sentences."""
        shards, experiment = self.epoch.epochs.shards, self.epoch.experiment
        folder = shards.folder(experiment.tune_on, shards.name(experiment))
        return [f"{folder}/{number}.h5" for number in self.file_numbers]

    @property
    def models(self) -> list[str]:
        """The language model for each file: that of all text, or the one without the file's text."""
        shards, experiment = self.epoch.epochs.shards, self.epoch.experiment
        folds = shards.folds(experiment)
        if folds == 1:
            return [self.epoch.epochs.files.model]
        folder = shards.fold_folder(shards.name(experiment), folds)
        return [f"{folder}/{number % folds}.bin" for number in self.file_numbers]

    @property
    def start(self) -> list[str]:
        """The weights that it starts with: its own of the epoch before, or `Epoch.start`."""
        return [self.epoch.before.shard(self.number).output] if self.epoch.goes_on_alone else self.epoch.start

    @property
    def options(self) -> str:
        """The options of `itersel train`, apart from files that the rule names."""
        place = commands.options(weights=self.start, epoch=self.epoch.number, shard_number=self.number)
        return f"{place} {self.epoch.epochs.options(self.epoch.name)}"

    @property
    def output(self) -> str:
        """Its weights."""
        return f"{self.epoch.folder}/shard-{self.number}.h5"
