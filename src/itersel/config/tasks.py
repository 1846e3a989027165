"""The kinds of tasks: how the tuning corpus is divided into Z shards.

A kind is a dataclass with its keys, derived from `Tasks`; its other properties say what is different for it.
Checks of the config, the plan and the page ask these, and not which kind it is.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from itersel.config.conditions import MIXED_WEIGHTS, TUNE_ON_TRAIN, all_of
from itersel.config.division import MAX_FILES, Labelled, Pooled
from itersel.config.names import LABEL_PATTERN
from itersel.keys import key, key_of

# Models that leave text out: their maximum number, and their number if it is not stated.
MAX_FOLDS = 1000
DEFAULT_FOLDS = 10
# The command that trains a shard names all of its files.
MAX_PARTS = 100


def fold_count(folds: int, file_count: int) -> int:
    """Return the number of models that leave text out, at most one for each file of train."""
    return min(folds, file_count)


@dataclass(frozen=True)
class Tasks:
    """Base class of all kinds of tasks; its methods suit shards that do not depend on labels.

    The sentences are stored in numbered files, one for each shard unless a kind says otherwise.
    """

    if TYPE_CHECKING:

        @property
        @abstractmethod
        def shards(self) -> int:
            """The number of shards Z: a key, or what follows from the labels."""

        @property
        @abstractmethod
        def language_model_folds(self) -> int | None:
            """A key of every kind."""

        @property
        @abstractmethod
        def shards_per_array_task(self) -> int:
            """A key of every kind."""

    # each label has a weight vector of its own, and becomes an experiment of its own
    are_independent: ClassVar[bool] = False
    # a shard has different sentences in every epoch
    are_reshuffled: ClassVar[bool] = False
    # a batch tuner, which reads the lists of all shards at once, can use them
    suit_batch_tuners: ClassVar[bool] = True
    # what to write if the labels are missing; empty for kinds without labels
    needed_labels: ClassVar[str] = ""
    # with labels: the kind in the name of the division
    folder_kind: ClassVar[str] = ""

    @property
    def keep_all(self) -> bool:
        """Whether the shards have all sentences of the text; tasks of labels drop those of other labels."""
        return not self.folder_kind

    @property
    def file_count(self) -> int:
        """The number of files in which the sentences are stored; for a single task, of all tasks."""
        return self.shards

    @property
    def unit(self) -> str:
        """What messages call these files: shards, if they are the same."""
        return "shards" if self.file_count == self.shards else "files"

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels, in their order; none if the shards do not depend on labels."""
        return ()

    @property
    def only_label(self) -> str | None:
        """The label of the sentences that the weights are for; None for all sentences."""
        return None

    @property
    def division_by_label(self) -> Labelled | Pooled | None:
        """How the text is divided by label, with any seed; None if that does not depend on labels."""
        return None

    @property
    def divided_together(self) -> Tasks:
        """The tasks whose files these are: a single task reads some of the files of all."""
        return self

    @property
    def share(self) -> float:
        """The share of the text that is used, assuming that all labels are equally frequent."""
        return 1.0

    def files_of_shard(self, shard: int, seed: int, epoch: int) -> Sequence[int]:
        """Return the numbers of the files of a shard in an epoch, in training order."""
        return [shard]

    def several(self) -> tuple[str, str] | None:
        """Return the key that sets more than one shard, and the message if only one is allowed."""
        return ("shards", f"is {self.shards}, must be 1") if self.shards > 1 else None

    def separate(self) -> dict[str, Tasks]:
        """Return the tasks for each label, if they are independent."""
        return {}

    def as_in_config(self) -> Tasks:
        """Return the tasks in the form that they have in a config."""
        return self


@dataclass(frozen=True)
class RandomTasks(Tasks):
    """Shards of equal size: the tuning corpus is shuffled and divided."""

    shards: int = key(
        "Number of shards Z; it is part of the algorithm.",
        1,
        minimum=1,
        maximum=MAX_FILES,
        on={all_of(TUNE_ON_TRAIN, MIXED_WEIGHTS): 4},
    )
    language_model_folds: int | None = key(
        "tune_on train: number N of language models that leave text out, at most one for each file (a shard "
        "has one or more files); a larger number means one for each. With N > 1, files f, f + N, ... are "
        "trained with a model that, like their grammars, has not seen their text (docs/workflow.md). 1: all "
        f"files are trained with the model of all text. null: {DEFAULT_FOLDS}; 1 with language_model.arpa or "
        "data.kind: lists.",
        minimum=1,
        maximum=MAX_FOLDS,
    )
    shards_per_array_task: int = key(
        "On a cluster: number of shards that one task of an array job trains, one after another. Does not "
        "change any result.",
        1,
        minimum=1,
        maximum=MAX_FILES,
        changes_no_result=True,
    )


