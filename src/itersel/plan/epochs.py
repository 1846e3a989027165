"""The epochs of the experiments: what shards learn from, and how weights are mixed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from itersel.config.defaults import never_null
from itersel.config.learning_steps import MixSettings
from itersel.config.settings import as_json
from itersel.plan.language_models import LanguageModels
from itersel.plan.part import Foundation, PlanPart
from itersel.results import (
    BEST,
    DECISION,
    MANIFEST,
    MIXED,
    WEIGHTS,
    epoch_folder,
    sentence_file,
    shard_weights,
    translated_piece,
)


class Epoch(PlanPart):
    """An epoch of an experiment, counted from 1."""

    def __init__(
        self, foundation: Foundation, language_models: LanguageModels, name: str, number: int
    ) -> None:
        super().__init__(foundation)
        self._language_models = language_models
        self.name = name
        self.number = number
        self.experiment = self._config.experiments[name]
        self.folder = self._files.experiment(name, epoch_folder(number))
        self.weights = f"{self.folder}/{WEIGHTS}"
        # whether training stops after this epoch
        self.decision = f"{self.folder}/{DECISION}"

        retune = self.experiment.retune
        self.is_batch = self.experiment.batch_tuner is not None
        # the tuner of its weights on lists, if any, and the number of the tuner's last iteration
        self.tuner = self.experiment.batch_tuner or retune.batch_tuner
        self.reads_forests = self.tuner is not None and self.tuner.reads_forests
        self.last_iteration = number if self.is_batch else retune.iteration_count

        # the output of `itersel step mix`, which may be tuned afterwards
        self.mixed = self.weights if retune.batch_tuner is None else f"{self.folder}/{MIXED}"

    def at(self, number: int) -> Epoch:
        """Return another epoch of the experiment."""
        return Epoch(self._foundation, self._language_models, self.name, number)

    @property
    def before(self) -> Epoch:
        """The previous epoch."""
        return self.at(self.number - 1)

    @property
    def start(self) -> list[str]:
        """The weights that all shards start with: none, another experiment's, tuned or mixed ones."""
        if self.number == 1:
            start = self.experiment.start_from
            return [self._files.experiment(start, f"{BEST}/{WEIGHTS}")] if start else []
        is_tuned = self.experiment.retune.next_epoch_from == "tuned"
        return [self.before.weights if is_tuned else self.before.mixed]

    @property
    def goes_on_alone(self) -> bool:
        """Whether each shard starts with its own weights from the previous epoch."""
        return self.number > 1 and self.experiment.mixing.shards_continue and not self.is_batch

    @property
    def mixed_before(self) -> list[str]:
        """The mixed weights of the previous epoch, if mixing depends on them."""
        needs_it = self.number > 1 and self.experiment.mixing.needs_previous
        return [self.before.mixed] if needs_it else []

    @property
    def decision_needed(self) -> list[str]:
        """The decision whether this epoch trains; none if it always trains."""
        patience = self.experiment.patience
        return self.decision_before if patience is not None and self.number > patience + 1 else []

    @property
    def decision_before(self) -> list[str]:
        """The decision after the previous epoch, with the scores so far."""
        return [self.before.decision] if self.number > 1 else []

    def files_passed_on(self, path: str) -> dict[str, list[str]]:
        """Return the decision, and the previous epoch's file to pass on if training has stopped."""
        return {"decision": self.decision_needed, "passed_on": [path] if self.decision_needed else []}

    @property
    def level_before(self) -> list[str]:
        """The manifests that all shards wait for, so that they start together: one array job."""
        if self.goes_on_alone:
            return [f"{self.before.folder}/{MANIFEST}"]
        if self.number > 1:
            return []

        sentences = f"{self.sentence_folder}/{MANIFEST}"
        folds = self._language_models.folds(self.experiment)
        if folds == 1:
            return [sentences]
        folder = self._language_models.fold_folder(self._divisions.name(self.experiment), folds)
        return [sentences, f"{folder}/{MANIFEST}"]

    @property
    def sentence_folder(self) -> str:
        """The folder of the sentences of the tuning corpus: grammars, or given lists."""
        return self._divisions.folder(self.experiment.tune_on, self._divisions.name(self.experiment))

    def _file_numbers(self, shard: int) -> Sequence[int]:
        """Return the numbers of the files with the sentences of a shard, in training order."""
        return self.experiment.tasks.files_of_shard(shard, never_null(self.experiment.seed), self.number)

    def shard_files(self, shard: int) -> list[str]:
        """Return the files with the sentences of a shard: grammars, or given lists."""
        return [f"{self.sentence_folder}/{sentence_file(file)}" for file in self._file_numbers(shard)]

    def shard_language_models(self, shard: int) -> list[str]:
        """Return the language model for each file: the full model, or one that has not seen its text."""
        folds = self._language_models.folds(self.experiment)
        if folds == 1:
            return self._origin.language_models

        fold_model = self._language_models.fold_model
        division = self._divisions.name(self.experiment)
        return [fold_model(division, folds, file % folds) for file in self._file_numbers(shard)]

    def shard_weights(self, number: int | str) -> str:
        """Return the weights of a shard."""
        return f"{self.folder}/{shard_weights(number)}"


