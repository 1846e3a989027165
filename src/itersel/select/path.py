"""Path following: a threshold that falls as the training loss falls.

Algorithm 3 of Simianer & Riezler's talk on multi-task learning (2013): lambda_{t+1} = min(lambda_t,
(loss of v_{t-1} - loss of v_t) / epsilon), where lambda is the threshold; training stops when it falls below
a minimum. The loss of v_t is summed over all sentences in all shards; the shards measure it when they start
epoch t + 1 from v_t.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from itersel.config.mixing import PathFollowing
from itersel.errors import FilePath, InputError

if TYPE_CHECKING:
    from itersel.vectors.shard_weights import ShardWeightsFile


class PathState(NamedTuple):
    """The state of the path after an epoch."""

    # used to select the weights; if training has stopped, that of the last epoch with selection
    threshold: float
    loss: float  # of the weights that the epoch started from
    stopped: bool  # training has stopped: the weights are those of the previous epoch

    def attributes(self) -> dict[str, float | int]:
        """Return the file attributes that `read_state` reads."""
        return {"epoch_threshold": self.threshold, "loss": self.loss, "stopped": int(self.stopped)}


def read_state(attributes: Mapping[str, Any], path: FilePath) -> PathState:
    """Return the state of the path from a file's attributes."""
    threshold, loss, stopped = (attributes.get(name) for name in ("epoch_threshold", "loss", "stopped"))
    for value in (threshold, loss):
        if not isinstance(value, float) or not 0 <= value < math.inf:
            raise InputError("has no valid epoch_threshold or loss; mix that epoch again", path)
    return PathState(threshold, loss, bool(stopped))  # type: ignore[arg-type]


def require_stopped(shards: Sequence[ShardWeightsFile], stopped: bool) -> None:
    """Raise an InputError for a shard that was trained although training has `stopped`, or the reverse."""
    for shard in shards:
        if shard.made.stopped != stopped:
            how, has = ("was trained", "has") if stopped else ("was passed on untrained", "has not")
            raise InputError(f"{how} although training {has} stopped; train it again", shard.path)


def next_state(
    settings: PathFollowing, shards: Sequence[ShardWeightsFile], before: PathState | None, stopped: bool
) -> PathState:
    """Return the state after an epoch.

    Losses are summed in the order of the shards. `before` is the state after the previous epoch, None in the
    first. `stopped`: training has stopped before this epoch.
    """
    assert settings.first_threshold is not None
    assert settings.epsilon is not None

    stopped = stopped or (before is not None and before.stopped)
    require_stopped(shards, stopped)
    if before is not None and stopped:
        return before._replace(stopped=True)

    loss = 0.0
    for shard in shards:
        if shard.loss is None:
            raise InputError("has no loss; train the shard with measure_loss: true", shard.path)
        loss += shard.loss
    if loss == math.inf:
        raise InputError("the sum of the shards' losses overflows; start from smaller weights")

    if before is None:
        return PathState(settings.first_threshold, loss, False)
    threshold = min(before.threshold, (before.loss - loss) / settings.epsilon)
    if threshold < settings.minimum_threshold:
        return PathState(before.threshold, loss, True)
    return PathState(threshold, loss, False)