@dataclass(frozen=True)
class Resharding(Tasks):
    """Shards of equal size with different sentences in every epoch; no grammar is extracted again."""

    are_reshuffled: ClassVar[bool] = True
    suit_batch_tuners: ClassVar[bool] = False

    # a single shard has all sentences, in a different order in every epoch
    shards: int = key_of(RandomTasks, "shards", default=4, on=None)
    parts: int = key(
        "Number of files in which the sentences of a shard are stored. The files of all shards are shuffled "
        "for each epoch; sentences of one file stay together. More files take more time to read.",
        8,
        minimum=2,
        maximum=MAX_PARTS,
    )
    language_model_folds: int | None = key_of(RandomTasks, "language_model_folds")
    shards_per_array_task: int = key_of(RandomTasks, "shards_per_array_task")

    @property
    def file_count(self) -> int:
        """The number of files of all shards."""
        return self.shards * self.parts

    def files_of_shard(self, shard: int, seed: int, epoch: int) -> Sequence[int]:
        """Return the files that a shard is dealt in an epoch."""
        return _dealt(self.file_count, self.shards, seed, epoch)[shard]


@functools.cache
def _dealt(files: int, shards: int, seed: int, epoch: int) -> Sequence[Sequence[int]]:
    """Return the numbers of the files of each shard."""
    # imports numpy, which takes time
    from itersel.corpus.dividing import deal_files

    return deal_files(files, shards, seed, epoch)


@dataclass(frozen=True)
class NaturalTasks(Tasks):
    """One or more shards for each label, made up of the sentences with that label."""

    needed_labels: ClassVar[str] = "name the tasks, each with a number of shards"
    folder_kind: ClassVar[str] = "natural"

    labels: dict[str, int] | None = key_of(Labelled, "labels", default=None, required=True)
    others: str = key_of(Labelled, "others")
    minimum_sentences: int = key_of(Labelled, "minimum_sentences")
    language_model_folds: int | None = key_of(RandomTasks, "language_model_folds")
    shards_per_array_task: int = key_of(RandomTasks, "shards_per_array_task")

    @property
    def shards(self) -> int:
        """The number of shards Z."""
        return sum((self.labels or {}).values()) + (self.others == "join")

    @property
    def keep_all(self) -> bool:
        """Whether sentences with other labels are a shard, too."""
        return self.others == "join"

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels of the tasks."""
        return tuple(self.labels or ())

    @property
    def division_by_label(self) -> Labelled | None:
        """One shard after another of each label."""
        if not self.labels:
            return None
        return Labelled(labels=self.labels, others=self.others, minimum_sentences=self.minimum_sentences)

    def several(self) -> tuple[str, str] | None:
        """Return the labels, if they make more than one shard."""
        return ("labels", f"makes {self.shards} shards, must make 1") if self.shards > 1 else None


@dataclass(frozen=True)
class IndependentTasks(Tasks):
    """A weight vector for each label, learned only from the sentences with that label."""

    are_independent: ClassVar[bool] = True
    needed_labels: ClassVar[str] = NaturalTasks.needed_labels
    folder_kind: ClassVar[str] = NaturalTasks.folder_kind

    labels: dict[str, int] | None = key_of(NaturalTasks, "labels")
    minimum_sentences: int = key_of(NaturalTasks, "minimum_sentences")
    language_model_folds: int | None = key_of(RandomTasks, "language_model_folds")
    shards_per_array_task: int = key_of(RandomTasks, "shards_per_array_task")

    @property
    def shards(self) -> int:
        """The number of shards of all tasks."""
        return sum((self.labels or {}).values())

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels of the tasks."""
        return tuple(self.labels or ())

    @property
    def division_by_label(self) -> Labelled | None:
        """One shard after another of each label; sentences with other labels are dropped."""
        if not self.labels:
            return None
        return Labelled(labels=self.labels, minimum_sentences=self.minimum_sentences)

    def several(self) -> tuple[str, str] | None:
        """Return the first label with more than one shard."""
        own = ((label, shards) for label, shards in (self.labels or {}).items() if shards > 1)
        return next(((f"labels.{label}", f"is {shards}, must be 1") for label, shards in own), None)

    def separate(self) -> dict[str, Tasks]:
        """Return a task for each label."""
        return {label: IndependentTask(self, label) for label in self.label_names}


