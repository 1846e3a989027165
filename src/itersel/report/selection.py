"""The table of selected features by epoch and group, with the shards that share them and their norms."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from itersel.config.mixing import PATH_FOLLOWING
from itersel.errors import FilePath, InputError
from itersel.select.mix import differing_key, recorded_mixing
from itersel.select.path import read_state
from itersel.select.selection import MATRIX
from itersel.storage.arrays import Bools, Float64s, Int8s, Int64s, UInt64s
from itersel.storage.formats import damaged_file
from itersel.storage.hdf5 import header_of, read_arrays
from itersel.storage.provenance import SHARD_MATRIX, read_provenance
from itersel.storage.strings import strings_in
from itersel.storage.text_table import Content, aligned, tab_separated
from itersel.vectors.feature_groups import find_reported_groups, reported_groups

ALL = "all"
# Attributes that must be the same in all epochs, and so must the mixing.
OF_ALL_EPOCHS = ("settings", "shards")


class MatrixColumns(NamedTuple):
    """The D columns of an epoch's matrix W, by ascending key."""

    key: UInt64s
    group: Int8s  # a position in `reported_groups`
    norm: Float64s
    shards: Int64s  # number of shards in which the weight is not 0
    selected: Bools


def describe_selection(paths: Sequence[FilePath]) -> list[dict[str, Any]]:
    """Return the rows of all epochs: for each, one for all features, then one for each group that occurs.

    `paths` are the ``matrix.h5`` of each epoch, in order. Returns the content of selection.json (see
    docs/formats.md), whose ``features`` have a weight in at least one shard. Path following adds
    ``threshold``, ``loss_before`` and ``ended``; see `itersel.select.path.PathState`.
    """
    rows = []
    before = np.empty(0, np.uint64)
    first: dict[str, Any] = {}

    for epoch, path in enumerate(paths, 1):
        attributes, columns = _read(path, epoch)
        first = first or attributes
        mixing = recorded_mixing(attributes, path)
        differing = differing_key(recorded_mixing(first, paths[0]), mixing) or next(
            (name for name in OF_ALL_EPOCHS if attributes.get(name) != first.get(name)), None
        )
        if differing:
            raise InputError(
                f"differs in '{differing}' from {os.fspath(paths[0])}; name the epochs of one run", path
            )

        state: dict[str, Any] = {}
        if mixing["name"] == PATH_FOLLOWING:
            path_state = read_state(attributes, path)
            state = {
                "threshold": path_state.threshold,
                "loss_before": path_state.loss,
                "ended": path_state.stopped,
            }
        elif read_provenance(attributes, path).stopped:
            state = {"passed_on": True}

        groups = {ALL: np.ones_like(columns.selected)}
        groups |= {group: columns.group == place for place, group in enumerate(reported_groups())}
        for group, members in groups.items():
            if group == ALL or members.any():
                counts = _describe(columns, members, before, attributes["shards"])
                rows.append({"epoch": epoch, "group": group, **counts, **state})

        before = columns.key[columns.selected]
    return rows


def _read(path: FilePath, epoch: int) -> tuple[dict[str, Any], MatrixColumns]:
    attributes = header_of(path, MATRIX).attributes
    made = read_provenance(attributes, path)
    if made.kind != SHARD_MATRIX:
        raise InputError("is not the matrix.h5 of an epoch; name one for each epoch", path)
    if made.epoch != epoch:
        raise InputError(
            f"is from epoch {made.epoch}, expected epoch {epoch}; name the epochs in order", path
        )

    arrays, _ = read_arrays(path, MATRIX)
    key = arrays["features/key"]
    name = strings_in(arrays, "features/name")
    columns = MatrixColumns(
        key,
        find_reported_groups(key, name),
        arrays["norm"],
        np.diff(arrays["W/indptr"]),
        arrays["selected"] == 1,
    )

    if not isinstance(attributes.get("shards"), int) or columns.shards.max(initial=0) > attributes["shards"]:
        raise damaged_file(path, "has columns with more entries than shards")
    return attributes, columns


def _describe(columns: MatrixColumns, members: Bools, before: UInt64s, shards: int) -> dict[str, Any]:
    chosen = members & columns.selected
    norm = columns.norm[chosen]
    norms = (float(norm.min()), float(np.median(norm)), float(norm.max())) if norm.size else (None,) * 3
    active_in = columns.shards[chosen]

    return {
        "features": int(members.sum()),
        "selected": int(chosen.sum()),
        "selected_before": int(np.isin(columns.key[chosen], before, assume_unique=True).sum()),
        "selected_by_number_of_shards": np.bincount(active_in, minlength=shards + 1)[1:].tolist(),
        "norm": dict(zip(("smallest", "median", "largest"), norms, strict=True)),
    }


def text_table(rows: Sequence[Content]) -> list[str]:
    """Return the table as aligned text, with notes."""
    lines = [
        *aligned(list(map(_row, rows)), left=("group",)),
        "",
        "features: those with a weight in at least one shard. selected before: also in the previous epoch.",
        "shards per feature, norms: of the selected features.",
    ]
    if "threshold" in rows[0]:
        lines.append("loss before: training loss of the weights that the epoch started from.")
        lines.append("ended: the path has ended; the weights of the previous epoch are passed on.")
    return lines


def tsv_table(rows: Sequence[Content]) -> list[str]:
    """Return the table as TSV."""
    return tab_separated(list(map(_row, rows)))


def _row(row: Content) -> dict[str, str]:
    selected = row["selected"]
    total = sum(number * count for number, count in enumerate(row["selected_by_number_of_shards"], 1))

    cells = {
        "epoch": f"{row['epoch']} (passed on)" if row.get("passed_on") else str(row["epoch"]),
        "group": row["group"],
        "features": str(row["features"]),
        "selected": str(selected),
        "selected before": str(row["selected_before"]),
        "shards per feature": f"{total / selected:.1f}" if selected else "-",
    }

    cells |= {f"{which} norm": "-" if norm is None else f"{norm:.4g}" for which, norm in row["norm"].items()}
    if "threshold" in row:
        cells["threshold"] = "ended" if row["ended"] else f"{row['threshold']:.6g}"
        cells["loss before"] = f"{row['loss_before']:.6g}"
    return cells
