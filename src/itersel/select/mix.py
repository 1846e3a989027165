"""Mix the weights of all shards of an epoch: algorithms 1 to 4 of [S12], after the shards are trained."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np

import itersel
from itersel.errors import InputError
from itersel.files import atomic_path
from itersel.progress import progress
from itersel.select.common import common_features
from itersel.select.matrix import MatrixWriter
from itersel.select.merge_kernels import COLLISION, FINE, NOT_FINITE, Columns, Entries, Status, merge_entries
from itersel.select.selection import (
    AboveThreshold,
    Largest,
    Selection,
    nonzero_means,
    summarise,
    take_names,
)
from itersel.select.shard_files import DAMAGED, ShardFile, ShardReader, open_shard
from itersel.strings import StringTable, concatenate
from itersel.weights import Weights, open_hdf5, read_weights, write_weights

ALGORITHMS = ("sgd", "mixsgd", "itermixsgd", "itersel")
AVERAGE_EPOCHS = ("sgd", "mixsgd")


@dataclass(frozen=True)
class MixSettings:
    """How to mix.

    Attributes
    ----------
    algorithm
        One of `ALGORITHMS`. ``sgd`` and ``mixsgd``: mean over shards and epochs; ``itermixsgd``: mean over
        the shards of this epoch; ``itersel``: the same of selected features.
    epoch
        Number of the epoch, from 1.
    shards
        Z; 1 for ``sgd``.
    select, threshold
        For ``itersel``, one of them: how many features of largest norm to keep, or the norm that they must
        exceed.
    norm
        Of the columns of W: ``l0`` (number of shards with the feature), ``l1``, ``l2`` or ``linf``.
    """

    algorithm: str
    epoch: int
    shards: int
    select: int | None = None
    threshold: float | None = None
    norm: str = "l2"

    def __post_init__(self) -> None:
        limits = (self.select is not None) + (self.threshold is not None)
        if self.algorithm == "itersel" and limits != 1:
            raise InputError("algorithm itersel needs --select or --threshold, and not both")
        if self.algorithm != "itersel" and limits:
            raise InputError(f"algorithm {self.algorithm} selects nothing; drop --select and --threshold")
        if self.algorithm == "sgd" and self.shards != 1:
            raise InputError(f"algorithm sgd has one shard, not {self.shards}; mixsgd has any number")

    @property
    def needs_previous(self) -> bool:
        """Whether the result is a mean over epochs, and this is not the first one."""
        return self.algorithm in AVERAGE_EPOCHS and self.epoch > 1


def mix(
    inputs: Sequence[str],
    output: str | os.PathLike[str],
    settings: MixSettings,
    previous: str | os.PathLike[str] | None = None,
    matrix: str | os.PathLike[str] | None = None,
) -> None:
    """Select and mix the weights files of all shards; nothing is written on any error.

    Memory: what is kept of the features, twice at most, and about 500 MB for a range of keys; not more for
    more shards.

    Parameters
    ----------
    inputs
        Weights files of `train`, one a shard. Sums run in this order.
    output
        v.h5: the mixed weights that are not 0.
    settings
        How to mix.
    previous
        v.h5 of the epoch before; needed for the mean over epochs, not allowed otherwise.
    matrix
        W.h5 to write, see `itersel.select.matrix`.

    Raises
    ------
    InputError
        If the number of files is not that of the shards; if one is missing, damaged, trained with other
        settings, or has a weight that is not finite; if two features have one key.
    """
    shards = _open_shards(inputs, settings)
    before = _read_previous(previous, settings)
    selection = _make_selection(settings)
    attributes = _provenance(settings, shards[0].settings)
    with _matrix_stream(matrix) as stream:
        writer = None if stream is None else MatrixWriter(stream)
        count = 0
        for entries, columns in _merge(shards):
            features = summarise(entries, columns, settings.shards, settings.norm)
            count += features.key.shape[0]
            selection.add(features)
            if writer is not None:
                writer.append(columns, features)
        selected = selection.result()
        attributes |= {"features": count, "selected": selected.key.shape[0]}
        weights = nonzero_means(selected)
        if writer is not None:
            writer.finish(selection, {"kind": "shard-matrix", **attributes})
        if before is not None:
            weights = average_epochs(before, weights, settings.epoch)
        write_weights(output, weights, {"kind": "mixed-weights", **attributes})


def _open_shards(inputs: Sequence[str], settings: MixSettings) -> list[ShardFile]:
    if len(inputs) != settings.shards:
        raise InputError(f"{len(inputs)} weights files for {settings.shards} shards; all must be there")
    if len(set(inputs)) != len(inputs):
        twice = next(path for path in inputs if inputs.count(path) > 1)
        raise InputError("is listed twice; every shard must be there once", twice)
    shards = [open_shard(path) for path in progress(inputs, "open shards")]
    for shard in shards:
        if shard.settings != shards[0].settings:
            raise InputError(
                f"was trained with other settings than {shards[0].path}; train it anew", shard.path
            )
    return shards


def _read_previous(path: str | os.PathLike[str] | None, settings: MixSettings) -> Weights | None:
    if not settings.needs_previous:
        if path is not None:
            raise InputError(
                f"algorithm {settings.algorithm}, epoch {settings.epoch}, is no mean with the epoch before; "
                "drop --previous"
            )
        return None
    if path is None:
        raise InputError(
            f"algorithm {settings.algorithm}, epoch {settings.epoch} is a mean over epochs; "
            "name the mixed weights of the epoch before with --previous"
        )
    with open_hdf5(path) as stream:
        found = stream.attrs.get("algorithm"), stream.attrs.get("epoch")
    if found != (settings.algorithm, settings.epoch - 1):
        raise InputError(
            f"holds algorithm {found[0]}, epoch {found[1]}; "
            f"{settings.algorithm}, epoch {settings.epoch - 1} was expected",
            path,
        )
    return read_weights(path)


def _make_selection(settings: MixSettings) -> Selection:
    if settings.select is not None:
        return Largest(settings.select)
    return AboveThreshold(-math.inf if settings.threshold is None else settings.threshold)


def _provenance(settings: MixSettings, training: str) -> dict[str, Any]:
    """Return attributes: everything that changes the number."""
    attributes: dict[str, Any] = {
        "version": itersel.__version__,
        "settings": training,
        "algorithm": settings.algorithm,
        "epoch": settings.epoch,
        "shards": settings.shards,
        "norm": settings.norm,
    }
    if settings.select is not None:
        attributes["select"] = settings.select
    if settings.threshold is not None:
        attributes["threshold"] = settings.threshold
    return attributes


@contextlib.contextmanager
def _matrix_stream(path: str | os.PathLike[str] | None) -> Iterator[h5py.File | None]:
    if path is None:
        yield None
        return
    with atomic_path(path) as temporary, h5py.File(temporary, "w", rdcc_nbytes=1 << 24) as stream:
        yield stream


def _merge(shards: Sequence[ShardFile]) -> Iterator[tuple[Entries, Columns]]:
    """Yield the columns of W, a range of keys at a time; each range takes the memory of the one before."""
    reader = ShardReader(shards)
    size = reader.largest_range
    space = Columns(
        np.empty(size, np.uint64),
        np.empty(size, np.int64),
        np.empty(size + 1, np.int64),
        np.empty(size, np.int32),
        np.empty(size),
    )
    for low, high, entries in reader.read():
        count, status = merge_entries(entries, low, high, space)
        if status.kind != FINE:
            raise _error(shards, entries, status)
        total = space.offset[count]
        yield (
            entries,
            Columns(
                space.key[:count],
                space.first[:count],
                space.offset[: count + 1],
                space.shard[:total],
                space.value[:total],
            ),
        )


def _error(shards: Sequence[ShardFile], entries: Entries, status: Status) -> InputError:
    """Return what is wrong with the entries, naming the file."""
    names = StringTable(entries.name, entries.name_offset)

    def path(entry: int) -> str:
        return shards[int(np.searchsorted(entries.begin, entry, side="right")) - 1].path

    if status.kind == NOT_FINITE:
        return InputError(
            f"the weight of '{names.get(status.entry)}' is not finite; train the shard anew",
            path(status.entry),
        )
    if status.kind == COLLISION:
        name, other = names.get(status.entry), names.get(status.other)
        return InputError(
            f"'{name}' has the same 64-bit key as '{other}' in {path(status.other)}; rename one",
            path(status.entry),
        )
    return InputError(DAMAGED, path(status.entry))


def average_epochs(before: Weights, now: Weights, epoch: int) -> Weights:
    """Return ((epoch - 1) * before + now) / epoch: the mean over epochs, from the one before.

    Raises
    ------
    InputError
        If two features have one key.
    """
    left, right = common_features(before.key, before.name, now.key, now.name)
    total = (epoch - 1) * before.value
    total[left] += now.value[right]
    new = np.ones(now.key.shape[0], bool)
    new[right] = False
    key = np.concatenate((before.key, now.key[new]))
    value = np.concatenate((total, now.value[new])) / epoch
    name = concatenate((before.name, take_names(now.name, np.flatnonzero(new))))
    order = np.argsort(key)
    order = order[value[order] != 0]
    return Weights(key[order], value[order], take_names(name, order))
