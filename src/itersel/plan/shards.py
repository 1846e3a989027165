"""The shards of the parallel text: how it is divided, their grammars and their language models."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from itersel.config.defaults import never_null
from itersel.config.settings import as_json
from itersel.config.sharding import InOrder, Sharding, ShardSettings, Shuffled
from itersel.config.tasks import TASKS, Tasks
from itersel.config.text_steps import CompileSettings, EstimateSettings
from itersel.config.values import Config, Experiment
from itersel.plan.files import Files
from itersel.plan.texts import Texts

# Separates the number of shards from the seed in the name of a folder; the run's own seed is left out.
SEED_MARK = "-seed-"
# What the wildcard `shards` matches.
_KINDS = "|".join(sorted({kind.folder_kind for kind in TASKS.values()} - {""}))
SHARDS_PATTERN = rf"\d+(-({_KINDS})-[0-9a-f]{{8}})?({SEED_MARK}\d+)?"


class Shards:
    """The folders of shards; experiments with the same tasks and the same seed share them."""

    def __init__(self, config: Config, files: Files, texts: Texts) -> None:
        self._config = config
        self._files = files
        self._texts = texts
        experiments = list(config.experiments.values())
        # Folders that depend on labels, and how the text is divided for them.
        self._labelled = {
            tasks_folder(one.tasks): sharding
            for one in experiments
            if (sharding := one.tasks.sharding_by_label)
        }
        # Folders of independent tasks, whose epochs are chosen on the devtest sentences with their label.
        self._scored_by_task = {
            tasks_folder(one.tasks) for one in experiments if one.tasks.own_label is not None
        }

    def name(self, experiment: Experiment) -> str:
        """Return the name of the folder of an experiment's shards: 4, or 4-seed-2 with its own seed."""
        name = tasks_folder(experiment.tasks)
        seed = never_null(experiment.seed)
        return name if seed == self._config.seed else f"{name}{SEED_MARK}{seed}"

    def folds(self, experiment: Experiment) -> int:
        """Return the number of models that leave out a fold; with 1, only the model of all text is used."""
        return never_null(experiment.tasks.language_model_folds)

    def folder(self, split: str, shards: str) -> str:
        """Return the folder of the shards or pieces of a split."""
        return f"{self._files.results}/shards/{split}/{shards}"

    def sentence_files(self, split: str, shards: str) -> list[str]:
        """Return the files with the sentences of a split: grammars, or lists of another decoder."""
        return [f"{self.folder(split, shards)}/{shard}.h5" for shard in range(self.count(shards))]

    def count(self, shards: str) -> int:
        """Return the number of shards or pieces in a folder of this name."""
        return int(shards.partition("-")[0])

    def fold_folder(self, shards: str, folds: int | str) -> str:
        """Return the folder of the language models that each leave out every `folds`-th file."""
        return f"{self._files.results}/lm/{shards}-shards/{folds}-folds"

    def fold_models(self, wildcards: Any) -> list[str]:
        """Return the language models of all folds."""
        folder = self.fold_folder(wildcards.shards, wildcards.folds)
        return [f"{folder}/{fold}.bin" for fold in range(int(wildcards.folds))]

    @property
    def vocabulary(self) -> list[str]:
        """The text whose words are the vocabulary of the language models, unless it is all of their text."""
        is_open = self._config.language_model.open_vocabulary
        return [self._files.text("train", "target")] if is_open else []

    @property
    def estimate_settings(self) -> str:
        """The `EstimateSettings` of the model of all text, and of the models of folds."""
        return as_json(EstimateSettings(self._config.language_model.order))

    @property
    def compile_settings(self) -> str:
        """The `CompileSettings` of the model of all text."""
        return as_json(CompileSettings(self._config.language_model.order))

    def further_texts(self, wildcards: Any) -> list[str]:
        """Return the additional references that are divided with a split."""
        columns = self._texts.learned_references(wildcards.split)
        return [self._files.text(wildcards.split, column) for column in columns]

    def labels(self, wildcards: Any) -> list[str]:
        """Return the labels that divide sentences into shards."""
        shards = wildcards.shards.partition(SEED_MARK)[0]
        return [self._files.text(wildcards.split, "labels")] if shards in self._labelled else []

    def devtest_labels(self, wildcards: Any) -> list[str]:
        """Return the labels of devtest, if epochs are chosen by task."""
        shards = wildcards.shards.partition(SEED_MARK)[0]
        return [self._files.text("devtest", "labels")] if shards in self._scored_by_task else []

    def shard_settings(self, wildcards: Any) -> str:
        """Return the `ShardSettings`: train and dev are shuffled, others keep their order."""
        return as_json(ShardSettings(sharding=self.sharding(wildcards)))

    def sharding(self, wildcards: Any) -> Sharding:
        """Return how the sentences of a split are divided into shards."""
        shards, _, seed = wildcards.shards.partition(SEED_MARK)
        seed = int(seed or self._config.seed)
        if shards in self._labelled:
            return replace(self._labelled[shards], seed=seed)
        is_shuffled = wildcards.split in ("train", "dev")
        return Shuffled(int(shards), seed) if is_shuffled else InOrder(int(shards))

    def source(self, wildcards: Any) -> str:
        """Return the source of a shard."""
        return f"{self._text(wildcards)}.source.gz"

    def references(self, wildcards: Any) -> list[str]:
        """Return the references of a shard."""
        columns = ["target", *self._texts.learned_references(wildcards.split)]
        return [f"{self._text(wildcards)}.{column}.gz" for column in columns]

    def lines_in_index(self, wildcards: Any) -> list[str]:
        """Return the numbers of its sentences in the index, which leave-one-out needs, if it is of train."""
        return [f"{self._text(wildcards)}.ids"] if wildcards.split == "train" else []

    def _text(self, wildcards: Any) -> str:
        return f"{self.folder(wildcards.split, wildcards.shards)}/text/{wildcards.shard}"

    def grammar(self, wildcards: Any) -> str:
        """Return the `Grammar` of the config."""
        return as_json(self._config.grammar)


def tasks_folder(tasks: Tasks) -> str:
    """Return the name of a folder of shards without the seed; with labels, it has a digest of settings."""
    sharding = tasks.sharding_by_label
    if sharding is None:
        return str(tasks.files)
    digest = hashlib.sha256(as_json(replace(sharding, seed=1)).encode()).hexdigest()
    return f"{tasks.files}-{tasks.folder_kind}-{digest[:8]}"
