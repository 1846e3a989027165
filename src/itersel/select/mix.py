"""Mix the weights of all shards of an epoch.

This is the second half of algorithms 1 to 4 of Simianer, Riezler & Dyer (2012).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from itersel.config.learning_steps import MixSettings
from itersel.config.mixing import PathFollowing, Selection
from itersel.config.plain import recorded
from itersel.errors import FilePath, InputError, check_by_reading, checked
from itersel.run.progress import progress
from itersel.select.merge_kernels import Entries, WeightColumns, make_columns, merge_entries
from itersel.select.path import PathState, next_state, read_state, require_stopped
from itersel.select.selection import CHOICES, FeatureNorms, MatrixWriter, Selector, above, feature_norms
from itersel.select.shard_files import ShardReader
from itersel.storage.files import is_hdf5_name
from itersel.storage.formats import magnitude_fault
from itersel.storage.hdf5_rows import stream_hdf5
from itersel.storage.json_files import check_texts, parse_json
from itersel.storage.provenance import (
    MIXED_WEIGHTS,
    SHARD_MATRIX,
    SHARD_WEIGHTS,
    STOPPED,
    made_with,
    read_provenance,
)
from itersel.storage.strings import StringTable
from itersel.vectors.shard_weights import ShardWeightsFile, locate_weights
from itersel.vectors.weights import (
    Weights,
    find_weights,
    nonzero,
    read_with_attributes,
    weighted_sum,
    write_itersel_weights,
)

TEXT = "is a text file, which does not record its settings"


class _Previous(NamedTuple):
    """The mixed weights of the previous epoch."""

    path: FilePath
    weights: Weights
    attributes: dict[str, Any]


def mix(
    inputs: Sequence[str],
    output: FilePath,
    settings: MixSettings,
    previous: FilePath | None = None,
    matrix: FilePath | None = None,
    stopped: bool = False,
) -> None:
    """Select and mix the weights files of all shards, in any order; on bad input nothing is written.

    Sums run in the order of shard numbers. `output` is written last: if it exists, so does `matrix` (see
    `itersel.select.selection`). Neither is ever left incomplete. Memory is at most twice the size of the
    features kept, and up to about 550 MB, however many shards there are.

    `previous`, the mixed weights of the previous epoch, is only for the mean over epochs, path following, and
    if training has `stopped`: then the shards were passed on untrained, and `previous` is the result.
    """
    _check_names(output, settings, previous, matrix, stopped)
    shards = _open_shards(inputs, settings)
    mixing = recorded(settings)["mixing"]
    training_settings = shards[0].made.settings

    before = None
    if previous is not None:
        before = _read_previous(previous, settings, training_settings, mixing)

    attributes: dict[str, str | int | float] = {
        "mixing": json.dumps(mixing),
        "epoch": settings.epoch,
        "shards": settings.shards,
    }

    state = None
    if isinstance(settings.mixing, PathFollowing):
        last = None if before is None else read_state(before.attributes, before.path)
        state = next_state(settings.mixing, shards, last, stopped)
        stopped = state.stopped
        attributes |= state.attributes()
    else:
        require_stopped(shards, stopped)
        if stopped:
            attributes |= STOPPED

    passed_on = None
    if before is not None and stopped:
        # every shard passes on the weights of the previous epoch, which are merged as those of shards are
        shards = [locate_weights(os.fspath(before.path))] * settings.shards
        passed_on = before.weights

    selector = _make_selector(settings, state, stopped)
    opened = contextlib.nullcontext() if matrix is None else stream_hdf5(matrix)
    with opened as target:
        writer = None if target is None else MatrixWriter(*target)
        count, largest = _add_all(_columns(shards, settings, passed_on), selector, writer)
        selected = selector.result()
        attributes |= {"features": count, "selected": selected.key.shape[0]}

        if before is None and state is not None:
            _check_first_threshold(state, selected, largest)

        if writer is not None:
            writer.finish(selected, made_with(SHARD_MATRIX, training_settings, **attributes))

        # inside the block, so that an error here leaves no matrix
        weights = nonzero(Weights(selected.key, selected.mean, selected.name))
        if before is not None and state is None and not stopped:
            weights = _mean_over_epochs(before, weights, settings.epoch)

    write_itersel_weights(output, weights, made_with(MIXED_WEIGHTS, training_settings, **attributes))


def _add_all(
    columns: Iterable[tuple[WeightColumns, FeatureNorms]], selector: Selector, writer: MatrixWriter | None
) -> tuple[int, float]:
    """Add all features to the selector, and to the matrix; return their number and their largest norm."""
    count = 0
    largest = 0.0
    for part, norms in columns:
        count += norms.key.shape[0]
        largest = max(largest, norms.norm.max(initial=0.0))
        selector.add(norms)
        if writer is not None:
            writer.append(part, norms)
    return count, largest


def _check_first_threshold(state: PathState, selected: FeatureNorms, largest: float) -> None:
    """Raise an InputError if path following selects nothing in its first epoch."""
    if not selected.key.shape[0]:
        raise InputError(
            f"no feature has a norm above {state.threshold:g}; the largest is {largest:g}: choose a smaller "
            "first_threshold"
        )


def _open_shards(inputs: Sequence[str], settings: MixSettings) -> list[ShardWeightsFile]:
    """Return the files of all shards, by number."""
    if len(inputs) != settings.shards:
        raise InputError(f"{len(inputs)} weights files for {settings.shards} shards; give one for each shard")

    shards: dict[int, ShardWeightsFile] = {}
    for path in progress(inputs, "open shards"):
        if not is_hdf5_name(path):
            raise InputError(f"{TEXT}; train with an --output that ends in .h5", path)
        shard = locate_weights(path)
        made = shard.made
        first = next(iter(shards.values()), shard)

        if made.kind != SHARD_WEIGHTS:
            kind = f"is of kind '{made.kind}'" if made.kind else "is of unknown kind"
            raise InputError(f"{kind}, expected '{SHARD_WEIGHTS}'; give the output of 'itersel train'", path)
        if made.epoch != settings.epoch:
            expected = f"expected epoch {settings.epoch}; train the shard in this epoch"
            raise InputError(f"is from epoch {made.epoch}, {expected}", path)
        if not 0 <= made.shard < settings.shards:
            numbers = f"{settings.shards} shards are numbered 0 to {settings.shards - 1}"
            why = f"is from shard {made.shard}, but {numbers}; train with another --shard-number"
            raise InputError(why, path)

        if made.settings != first.made.settings:
            raise InputError(f"was trained with different settings than {first.path}; train it again", path)
        if made.shard in shards:
            other = shards[made.shard].path
            raise InputError(f"contains shard {made.shard}, as does {other}; give each shard once", path)

        shards[made.shard] = shard
    return [shards[number] for number in range(settings.shards)]


def _check_names(
    output: FilePath, settings: MixSettings, previous: FilePath | None, matrix: FilePath | None, stopped: bool
) -> None:
    """Raise an InputError if a file name is missing, superfluous or unsuitable."""
    if matrix is not None and not is_hdf5_name(matrix):
        raise InputError("is not a name for an HDF5 file; choose one that ends in .h5", matrix)
    if matrix is not None and os.path.abspath(matrix) == os.path.abspath(output):
        raise InputError("is the name of both the weights and the matrix; rename one of them", matrix)

    what = f"mixing {settings.name}, epoch {settings.epoch}"
    if stopped:
        if previous is None or settings.epoch == 1:
            raise InputError(
                f"{what}: training has stopped; give the mixed weights of the previous epoch with --passed-on"
            )
        return

    needs_previous = settings.mixing.needs_previous and settings.epoch > 1
    if previous is not None and not needs_previous:
        raise InputError(f"{what}, does not depend on the previous epoch; drop --previous")
    if previous is None and needs_previous:
        raise InputError(f"{what}, depends on the previous epoch; give its mixed weights with --previous")


def _read_previous(
    path: FilePath, settings: MixSettings, training_settings: str, mixing: Mapping[str, Any]
) -> _Previous:
    """Read the previous epoch's mixed weights, and check by their attributes that they belong here."""
    if not is_hdf5_name(path):
        raise InputError(f"{TEXT}; mix the previous epoch with an --output that ends in .h5", path)

    weights, attributes = read_with_attributes(path)
    made = read_provenance(attributes, path)
    if made.kind != MIXED_WEIGHTS:
        raise InputError(
            f"is not of kind '{MIXED_WEIGHTS}'; give the output of 'itersel step mix' for the previous epoch",
            path,
        )

    mixed_with = recorded_mixing(attributes, path)
    if (mixed_with["name"], made.epoch) != (settings.name, settings.epoch - 1):
        raise InputError(
            f"is from mixing {mixed_with['name']}, epoch {made.epoch}; "
            f"expected {settings.name}, epoch {settings.epoch - 1}",
            path,
        )
    if attributes.get("shards") != settings.shards:
        raise InputError(
            f"was mixed from {attributes.get('shards')} shards, not {settings.shards}; mix that epoch again",
            path,
        )
    if made.settings != training_settings:
        raise InputError("was trained with different settings than the shards; train that epoch again", path)

    if key := differing_key(mixed_with, mixing):
        raise InputError(f"was mixed with another {key}; mix that epoch again", path)

    return _Previous(path, weights, attributes)


