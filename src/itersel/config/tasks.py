"""What the Z shards are: the choices by name, and the keys of each."""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.options import LABEL_PATTERN, option

FOLDS = (
    "tune_on train: with N > 1, files f, f + N, ... (a shard is one file, or several) are trained with a "
    "language model that, like their grammars, has not seen their text (docs/workflow.md). 1: all are "
    "trained with the model of the whole text. null: 10, or as many as there are files."
)
SHARDS_PER_JOB = (
    "On a cluster: number of shards that one task of an array job trains, one after another. Does not change "
    "any result."
)


# The command that trains a shard names all of its files.
MOST_PARTS = 100
PARTS = "Number of files in which the sentences are stored; one is in memory at a time."
LABELS = (
    "Labels of the tasks, each with the number of shards that its sentences are split into. For the "
    "LibreOffice Help, labels are its modules; for files, data.train.task has them."
)
MINIMUM = "Smallest number of sentences of a task; a smaller task is an error."


@dataclass(frozen=True)
class RandomTasks:
    """Shards of equal size: the tuning corpus is shuffled and split."""

    shards: int = option("Number of shards Z; it is part of the algorithm.", 1, minimum=1, maximum=100_000)
    language_model_folds: int | None = option(FOLDS, minimum=1, maximum=1000)
    shards_per_job: int = option(SHARDS_PER_JOB, 1, minimum=1, maximum=100_000)


@dataclass(frozen=True)
class Resharding:
    """Shards of equal size with different sentences in every epoch; no grammar is extracted again."""

    shards: int = option("Number of shards Z; it is part of the algorithm.", 2, minimum=2, maximum=100_000)
    parts: int = option(
        "Number of files in which the sentences of a shard are stored. The files of all shards are shuffled "
        "for each epoch; sentences of one file stay together. More files take more time to read.",
        4,
        minimum=2,
        maximum=MOST_PARTS,
    )
    language_model_folds: int | None = option(FOLDS, minimum=1, maximum=1000)
    shards_per_job: int = option(SHARDS_PER_JOB, 1, minimum=1, maximum=100_000)


@dataclass(frozen=True)
class NaturalTasks:
    """One or more shards for each label, which have the sentences with that label."""

    labels: dict[str, int] | None = option(LABELS, minimum=1, maximum=100_000)  # noqa: RUF009 (None)
    others: str = option(
        "What becomes of sentences with other labels. drop: they are not learned from; join: they form one "
        "more shard, the last.",
        "drop",
        choices=("drop", "join"),
    )
    minimum: int = option(MINIMUM, 1, minimum=1)
    language_model_folds: int | None = option(FOLDS, minimum=1, maximum=1000)
    shards_per_job: int = option(SHARDS_PER_JOB, 1, minimum=1, maximum=100_000)

    @property
    def shards(self) -> int:
        """The number of shards Z."""
        return sum((self.labels or {}).values()) + (self.others == "join")


@dataclass(frozen=True)
class IndependentTasks:
    """A weight vector for each label, learned from the sentences with that label alone."""

    labels: dict[str, int] | None = option(LABELS, minimum=1, maximum=100_000)  # noqa: RUF009 (None)
    minimum: int = option(MINIMUM, 1, minimum=1)
    language_model_folds: int | None = option(FOLDS, minimum=1, maximum=1000)
    shards_per_job: int = option(SHARDS_PER_JOB, 1, minimum=1, maximum=100_000)

    @property
    def shards(self) -> int:
        """The number of shards of all tasks."""
        return sum((self.labels or {}).values())

    def single_tasks(self, name: str) -> list[IndependentTask]:
        """Return the tasks one by one; `name` is that of their experiment."""
        natural, tasks, first = NaturalTasks(self.labels, minimum=self.minimum), [], 0
        for label, count in (self.labels or {}).items():
            tasks.append(
                IndependentTask(
                    name, label, natural, first, count, self.language_model_folds, self.shards_per_job
                )
            )
            first += count
        return tasks


@dataclass(frozen=True)
class IndependentTask:
    """One task of `IndependentTasks`.

    Attributes
    ----------
    experiment, label
        The experiment that it is a part of, and its label.
    natural
        All tasks, whose files these are.
    first, shards
        Its files: number of the first, and how many.
    language_model_folds, shards_per_job
        As in the config.
    """

    experiment: str
    label: str
    natural: NaturalTasks
    first: int
    shards: int
    language_model_folds: int | None
    shards_per_job: int


@dataclass(frozen=True)
class PooledTasks:
    """One shard with as many sentences as a task has on average, the same number of each label."""

    labels: tuple[str, ...] = option("Labels of the tasks.", (), pattern=LABEL_PATTERN)
    parts: int = option(PARTS, 10, minimum=1, maximum=MOST_PARTS)
    language_model_folds: int | None = option(FOLDS, minimum=1, maximum=1000)
    shards_per_job: int = option(SHARDS_PER_JOB, 1, minimum=1, maximum=100_000)

    @property
    def shards(self) -> int:
        """The number of shards Z."""
        return 1


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


def tasks_name(tasks: Tasks) -> str:
    """Return the name of the kind of tasks, as in a config."""
    kind = IndependentTasks if isinstance(tasks, IndependentTask) else type(tasks)
    return next(name for name, one in TASKS.items() if one is kind)


def files_of(tasks: Tasks) -> int:
    """Return the number of files in which the sentences are stored; those of all tasks for one of them."""
    if isinstance(tasks, IndependentTask):
        return files_of(tasks.natural)
    if isinstance(tasks, PooledTasks):
        return tasks.parts
    return tasks.shards * tasks.parts if isinstance(tasks, Resharding) else tasks.shards


def labels_of(tasks: Tasks) -> tuple[str, ...]:
    """Return the labels of tasks, in their order; none where shards have nothing to do with labels."""
    if isinstance(tasks, IndependentTask):
        return labels_of(tasks.natural)
    if isinstance(tasks, RandomTasks | Resharding):
        return ()
    return tuple(tasks.labels or ())
