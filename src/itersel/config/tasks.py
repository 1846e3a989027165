"""The kinds of tasks and their keys: how the tuning corpus is split into Z shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from itersel.config.names import Names, check_label
from itersel.config.options import LABEL_PATTERN, option, option_of

# Most shards, and most parts of a text that are left out in turn by models.
MOST_SHARDS, MOST_FOLDS = 100_000, 1000
# Language models that leave text out, where their number is not stated.
DEFAULT_FOLDS = 10
# The command that trains a shard names all of its files.
MOST_PARTS = 100


@dataclass(frozen=True)
class RandomTasks:
    """Shards of equal size: the tuning corpus is shuffled and split."""

    shards: int = option(
        "Number of shards Z; it is part of the algorithm.", 1, minimum=1, maximum=MOST_SHARDS, on={"mixed": 4}
    )
    language_model_folds: int | None = option(
        "tune_on train: number N of language models that leave text out. With N > 1, files f, f + N, ... (a "
        "shard has one or more files) are trained with a model that, like their grammars, has not seen their "
        "text (docs/workflow.md). 1: all files are trained with the model of all text. "
        f"null: {DEFAULT_FOLDS}, or the number of files if there are fewer.",
        minimum=1,
        maximum=MOST_FOLDS,
    )
    shards_per_job: int = option(
        "On a cluster: number of shards that one task of an array job trains, one after another. Does not "
        "change any result.",
        1,
        minimum=1,
        maximum=MOST_SHARDS,
        changes_no_result=True,
    )


@dataclass(frozen=True)
class Resharding:
    """Shards of equal size with different sentences in every epoch; no grammar is extracted again."""

    # a single shard has all sentences, in another order in every epoch
    shards: int = option_of(RandomTasks, "shards", default=4, on=None)
    parts: int = option(
        "Number of files in which the sentences of a shard are stored. The files of all shards are shuffled "
        "for each epoch; sentences of one file stay together. More files take more time to read.",
        8,
        minimum=2,
        maximum=MOST_PARTS,
    )
    language_model_folds: int | None = option_of(RandomTasks, "language_model_folds")
    shards_per_job: int = option_of(RandomTasks, "shards_per_job")


@dataclass(frozen=True)
class NaturalTasks:
    """One or more shards for each label, made up of the sentences with that label."""

    labels: dict[str, int] | None = option(
        "Labels of the tasks, each with the number of shards that its sentences are split into. For the "
        "LibreOffice Help, labels are its modules; for files, they are in data.train.task.",
        minimum=1,
        maximum=MOST_SHARDS,
        names=Names("'name: number' lines", check_label, least=1),
        required=True,
    )
    others: str = option(
        "What to do with sentences that have other labels. drop: do not train on them; join: put them in an "
        "additional shard, the last.",
        "drop",
        choices=("drop", "join"),
    )
    minimum: int = option("Minimum number of sentences of a task; a smaller task is an error.", 1, minimum=1)
    language_model_folds: int | None = option_of(RandomTasks, "language_model_folds")
    shards_per_job: int = option_of(RandomTasks, "shards_per_job")

    @property
    def shards(self) -> int:
        """The number of shards Z."""
        return sum((self.labels or {}).values()) + (self.others == "join")


@dataclass(frozen=True)
class IndependentTasks:
    """A weight vector for each label, learned only from the sentences with that label."""

    labels: dict[str, int] | None = option_of(NaturalTasks, "labels")
    minimum: int = option_of(NaturalTasks, "minimum")
    language_model_folds: int | None = option_of(RandomTasks, "language_model_folds")
    shards_per_job: int = option_of(RandomTasks, "shards_per_job")

    @property
    def shards(self) -> int:
        """The number of shards of all tasks."""
        return sum((self.labels or {}).values())


@dataclass(frozen=True)
class IndependentTask:
    """One task of `IndependentTasks`, with their settings."""

    experiment: str  # to which the task belongs
    label: str
    natural: NaturalTasks  # all tasks; a single task reads some of their files
    first: int  # number of its first file
    shards: int  # number of its files
    language_model_folds: int | None
    shards_per_job: int = option_of(RandomTasks, "shards_per_job")


@dataclass(frozen=True)
class PooledTasks:
    """One shard with as many sentences as a task has on average, equally many from each label."""

    shards: ClassVar[int] = 1

    labels: tuple[str, ...] = option("Labels of the tasks.", (), pattern=LABEL_PATTERN, required=True)
    parts: int = option(
        "Number of files in which the sentences are stored; one is in memory at a time.",
        10,
        minimum=1,
        maximum=MOST_PARTS,
    )
    language_model_folds: int | None = option_of(RandomTasks, "language_model_folds")
    shards_per_job: int = option_of(RandomTasks, "shards_per_job")


@dataclass(frozen=True)
class PooledCatTasks(PooledTasks):
    """One shard with all sentences of all labels."""


Tasks = (
    RandomTasks
    | Resharding
    | NaturalTasks
    | IndependentTasks
    | IndependentTask
    | PooledTasks
    | PooledCatTasks
)
TASKS: dict[str, type[Tasks]] = {
    "random": RandomTasks,
    "resharding": Resharding,
    "natural": NaturalTasks,
    "independent": IndependentTasks,
    "pooled": PooledTasks,
    "pooled-cat": PooledCatTasks,
}


def files_of(tasks: Tasks) -> int:
    """Return the number of files in which the sentences are stored; for a single task, of all tasks."""
    if isinstance(tasks, IndependentTask):
        return files_of(tasks.natural)
    if isinstance(tasks, PooledTasks):
        return tasks.parts
    return tasks.shards * tasks.parts if isinstance(tasks, Resharding) else tasks.shards


def labels_of(tasks: Tasks) -> tuple[str, ...]:
    """Return the labels of tasks, in their order; none if the shards do not depend on labels."""
    if isinstance(tasks, IndependentTask):
        return labels_of(tasks.natural)
    if isinstance(tasks, RandomTasks | Resharding):
        return ()
    return tuple(tasks.labels or ())
