"""The weights of a system by group of features: the largest weights, shards that share them, distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itersel.report.page.folder import Run, read_optional
from itersel.report.system import read_system
from itersel.select.matrix import MATRIX
from itersel.storage.hdf5 import read_arrays
from itersel.vectors.features import GROUPS, find_groups
from itersel.vectors.weights import Weights, read_weights

LARGEST = 12  # shown of each group
# Bounds of the histogram: log10 of the absolute weight.
LOWEST, HIGHEST, STEP = -8.0, 4.0, 0.5


def read_features(run: Run) -> dict[str, Any] | None:
    """Return what the page shows of a run's features at the best epoch; None before it is chosen."""
    path = run.folder / "best" / "weights.h5"
    if not path.is_file():
        return None
    weights = read_weights(path)
    group = find_groups(weights.key, weights.name)
    shards = _shards(run, weights)
    groups = [
        {"group": name, **_describe(weights, rows, shards)}
        for place, name in enumerate(GROUPS)
        if (rows := np.flatnonzero((group == place) & (weights.value != 0))).size
    ]
    return {"groups": groups, "selection": read_optional(run.folder / "selection.json") or []}


def _shards(run: Run, weights: Weights) -> NDArray[np.int64] | None:
    """Return in how many shards each feature had a weight; None if the weights were not mixed."""
    system = run.folder / "best" / "system.json"
    if not system.is_file():
        return None
    path = run.folder / f"epoch-{read_system(system).epoch}" / "selection.h5"
    if not path.is_file():
        return None
    arrays, _ = read_arrays(path, MATRIX)
    key, count = arrays["features/key"], np.diff(arrays["W/indptr"])
    if not key.shape[0]:
        return np.zeros(weights.key.shape[0], np.int64)
    place = np.minimum(np.searchsorted(key, weights.key), key.shape[0] - 1)
    return np.where(key[place] == weights.key, count[place], 0)


def _describe(weights: Weights, rows: NDArray[np.int64], shards: NDArray[np.int64] | None) -> dict[str, Any]:
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


def _histogram(value: NDArray[np.float64]) -> list[list[float | int]]:
    """Return ``[log10 of the lower bound, negative weights, positive weights]`` of each nonempty bin."""
    place = np.clip(np.floor((np.log10(np.abs(value)) - LOWEST) / STEP), 0, (HIGHEST - LOWEST) / STEP - 1)
    bins = place.astype(np.int64)
    return [
        [
            LOWEST + STEP * int(one),
            int(((bins == one) & (value < 0)).sum()),
            int(((bins == one) & (value > 0)).sum()),
        ]
        for one in np.unique(bins)
    ]