@dataclass(frozen=True)
class IndependentTask(Tasks):
    """One task of `IndependentTasks`."""

    folder_kind: ClassVar[str] = IndependentTasks.folder_kind

    whole: IndependentTasks  # all tasks; a single task reads some of their files
    label: str

    @property
    def language_model_folds(self) -> int | None:
        """The key of all tasks."""
        return self.whole.language_model_folds

    @property
    def shards_per_array_task(self) -> int:
        """The key of all tasks."""
        return self.whole.shards_per_array_task

    @property
    def shards(self) -> int:
        """The number of shards of the task."""
        return (self.whole.labels or {})[self.label]

    @property
    def file_count(self) -> int:
        """The number of files of all tasks."""
        return self.whole.file_count

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels of all tasks."""
        return self.whole.label_names

    @property
    def only_label(self) -> str:
        """The label of the task."""
        return self.label

    @property
    def division_by_label(self) -> Labelled | None:
        """How the text of all tasks is divided."""
        return self.whole.division_by_label

    @property
    def divided_together(self) -> Tasks:
        """All tasks."""
        return self.whole

    @property
    def share(self) -> float:
        """The share of the task."""
        return self.shards / self.whole.shards

    def files_of_shard(self, shard: int, seed: int, epoch: int) -> Sequence[int]:
        """Return the number of the shard among those of all tasks, which are in the order of the labels."""
        labels = self.whole.labels or {}
        before = self.label_names[: self.label_names.index(self.label)]
        return [sum(labels[label] for label in before) + shard]

    def as_in_config(self) -> Tasks:
        """Return independent tasks with this one."""
        return replace(self.whole, labels={self.label: self.shards})


@dataclass(frozen=True)
class PooledTasks(Tasks):
    """One shard with as many sentences as a task has on average, equally many from each label."""

    suit_batch_tuners: ClassVar[bool] = False
    needed_labels: ClassVar[str] = "name the tasks"
    folder_kind: ClassVar[str] = "pooled"
    # not a key: two kinds of tasks differ in this key of `Pooled`
    size_of_one_task: ClassVar[bool] = True

    labels: tuple[str, ...] = key("Labels of the tasks.", (), pattern=LABEL_PATTERN, required=True)
    parts: int = key(
        "Number of files in which the sentences are stored; one is in memory at a time.",
        10,
        minimum=1,
        maximum=MAX_PARTS,
    )
    language_model_folds: int | None = key_of(RandomTasks, "language_model_folds")
    shards_per_array_task: int = key_of(RandomTasks, "shards_per_array_task")

    @property
    def shards(self) -> int:
        """The single shard."""
        return 1

    @property
    def file_count(self) -> int:
        """The number of files of the single shard."""
        return self.parts

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels in the pool."""
        return self.labels

    @property
    def division_by_label(self) -> Pooled:
        """The pool."""
        # the order of labels in a pool does not matter
        return Pooled(
            labels=tuple(sorted(self.labels)), files=self.parts, size_of_one_task=self.size_of_one_task
        )

    @property
    def share(self) -> float:
        """The share of the text that is used: one of the tasks, or all of it."""
        return 1 / max(1, len(self.labels)) if self.size_of_one_task else 1.0

    def files_of_shard(self, shard: int, seed: int, epoch: int) -> Sequence[int]:
        """Return all files: there is one shard."""
        return range(self.parts)


@dataclass(frozen=True)
class PooledCatTasks(PooledTasks):
    """One shard with all sentences of all labels."""

    size_of_one_task: ClassVar[bool] = False


TASKS: dict[str, type[Tasks]] = {
    "random": RandomTasks,
    "resharding": Resharding,
    "natural": NaturalTasks,
    "independent": IndependentTasks,
    "pooled": PooledTasks,
    "pooled-cat": PooledCatTasks,
}
