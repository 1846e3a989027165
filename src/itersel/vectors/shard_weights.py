"""The file of a shard's weights, ``shard-<z>.h5``, which `itersel train` writes at the end of an epoch.

The file contains the weights that are mixed, as in every file of weights (`itersel.vectors.weights`). If the
shard itself would not continue from these weights, the file also contains a state: the weights that it
continues from, and what the learner remembers of its steps. The next epoch of the shard reads this state
(`read_start`). Mixing reads the weights of all shards a part at a time, after `locate_weights`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import h5py
import numpy as np

from itersel.errors import FilePath, InputError
from itersel.storage.arrays import Float64s
from itersel.storage.files import is_hdf5_name
from itersel.storage.formats import Array, Arrays, damaged_file, numbers, strings
from itersel.storage.hdf5 import (
    ERRORS,
    checked_arrays,
    find_dataset,
    one_line,
    open_hdf5,
    read_header,
    write_arrays,
)
from itersel.storage.numbers import MAX_INTEGER
from itersel.storage.provenance import Provenance, read_provenance
from itersel.storage.strings import strings_in
from itersel.vectors.weights import (
    FORMAT,
    KEY,
    NAME,
    NAME_OFFSET,
    VALUE,
    Weights,
    make_weights,
    read_itersel_weights,
    weight_arrays,
    weights_of,
    write_itersel_weights,
)

LARGEST = sys.float_info.max
# S features, which can differ from the features of the weights to mix.
STATE = replace(
    FORMAT,
    arrays={
        "state/key": Array("<u8", ("S",), rising=True),
        **strings("state/name", "S", "state names", rising=True),
        "state/v": numbers("<f8", "S"),
        "state/squares": Array("<f8", ("S",), least=0, most=LARGEST),
        "state/paid": Array("<f8", ("S",), least=-LARGEST, most=LARGEST),
    },
)
WITH_STATE = replace(FORMAT, arrays={**FORMAT.arrays, **STATE.arrays})

# Attribute with the learner's loss, if it was measured.
LOSS = "loss"
DAMAGED = "damaged or not written by 'itersel train'; recreate it"


class Memory(NamedTuple):
    """The state kept between epochs besides the weights; arrays are float64, of the same size."""

    squares: Float64s  # sums of squared gradients
    paid: Float64s  # the total penalty that cumulative l1 has added to the weights
    owed: float = 0.0  # the total penalty that cumulative l1 would have taken from a weight that is never 0


class ShardState(NamedTuple):
    """The state of a shard that training starts from."""

    weights: Weights  # of any features
    memory: Memory | None = None  # state of the previous epoch, with rows as in `weights`
    steps: int | None = None  # number of steps taken so far, if known
    stopped: bool = False  # training has stopped: the weights are passed on


def write_shard_weights(
    path: FilePath, weights: Weights, state: ShardState | None, attributes: Mapping[str, Any]
) -> None:
    """Write the weights of a shard, with its state if it has one and the file is HDF5."""
    if state is None or not is_hdf5_name(path):
        write_itersel_weights(path, weights, attributes)
        return

    memory = state.memory
    if memory is None:
        nothing = np.zeros(state.weights.key.shape[0])
        memory = Memory(nothing, nothing)

    own = state.weights
    arrays = {
        **weight_arrays(weights),
        "state/key": own.key,
        "state/name": own.name.data,
        "state/name_offset": own.name.offset,
        "state/v": own.value,
        "state/squares": memory.squares,
        "state/paid": memory.paid,
    }
    write_arrays(path, WITH_STATE, arrays, {**attributes, "steps": state.steps, "owed": memory.owed})


def read_start(
    path: FilePath | None, epoch: int, *, follows_path: bool = False, stopped: bool = False
) -> ShardState:
    """Read the start of an epoch, whose files this opens once.

    Parameters
    ----------
    path
        File of weights: of a shard, with its state, which only starts the next epoch, or mixed weights
        (default: all weights are 0).
    epoch
        Number of the epoch.
    follows_path
        Whether the loss is measured for path following; then training has also stopped if the weights were
        passed on.
    stopped
        Whether training has stopped, so that the weights are only passed on.

    Raises
    ------
    InputError
        If a file is damaged, if there are no weights to pass on, or if the state is not of the previous
        epoch.
    """
    if path is None:
        if stopped:
            raise InputError("training has stopped, but there are no weights to pass on; give --start")
        return ShardState(make_weights({}))
    if not is_hdf5_name(path):
        return ShardState(read_itersel_weights(path), stopped=stopped)

    with open_hdf5(path) as stream:
        header = read_header(stream, FORMAT, path)
        # the first epoch may start from the weights of another experiment
        if follows_path and epoch > 1:
            stopped = stopped or read_provenance(header.attributes, path).stopped
        has_state = not stopped and "state/key" in header.digests
        arrays = checked_arrays(stream, header, STATE if has_state else FORMAT, path)

    if not has_state:
        return ShardState(weights_of(arrays, path), stopped=stopped)
    return _state(arrays, header.attributes, path, epoch)


def _state(arrays: Arrays, attributes: Mapping[str, Any], path: FilePath, epoch: int) -> ShardState:
    """Return the state of a shard; an InputError if it is not from the epoch before `epoch`."""
    name = strings_in(arrays, "state/name")
    weights = Weights(arrays["state/key"], arrays["state/v"], name)

    steps = attributes.get("steps")
    owed = attributes.get("owed")
    before = read_provenance(attributes, path).epoch
    if not isinstance(steps, int) or not 0 <= steps <= MAX_INTEGER:
        raise damaged_file(path, "the number of steps is missing or invalid")
    if not isinstance(owed, float) or not 0 <= owed <= LARGEST:
        raise damaged_file(path, "the penalty of cumulative l1 is missing or invalid")
    if before < 0:
        raise damaged_file(path, "the number of the epoch is missing or invalid")
    if before != epoch - 1:
        raise InputError(
            f"has the state of a shard after epoch {before}, where epoch {epoch} cannot start; train epoch "
            f"{before + 1}, or start from mixed weights or from text ('itersel weights')",
            path,
        )

    memory = Memory(arrays["state/squares"], arrays["state/paid"], owed)
    return ShardState(weights, memory, steps)


class ShardWeightsFile(NamedTuple):
    """Where the arrays of the weights are in a file, and the attributes of the file.

    HDF5 stores arrays that are neither chunked nor compressed as plain bytes.
    """

    path: str
    made: Provenance
    loss: float | None  # of the weights that the shard started from; None if not measured
    weights: int  # number of weights
    name_length: int  # bytes of their names
    position: dict[str, int]  # in bytes, of the arrays `KEY`, `VALUE`, `NAME_OFFSET` and `NAME`
    digest: dict[str, str]  # checksum of each of these arrays


def locate_weights(path: str) -> ShardWeightsFile:
    """Find where the weights are in a file of `itersel train`."""
    with open_hdf5(path) as stream:
        header = read_header(stream, FORMAT, path)
        made = read_provenance(header.attributes, path)

        try:
            # arrays are only opened once they are known to be in this file
            arrays = {name: find_dataset(stream, name, FORMAT) for name in (KEY, VALUE, NAME_OFFSET, NAME)}
            count = arrays[VALUE].shape[0]
            length = arrays[NAME].shape[0]
            sizes = {KEY: count, VALUE: count, NAME_OFFSET: count + 1, NAME: length}

            return ShardWeightsFile(
                path=path,
                made=made,
                loss=_loss(header.attributes.get(LOSS)),
                weights=count,
                name_length=length,
                position={name: _position(array, name, sizes[name]) for name, array in arrays.items()},
                digest={name: header.digests[name] for name in arrays},
            )
        except ERRORS as error:
            raise InputError(f"{DAMAGED} ({one_line(error)})", path) from None


def _loss(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, float) or not 0 <= value < math.inf:
        raise ValueError("the loss is not a non-negative number")
    return value


def _position(dataset: h5py.Dataset, name: str, size: int) -> int:
    """Return the position of an array in the file, or raise a ValueError if it is not as expected."""
    position = dataset.id.get_offset()
    if dataset.dtype.str != FORMAT.arrays[name].dtype or dataset.shape != (size,):
        raise ValueError(f"array '{name}' is not of the declared type and size")
    if position is None and size > 0:
        raise ValueError(f"array '{name}' is not stored in one piece")
    return int(position or 0)
