"""The features of a system: the largest weights of each group, and a histogram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from itersel.report.folder import FoundRepeat, read_optional
from itersel.results import BEST, SELECTION_TABLE, WEIGHT_MATRIX, WEIGHTS, epoch_folder
from itersel.select.selection import MATRIX
from itersel.storage.arrays import Float64s, Int64s
from itersel.storage.hdf5 import read_arrays
from itersel.system.chosen import ChosenSystem
from itersel.vectors.feature_groups import find_reported_groups, reported_groups
from itersel.vectors.weights import Weights, read_itersel_weights

# Bounds of the histogram: log10 of the absolute weight.
LOWEST = -8.0
HIGHEST = 4.0
BIN_WIDTH = 0.5
LARGEST = 12  # weights shown of each group


def read_features(repeat: FoundRepeat, system: ChosenSystem | None) -> dict[str, Any] | None:
    """Return a repeat's features at the best epoch, by group; None before it is chosen."""
    path = repeat.path / BEST / WEIGHTS
    if system is None or not path.is_file():
        return None

    weights = read_itersel_weights(path)
    group = find_reported_groups(weights.key, weights.name)
    shards = _shards(repeat.path / epoch_folder(system.epoch) / WEIGHT_MATRIX, weights)

    groups = [
        {"group": name, **_describe(weights, rows, shards)}
        for place, name in enumerate(reported_groups())
        if (rows := np.flatnonzero((group == place) & (weights.value != 0))).size
    ]

    otherwise = "is not a table of selected features; make it with 'itersel step selection'"
    selection = read_optional(repeat.path / SELECTION_TABLE, _checked_selection, otherwise)
    return {"groups": groups, "selection": selection or []}


def _checked_selection(rows: Any) -> list[Any]:
    """Return this if it is a list, of the selection in each epoch; otherwise, raise an error of Python."""
    if not isinstance(rows, list):
        raise TypeError
    return rows


def _shards(path: Path, weights: Weights) -> Int64s | None:
    """Return in how many shards each feature had a weight; None if the weights were not mixed."""
    if not path.is_file():
        return None
    arrays, _ = read_arrays(path, MATRIX)
    keys = weights.key, arrays["features/key"]
    _, rows, columns = np.intersect1d(*keys, assume_unique=True, return_indices=True)
    shards = np.zeros(weights.key.shape[0], np.int64)
    shards[rows] = np.diff(arrays["W/indptr"])[columns]
    return shards


def _describe(weights: Weights, rows: Int64s, shards: Int64s | None) -> dict[str, Any]:
    value = weights.value[rows]
    # equal weights stay in the order of the rows, which is by key
    largest = rows[np.argsort(-np.abs(value), kind="stable")[:LARGEST]]

    return {
        "count": int(rows.size),
        "positive": int((value > 0).sum()),
        "largest": [
            {
                "name": weights.name.get(int(row)),
                "weight": float(weights.value[row]),
                "shards": None if shards is None else int(shards[row]),
            }
            for row in largest
        ],
        "histogram": _histogram(value),
    }


def _histogram(value: Float64s) -> list[list[float | int]]:
    """Return ``[log10 of the lower bound, negative weights, positive weights]`` of each nonempty bin."""
    place = np.floor((np.log10(np.abs(value), dtype=np.longdouble) - LOWEST) / BIN_WIDTH)
    place = np.clip(place, 0, (HIGHEST - LOWEST) / BIN_WIDTH - 1).astype(np.float64)
    return [
        [LOWEST + BIN_WIDTH * one, int((value[place == one] < 0).sum()), int((value[place == one] > 0).sum())]
        for one in np.unique(place).tolist()
    ]
