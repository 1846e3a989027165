"""Batch tuning: the iterations of tuners, their tuning files, start weights and settings.

A tuning file has the k-best lists, or the forests, of one file of sentences in one iteration.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Protocol

from itersel.config.defaults import never_null
from itersel.config.search import ForestSettings, KBestSettings
from itersel.config.settings import as_json
from itersel.config.steps import TuneSettings
from itersel.config.values import Config
from itersel.plan.divisions import Divisions
from itersel.plan.epochs import Epoch, Epochs
from itersel.plan.origin import Origin
from itersel.results import MANIFEST, WEIGHTS, iteration_folder, tuning_file
from itersel.vectors.feature_names import ALL_FEATURES


class _Iterations(Protocol):
    """The iterations of a tuner: what each decodes, with which weights, and where its files are."""

    retunes: ClassVar[bool]  # mixed weights: the dense features, and one factor for all sparse ones

    def folder(self, epoch: Epoch, iteration: int) -> str:
        """Return the folder of the tuning files and weights of an iteration, the job's or an earlier one."""

    def first_weights(self, epoch: Epoch) -> list[str]:
        """Return the start weights of the first iteration."""

    def oldest(self, epoch: Epoch, iteration: int) -> int:
        """Return the first iteration whose tuning files are read in an iteration."""

    def file_count(self, epoch: Epoch) -> int:
        """Return the number of files of sentences that are decoded, one for each shard or piece."""

    def all_sentence_files(self, epoch: Epoch) -> list[str]:
        """Return the files with all sentences: grammars, or given lists."""

    def level_before(self, epoch: Epoch) -> list[str]:
        """Return the manifests that all shards or pieces wait for, so that they start together."""

    def sentence_files(self, epoch: Epoch, file: int) -> list[str]:
        """Return the files with the sentences to decode for a tuning file: their grammars."""

    def language_models(self, epoch: Epoch, file: int) -> list[str]:
        """Return the language model for each file of `sentence_files`."""

    def shards_per_array_task(self, epoch: Epoch) -> int:
        """Return the number of tuning files that an array task writes."""


class _BatchIterations(_Iterations):
    """The epochs of a batch tuner: each is an iteration, in which all shards are decoded."""

    retunes = False

    def folder(self, epoch: Epoch, iteration: int) -> str:
        return epoch.at(iteration).folder

    def first_weights(self, epoch: Epoch) -> list[str]:
        return epoch.start

    def oldest(self, epoch: Epoch, iteration: int) -> int:
        return 1

    def file_count(self, epoch: Epoch) -> int:
        return epoch.experiment.tasks.shards

    def all_sentence_files(self, epoch: Epoch) -> list[str]:
        return [file for shard in range(self.file_count(epoch)) for file in epoch.sentence_files(shard)]

    def level_before(self, epoch: Epoch) -> list[str]:
        return epoch.level_before

    def sentence_files(self, epoch: Epoch, file: int) -> list[str]:
        return epoch.sentence_files(file)

    def language_models(self, epoch: Epoch, file: int) -> list[str]:
        return epoch.language_models(file)

    def shards_per_array_task(self, epoch: Epoch) -> int:
        return epoch.experiment.tasks.shards_per_array_task


class _RetuneIterations(_Iterations):
    """One or more iterations in each epoch, in which dev is decoded to tune mixed weights.

    The tuning files of the last iteration are in the epoch's folder.
    """

    retunes = True

    def __init__(self, origin: Origin, divisions: Divisions) -> None:
        self._origin = origin
        self._files = divisions.pieces("dev")
        self._folder = divisions.folder("dev", divisions.of_pieces)

    def folder(self, epoch: Epoch, iteration: int) -> str:
        is_last = iteration == epoch.last_iteration
        return epoch.folder if is_last else f"{epoch.folder}/{iteration_folder(iteration)}"

    def first_weights(self, epoch: Epoch) -> list[str]:
        return [epoch.mixed]

    def oldest(self, epoch: Epoch, iteration: int) -> int:
        # forests have the sum of sparse features under the weights of their iteration
        return iteration if epoch.reads_forests else 1

    def file_count(self, epoch: Epoch) -> int:
        return len(self._files)

    def all_sentence_files(self, epoch: Epoch) -> list[str]:
        return self._files

    def level_before(self, epoch: Epoch) -> list[str]:
        return [f"{self._folder}/{MANIFEST}"]

    def sentence_files(self, epoch: Epoch, file: int) -> list[str]:
        return [self._files[file]]

    def language_models(self, epoch: Epoch, file: int) -> list[str]:
        return self._origin.language_models

    def shards_per_array_task(self, epoch: Epoch) -> int:
        return 1


