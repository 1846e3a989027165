"""The weights file of a shard: the weights to mix, and the state from which the shard continues."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import itersel
from itersel.errors import InputError
from itersel.learn.weight_table import Memory, Start
from itersel.limits import MAX_INTEGER
from itersel.storage.formats import Array, FilePath
from itersel.storage.hdf5 import open_hdf5, read_arrays, read_header, write_arrays
from itersel.storage.strings import StringTable
from itersel.vectors.weights import FORMAT, Weights, read_weights, weight_arrays, write_weights

if TYPE_CHECKING:
    from itersel.learn.train import Training, TrainSettings

_LARGEST = sys.float_info.max
# S features; they can differ from those of the weights to mix.
STATE = replace(
    FORMAT,
    arrays={
        "state/key": Array("<u8", ("S",), rising=True),
        "state/name": Array("|u1", ("bytes of state names",)),
        "state/name_offset": Array(
            "<i8", ("S+1",), into="bytes of state names", text="state/name", rising=True
        ),
        "state/v": Array("<f8", ("S",), least=-_LARGEST, most=_LARGEST),
        "state/squares": Array("<f8", ("S",), least=0, most=_LARGEST),
        "state/paid": Array("<f8", ("S",), least=-_LARGEST, most=_LARGEST),
    },
)


def provenance(settings: TrainSettings) -> dict[str, str | int | float]:
    """Return what made a shard's weights; ``settings`` is equal for all shards and epochs."""
    values = settings.to_dict()
    epoch, shard = values.pop("epoch"), values.pop("shard")
    return {
        "kind": "shard-weights",
        "version": itersel.__version__,
        "settings": json.dumps(values, sort_keys=True),
        "epoch": epoch,
        "shard": shard,
    }


def write_training(path: FilePath, training: Training, settings: TrainSettings) -> None:
    """Write the weights of a shard, with its state if it has one and the file is HDF5."""
    attributes: dict[str, str | int | float] = {
        **provenance(settings),
        "sentences": training.sentences,
        "pairs": training.pairs,
        "updates": training.updates,
        "mean_bleu": training.mean_bleu,
    }
    if training.loss is not None:
        attributes["loss"] = training.loss
    state = training.state
    if state is None or not os.fspath(path).endswith(".h5"):
        write_weights(path, training.weights, attributes)
        return
    weights, memory, steps = state
    if memory is None:
        memory = Memory(*np.zeros((2, weights.key.shape[0])))
    arrays: dict[str, NDArray[Any]] = {
        "state/key": weights.key,
        "state/name": weights.name.data,
        "state/name_offset": weights.name.offset,
        "state/v": weights.value,
        "state/squares": memory.squares,
        "state/paid": memory.paid,
    }
    both = replace(FORMAT, arrays={**FORMAT.arrays, **STATE.arrays})
    write_arrays(path, both, {**weight_arrays(training.weights), **arrays}, {**attributes, "steps": steps})


def has_stopped(path: FilePath) -> bool:
    """Return whether path following has ended with these mixed weights (`itersel.select.settings`)."""
    if not os.fspath(path).endswith(".h5"):
        return False
    with open_hdf5(path) as stream:
        return bool(read_header(stream, FORMAT, path).attributes.get("stopped", 0))


def read_start(path: FilePath) -> Start:
    """Read the start of training: the state of a shard if the file contains one, else its weights."""
    if not os.fspath(path).endswith(".h5"):
        return Start(read_weights(path))
    with open_hdf5(path) as stream:
        has_state = "state/key" in read_header(stream, FORMAT, path).digests
    if not has_state:
        return Start(read_weights(path))
    arrays, attributes = read_arrays(path, STATE)
    name = StringTable(arrays["state/name"], arrays["state/name_offset"])
    weights = Weights(arrays["state/key"], arrays["state/v"], name)
    steps = attributes.get("steps")
    if not isinstance(steps, int) or not 0 <= steps <= MAX_INTEGER:
        raise InputError("damaged: the number of steps is missing or invalid; recreate the file", path)
    return Start(weights, Memory(arrays["state/squares"], arrays["state/paid"]), steps)
