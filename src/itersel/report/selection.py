"""The table of selected features by epoch and group, with the shards that share them and their norms."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.errors import InputError
from itersel.report.layout import aligned, tab_separated
from itersel.select.matrix import KIND, MATRIX
from itersel.select.path import PathStep, read_step
from itersel.select.settings import LIMITS, PATH
from itersel.storage.hdf5 import open_hdf5, read_arrays, read_header
from itersel.storage.strings import StringTable
from itersel.vectors.features import GROUPS, find_groups

ALL = "all"
COLUMNS = (
    "epoch",
    "group",
    "features",
    "selected",
    "selected before",
    "shards per feature",
    "smallest norm",
    "median norm",
    "largest norm",
)
# These must be the same in all epochs.
OF_ALL_EPOCHS = ("mixing", "settings", "shards", "norm", "keep", *LIMITS)
# Only for path following.
PATH_COLUMNS = ("threshold", "loss before")


class MatrixColumns(NamedTuple):
    """The columns of an epoch's matrix W, by ascending key.

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

    def take(self, rows: NDArray[np.bool_]) -> MatrixColumns:
        """Return the columns at `rows`."""
        return MatrixColumns(
            self.key[rows], self.group[rows], self.norm[rows], self.shards[rows], self.selected[rows]
        )


@dataclass(frozen=True)
class Row:
    """A group of features after one epoch.

    Attributes
    ----------
    epoch
        Number of the epoch, from 1.
    group
        One of `GROUPS`, or `ALL`.
    features
        Number of features with a weight in at least one shard.
    selected
        Number of these that were selected.
    selected_before
        Number of selected features that were also selected after the previous epoch.
    shards
        Number of selected features with a weight in 1, 2, ... Z shards.
    norms
        Smallest, median and largest norm of the selected features; `None` if there are none.
    path
        State of path following, if the weights were mixed by it.
    """

    epoch: int
    group: str
    features: int
    selected: int
    selected_before: int
    shards: tuple[int, ...]
    norms: tuple[float, float, float] | None
    path: PathStep | None

    def cells(self) -> list[str]:
        """Return the row as text, in the order of `COLUMNS` and `PATH_COLUMNS`."""
        total = sum(number * count for number, count in enumerate(self.shards, 1))
        measures = [f"{total / self.selected:.1f}" if self.selected else "-"]
        measures += ["-"] * 3 if self.norms is None else [f"{norm:.4g}" for norm in self.norms]
        counts = (self.features, self.selected, self.selected_before)
        path = []
        if self.path is not None:
            threshold = "ended" if self.path.stopped else f"{self.path.threshold:.6g}"
            path = [threshold, f"{self.path.loss:.6g}"]
        return [str(self.epoch), self.group, *map(str, counts), *measures, *path]


def describe_selection(paths: Sequence[str | os.PathLike[str]]) -> list[Row]:
    """Return the rows of all epochs: for each, one for all features, then one for each group that occurs.

    Parameters
    ----------
    paths
        The ``selection.h5`` of each epoch, in order.

    Raises
    ------
    InputError
        If a file is missing or damaged, contains no matrix, or belongs to a different run.
    """
    rows: list[Row] = []
    before = np.empty(0, np.uint64)
    first: dict[str, Any] = {}
    for epoch, path in enumerate(paths, 1):
        found, columns = _read(path, epoch)
        first = first or found
        for name in OF_ALL_EPOCHS:
            if found.get(name) != first.get(name):
                raise InputError(
                    f"differs in '{name}' from {os.fspath(paths[0])}; name the epochs of one run", path
                )
        step = read_step(found, path) if found.get("mixing") == PATH else None
        rows.append(_row(epoch, ALL, columns, before, found["shards"], step))
        for place, group in enumerate(GROUPS):
            members = columns.take(columns.group == place)
            if members.key.shape[0]:
                rows.append(_row(epoch, group, members, before, found["shards"], step))
        before = columns.key[columns.selected]
    return rows


def _read(path: str | os.PathLike[str], epoch: int) -> tuple[dict[str, Any], MatrixColumns]:
    """Return the attributes and the columns of a file."""
    with open_hdf5(path) as stream:
        found = read_header(stream, MATRIX, path).attributes
    if found.get("kind") != KIND:
        raise InputError("is not the selection.h5 of an epoch; name one for each epoch", path)
    if found.get("epoch") != epoch:
        raise InputError(
            f"is from epoch {found.get('epoch')}, expected epoch {epoch}; name the epochs in order", path
        )
    arrays, _ = read_arrays(path, MATRIX)
    key, name = arrays["features/key"], StringTable(arrays["features/name"], arrays["features/name_offset"])
    columns = MatrixColumns(
        key, find_groups(key, name), arrays["norm"], np.diff(arrays["W/indptr"]), arrays["selected"] == 1
    )
    if not isinstance(found.get("shards"), int) or columns.shards.max(initial=0) > found["shards"]:
        raise InputError("damaged: has columns with more entries than shards; recreate the file", path)
    return found, columns


def _row(
    epoch: int,
    group: str,
    columns: MatrixColumns,
    before: NDArray[np.uint64],
    shards: int,
    path: PathStep | None,
) -> Row:
    chosen = columns.take(columns.selected)
    norms = None
    if chosen.key.shape[0]:
        norms = (float(chosen.norm.min()), float(np.median(chosen.norm)), float(chosen.norm.max()))
    return Row(
        epoch=epoch,
        group=group,
        features=columns.key.shape[0],
        selected=chosen.key.shape[0],
        selected_before=int(np.isin(chosen.key, before, assume_unique=True).sum()),
        shards=tuple(np.bincount(chosen.shards, minlength=shards + 1)[1:].tolist()),
        norms=norms,
        path=path,
    )


def text_table(rows: Sequence[Row]) -> list[str]:
    """Return the table as aligned text, with notes."""
    lines = [
        *aligned(_columns(rows), [row.cells() for row in rows], left=(1,)),
        "",
        "features: those with a weight in at least one shard. selected before: also in the previous epoch.",
        "shards per feature, norms: of the selected features.",
    ]
    if rows[0].path is not None:
        lines.append("loss before: training loss of the weights that the epoch started from.")
        lines.append("ended: the path has ended; the weights are those of the previous epoch.")
    return lines


def _columns(rows: Sequence[Row]) -> tuple[str, ...]:
    return COLUMNS if rows[0].path is None else (*COLUMNS, *PATH_COLUMNS)


def tsv_table(rows: Sequence[Row]) -> list[str]:
    """Return the table as TSV."""
    return tab_separated(
        [column.replace(" ", "_") for column in _columns(rows)], [row.cells() for row in rows]
    )


def json_table(rows: Sequence[Row]) -> list[str]:
    """Return the table as JSON, with the numbers of features active in 1, 2, ... Z shards."""
    document = [
        {
            "epoch": row.epoch,
            "group": row.group,
            "features": row.features,
            "selected": row.selected,
            "selected_before": row.selected_before,
            "selected_by_number_of_shards": row.shards,
            "norm": dict(zip(("smallest", "median", "largest"), row.norms or [None] * 3, strict=True)),
            **({} if row.path is None else _path_entries(row.path)),
        }
        for row in rows
    ]
    return [json.dumps(document, indent=2)]


def _path_entries(step: PathStep) -> dict[str, Any]:
    return {"threshold": step.threshold, "loss_before": step.loss, "ended": step.stopped}
