"""The table of what was selected: features by epoch and group, the shards that share them, their norms."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.report.layout import aligned, tab_separated
from itersel.select.matrix import KIND, MATRIX
from itersel.storage.hdf5 import open_hdf5, read_arrays, read_header
from itersel.storage.strings import StringTable
from itersel.vectors.groups import GROUPS, find_groups

ALL = "all"
COLUMNS = (
    "epoch",
    "group",
    "features",
    "selected",
    "as before",
    "shards per feature",
    "smallest norm",
    "median norm",
    "largest norm",
)


class Columns(NamedTuple):
    """The columns of W of an epoch, by ascending key.

    Attributes
    ----------
    key, group, norm
        uint64, int8 (a position in `GROUPS`), float64 (D).
    shards
        int64 (D): number of shards in which the weight is not 0.
    selected
        bool (D).
    """

    key: NDArray[np.uint64]
    group: NDArray[np.int8]
    norm: NDArray[np.float64]
    shards: NDArray[np.int64]
    selected: NDArray[np.bool_]

    def take(self, rows: NDArray[np.bool_]) -> Columns:
        """Return the columns at `rows`."""
        return Columns(
            self.key[rows], self.group[rows], self.norm[rows], self.shards[rows], self.selected[rows]
        )


@dataclass(frozen=True)
class Row:
    """A group of features after one epoch.

    Attributes
    ----------
    epoch
        From 1.
    group
        One of `GROUPS`, or `ALL`.
    features
        How many have a weight in some shard.
    selected
        How many of these were selected.
    kept
        How many of the selected ones were selected after the previous epoch, too.
    shards
        Of the selected features, how many have a weight in 1, 2, ... Z shards.
    norms
        Smallest, median and largest norm of the selected ones; `None` where there are none.
    """

    epoch: int
    group: str
    features: int
    selected: int
    kept: int
    shards: tuple[int, ...]
    norms: tuple[float, float, float] | None

    def cells(self) -> list[str]:
        """Return the row as text, in the order of `COLUMNS`."""
        total = sum(number * count for number, count in enumerate(self.shards, 1))
        measures = [f"{total / self.selected:.1f}" if self.selected else "-"]
        measures += ["-"] * 3 if self.norms is None else [f"{norm:.4g}" for norm in self.norms]
        counts = (self.features, self.selected, self.kept)
        return [str(self.epoch), self.group, *map(str, counts), *measures]


def describe_selection(paths: Sequence[str | os.PathLike[str]]) -> list[Row]:
    """Return the rows of all epochs: first of all features, then of each group that there is.

    Parameters
    ----------
    paths
        The ``selection.h5`` of each epoch, in order.

    Raises
    ------
    InputError
        If a file is missing or damaged, holds no matrix, or is of another epoch or number of shards.
    """
    rows: list[Row] = []
    before, shards = np.empty(0, np.uint64), None
    for epoch, path in enumerate(paths, 1):
        number, columns = _read(path, epoch)
        if shards is not None and number != shards:
            raise InputError(f"is of {number} shards, the epochs before it are of {shards}", path)
        shards = number
        rows.append(_summarize(epoch, ALL, columns, before, shards))
        for position, group in enumerate(GROUPS):
            members = columns.take(columns.group == position)
            if members.key.shape[0]:
                rows.append(_summarize(epoch, group, members, before, shards))
        before = columns.key[columns.selected]
    return rows


def _read(path: str | os.PathLike[str], epoch: int) -> tuple[int, Columns]:
    """Return the number of shards, and the columns."""
    with open_hdf5(path) as stream:
        found = read_header(stream, MATRIX, path).attributes
    if found.get("kind") != KIND:
        raise InputError("holds no weights of several shards; name the selection.h5 of each epoch", path)
    if found.get("epoch") != epoch:
        raise InputError(f"is of epoch {found.get('epoch')}, {epoch} was expected; name them in order", path)
    arrays, _ = read_arrays(path, MATRIX)
    key, name = arrays["features/key"], StringTable(arrays["features/name"], arrays["features/name_offset"])
    columns = Columns(
        key, find_groups(key, name), arrays["norm"], np.diff(arrays["W/indptr"]), arrays["selected"] == 1
    )
    if columns.shards.max(initial=0) > found["shards"]:
        raise InputError("damaged: has columns with more entries than shards; recreate the file", path)
    return int(found["shards"]), columns


def _summarize(epoch: int, group: str, columns: Columns, before: NDArray[np.uint64], shards: int) -> Row:
    chosen = columns.take(columns.selected)
    norms = None
    if chosen.key.shape[0]:
        norms = (float(chosen.norm.min()), float(np.median(chosen.norm)), float(chosen.norm.max()))
    return Row(
        epoch=epoch,
        group=group,
        features=columns.key.shape[0],
        selected=chosen.key.shape[0],
        kept=int(np.isin(chosen.key, before, assume_unique=True).sum()),
        shards=tuple(np.bincount(chosen.shards, minlength=shards + 1)[1:].tolist()),
        norms=norms,
    )


def text_table(rows: Sequence[Row]) -> list[str]:
    """Return the table for people."""
    return [
        *aligned(COLUMNS, [row.cells() for row in rows], left=(1,)),
        "",
        "features: with a weight in at least one shard. as before: also selected after the previous epoch.",
        "The last four columns are of the selected features; norms are of their weights in all shards.",
    ]


def tsv_table(rows: Sequence[Row]) -> list[str]:
    """Return the table for spreadsheets."""
    return tab_separated([column.replace(" ", "_") for column in COLUMNS], [row.cells() for row in rows])


def json_table(rows: Sequence[Row]) -> list[str]:
    """Return the table for programs, with the number of features active in 1, 2, ... Z shards."""
    document = [
        {
            "epoch": row.epoch,
            "group": row.group,
            "features": row.features,
            "selected": row.selected,
            "selected_before": row.kept,
            "selected_by_number_of_shards": row.shards,
            "norm": dict(zip(("smallest", "median", "largest"), row.norms or [None] * 3, strict=True)),
        }
        for row in rows
    ]
    return [json.dumps(document, indent=2)]
