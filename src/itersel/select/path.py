"""Path following: a threshold for selection that falls as the training loss falls.

Algorithm 3 of Simianer & Riezler's talk on multi-task learning (2013): lambda_{t+1} = min(lambda_t,
(loss of v_{t-1} - loss of v_t) / epsilon), until it falls below a minimum. The loss of v_t is summed over all
sentences in all shards; the shards measure it when they start epoch t + 1 from v_t.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from itersel.errors import InputError
from itersel.select.shard_files import ShardFile


class PathSettings(NamedTuple):
    """How the threshold falls.

    lambda is `threshold` in the first epoch, at most the decrease of the loss divided by `epsilon` in others,
    and the path ends when it would fall below `minimum`.
    """

    threshold: float
    epsilon: float
    minimum: float


class PathStep(NamedTuple):
    """The state of the path after an epoch.

    Attributes
    ----------
    threshold
        lambda used to select the weights; if the path has ended, that of the last epoch with selection.
    loss
        Loss of the weights that the epoch started from.
    stopped
        Whether the path has ended; if so, the weights are those of the previous epoch.
    """

    threshold: float
    loss: float
    stopped: bool

    def attributes(self) -> dict[str, float | int]:
        """Return the file attributes that `read_step` reads."""
        return {"lambda": self.threshold, "loss": self.loss, "stopped": int(self.stopped)}


def read_step(attributes: Mapping[str, Any], path: str | os.PathLike[str]) -> PathStep:
    """Return the state of the path from a file's attributes.

    Raises
    ------
    InputError
        If it is missing or invalid.
    """
    threshold, loss, stopped = (attributes.get(name) for name in ("lambda", "loss", "stopped"))
    for value in (threshold, loss):
        if not isinstance(value, float) or not 0 <= value < math.inf:
            raise InputError("has no valid lambda or loss; mix that epoch again", path)
    return PathStep(threshold, loss, bool(stopped))  # type: ignore[arg-type]


def next_step(settings: PathSettings, shards: Sequence[ShardFile], before: PathStep | None) -> PathStep:
    """Return the step of an epoch.

    Parameters
    ----------
    settings
        How the threshold falls.
    shards
        Files of this epoch's weights, by shard number; losses are summed in this order.
    before
        The step of the previous epoch; None in the first.

    Raises
    ------
    InputError
        If a shard has no loss, was passed on before the path ended, or was trained after it ended.
    """
    if before is not None and before.stopped:
        for shard in shards:
            if not shard.stopped:
                raise InputError("was trained although the path has ended; train it again", shard.path)
        return before
    loss = 0.0
    for shard in shards:
        if shard.stopped:
            raise InputError(
                "was passed on untrained although the path has not ended; train it again", shard.path
            )
        if shard.loss is None:
            raise InputError("has no loss; train the shard with --measure-loss", shard.path)
        loss += shard.loss
    if loss == math.inf:
        raise InputError("the sum of the shards' losses overflows; start from smaller weights")
    if before is None:
        return PathStep(settings.threshold, loss, False)
    threshold = min(before.threshold, (before.loss - loss) / settings.epsilon)
    if threshold < settings.minimum:
        return PathStep(before.threshold, loss, True)
    return PathStep(threshold, loss, False)
