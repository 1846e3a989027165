"""The shards of the parallel text: how it is cut, their grammars and their language models."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from itersel.config.cutting import CutSettings, Cutting, InOrder, Shuffled
from itersel.config.defaults import never_null
from itersel.config.settings import as_json
from itersel.config.tasks import TASKS, Tasks
from itersel.config.values import Config, Experiment
from itersel.plan.files import Files
from itersel.plan.shell import shell_options
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
        # Folders that depend on labels, and how the text is cut for them.
        self._labelled = {
            tasks_folder(one.tasks): cut for one in experiments if (cut := one.tasks.cut_by_label)
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
        """Return the folder of the shards of a split."""
        return f"{self._files.results}/shards/{split}/{shards}"

    def sentence_files(self, split: str, shards: str) -> list[str]:
        """Return the files with the sentences of a split: grammars, or lists of another decoder."""
        return [f"{self.folder(split, shards)}/{shard}.h5" for shard in range(self.count(shards))]

    def count(self, shards: str) -> int:
        """Return the number of shards in a folder of this name."""
        return int(shards.partition("-")[0])

    def fold_folder(self, shards: str, folds: int | str) -> str:
        """Return the folder of the language models that each leave out every `folds`-th shard."""
        return f"{self._files.results}/lm/{shards}-shards/{folds}-folds"

    def fold_models(self, wildcards: Any) -> list[str]:
        """Return the language models of all folds."""
        folder = self.fold_folder(wildcards.shards, wildcards.folds)
        return [f"{folder}/{fold}.bin" for fold in range(int(wildcards.folds))]

    def estimate_options(self, wildcards: Any) -> str:
        """Return the options of `itersel lm estimate` for the model of all text, or for a fold."""
        model = self._config.language_model
        leave_out = {}
        if hasattr(wildcards, "fold"):
            text = f"{self.folder('train', wildcards.shards)}/text"
            leave_out = {"leave_out": text, "fold": f"{wildcards.fold}/{wildcards.folds}"}
        vocabulary = self._files.text("train", "target") if model.open_vocabulary else None
        return shell_options(order=model.order, vocabulary=vocabulary, **leave_out)

    def further_texts(self, wildcards: Any) -> list[str]:
        """Return the additional references that are cut with a split."""
        columns = self._texts.learned_references(wildcards.split)
        return [self._files.text(wildcards.split, column) for column in columns]

    def labels(self, wildcards: Any) -> list[str]:
        """Return the labels that divide sentences into shards."""
        shards = wildcards.shards.partition(SEED_MARK)[0]
        return [self._files.text(wildcards.split, "task")] if shards in self._labelled else []

    def scored_labels(self, wildcards: Any) -> list[str]:
        """Return the labels of devtest, if epochs are chosen by task."""
        shards = wildcards.shards.partition(SEED_MARK)[0]
        return [self._files.text("devtest", "task")] if shards in self._scored_by_task else []

    def cut_settings(self, wildcards: Any) -> str:
        """Return the `CutSettings`: train and dev are shuffled, others keep their order."""
        return as_json(CutSettings(cut=self.cut(wildcards)))

    def cut(self, wildcards: Any) -> Cutting:
        """Return how the sentences of a split are cut into shards."""
        shards, _, seed = wildcards.shards.partition(SEED_MARK)
        seed = int(seed or self._config.seed)
        if shards in self._labelled:
            return replace(self._labelled[shards], seed=seed)
        is_shuffled = wildcards.split in ("train", "dev")
        return Shuffled(int(shards), seed) if is_shuffled else InOrder(int(shards))

    def extracted_text(self, wildcards: Any) -> str:
        """Return the options of `itersel grammar extract` for its text, with leave-one-out for train."""
        shard = f"{self.folder(wildcards.split, wildcards.shards)}/text/{wildcards.shard}"
        columns = ["target", *self._texts.learned_references(wildcards.split)]
        return shell_options(
            input=f"{shard}.source.gz",
            reference=[f"{shard}.{column}.gz" for column in columns],
            leave_one_out=f"{shard}.ids" if wildcards.split == "train" else None,
        )

    def grammar(self, wildcards: Any) -> str:
        """Return the `Grammar` of the config."""
        return as_json(self._config.grammar)


def tasks_folder(tasks: Tasks) -> str:
    """Return the name of a folder of shards without the seed; with labels, it has a digest of settings."""
    cut = tasks.cut_by_label
    if cut is None:
        return str(tasks.files)
    digest = hashlib.sha256(as_json(replace(cut, seed=1)).encode()).hexdigest()
    return f"{tasks.files}-{tasks.folder_kind}-{digest[:8]}"