def _decoded_tuning_files(iterations: _Iterations, epoch: Epoch, last: int) -> list[str]:
    """Return the tuning files that have been decoded for all shards or pieces so far."""
    numbers = range(iterations.oldest(epoch, last), last + 1)
    folders = [iterations.folder(epoch, number) for number in numbers]
    files = range(iterations.file_count(epoch))
    return [f"{folder}/{tuning_file(file)}" for folder in folders for file in files]


class Tuning:
    """The tuning of all experiments that have a batch tuner, as the rules ask for it."""

    def __init__(self, config: Config, origin: Origin, divisions: Divisions, epochs: Epochs) -> None:
        self._config = config
        self._origin = origin
        self._epochs = epochs
        self._batch = _BatchIterations()
        self._retune = _RetuneIterations(origin, divisions)

    def _of(self, epoch: Epoch) -> _Iterations:
        return self._batch if epoch.is_batch else self._retune

    def sentence_files(self, wildcards: Any) -> list[str]:
        """Return the files with the sentences to decode for a tuning file: their grammars."""
        epoch = self._epochs.of(wildcards)
        return self._of(epoch).sentence_files(epoch, int(wildcards.file))

    def language_models(self, wildcards: Any) -> list[str]:
        """Return the language model for each file of `sentence_files`."""
        epoch = self._epochs.of(wildcards)
        return self._of(epoch).language_models(epoch, int(wildcards.file))

    def shards_per_array_task(self, wildcards: Any) -> int:
        """Return the number of tuning files that an array task writes."""
        epoch = self._epochs.of(wildcards)
        return self._of(epoch).shards_per_array_task(epoch)

    def level_before(self, wildcards: Any) -> list[str]:
        """Return the manifests that all shards or pieces wait for, so that they start together."""
        epoch = self._epochs.of(wildcards)
        return self._of(epoch).level_before(epoch)

    def iteration(self, wildcards: Any) -> int:
        """Return the number of the iteration."""
        return int(getattr(wildcards, "iteration", self._epochs.of(wildcards).last_iteration))

    def start_weights(self, wildcards: Any) -> list[str]:
        """Return the start weights: those of the previous iteration, of the epoch, or the mixed ones."""
        epoch = self._epochs.of(wildcards)
        iteration = self.iteration(wildcards)
        iterations = self._of(epoch)
        if iteration > 1:
            return [f"{iterations.folder(epoch, iteration - 1)}/{WEIGHTS}"]
        return iterations.first_weights(epoch)

    def step(self, wildcards: Any) -> str:
        """Return the step that writes a tuning file."""
        return "forest" if self._epochs.of(wildcards).reads_forests else "kbest"

    @functools.cache  # noqa: B019  (there is one plan)
    def _settings(self, name: str) -> str:
        experiment = self._config.experiments[name]
        keys = vars(self._origin.decoding(experiment))
        if not self._epochs.epoch(name, 1).reads_forests:
            return as_json(KBestSettings(**keys, k_best=never_null(experiment.k_best)))

        if experiment.retune.batch_tuner is not None:
            # forests contain the sum of the sparse features; to lists, the tuner adds it
            keys = {**keys, "features": ALL_FEATURES}
        return as_json(ForestSettings(**keys, forest_density=self._config.decoder.forest_density))

    def settings(self, wildcards: Any) -> str:
        """Return the `KBestSettings` or `ForestSettings` of that step."""
        return self._settings(wildcards.experiment)

    def tuning_files(self, wildcards: Any) -> list[str]:
        """Return the files to tune on: of all iterations so far, but only the newest forests of dev."""
        epoch = self._epochs.of(wildcards)
        iterations = self._of(epoch)
        decoded = _decoded_tuning_files(iterations, epoch, self.iteration(wildcards))
        return self._origin.tuning_files(iterations.all_sentence_files(epoch), decoded)

    def epoch_start(self, wildcards: Any) -> list[str]:
        """Return the weights that the epoch started from, if the tuner searches along its step."""
        epoch = self._epochs.of(wildcards)
        searches_epoch_step = epoch.tuner is not None and epoch.tuner.searches_epoch_step
        return epoch.start if epoch.number > 1 and searches_epoch_step else []

    def tune_settings(self, wildcards: Any) -> str:
        """Return the `TuneSettings` of an experiment."""
        epoch = self._epochs.of(wildcards)
        # there are no such jobs without a tuner
        assert epoch.tuner is not None

        return as_json(
            TuneSettings(
                tuner=epoch.tuner,
                files=self._of(epoch).file_count(epoch),
                seed=never_null(epoch.experiment.seed),
                features=epoch.experiment.features,
                retune=self._of(epoch).retunes,
                left_out_templates=self._origin.left_out_templates(epoch.experiment),
            )
        )
