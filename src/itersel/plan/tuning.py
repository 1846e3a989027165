"""Batch tuning: the files and settings of its jobs, those that write tuning files and those that tune.

What differs between the epochs of a batch tuner and the retuning of mixed weights is in `iterations`.
"""

from __future__ import annotations

import functools
from typing import Any

from itersel.config.defaults import never_null
from itersel.config.learning_steps import TuneSettings
from itersel.config.search import ForestSettings, KBestSettings
from itersel.config.settings import as_json
from itersel.plan.epochs import Epoch, Epochs
from itersel.plan.iterations import Iterations, iterations_of
from itersel.plan.part import Foundation, PlanPart
from itersel.plan.searches import search_of
from itersel.vectors.feature_names import ALL_FEATURES


class Tuning(PlanPart):
    """The tuning of all experiments that have a batch tuner, as the rules ask for it."""

    def __init__(self, foundation: Foundation, epochs: Epochs) -> None:
        super().__init__(foundation)
        self._epochs = epochs

    @functools.cache  # noqa: B019  (there is one plan)
    def _of_epoch(self, epoch: Epoch) -> Iterations:
        return iterations_of(epoch, self._foundation)

    def _iterations(self, wildcards: Any) -> Iterations:
        return self._of_epoch(self._epochs.of(wildcards))

    def iteration(self, wildcards: Any) -> int:
        """Return the number of the iteration."""
        return int(getattr(wildcards, "iteration", self._epochs.of(wildcards).last_iteration))

    def start_of_iteration(self, wildcards: Any) -> list[str]:
        """Return the start weights: those of the previous iteration, of the epoch, or the mixed ones."""
        return self._iterations(wildcards).start_weights(self.iteration(wildcards))

    # The jobs that write tuning files.

    def decoded_files(self, wildcards: Any) -> list[str]:
        """Return the files of sentences to decode for a tuning file: their grammars."""
        return self._iterations(wildcards).files_of(int(wildcards.file))

    def decoding_language_models(self, wildcards: Any) -> list[str]:
        """Return the language model for each of `decoded_files`."""
        return self._iterations(wildcards).language_models_of(int(wildcards.file))

    def files_per_array_task(self, wildcards: Any) -> int:
        """Return the number of tuning files that an array task writes."""
        return self._iterations(wildcards).files_per_array_task

    def level_before_decoding(self, wildcards: Any) -> list[str]:
        """Return the manifests that all shards or pieces wait for, so that they start together."""
        return self._iterations(wildcards).level_before_decoding

    def step(self, wildcards: Any) -> str:
        """Return the step that writes a tuning file."""
        return "forest" if self._epochs.of(wildcards).reads_forests else "kbest"

    def decoding_settings(self, wildcards: Any) -> str:
        """Return the `KBestSettings` or `ForestSettings` of that step."""
        return self._decoding_settings(wildcards.experiment)

    @functools.cache  # noqa: B019  (there is one plan)
    def _decoding_settings(self, name: str) -> str:
        experiment = self._config.experiments[name]
        search = vars(search_of(self._config, experiment))
        if not self._epochs.epoch(name, 1).reads_forests:
            return as_json(KBestSettings(**search, k_best=never_null(experiment.k_best)))

        if experiment.retune.batch_tuner is not None:
            # forests contain the sum of the sparse features; to lists, the tuner adds it
            search = {**search, "features": ALL_FEATURES}
        return as_json(ForestSettings(**search, forest_density=self._config.decoder.forest_density))

    # The jobs that tune.

    def tuning_files(self, wildcards: Any) -> list[str]:
        """Return the files to tune on: of all iterations so far, but only the newest forests of dev."""
        iterations = self._iterations(wildcards)
        decoded = iterations.written_files(self.iteration(wildcards))

        sentence_files: list[str] = []
        for number in range(iterations.count):
            sentence_files += iterations.files_of(number)

        return self._origin.tuning_files(sentence_files, decoded)

    def start_of_epoch(self, wildcards: Any) -> list[str]:
        """Return the weights that the epoch started from, if the tuner searches along its step."""
        epoch = self._epochs.of(wildcards)
        searches_epoch_step = epoch.tuner is not None and epoch.tuner.searches_epoch_step
        return epoch.start if epoch.number > 1 and searches_epoch_step else []

    def tune_settings(self, wildcards: Any) -> str:
        """Return the `TuneSettings` of an experiment."""
        epoch = self._epochs.of(wildcards)
        iterations = self._iterations(wildcards)
        # there are no such jobs without a tuner
        assert epoch.tuner is not None

        return as_json(
            TuneSettings(
                tuner=epoch.tuner,
                files=iterations.count,
                seed=never_null(epoch.experiment.seed),
                features=epoch.experiment.features,
                retune=iterations.retunes,
                left_out_templates=self._origin.left_out_templates(epoch.experiment),
            )
        )
