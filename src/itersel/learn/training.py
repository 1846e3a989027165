"""Input and output of training a shard for one epoch, and their files."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import itersel
from itersel.config.sections import plain
from itersel.errors import FilePath, InputError
from itersel.storage.arrays import Float64s
from itersel.storage.formats import Array, damaged_file, numbers, strings
from itersel.storage.hdf5 import header_of, read_arrays, write_arrays
from itersel.storage.numbers import MAX_INTEGER
from itersel.storage.strings import StringTable
from itersel.vectors.weights import FORMAT, Weights, read_weights, weight_arrays, write_weights

if TYPE_CHECKING:
    from itersel.config.steps import TrainSettings

_LARGEST = sys.float_info.max
# S features, which can differ from the features of the weights to mix.
STATE = replace(
    FORMAT,
    arrays={
        "state/key": Array("<u8", ("S",), rising=True),
        **strings("state/name", "S", "state names", rising=True),
        "state/v": numbers("<f8", "S"),
        "state/squares": Array("<f8", ("S",), least=0, most=_LARGEST),
        "state/paid": Array("<f8", ("S",), least=-_LARGEST, most=_LARGEST),
    },
)


class Memory(NamedTuple):
    """The state kept between epochs besides the weights: float64 arrays of the same size."""

    squares: Float64s  # sums of squared gradients
    paid: Float64s  # the total penalty that cumulative l1 has added to the weights


class Start(NamedTuple):
    """Where training starts."""

    weights: Weights  # of any features
    memory: Memory | None = None  # state of the previous epoch, with rows as in `weights`
    steps: int | None = None  # number of steps taken so far, if known


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
    mean_bleu
        Mean sentence BLEU of the model's best translations, 0 to 100; 0 without sentences.
    loss
        Sum over all sentences of the learner's loss with the start weights; None if it is not measured.
    """

    weights: Weights
    state: Start | None
    sentences: int
    pairs: int
    updates: int
    mean_bleu: float
    loss: float | None


def provenance(settings: TrainSettings) -> dict[str, str | int | float]:
    """Return how a shard's weights were made; ``settings`` is equal for all shards and epochs."""
    values = plain(settings)
    epoch, shard, _ = (values.pop(name) for name in ("epoch", "shard", "measure_loss"))
    return {
        "kind": "shard-weights",
        "version": itersel.__version__,
        "settings": json.dumps(values, sort_keys=True),
        "epoch": epoch,
        "shard": shard,
    }


def write_training(path: FilePath, training: Training, settings: TrainSettings) -> None:
    """Write the weights of a shard, with its state if it has one and the file is HDF5."""
    names = ("sentences", "pairs", "updates", "mean_bleu", "loss")
    measured = {name: value for name in names if (value := getattr(training, name)) is not None}
    attributes, state = {**provenance(settings), **measured}, training.state
    if state is None or not os.fspath(path).endswith(".h5"):
        write_weights(path, training.weights, attributes)
        return

    weights, memory, steps = state
    if memory is None:
        memory = Memory(*np.zeros((2, weights.key.shape[0])))

    own = weight_arrays(weights).items()
    state_arrays = {f"state/{name.removeprefix('features/')}": array for name, array in own}
    arrays = {**weight_arrays(training.weights), **state_arrays}
    arrays |= {"state/squares": memory.squares, "state/paid": memory.paid}

    both = replace(FORMAT, arrays={**FORMAT.arrays, **STATE.arrays})
    write_arrays(path, both, arrays, {**attributes, "steps": steps})


def read_start(path: FilePath, epoch: int) -> Start:
    """Read the start of an epoch: the state of a shard if the file contains one, else its weights.

    Raises an `InputError` if the state is not from the previous epoch.
    """
    if not os.fspath(path).endswith(".h5") or "state/key" not in header_of(path, FORMAT).digests:
        return Start(read_weights(path))

    arrays, attributes = read_arrays(path, STATE)
    name = StringTable(arrays["state/name"], arrays["state/name_offset"])
    weights = Weights(arrays["state/key"], arrays["state/v"], name)

    steps, before = attributes.get("steps"), attributes.get("epoch")
    if not isinstance(steps, int) or not 0 <= steps <= MAX_INTEGER:
        raise damaged_file(path, "the number of steps is missing or invalid")
    if not isinstance(before, int):
        raise damaged_file(path, "the number of the epoch is missing or invalid")
    if before != epoch - 1:
        raise InputError(
            f"has the state of a shard after epoch {before}, where epoch {epoch} cannot start; train epoch "
            f"{before + 1}, or start from mixed weights or from text ('itersel weights')",
            path,
        )

    return Start(weights, Memory(arrays["state/squares"], arrays["state/paid"]), steps)
