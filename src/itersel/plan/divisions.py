"""How each split is divided into files of sentences, and what the jobs that make these files need.

A division of train or dev has the parts of an experiment's shards; one of devtest or a test set has pieces.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, NamedTuple

from itersel.config.defaults import never_null
from itersel.config.division import DivideSettings, Division, InOrder, Labelled, Pooled, Shuffled
from itersel.config.settings import as_json
from itersel.config.tasks import Tasks
from itersel.config.values import Config, Experiment
from itersel.corpus.text_names import column_file, ids_file
from itersel.plan.files import Files
from itersel.plan.texts import Texts
from itersel.results import DIVIDED_TEXT, division_folder, sentence_file


class NamedDivision(NamedTuple):
    """What the name of a division stands for."""

    file_count: int
    seed: int
    by_label: Labelled | Pooled | None = None  # how text is divided if that depends on labels, with any seed


class Divisions:
    """The divisions of all splits; experiments with the same tasks and the same seed share one."""

    def __init__(self, config: Config, files: Files, texts: Texts) -> None:
        self._config = config
        self._files = files
        self._texts = texts
        # the name of the division of texts that are only translated
        self.of_pieces = str(config.decoder.pieces)

        # all divisions by name, and the names of those of independent tasks, whose epochs are chosen on the
        # devtest sentences with their label
        self._named = {self.of_pieces: NamedDivision(config.decoder.pieces, config.seed)}
        self._scored_by_task: set[str] = set()
        for one in config.experiments.values():
            name = self.name(one)
            tasks = one.tasks
            self._named[name] = NamedDivision(tasks.file_count, never_null(one.seed), tasks.division_by_label)
            if tasks.only_label is not None:
                self._scored_by_task.add(name)

    @property
    def names(self) -> list[str]:
        """The names of all divisions, which are the names of their folders."""
        return list(self._named)

    def name(self, experiment: Experiment) -> str:
        """Return the name of an experiment's division; it includes a seed that is not the run's."""
        name = division_of(experiment.tasks)
        seed = never_null(experiment.seed)
        return name if seed == self._config.seed else f"{name}-seed-{seed}"

    def file_count(self, division: str) -> int:
        """Return the number of files of a division."""
        return self._named[division].file_count

    def folder(self, split: str, division: str) -> str:
        """Return the folder of a division of a split."""
        return f"{self._files.results}/{division_folder(split, division)}"

    def sentence_files(self, split: str, division: str) -> list[str]:
        """Return the files with the sentences of a split: grammars, or given lists."""
        folder = self.folder(split, division)
        return [f"{folder}/{sentence_file(file)}" for file in range(self.file_count(division))]

    def pieces(self, split: str) -> list[str]:
        """Return the files of the pieces of a text that is only translated."""
        return self.sentence_files(split, self.of_pieces)

    def text_folder(self, split: str, division: str) -> str:
        """Return the folder of the text of these files."""
        return f"{self.folder(split, division)}/{DIVIDED_TEXT}"

    def further_texts(self, wildcards: Any) -> list[str]:
        """Return the additional references that are divided with a split."""
        columns = self._texts.learned_references(wildcards.split)
        return [self._files.text(wildcards.split, column) for column in columns]

    def labels(self, wildcards: Any) -> list[str]:
        """Return the labels by which sentences are divided."""
        needs_them = self._named[wildcards.division].by_label is not None
        return [self._files.text(wildcards.split, "labels")] if needs_them else []

    def devtest_labels(self, wildcards: Any) -> list[str]:
        """Return the labels of devtest, if epochs are chosen by task."""
        needs_them = wildcards.division in self._scored_by_task
        return [self._files.text("devtest", "labels")] if needs_them else []

    def divide_settings(self, wildcards: Any) -> str:
        """Return the `DivideSettings`: train and dev are shuffled, others keep their order."""
        return as_json(DivideSettings(division=self.division(wildcards)))

    def division(self, wildcards: Any) -> Division:
        """Return how the sentences of a split are divided."""
        named = self._named[wildcards.division]
        if named.by_label is not None:
            return replace(named.by_label, seed=named.seed)
        is_shuffled = wildcards.split in ("train", "dev")
        return Shuffled(named.file_count, named.seed) if is_shuffled else InOrder(named.file_count)

    def source(self, wildcards: Any) -> str:
        """Return the source of the sentences of a file."""
        return column_file(self._text(wildcards), "source")

    def references(self, wildcards: Any) -> list[str]:
        """Return the references of the sentences of a file."""
        columns = ["target", *self._texts.learned_references(wildcards.split)]
        return [column_file(self._text(wildcards), column) for column in columns]

    def lines_in_index(self, wildcards: Any) -> list[str]:
        """Return the file with the numbers of sentences of train in the index, for leave-one-out."""
        return [ids_file(self._text(wildcards))] if wildcards.split == "train" else []

    def _text(self, wildcards: Any) -> str:
        return f"{self.text_folder(wildcards.split, wildcards.division)}/{wildcards.file}"

    def grammar(self, wildcards: Any) -> str:
        """Return the `ExtractionSettings` of the config."""
        return as_json(self._config.grammar)


def division_of(tasks: Tasks) -> str:
    """Return the name of the division of tasks, without a seed: its number of files.

    If it depends on labels, a digest of them follows.
    """
    by_label = tasks.division_by_label
    if by_label is None:
        return str(tasks.file_count)
    digest = hashlib.sha256(as_json(replace(by_label, seed=1)).encode()).hexdigest()
    return f"{tasks.file_count}-{tasks.folder_kind}-{digest[:8]}"
