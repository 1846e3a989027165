"""Path following: a threshold for selection that falls as the training loss falls.

Algorithm 3 of Simianer & Riezler's talk on multi-task learning (2013): lambda_{t+1} = min(lambda_t,
(loss of v_{t-1} - loss of v_t) / epsilon), until it is below a minimum. The loss of v_t is that of all
sentences of all shards; shards measure it when they start epoch t + 1 from v_t.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from itersel.errors import InputError
from itersel.select.shard_files import ShardFile


@dataclass(frozen=True)
class PathSettings:
    """How the threshold falls.

    Attributes
    ----------
    threshold
        lambda of the first epoch.
    epsilon
        Fall of the loss for which the threshold may be 1.
    minimum
        Training stops when the threshold is below.
    """

    threshold: float
    epsilon: float
    minimum: float


class PathStep(NamedTuple):
    """Where the path is after an epoch.

    Attributes
    ----------
    threshold
        lambda of this epoch.
    loss
        Of the weights that the epoch started from.
    stopped
        Whether this epoch, or one before it, changed nothing any more.
    """

    threshold: float
    loss: float
    stopped: bool


def next_step(
    settings: PathSettings, shards: Sequence[ShardFile], before: Mapping[str, Any] | None
) -> PathStep:
    """Return the step of an epoch.

    Parameters
    ----------
    settings
        How the threshold falls.
    shards
        Files of this epoch's weights, by number: sums of losses run in this order.
    before
        Attributes of the mixed weights of the epoch before; None in the first.

    Raises
    ------
    InputError
        If a shard has measured no loss, or was stopped and others were not.
    """
    is_over = before is not None and bool(before["stopped"])
    for shard in shards:
        if shard.stopped != is_over:
            what = "was not trained" if shard.stopped else "was trained"
            other = "goes on" if shard.stopped else "has stopped"
            raise InputError(f"{what}, but training {other} after the epoch before", shard.path)
        if shard.loss is None and not is_over:
            raise InputError("has no loss; train the shard with --measure-loss", shard.path)
    if before is not None and is_over:
        return PathStep(before["threshold"], before["loss"], True)
    loss = sum(shard.loss or 0.0 for shard in shards)
    if before is None:
        return PathStep(settings.threshold, loss, False)
    threshold = min(before["threshold"], (before["loss"] - loss) / settings.epsilon)
    return PathStep(threshold, loss, threshold < settings.minimum)
