"""Settings for selection and mixing, and path following: a threshold that falls as the training loss falls.

Algorithm 3 of Simianer & Riezler's talk on multi-task learning (2013): lambda_{t+1} = min(lambda_t,
(loss of v_{t-1} - loss of v_t) / epsilon), until it falls below a minimum. The loss of v_t is summed over all
sentences in all shards; the shards measure it when they start epoch t + 1 from v_t.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from itersel.config.mixing import DEFAULT_SELECT, MIXINGS, NORMS, PathFollowing, Selection
from itersel.config.options import option, option_of
from itersel.errors import FilePath, InputError, check_choice

if TYPE_CHECKING:
    from itersel.select.shard_files import ShardFile

PATH = "path-following"
SELECTION_LIMITS = ("select", "threshold", "relative_threshold")
PATH_LIMITS = ("threshold", "epsilon", "minimum")
LIMITS = (*SELECTION_LIMITS, "epsilon", "minimum")


@dataclass(frozen=True)
class MixSettings:
    """Settings for selection and mixing."""

    # ``none``: the weights of the only shard; ``mean-of-epochs``: mean over shards and epochs; ``mean``: mean
    # over the shards of this epoch; ``selection``: the same for selected features only; ``path-following``:
    # the same for features above a falling threshold
    mixing: str
    epoch: int  # from 1
    shards: int  # Z; 1 for ``none``
    # ``selection`` has one of the limits `select`, `threshold` and `relative_threshold`; by default, as in a
    # config, `select`
    select: int | None = option(
        "selection: keep this many features, those with the largest norm (default: "
        f"{DEFAULT_SELECT}, unless a threshold is given).",
        minimum=1,
    )
    threshold: float | None = option(
        "selection: keep the features with a norm above this; path-following: that of the first epoch."
    )
    norm: str = option_of(Selection, "norm")
    relative_threshold: float | None = option_of(Selection, "relative_threshold")
    keep: tuple[str, ...] = option_of(Selection, "keep")
    epsilon: float | None = option(
        "path-following: the threshold is at most the decrease of the training loss divided by this.", above=0
    )
    minimum: float | None = option_of(PathFollowing, "minimum", default=None)

    def __post_init__(self) -> None:
        check_choice("mixing", self.mixing, MIXINGS)
        check_choice("norm", self.norm, NORMS)
        if self.epoch < 1 or self.shards < 1:
            raise InputError(f"epoch {self.epoch} of {self.shards} shards; both must be at least 1")
        if self.select is not None and self.select < 1:
            raise InputError(f"cannot select {self.select} features; select at least 1")
        given = self._given
        if self.mixing == "selection" and not given:
            object.__setattr__(self, "select", DEFAULT_SELECT)
        elif self.mixing == "selection" and (len(given) != 1 or given[0] not in SELECTION_LIMITS):
            raise InputError(
                "mixing selection takes one of --select, --threshold and --relative-threshold, nothing else"
            )
        if self.mixing == PATH and self.minimum is None:
            object.__setattr__(self, "minimum", PathFollowing.minimum)
            given = self._given
        if self.mixing == PATH and given != list(PATH_LIMITS):
            raise InputError(
                f"mixing {PATH} needs --threshold and --epsilon, may have --minimum, nothing else"
            )
        if self.path is not None and self.path[2] > self.path[0]:
            raise InputError("--minimum is above --threshold; choose a smaller minimum")
        if self.mixing not in ("selection", PATH) and (given or self.keep):
            unused = [*given, *(["keep"] if self.keep else [])]
            drop = " and ".join(f"--{name.replace('_', '-')}" for name in unused)
            raise InputError(f"mixing {self.mixing} selects nothing; drop {drop}")
        if self.mixing == "none" and self.shards != 1:
            raise InputError(f"mixing none is for one shard, not {self.shards}")

    @property
    def _given(self) -> list[str]:
        """The limits that are given."""
        return [name for name in LIMITS if getattr(self, name) is not None]

    @property
    def needs_previous(self) -> bool:
        """Whether the result depends on that of the previous epoch."""
        return self.mixing in ("mean-of-epochs", PATH) and self.epoch > 1

    @property
    def path(self) -> tuple[float, float, float] | None:
        """Threshold, epsilon and minimum; None without path following."""
        if self.threshold is None or self.epsilon is None or self.minimum is None:
            return None
        return self.threshold, self.epsilon, self.minimum


class PathStep(NamedTuple):
    """The state of the path after an epoch."""

    # lambda used to select the weights; if the path has ended, that of the last epoch with selection
    threshold: float
    loss: float  # of the weights that the epoch started from
    stopped: bool  # the path has ended: the weights are those of the previous epoch

    def attributes(self) -> dict[str, float | int]:
        """Return the file attributes that `read_step` reads."""
        return {"lambda": self.threshold, "loss": self.loss, "stopped": int(self.stopped)}


def read_step(attributes: Mapping[str, Any], path: FilePath) -> PathStep:
    """Return the state of the path from a file's attributes."""
    threshold, loss, stopped = (attributes.get(name) for name in ("lambda", "loss", "stopped"))
    for value in (threshold, loss):
        if not isinstance(value, float) or not 0 <= value < math.inf:
            raise InputError("has no valid lambda or loss; mix that epoch again", path)
    return PathStep(threshold, loss, bool(stopped))  # type: ignore[arg-type]


def require_stopped(shards: Sequence[ShardFile], stopped: bool) -> None:
    """Raise an InputError for a shard that was trained although training has `stopped`, or the reverse."""
    for shard in shards:
        if shard.stopped != stopped:
            how, has = ("was trained", "has") if stopped else ("was passed on untrained", "has not")
            raise InputError(f"{how} although training {has} stopped; train it again", shard.path)


def next_step(
    path: tuple[float, float, float], shards: Sequence[ShardFile], before: PathStep | None, stopped: bool
) -> PathStep:
    """Return the step of an epoch.

    For `path` see `MixSettings.path`. Losses are summed in the order of the shards. `before` is the step of
    the previous epoch, None in the first. The path also ends if training has `stopped`.
    """
    first, epsilon, minimum = path
    stopped = stopped or (before is not None and before.stopped)
    require_stopped(shards, stopped)
    if before is not None and stopped:
        return before._replace(stopped=True)
    loss = 0.0
    for shard in shards:
        if shard.loss is None:
            raise InputError("has no loss; train the shard with --measure-loss", shard.path)
        loss += shard.loss
    if loss == math.inf:
        raise InputError("the sum of the shards' losses overflows; start from smaller weights")
    if before is None:
        return PathStep(first, loss, False)
    threshold = min(before.threshold, (before.loss - loss) / epsilon)
    if threshold < minimum:
        return PathStep(before.threshold, loss, True)
    return PathStep(threshold, loss, False)
