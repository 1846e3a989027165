"""The lists (k-best lists or forests) of batch tuners, on their tuning corpus or on dev."""

from __future__ import annotations

import functools
from typing import Any

from itersel.config.options import name_in, options_of
from itersel.config.search import ForestSettings
from itersel.config.tuners import HELD_OUT_TUNERS, STEP, Batch, ForestMert, LineSearch
from itersel.config.values import Config
from itersel.plan.commands import Files, held_out_iterations, held_out_tuner, options, own_seed, search_of
from itersel.plan.epochs import Epochs


class Lists:
    """The lists of all experiments that tune.

    A batch tuner has lists of all shards in every epoch, which is an iteration. The tuner of mixed weights
    has lists of dev, and several iterations in an epoch; those of the last one are in the epoch's folder.
    """

    def __init__(self, config: Config, files: Files, epochs: Epochs) -> None:
        self._config, self._files, self._epochs = config, files, epochs

    def _is_batch(self, wildcards: Any) -> bool:
        return wildcards.experiment in self._epochs.batch

    def _tuner(self, name: str) -> Batch:
        """Return the settings of the tuner that reads the lists."""
        experiment = self._config.experiments[name]
        tuner = experiment.learner if name in self._epochs.batch else held_out_tuner(experiment)
        assert isinstance(tuner, Batch)
        return tuner

    def shard(self, wildcards: Any) -> list[str]:
        """Return the grammars of the sentences of a list."""
        if self._is_batch(wildcards):
            return self._epochs.training_files(wildcards)
        folder = self._epochs.shards.folder("dev", str(self._config.decoder.jobs))
        return [f"{folder}/{wildcards.shard}.h5"]

    def models(self, wildcards: Any) -> list[str]:
        """Return the language model for each of them."""
        return self._epochs.training_models(wildcards) if self._is_batch(wildcards) else [self._files.model]

    def _last_iteration(self, name: str, epoch: int) -> int:
        if name in self._epochs.batch:
            return epoch
        return held_out_iterations(self._config.experiments[name])

    def _iteration(self, wildcards: Any) -> int:
        last = self._last_iteration(wildcards.experiment, int(wildcards.epoch))
        return int(getattr(wildcards, "iteration", last))

    def _folder(self, name: str, epoch: int, iteration: int) -> str:
        """Return the folder of an iteration's lists and weights."""
        if name in self._epochs.batch:
            return self._epochs.epoch(name, iteration).folder
        folder = self._epochs.epoch(name, epoch).folder
        is_last = iteration == self._last_iteration(name, epoch)
        return folder if is_last else f"{folder}/iteration-{iteration}"

    def weights(self, wildcards: Any) -> list[str]:
        """Return the weights that decode: the previous iteration's, or at first initial or mixed ones."""
        name, epoch = wildcards.experiment, int(wildcards.epoch)
        if (iteration := self._iteration(wildcards)) > 1:
            return [f"{self._folder(name, epoch, iteration - 1)}/weights.h5"]
        found = self._epochs.epoch(name, epoch)
        return found.start if self._is_batch(wildcards) else [found.mixed]

    def level_before(self, wildcards: Any) -> list[str]:
        """Return the lists of files that all shards wait for, so that they start together."""
        if self._is_batch(wildcards):
            return self._epochs.level_before(wildcards)
        return [f"{self._epochs.shards.folder('dev', str(self._config.decoder.jobs))}/files.txt"]

    def command(self, wildcards: Any) -> str:
        """Return the command that writes the lists."""
        return "forest" if isinstance(self._tuner(wildcards.experiment), ForestMert) else "kbest"

    @functools.cache  # noqa: B019  (there is one plan)
    def _options(self, name: str) -> str:
        experiment = self._config.experiments[name]
        search = search_of(self._config, experiment)
        if not isinstance(self._tuner(name), ForestMert):
            return options(**options_of(search))
        # the sum of sparse features: forests include it with features: all, lists with an option of the rule
        features = "all" if held_out_tuner(experiment) is not None else search.features
        density = self._config.decoder.forest_density
        return options(**options_of(ForestSettings(features, (), search.pop_limit, search.max_span, density)))

    def options(self, wildcards: Any) -> str:
        """Return the options of that command."""
        place = options(
            weights=self.weights(wildcards),
            iteration=self._iteration(wildcards),
            shard_number=wildcards.shard,
        )
        return f"{place} {self._options(wildcards.experiment)}"

    def per_job(self, wildcards: Any) -> int:
        """Return the number of lists that a task of an array writes."""
        return self._epochs.shards_per_job(wildcards) if self._is_batch(wildcards) else 1

    def _count(self, name: str) -> int:
        is_batch = name in self._epochs.batch
        return self._config.experiments[name].tasks.shards if is_batch else self._config.decoder.jobs

    def written(self, wildcards: Any) -> list[str]:
        """Return the lists to tune on: those of all iterations so far, but only the newest forests of dev."""
        name, last = wildcards.experiment, self._iteration(wildcards)
        is_newest = not self._is_batch(wildcards) and self.command(wildcards) == "forest"
        return [
            f"{self._folder(name, int(wildcards.epoch), iteration)}/lists/{shard}.h5"
            for iteration in range(last if is_newest else 1, last + 1)
            for shard in range(self._count(name))
        ]

    def weights_before(self, wildcards: Any) -> list[str]:
        """Return the weights that the epoch started from, if the tuner searches along the step from there."""
        epoch, tuner = self._epochs.of(wildcards), self._tuner(wildcards.experiment)
        searches_step = isinstance(tuner, LineSearch) and STEP in tuner.directions
        return epoch.start if epoch.number > 1 and searches_step else []

    def tune_options(self, wildcards: Any) -> str:
        """Return the options of `itersel tune`."""
        name = wildcards.experiment
        tuner = self._tuner(name)
        return options(
            previous=self.weights(wildcards),
            last=self.weights_before(wildcards),
            sum_sparse=not self._is_batch(wildcards),
            shards=self._count(name),
            iteration=self._iteration(wildcards),
            seed=own_seed(self._config, self._config.experiments[name]),
            tuner=name_in(HELD_OUT_TUNERS, tuner),
            **options_of(tuner),
        )
