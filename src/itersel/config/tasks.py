"""What the Z shards are: the choices by name, and the keys of each."""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.options import option

FOLDS = (
    "tune_on train: with N > 1, shards z, z + N, ... are trained with a language model that, like their "
    "grammars, has not seen their text (docs/workflow.md). 1: all are trained with the model of the whole "
    "text. null: 10, or as many as there are shards."
)
SHARDS_PER_JOB = (
    "On a cluster: number of shards that one task of an array job trains, one after another. Does not change "
    "any result."
)


@dataclass(frozen=True)
class RandomTasks:
    """Shards of equal size: the tuning corpus is shuffled and split."""

    shards: int = option("Number of shards Z; it is part of the algorithm.", 1, minimum=1, maximum=100_000)
    language_model_folds: int | None = option(FOLDS, minimum=1, maximum=1000)
    shards_per_job: int = option(SHARDS_PER_JOB, 1, minimum=1, maximum=100_000)


@dataclass(frozen=True)
class NaturalTasks:
    """One or more shards for each label, which have the sentences with that label."""

    labels: dict[str, int] | None = option(  # noqa: RUF009 (its default is None)
        "Labels of the tasks, each with the number of shards that its sentences are split into. For the "
        "LibreOffice Help, labels are its modules; for files, data.train.task has them.",
        minimum=1,
        maximum=100_000,
    )
    others: str = option(
        "What becomes of sentences with other labels. drop: they are not learned from; join: they form one "
        "more shard, the last.",
        "drop",
        choices=("drop", "join"),
    )
    minimum: int = option("Smallest number of sentences of a task; a smaller task is an error.", 1, minimum=1)
    language_model_folds: int | None = option(FOLDS, minimum=1, maximum=1000)
    shards_per_job: int = option(SHARDS_PER_JOB, 1, minimum=1, maximum=100_000)

    @property
    def shards(self) -> int:
        """The number of shards Z."""
        return sum((self.labels or {}).values()) + (self.others == "join")


Tasks = RandomTasks | NaturalTasks
TASKS: dict[str, type[Tasks]] = {"random": RandomTasks, "natural": NaturalTasks}


def tasks_name(tasks: Tasks) -> str:
    """Return the name of the kind of tasks, as in a config."""
    return next(name for name, kind in TASKS.items() if type(tasks) is kind)
