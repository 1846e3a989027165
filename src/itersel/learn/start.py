"""Read where an epoch starts: the weights of a shard, its state, and whether training has stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from itersel.errors import FilePath, InputError
from itersel.learn.state import LARGEST, STATE, Memory, ShardState
from itersel.storage.files import is_hdf5_name
from itersel.storage.formats import Arrays, damaged_file
from itersel.storage.hdf5 import checked_arrays, open_hdf5, read_header
from itersel.storage.numbers import MAX_INTEGER
from itersel.storage.provenance import read_provenance
from itersel.storage.strings import strings_in
from itersel.vectors.weights import FORMAT, Weights, make_weights, read_itersel_weights, weights_of

if TYPE_CHECKING:
    from itersel.config.steps import LearningSettings


def read_start(path: FilePath | None, settings: LearningSettings, stopped: bool = False) -> ShardState:
    """Read the start of an epoch, whose files this opens once.

    Parameters
    ----------
    path
        File of weights: of a shard, with its state, which only starts the next epoch, or mixed weights
        (default: all weights are 0).
    settings
        If they measure the loss for path following, training has also stopped if the weights were passed on.
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
        if settings.measure_loss and settings.epoch > 1:
            stopped = stopped or read_provenance(header.attributes, path).stopped
        has_state = not stopped and "state/key" in header.digests
        arrays = checked_arrays(stream, header, STATE if has_state else FORMAT, path)

    if not has_state:
        return ShardState(weights_of(arrays, path), stopped=stopped)
    return _state(arrays, header.attributes, path, settings.epoch)


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
