"""Result of training a shard for one epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from itersel.config.plain import recorded
from itersel.errors import FilePath
from itersel.storage.provenance import SHARD_WEIGHTS, STOPPED, made_with
from itersel.vectors.shard_weights import LOSS, ShardState, write_shard_weights
from itersel.vectors.weights import Weights

if TYPE_CHECKING:
    from itersel.config.learning_steps import LearningSettings


class Training(NamedTuple):
    """Result of training a shard for an epoch.

    Attributes
    ----------
    weights
        The weights to mix: all non-zero weights, including start weights of features that are not in the
        shard; averaged if the learner averages.
    state
        The state from which the shard itself would continue; None if that is just `weights`.
    sentences, pairs, updates
        Number of sentences, preference pairs, and pairs with a loss.
    mean_quality_points
        Mean sentence BLEU, or the lists' own quality, of the model's best translations, 0 to 100; 0 without
        sentences.
    loss
        Sum over all sentences of the learner's loss with the start weights; None if it is not measured.
    stopped
        Whether training had stopped before: then `weights` are the start weights, and the counts are 0.
    """

    weights: Weights
    state: ShardState | None
    sentences: int
    pairs: int
    updates: int
    mean_quality_points: float
    loss: float | None
    stopped: bool = False


def untrained(start: ShardState) -> Training:
    """Return the result of an epoch in which training has stopped."""
    return Training(
        weights=start.weights,
        state=None,
        sentences=0,
        pairs=0,
        updates=0,
        mean_quality_points=0.0,
        loss=None,
        stopped=True,
    )


def provenance(settings: LearningSettings) -> dict[str, str | int | float]:
    """Return how a shard's weights were made; ``settings`` is equal for all shards and epochs."""
    return made_with(SHARD_WEIGHTS, recorded(settings), epoch=settings.epoch, shard=settings.shard_number)


def write_training(path: FilePath, training: Training, settings: LearningSettings) -> None:
    """Write the weights of a shard, with its state if it has one and the file is HDF5."""
    measured: dict[str, int | float] = {
        "sentences": training.sentences,
        "pairs": training.pairs,
        "updates": training.updates,
        "mean_quality": training.mean_quality_points,
    }
    if training.loss is not None:
        measured[LOSS] = training.loss
    found = STOPPED if training.stopped else measured
    write_shard_weights(path, training.weights, training.state, {**provenance(settings), **found})
