"""Lists for tuners: decoder output, or lists from another decoder."""

from __future__ import annotations

import functools
from typing import Any

from itersel.config.defaults import filled_in
from itersel.config.search import ForestSettings, KBestSettings
from itersel.config.settings import as_json
from itersel.config.steps import TuneSettings
from itersel.config.values import Config
from itersel.plan.commands import Files, held_out_tuner
from itersel.plan.epochs import Epochs


class Lists:
    """The lists of all experiments that tune, written by decoding; `GivenLists` differ.

    For a batch tuner, each epoch is one iteration, in which all shards are decoded. A tuner of mixed weights
    has one or more iterations per epoch, in which dev is decoded; the lists of the last iteration are in the
    epoch's folder.
    """

    def __init__(self, config: Config, files: Files, epochs: Epochs) -> None:
        self._config, self._files, self._epochs = config, files, epochs
        self._dev = epochs.shards.folder("dev", str(config.decoder.jobs))

    def _is_batch(self, wildcards: Any) -> bool:
        return self._epochs.of(wildcards).is_batch

    def shard(self, wildcards: Any) -> list[str]:
        """Return the grammars of the sentences of a list."""
        if self._is_batch(wildcards):
            return self._epochs.training_files(wildcards)
        return [f"{self._dev}/{wildcards.shard}.h5"]

    def models(self, wildcards: Any) -> list[str]:
        """Return the language model for each file of `shard`."""
        return self._epochs.training_models(wildcards) if self._is_batch(wildcards) else self._files.models

    def iteration(self, wildcards: Any) -> int:
        """Return the number of the iteration."""
        return int(getattr(wildcards, "iteration", self._epochs.of(wildcards).last_iteration))

    def _folder(self, wildcards: Any, iteration: int) -> str:
        """Return the folder of the lists and weights of an iteration, the job's or an earlier one."""
        epoch = self._epochs.of(wildcards)
        if epoch.is_batch:
            return self._epochs.epoch(epoch.name, iteration).folder
        return epoch.folder if iteration == epoch.last_iteration else f"{epoch.folder}/iteration-{iteration}"

    def weights(self, wildcards: Any) -> list[str]:
        """Return the weights to decode with: the previous iteration's; at first, initial or mixed weights."""
        epoch, iteration = self._epochs.of(wildcards), self.iteration(wildcards)
        if iteration > 1:
            return [f"{self._folder(wildcards, iteration - 1)}/weights.h5"]
        return epoch.start if epoch.is_batch else [epoch.mixed]

    def level_before(self, wildcards: Any) -> list[str]:
        """Return the lists of files that all shards wait for, so that they start together."""
        if self._is_batch(wildcards):
            return self._epochs.of(wildcards).level_before
        return [f"{self._dev}/files.txt"]

    def step(self, wildcards: Any) -> str:
        """Return the step that writes the lists."""
        return "forest" if self._epochs.of(wildcards).reads_forests else "kbest"

    @functools.cache  # noqa: B019  (there is one plan)
    def _settings(self, name: str) -> str:
        experiment = self._config.experiments[name]
        pop_limit, max_span = self._config.decoder.pop_limit, self._config.grammar.max_span

        if not self._epochs.epoch(name, 1).reads_forests:
            return as_json(
                KBestSettings(
                    features=experiment.features,
                    templates=experiment.templates,
                    pop_limit=pop_limit,
                    max_span=max_span,
                    k_best=filled_in(experiment.k_best),
                )
            )

        return as_json(
            ForestSettings(
                # with features: all, forests include the sum of sparse features; for lists, a setting of the
                # tuner adds it
                features="all" if held_out_tuner(experiment) else experiment.features,
                pop_limit=pop_limit,
                max_span=max_span,
                density=self._config.decoder.forest_density,
            )
        )

    def settings(self, wildcards: Any) -> str:
        """Return the `KBestSettings` or `ForestSettings` of that step."""
        return self._settings(wildcards.experiment)

    def per_job(self, wildcards: Any) -> int:
        """Return the number of lists that a task of an array writes."""
        return self._epochs.shards_per_job(wildcards) if self._is_batch(wildcards) else 1

    def _count(self, wildcards: Any) -> int:
        """Return the number of shards that have lists."""
        epoch = self._epochs.of(wildcards)
        return epoch.experiment.tasks.shards if epoch.is_batch else self._config.decoder.jobs

    def to_tune_on(self, wildcards: Any) -> list[str]:
        """Return the files to tune on: lists of all iterations so far, but only the newest forests of dev."""
        last = self.iteration(wildcards)
        is_newest = not self._is_batch(wildcards) and self.step(wildcards) == "forest"
        return [
            f"{self._folder(wildcards, iteration)}/lists/{shard}.h5"
            for iteration in range(last if is_newest else 1, last + 1)
            for shard in range(self._count(wildcards))
        ]

    def weights_before(self, wildcards: Any) -> list[str]:
        """Return the weights that the epoch started from, if the tuner searches along the step from there."""
        epoch = self._epochs.of(wildcards)
        searches_step = epoch.tuner is not None and epoch.tuner.searches_step
        return epoch.start if epoch.number > 1 and searches_step else []

    def tune_settings(self, wildcards: Any) -> str:
        """Return the `TuneSettings` of an experiment."""
        epoch = self._epochs.of(wildcards)
        # there are no such jobs without a tuner
        assert epoch.tuner is not None

        return as_json(
            TuneSettings(
                tuner=epoch.tuner,
                shards=self._count(wildcards),
                seed=filled_in(epoch.experiment.seed),
                features=epoch.experiment.features,
                sum_sparse=not self._is_batch(wildcards),
            )
        )


class GivenLists(Lists):
    """The lists of another decoder, which tuners read whole in every iteration; nothing is decoded."""

    def _count(self, wildcards: Any) -> int:
        """Return the number of files."""
        return len(self.to_tune_on(wildcards))

    def to_tune_on(self, wildcards: Any) -> list[str]:
        """Return the lists of all shards."""
        if not self._is_batch(wildcards):
            return [f"{self._dev}/{shard}.h5" for shard in range(self._config.decoder.jobs)]
        epoch = self._epochs.of(wildcards)
        shards = range(epoch.experiment.tasks.shards)
        return [f"{epoch.grammars}/{file}.h5" for shard in shards for file in epoch.files(shard)]
