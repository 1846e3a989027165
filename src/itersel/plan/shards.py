"""The shards into which splits are cut, their grammars, and the language models that leave some out."""

from __future__ import annotations

import hashlib
import shlex
from typing import Any

from itersel.config.tasks import (
    IndependentTask,
    NaturalTasks,
    PooledCatTasks,
    PooledTasks,
    Tasks,
    files_of,
    labels_of,
)
from itersel.config.values import Config, Experiment
from itersel.plan.commands import Files, extract_options, options, own_seed
from itersel.plan.texts import Texts

# Separates the number of shards from the seed in the name of a folder; the run's own seed is left out.
SEED_MARK = "-seed-"
# What the wildcard `shards` matches.
SHARDS_PATTERN = rf"\d+(-(natural|pooled)-[0-9a-f]{{8}})?({SEED_MARK}\d+)?"


class Shards:
    """The folders of shards; experiments with the same tasks and the same seed share them."""

    def __init__(self, config: Config, files: Files, texts: Texts) -> None:
        self._config, self._files, self._texts = config, files, texts
        experiments = list(config.experiments.values())
        # Folders that depend on labels, and the options of `itersel shard` that create them.
        self._labelled = {
            _tasks_folder(one.tasks): sharding_options(one.tasks)
            for one in experiments
            if isinstance(one.tasks, NaturalTasks | IndependentTask | PooledTasks) and labels_of(one.tasks)
        }
        # Folders of independent tasks, whose epochs are chosen on the devtest sentences with their label.
        self._scored_by_task = {
            _tasks_folder(one.tasks) for one in experiments if isinstance(one.tasks, IndependentTask)
        }

    def name(self, experiment: Experiment) -> str:
        """Return the name of the folder of an experiment's shards: 4, or 4-seed-2 with its own seed."""
        name, seed = _tasks_folder(experiment.tasks), own_seed(self._config, experiment)
        return name if seed == self._config.seed else f"{name}{SEED_MARK}{seed}"

    def folds(self, experiment: Experiment) -> int:
        """Return the number of language models that leave out text; 1 is that of all text."""
        return experiment.tasks.language_model_folds or 1

    def folder(self, split: str, shards: str) -> str:
        """Return the folder of the shards of a split."""
        return f"{self._files.results}/shards/{split}/{shards}"

    def grammars(self, split: str, shards: str) -> list[str]:
        """Return the grammars of all shards of a split."""
        count = int(shards.partition("-")[0])
        return [f"{self.folder(split, shards)}/{shard}.h5" for shard in range(count)]

    def fold_folder(self, shards: str, folds: int | str) -> str:
        """Return the folder of the language models that each leave out every `folds`-th shard."""
        return f"{self._files.results}/lm/{shards}-shards/{folds}-folds"

    def fold_models(self, wildcards: Any) -> list[str]:
        """Return the language models of all folds."""
        folder = self.fold_folder(wildcards.shards, wildcards.folds)
        return [f"{folder}/{fold}.bin" for fold in range(int(wildcards.folds))]

    def estimate_options(self, wildcards: Any) -> str:
        """Return the options of `itersel lm estimate` for the model of all text, or for a fold."""
        model, leave_out = self._config.language_model, {}
        if hasattr(wildcards, "fold"):
            text = f"{self.folder('train', wildcards.shards)}/text"
            leave_out = {"leave_out": text, "fold": f"{wildcards.fold}/{wildcards.folds}"}
        vocabulary = self._files.text("train", "target") if model.open_vocabulary else None
        return options(order=model.order, vocabulary=vocabulary, **leave_out)

    def further_texts(self, wildcards: Any) -> list[str]:
        """Return the additional references that are cut with a split."""
        columns = self._texts.learned_references(wildcards.split)
        return [self._files.text(wildcards.split, column) for column in columns]

    def labels(self, wildcards: Any) -> list[str]:
        """Return the labels that divide sentences into shards, and those that are needed to choose epochs."""
        shards = wildcards.shards.partition(SEED_MARK)[0]
        found = [wildcards.split] if shards in self._labelled else []
        found += ["devtest"] if shards in self._scored_by_task else []
        return [self._files.text(split, "task") for split in found]

    def sharding_options(self, wildcards: Any) -> str:
        """Return the options of `itersel shard`: train and dev are shuffled, others keep their order."""
        further = options(target=self.further_texts(wildcards))
        return " ".join(filter(None, [further, self._cutting_options(wildcards)]))

    def _cutting_options(self, wildcards: Any) -> str:
        shards, _, seed = wildcards.shards.partition(SEED_MARK)
        seed = seed or self._config.seed
        if shards in self._labelled:
            labels = options(
                task=self._files.text(wildcards.split, "task"),
                scored=self._files.text("devtest", "task") if shards in self._scored_by_task else None,
                seed=seed,
            )
            return f"{labels} {self._labelled[shards]}"
        if wildcards.split in ("train", "dev"):
            return options(shards=shards, seed=seed)
        return options(shards=shards, keep_order=True)

    def extract_options(self, wildcards: Any) -> str:
        """Return the options of `itersel grammar extract`: a sentence of train is left out of its grammar."""
        shard = f"{self.folder(wildcards.split, wildcards.shards)}/text/{wildcards.shard}"
        columns = ["target", *self._texts.learned_references(wildcards.split)]
        files = options(
            input=f"{shard}.source.gz",
            references=[f"{shard}.{column}.gz" for column in columns],
            leave_one_out=f"{shard}.ids" if wildcards.split == "train" else None,
        )
        return f"{files} {extract_options(self._config)}"


def sharding_options(tasks: NaturalTasks | IndependentTask | PooledTasks) -> str:
    """Return the options of `itersel shard` that assign sentences to files by label."""
    if isinstance(tasks, PooledTasks):
        size = "all" if isinstance(tasks, PooledCatTasks) else "one"
        # the order of labels in a pool does not matter
        return f"{options(shards=tasks.parts, size=size)} {shlex.join(['--pool', *sorted(tasks.labels)])}"
    natural = tasks.natural if isinstance(tasks, IndependentTask) else tasks
    labels = [f"{label}={count}" for label, count in (natural.labels or {}).items()]
    return f"{options(others=natural.others, minimum=natural.minimum)} {shlex.join(['--labels', *labels])}"


def _tasks_folder(tasks: Tasks) -> str:
    """Return the name of a folder of shards without the seed; with labels, it has a digest of settings."""
    if not isinstance(tasks, NaturalTasks | IndependentTask | PooledTasks):
        return str(files_of(tasks))
    digest = hashlib.sha256(sharding_options(tasks).encode()).hexdigest()
    kind = "pooled" if isinstance(tasks, PooledTasks) else "natural"
    return f"{files_of(tasks)}-{kind}-{digest[:8]}"
