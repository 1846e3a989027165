"""How each split is divided into files of sentences, and what the jobs that make these files need.

A division of train or dev has the parts of an experiment's shards; one of devtest or a test set has pieces.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from itersel.config.defaults import never_null
from itersel.config.settings import as_json
from itersel.config.sharding import InOrder, Sharding, ShardSettings, Shuffled
from itersel.config.tasks import TASKS, Tasks
from itersel.config.values import Config, Experiment
from itersel.corpus.text_names import column_file, ids_file
from itersel.plan.files import Files
from itersel.plan.texts import Texts

# Separates the number of files from the seed in the name of a division; the run's own seed is left out.
SEED_MARK = "-seed-"
# What the wildcard `division` matches.
_KINDS = "|".join(sorted({kind.folder_kind for kind in TASKS.values()} - {""}))
DIVISION_PATTERN = rf"\d+(-({_KINDS})-[0-9a-f]{{8}})?({SEED_MARK}\d+)?"


class Divisions:
    """The divisions of all splits; experiments with the same tasks and the same seed share one.

    The name of a division, which is the name of its folders, is the number of its files. A digest follows if
    they depend on labels, and a seed if it is not the run's.
    """

    def __init__(self, config: Config, files: Files, texts: Texts) -> None:
        self._config = config
        self._files = files
        self._texts = texts
        experiments = list(config.experiments.values())
        # divisions that depend on labels, without seeds, and how text is divided for them
        self._labelled = {
            division_of(one.tasks): sharding
            for one in experiments
            if (sharding := one.tasks.sharding_by_label)
        }
        # divisions of independent tasks, whose epochs are chosen on the devtest sentences with their label
        self._scored_by_task = {
            division_of(one.tasks) for one in experiments if one.tasks.only_label is not None
        }

    def name(self, experiment: Experiment) -> str:
        """Return the name of an experiment's division: 4, or 4-seed-2 with a seed of its own."""
        name = division_of(experiment.tasks)
        seed = never_null(experiment.seed)
        return name if seed == self._config.seed else f"{name}{SEED_MARK}{seed}"

    def folder(self, split: str, division: str) -> str:
        """Return the folder of a division of a split."""
        return f"{self._files.results}/shards/{split}/{division}"

    def sentence_files(self, split: str, division: str) -> list[str]:
        """Return the files with the sentences of a split: grammars, or lists of another decoder."""
        return [f"{self.folder(split, division)}/{file}.h5" for file in range(file_count(division))]

    def further_texts(self, wildcards: Any) -> list[str]:
        """Return the additional references that are divided with a split."""
        columns = self._texts.learned_references(wildcards.split)
        return [self._files.text(wildcards.split, column) for column in columns]

    def labels(self, wildcards: Any) -> list[str]:
        """Return the labels by which sentences are divided."""
        name = wildcards.division.partition(SEED_MARK)[0]
        return [self._files.text(wildcards.split, "labels")] if name in self._labelled else []

    def devtest_labels(self, wildcards: Any) -> list[str]:
        """Return the labels of devtest, if epochs are chosen by task."""
        name = wildcards.division.partition(SEED_MARK)[0]
        return [self._files.text("devtest", "labels")] if name in self._scored_by_task else []

    def shard_settings(self, wildcards: Any) -> str:
        """Return the `ShardSettings`: train and dev are shuffled, others keep their order."""
        return as_json(ShardSettings(sharding=self.sharding(wildcards)))

    def sharding(self, wildcards: Any) -> Sharding:
        """Return how the sentences of a split are divided."""
        name, _, seed = wildcards.division.partition(SEED_MARK)
        seed = int(seed or self._config.seed)
        if name in self._labelled:
            return replace(self._labelled[name], seed=seed)
        is_shuffled = wildcards.split in ("train", "dev")
        return Shuffled(int(name), seed) if is_shuffled else InOrder(int(name))

    def source(self, wildcards: Any) -> str:
        """Return the source of the sentences of a file."""
        return column_file(self._text(wildcards), "source")

    def references(self, wildcards: Any) -> list[str]:
        """Return their references."""
        columns = ["target", *self._texts.learned_references(wildcards.split)]
        return [column_file(self._text(wildcards), column) for column in columns]

    def lines_in_index(self, wildcards: Any) -> list[str]:
        """Return their numbers in the index, which leave-one-out needs, if they are of train."""
        return [ids_file(self._text(wildcards))] if wildcards.split == "train" else []

    def _text(self, wildcards: Any) -> str:
        return f"{self.folder(wildcards.split, wildcards.division)}/text/{wildcards.file}"

    def grammar(self, wildcards: Any) -> str:
        """Return the `Grammar` of the config."""
        return as_json(self._config.grammar)


def file_count(division: str) -> int:
    """Return the number of files of a division from its name."""
    return int(division.partition("-")[0])


def division_of(tasks: Tasks) -> str:
    """Return the name of the division of tasks, without a seed."""
    sharding = tasks.sharding_by_label
    if sharding is None:
        return str(tasks.file_count)
    digest = hashlib.sha256(as_json(replace(sharding, seed=1)).encode()).hexdigest()
    return f"{tasks.file_count}-{tasks.folder_kind}-{digest[:8]}"