def _make_selector(settings: MixSettings, state: PathState | None, stopped: bool) -> Selector:
    if stopped:
        return Selector(above, -math.inf)
    if state is not None:
        return Selector(above, state.threshold, settings.mixing.keep)
    if isinstance(settings.mixing, Selection):
        [(name, limit)] = settings.mixing.limits.items()
        return Selector(CHOICES[name], limit, settings.mixing.keep)
    return Selector(above, -math.inf)


def recorded_mixing(attributes: Mapping[str, Any], path: FilePath) -> dict[str, Any]:
    """Return the name and the keys of the mixing that made a file of mixed weights, or of a matrix."""
    with checked(path, "does not record its mixing as this version does; mix that epoch again"):
        mixing: dict[str, Any] = parse_json(attributes["mixing"].encode())
        check_texts([mixing["name"]])
        return mixing


def differing_key(mixing: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Return the first key in which two recorded mixings differ, or None."""
    names = {**mixing, **other}
    return next((name for name in names if mixing.get(name) != other.get(name)), None)


def _merge(shards: Sequence[ShardWeightsFile]) -> Iterator[tuple[Entries, WeightColumns]]:
    """Yield the columns of W, a range of keys at a time; each range overwrites the previous one in memory."""
    reader = ShardReader(shards)
    space = make_columns(reader.largest_range)
    ranges = reader.read()

    for low, high, entries in ranges:
        count, bad, other = merge_entries(entries, low, high, space)
        if bad >= 0:
            error = _error(shards, entries, bad, other)
            # Read to the end: if a checksum shows that a file is damaged, that error is the cause.
            check_by_reading(ranges)
            raise error

        offset = space.offset[: count + 1]
        columns = WeightColumns(
            key=space.key[:count],
            first=space.first[:count],
            offset=offset,
            shard=space.shard[: offset[-1]],
            value=space.value[: offset[-1]],
        )
        yield entries, columns


def _columns(
    shards: Sequence[ShardWeightsFile], settings: MixSettings, passed_on: Weights | None
) -> Iterator[tuple[WeightColumns, FeatureNorms]]:
    """Yield the columns of W, and the norms and means of their features, a range of keys at a time.

    `passed_on`: the weights of all shards if training has stopped.
    """
    for entries, columns in _merge(shards):
        norms = feature_norms(entries, columns, settings.shards, settings.mixing.norm)
        if passed_on is not None:
            # averaging equal numbers may round
            norms = norms._replace(mean=find_weights(passed_on, norms.key))
        yield columns, norms


def _error(shards: Sequence[ShardWeightsFile], entries: Entries, bad: int, other: int) -> InputError:
    """Return the error for entries that cannot be merged."""

    def name_of(entry: int) -> str:
        return StringTable(entries.name, entries.name_offset).get(entry, "backslashreplace")

    def path_of(entry: int) -> FilePath:
        shard = int(np.searchsorted(entries.begin, entry, side="right")) - 1
        return shards[shard].path

    name = name_of(bad)
    path = path_of(bad)
    if bad == other:
        why = magnitude_fault(entries.value[bad])
        return InputError(f"the weight of '{name}' is {why}; train the shard again", path)

    same = f"has the same 64-bit key as '{name_of(other)}' in {path_of(other)}"
    return InputError(f"'{name}' {same}; rename one", path)


def _mean_over_epochs(before: _Previous, weights: Weights, epoch: int) -> Weights:
    """Return the mean over all epochs so far; `before` is the mean of the earlier ones."""
    try:
        total = weighted_sum((before.weights, weights), (epoch - 1, 1))
    except InputError as error:  # two features with the same key
        raise InputError(error.message, before.path) from None
    return nonzero(total._replace(value=total.value / epoch))
