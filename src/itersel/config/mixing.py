"""The mixings and their keys: how the Z weight vectors are combined after an epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from itersel.config.numbered import NORMS
from itersel.config.section_checks import check_section
from itersel.keys import documented, key, key_of

NO_MIXING = "none"
PATH_FOLLOWING = "path-following"
SGD = "sgd"
DEFAULT_SELECT = 100_000
# For steps and Python; a config has others under some conditions, such as this one on dev.
DEFAULT_MIXING, DEFAULT_MIXING_ON_DEV = "selection", "mean-of-epochs"


class Mixing:
    """Base class of all mixings; what it says of a mixing suits those that do not select features."""

    # each shard continues from its own weights, not from the result
    shards_continue: ClassVar[bool] = False
    # the result depends on the previous epoch's result
    needs_previous: ClassVar[bool] = False
    # the shards measure the loss of the weights that they start from
    needs_loss: ClassVar[bool] = False
    # some features are selected
    selects: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_section(self)

    # keys of mixings that select features
    @property
    def norm(self) -> str:
        """The norm that is recorded with the weights of all shards: l2 for mixings without this key."""
        return "l2"

    @property
    def keep(self) -> tuple[str, ...]:
        """The features that are always kept: none for mixings without this key, which select nothing."""
        return ()

    def conflict(self) -> tuple[str, str] | None:
        """Return a missing or conflicting key, and what is wrong; None if there is no conflict."""
        return None


@dataclass(frozen=True)
class Nothing(Mixing):
    """No mixing: the weights of the single shard are the result, and it continues from them."""

    shards_continue: ClassVar[bool] = True


@dataclass(frozen=True)
class EpochsMean(Mixing):
    """The result is the mean over shards and epochs; each shard continues from its own weights."""

    shards_continue: ClassVar[bool] = True
    needs_previous: ClassVar[bool] = True


@dataclass(frozen=True)
class Mean(Mixing):
    """The result is the mean over the shards; all shards continue from it."""


@documented
@dataclass(frozen=True)
class Selection(Mixing):
    """The mean over the shards, for the features with the largest norm over the shards; others become 0."""

    selects: ClassVar[bool] = True

    select: int | None = key(
        f"Number of features kept after each epoch; null: {DEFAULT_SELECT}, unless a threshold is given.",
        minimum=1,
    )
    threshold: float | None = key(
        "Keep the features with a norm above this, instead of a fixed number of features.", minimum=0
    )
    relative_threshold: float | None = key(
        "Keep the features with a norm of at least this fraction of the largest norm.", minimum=0, maximum=1
    )
    norm: str = key("Norm over the shards by which features are selected.", "l2", choices=tuple(NORMS))
    keep: tuple[str, ...] = key(
        "Features always kept, in addition to those selected from the rest: names of features, dense, or "
        "templates of sparse features (docs/features.md).",
        (),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.limits:
            # The only default that depends on other keys of the same section. It is here, not in
            # `itersel.config.forms` or `defaults`, because steps read the section, and Python makes it, too.
            object.__setattr__(self, "select", DEFAULT_SELECT)

    @property
    def limits(self) -> dict[str, float]:
        """The limits on the number of features: one, unless they conflict."""
        names = ("select", "threshold", "relative_threshold")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def conflict(self) -> tuple[str, str] | None:
        """Return a second limit."""
        if len(self.limits) < 2:
            return None
        first, second, *_ = self.limits
        return second, f"cannot be combined with '{first}'; remove one of them"


@documented
@dataclass(frozen=True)
class PathFollowing(Mixing):
    """Selection with a threshold that falls with the training loss (Simianer & Riezler 2013)."""

    needs_previous: ClassVar[bool] = True
    needs_loss: ClassVar[bool] = True
    selects: ClassVar[bool] = True

    first_threshold: float | None = key("Threshold for the norm in the first epoch.", above=0, required=True)
    epsilon: float | None = key(
        "The threshold is at most the last decrease of the training loss divided by this.",
        above=0,
        required=True,
    )
    minimum_threshold: float = key(
        "The path ends, and the weights no longer change, once the threshold would be below this.",
        0.0,
        minimum=0,
    )
    norm: str = key_of(Selection, "norm")
    keep: tuple[str, ...] = key_of(Selection, "keep")

    def conflict(self) -> tuple[str, str] | None:
        """Return a key that is missing, or a path that ends before it begins."""
        for name in ("first_threshold", "epsilon"):
            if getattr(self, name) is None:
                return name, f"is missing; see {PATH_FOLLOWING} in docs/learning.md"
        if self.first_threshold is not None and self.minimum_threshold > self.first_threshold:
            return "minimum_threshold", f"is {self.minimum_threshold}, must be at most first_threshold"
        return None


MIXINGS: dict[str, type[Mixing]] = {
    NO_MIXING: Nothing,
    "mean-of-epochs": EpochsMean,
    "mean": Mean,
    "selection": Selection,
    PATH_FOLLOWING: PathFollowing,
}

# The algorithms of Simianer, Riezler & Dyer (2012) by name, and their mixings; SGD has one shard.
ALGORITHMS = {SGD: "mean-of-epochs", "mixsgd": "mean-of-epochs", "itermixsgd": "mean", "itersel": "selection"}
