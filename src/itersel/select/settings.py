"""Settings for selection and mixing."""

from __future__ import annotations

from dataclasses import dataclass

from itersel.config.mixing import MIXINGS, NORMS
from itersel.errors import InputError, check_choice
from itersel.select.path import PathSettings

PATH = "path-following"
SELECTION_LIMITS = ("select", "threshold", "relative_threshold")
PATH_LIMITS = ("threshold", "epsilon", "minimum")
LIMITS = (*SELECTION_LIMITS, "epsilon", "minimum")


@dataclass(frozen=True)
class MixSettings:
    """Settings for selection and mixing.

    Attributes
    ----------
    mixing
        ``none``: the weights of the only shard; ``mean-of-epochs``: mean over shards and epochs; ``mean``:
        mean over the shards of this epoch; ``selection``: the same for selected features only;
        ``path-following``: the same for features above a falling threshold (`itersel.select.path`).
    epoch
        Number of the epoch, from 1.
    shards
        Z; 1 for ``none``.
    select, threshold
        For ``selection``, one of these or `relative_threshold`: how many features with the largest norms to
        keep, or the norm that they must exceed. For ``path-following``: the threshold of the first epoch.
    norm
        Norm of the columns of W: ``l0`` (number of shards with the feature), ``l1``, ``l2`` or ``linf``.
    relative_threshold
        The fraction of the largest norm that a selected feature's norm must reach.
    epsilon, minimum
        For ``path-following``: see `itersel.select.path`.
    keep
        For ``selection`` and ``path-following``: names of features and groups (`itersel.vectors.features`)
        that are kept regardless of their norms, in addition to those selected from the others.
    """

    mixing: str
    epoch: int
    shards: int
    select: int | None = None
    threshold: float | None = None
    norm: str = "l2"
    relative_threshold: float | None = None
    keep: tuple[str, ...] = ()
    epsilon: float | None = None
    minimum: float | None = None

    def __post_init__(self) -> None:
        check_choice("mixing", self.mixing, MIXINGS)
        check_choice("norm", self.norm, NORMS)
        if self.epoch < 1 or self.shards < 1:
            raise InputError(f"epoch {self.epoch} of {self.shards} shards; both must be at least 1")
        if self.select is not None and self.select < 1:
            raise InputError(f"cannot select {self.select} features; select at least 1")
        given = [name for name in LIMITS if getattr(self, name) is not None]
        if self.mixing == "selection" and (len(given) != 1 or given[0] not in SELECTION_LIMITS):
            raise InputError("mixing selection needs one of --select, --threshold and --relative-threshold")
        if self.mixing == PATH and given != list(PATH_LIMITS):
            raise InputError(f"mixing {PATH} needs --threshold, --epsilon and --minimum, and nothing else")
        if self.path is not None and self.path.minimum > self.path.threshold:
            raise InputError("--minimum is above --threshold; choose a smaller minimum")
        if self.mixing not in ("selection", PATH) and (given or self.keep):
            unused = [*given, *(["keep"] if self.keep else [])]
            drop = " and ".join(f"--{name.replace('_', '-')}" for name in unused)
            raise InputError(f"mixing {self.mixing} selects nothing; drop {drop}")
        if self.mixing == "none" and self.shards != 1:
            raise InputError(f"mixing none is for one shard, not {self.shards}")

    @property
    def needs_previous(self) -> bool:
        """Whether the result depends on that of the previous epoch."""
        return self.mixing in ("mean-of-epochs", PATH) and self.epoch > 1

    @property
    def path(self) -> PathSettings | None:
        """How the threshold falls; None without path following."""
        if self.threshold is None or self.epsilon is None or self.minimum is None:
            return None
        return PathSettings(self.threshold, self.epsilon, self.minimum)