class Epochs(PlanPart):
    """The epochs of all experiments, as the rules ask for them."""

    def __init__(self, foundation: Foundation, language_models: LanguageModels) -> None:
        super().__init__(foundation)
        self._language_models = language_models

        experiments = self._config.experiments
        # by the rules that make the weights of an epoch: `tune`, `mix` and then `tune`, or `mix`
        self.batch = [name for name, one in experiments.items() if one.batch_tuner]
        self.retuned = [name for name, one in experiments.items() if one.retune.batch_tuner]
        self.mixed = [name for name in experiments if name not in (*self.batch, *self.retuned)]
        self.selecting = [name for name, one in experiments.items() if one.mixing.selects]
        # the epochs by the names of their folders
        most = max(one.epochs for one in experiments.values())
        self._number_of_stage = {epoch_folder(number): number for number in range(1, most + 1)}

    @functools.cache  # noqa: B019  (there is one plan)
    def epoch(self, name: str, number: int) -> Epoch:
        """Return an epoch of an experiment, counted from 1."""
        return Epoch(self._foundation, self._language_models, name, number)

    def of(self, wildcards: Any) -> Epoch:
        """Return the epoch of a job."""
        return self.epoch(wildcards.experiment, int(wildcards.epoch))

    def passed_translation(self, wildcards: Any) -> dict[str, list[str]]:
        """Return the files of `Epoch.files_passed_on` for a translation; none at the best epoch."""
        number = self._number_of_stage.get(wildcards.stage)
        if number is None:
            return {"decision": [], "passed_on": []}
        epoch = self.epoch(wildcards.experiment, number)
        return epoch.files_passed_on(
            f"{epoch.before.folder}/{translated_piece(wildcards.split, wildcards.piece)}"
        )

    def passed_mixed(self, wildcards: Any) -> dict[str, list[str]]:
        """Return the files of `Epoch.files_passed_on` for mixed weights."""
        epoch = self.of(wildcards)
        return epoch.files_passed_on(epoch.before.mixed)

    def passed_weights(self, wildcards: Any) -> dict[str, list[str]]:
        """Return the files of `Epoch.files_passed_on` for tuned weights."""
        epoch = self.of(wildcards)
        return epoch.files_passed_on(epoch.before.weights)

    def training_files(self, wildcards: Any) -> list[str]:
        """Return the files with the sentences of a shard: grammars, or given lists."""
        return self.of(wildcards).shard_files(int(wildcards.shard))

    def training_language_models(self, wildcards: Any) -> list[str]:
        """Return the language model for each file: the full model, or one that has not seen its text."""
        return self.of(wildcards).shard_language_models(int(wildcards.shard))

    def start_of_shard(self, wildcards: Any) -> list[str]:
        """Return the weights that a shard starts with: its own from the previous epoch, or `Epoch.start`."""
        epoch = self.of(wildcards)
        return [epoch.before.shard_weights(wildcards.shard)] if epoch.goes_on_alone else epoch.start

    def trained_shards(self, wildcards: Any) -> list[str]:
        """Return the weights of all shards."""
        epoch = self.of(wildcards)
        return [epoch.shard_weights(number) for number in range(epoch.experiment.tasks.shards)]

    def mix_settings(self, wildcards: Any) -> str:
        """Return the `MixSettings` of an experiment."""
        experiment = self._config.experiments[wildcards.experiment]
        return as_json(MixSettings(mixing=experiment.mixing, shards=experiment.tasks.shards))

    def array_name(self, wildcards: Any) -> str:
        """Return the name of the array job of an epoch or iteration."""
        iteration = getattr(wildcards, "iteration", None)
        return ".".join(filter(None, [wildcards.experiment, wildcards.epoch, iteration]))

    def shards_per_array_task(self, wildcards: Any) -> int:
        """Return the number of shards that an array task trains."""
        return self._config.experiments[wildcards.experiment].tasks.shards_per_array_task

    def translated_pieces(self, wildcards: Any) -> list[str]:
        """Return the translations of the pieces of a split."""
        folder = self._files.experiment(wildcards.experiment, wildcards.stage)
        pieces = range(self._config.decoder.pieces)
        return [f"{folder}/{translated_piece(wildcards.split, piece)}" for piece in pieces]

    def of_all(self, path: str) -> Any:
        """Return a function of wildcards that gives the files with this name in all epochs."""

        def files(wildcards: Any) -> list[str]:
            name = wildcards.experiment
            path_of_job = path.format(**dict(wildcards.items()))
            epochs = range(1, self._config.experiments[name].epochs + 1)
            return [f"{self.epoch(name, epoch).folder}/{path_of_job}" for epoch in epochs]

        return files
