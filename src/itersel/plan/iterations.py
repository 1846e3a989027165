"""The iterations of batch tuners in an epoch: what each decodes, with which weights, and where its files are.

A tuning file has the k-best lists, or the forests, of one file of sentences in one iteration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from itersel.plan.epochs import Epoch
from itersel.plan.part import Foundation
from itersel.results import MANIFEST, WEIGHTS, iteration_folder, tuning_file


class Iterations(ABC):
    """The iterations of the tuner of an epoch."""

    retunes: ClassVar[bool]  # mixed weights: the dense features, and one factor for all sparse ones

    def __init__(self, epoch: Epoch) -> None:
        self._epoch = epoch

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of tuning files of an iteration, one for each shard or piece."""

    @abstractmethod
    def files_of(self, number: int) -> list[str]:
        """Return the files with the sentences of a tuning file: grammars, or given lists."""

    @abstractmethod
    def language_models_of(self, number: int) -> list[str]:
        """Return the language model for each of these files."""

    @property
    @abstractmethod
    def files_per_array_task(self) -> int:
        """The number of tuning files that an array task writes."""

    @property
    @abstractmethod
    def level_before_decoding(self) -> list[str]:
        """The manifests that all shards or pieces wait for, so that they start together."""

    @abstractmethod
    def folder(self, iteration: int) -> str:
        """Return the folder of the tuning files and weights of an iteration, the job's or an earlier one."""

    @property
    @abstractmethod
    def first_weights(self) -> list[str]:
        """The start weights of the first iteration."""

    @abstractmethod
    def oldest(self, iteration: int) -> int:
        """Return the first iteration whose tuning files are read in an iteration."""

    def start_weights(self, iteration: int) -> list[str]:
        """Return the start weights of an iteration: those of the one before, or of the first."""
        return [f"{self.folder(iteration - 1)}/{WEIGHTS}"] if iteration > 1 else self.first_weights

    def written_files(self, iteration: int) -> list[str]:
        """Return the tuning files of all shards or pieces that an iteration reads.

        With given lists, nothing writes them: the lists are read instead.
        """
        numbers = range(self.oldest(iteration), iteration + 1)
        names = [tuning_file(number) for number in range(self.count)]
        return [f"{folder}/{name}" for folder in map(self.folder, numbers) for name in names]


class _BatchIterations(Iterations):
    """The epochs of a batch tuner: each is an iteration, in which all shards are decoded."""

    retunes = False

    @property
    def count(self) -> int:
        return self._epoch.experiment.tasks.shards

    def files_of(self, number: int) -> list[str]:
        return self._epoch.shard_files(number)

    def language_models_of(self, number: int) -> list[str]:
        return self._epoch.shard_language_models(number)

    @property
    def files_per_array_task(self) -> int:
        return self._epoch.experiment.tasks.shards_per_array_task

    @property
    def level_before_decoding(self) -> list[str]:
        return self._epoch.level_before

    def folder(self, iteration: int) -> str:
        return self._epoch.at(iteration).folder

    @property
    def first_weights(self) -> list[str]:
        return self._epoch.start

    def oldest(self, iteration: int) -> int:
        return 1


class _RetuneIterations(Iterations):
    """One or more iterations in each epoch, in which dev is decoded to tune mixed weights.

    The tuning files of the last iteration are in the epoch's folder.
    """

    retunes = True

    def __init__(self, epoch: Epoch, foundation: Foundation) -> None:
        super().__init__(epoch)
        divisions = foundation.divisions
        self._pieces = divisions.pieces("dev")
        self._folder_of_pieces = divisions.folder("dev", divisions.of_pieces)
        self._language_models = foundation.origin.language_models

    @property
    def count(self) -> int:
        return len(self._pieces)

    def files_of(self, number: int) -> list[str]:
        return [self._pieces[number]]

    def language_models_of(self, number: int) -> list[str]:
        return self._language_models

    @property
    def files_per_array_task(self) -> int:
        return 1

    @property
    def level_before_decoding(self) -> list[str]:
        return [f"{self._folder_of_pieces}/{MANIFEST}"]

    def folder(self, iteration: int) -> str:
        is_last = iteration == self._epoch.last_iteration
        return self._epoch.folder if is_last else f"{self._epoch.folder}/{iteration_folder(iteration)}"

    @property
    def first_weights(self) -> list[str]:
        return [self._epoch.mixed]

    def oldest(self, iteration: int) -> int:
        # forests have the sum of sparse features under the weights of their iteration
        return iteration if self._epoch.reads_forests else 1


def iterations_of(epoch: Epoch, foundation: Foundation) -> Iterations:
    """Return the iterations of the tuner of an epoch."""
    return _BatchIterations(epoch) if epoch.is_batch else _RetuneIterations(epoch, foundation)
