"""Result of training a shard for one epoch, and its file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from itersel.config.plain import recorded
from itersel.errors import FilePath
from itersel.learn.state import STATE, Memory, ShardState
from itersel.storage.files import is_hdf5_name
from itersel.storage.hdf5 import write_arrays
from itersel.storage.provenance import SHARD_WEIGHTS, STOPPED, made_with
from itersel.vectors.weights import FORMAT, Weights, weight_arrays, write_itersel_weights

if TYPE_CHECKING:
    from itersel.config.steps import LearningSettings


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
    return Training(start.weights, None, 0, 0, 0, 0.0, None, stopped=True)


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
        measured["loss"] = training.loss
    found = STOPPED if training.stopped else measured
    attributes = {**provenance(settings), **found}
    state = training.state
    if state is None or not is_hdf5_name(path):
        write_itersel_weights(path, training.weights, attributes)
        return

    memory = state.memory
    if memory is None:
        nothing = np.zeros(state.weights.key.shape[0])
        memory = Memory(nothing, nothing)

    own = weight_arrays(state.weights).items()
    state_arrays = {f"state/{name.removeprefix('features/')}": array for name, array in own}
    arrays = {**weight_arrays(training.weights), **state_arrays}
    arrays |= {"state/squares": memory.squares, "state/paid": memory.paid}

    both = replace(FORMAT, arrays={**FORMAT.arrays, **STATE.arrays})
    write_arrays(path, both, arrays, {**attributes, "steps": state.steps, "owed": memory.owed})
