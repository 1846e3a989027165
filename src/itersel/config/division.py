"""The ways to divide texts and n-best lists into files, and the settings of the step that does it.

- ``itersel step divide``: `DivideSettings`; for n-best lists, `GivenListDivideSettings`

See also `itersel.config.settings`.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.data import Data
from itersel.config.messages import wrong
from itersel.config.names import LABEL_PATTERN, Names, check_label
from itersel.config.section_checks import check_section
from itersel.keys import REQUIRED, documented, key, key_of, section, seed_key

# Maximum number of files, and so of shards, of a text.
MAX_FILES = 100_000


class Division:
    """A way to divide a text into files of sentences."""

    def __post_init__(self) -> None:
        check_section(self)


@dataclass(frozen=True)
class InOrder(Division):
    """Files of equal size with adjacent lines."""

    files: int = key("Number of files.", 1, minimum=1, maximum=MAX_FILES)


@dataclass(frozen=True)
class Shuffled(Division):
    """Files of equal size: the text is shuffled and divided."""

    files: int = key_of(InOrder, "files")
    seed: int = seed_key("Seed of the shuffle.")


@dataclass(frozen=True, kw_only=True)
class Labelled(Division):
    """One or more shards for each label, each a file of shuffled sentences with that label."""

    labels: dict[str, int] = key(
        "Labels of the tasks, each with the number of shards into which its sentences are divided. For the "
        "LibreOffice Help, labels are its modules; for files, they are in data.train.labels.",
        REQUIRED,
        minimum=1,
        maximum=MAX_FILES,
        names=Names("'name: number' lines", check_label, least=1),
    )
    others: str = key(
        "What to do with sentences that have other labels. drop: do not train on them; join: put them in an "
        "additional shard, the last.",
        "drop",
        choices=("drop", "join"),
    )
    minimum_sentences: int = key(
        "Minimum number of sentences of a task; a smaller task is an error.", 1, minimum=1
    )
    seed: int = key_of(Shuffled, "seed")


@dataclass(frozen=True, kw_only=True)
class Pooled(Division):
    """Files of equal size of the sentences that have one of some labels, shuffled together."""

    labels: tuple[str, ...] = key("Labels of the sentences.", REQUIRED, pattern=LABEL_PATTERN)
    files: int = key_of(InOrder, "files")
    size_of_one_task: bool = key(
        "Use only as many sentences as a task has on average, evenly from each; false: all sentences.", False
    )
    seed: int = key_of(Shuffled, "seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.labels:
            raise wrong("division.labels", "is empty; name at least one")


DIVISIONS: dict[str, type[Division]] = {
    "shuffled": Shuffled,
    "in-order": InOrder,
    "labelled": Labelled,
    "pooled": Pooled,
}


@documented
@dataclass(frozen=True)
class DivideSettings:
    """How a text is divided into files of sentences."""

    division: Division = section(Shuffled, "Which sentences a file has.", forms=DIVISIONS)


@documented
@dataclass(frozen=True)
class GivenListDivideSettings(DivideSettings):
    """How n-best lists are divided into files."""

    dense_names: tuple[str, ...] = key_of(Data, "dense_names")
