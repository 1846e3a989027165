"""What the page shows of a run: measures of each epoch, and the features of the best one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from itersel.arrays import Float64s, Int64s
from itersel.report.page.folder import Run, read_optional
from itersel.report.system import System, read_system, score_epochs
from itersel.select.selection import MATRIX
from itersel.storage.hdf5 import header_of, read_arrays
from itersel.vectors.features import feature_groups, find_groups
from itersel.vectors.weights import FORMAT, Weights, read_weights

Record = dict[str, Any]

_EPOCH = re.compile(r"epoch-([1-9][0-9]{0,5})")
LARGEST = 12  # weights shown of each group
# Bounds of the histogram: log10 of the absolute weight.
LOWEST, HIGHEST, STEP = -8.0, 4.0, 0.5


def chosen_system(run: Run) -> System | None:
    """Return the description of a run at its best epoch; None before it is chosen."""
    path = run.folder / "best" / "system.json"
    return read_system(path) if path.is_file() else None


def read_curves(run: Run, system: System | None, references: Sequence[Path], tokenize: str) -> list[Record]:
    """Return a record for each epoch of a run, finished or not; values not known yet are None.

    Without the `references` of devtest, only epochs of a finished run have scores on devtest.
    """
    found = (_EPOCH.fullmatch(path.name) for path in run.folder.glob("epoch-*"))
    records = []
    for epoch in sorted(int(match[1]) for match in found if match):
        folder = run.folder / f"epoch-{epoch}"
        record = {"epoch": epoch, "chosen": system is not None and system.epoch == epoch}
        record |= _of_shards(folder) | _of_weights(folder / "weights.h5")
        record |= _of_devtest(folder, epoch, system, references, tokenize)
        records.append(record)
    return records


def _of_shards(folder: Path) -> Record:
    """Return sums over the shards that have been trained."""
    found = [_attributes(path, _changed(path)) for path in sorted(folder.glob("shard-*.h5"))]
    trained = [one for one in found if "pairs" in one]
    sentences, pairs, updates = (
        sum(int(one[key]) for one in trained) for key in ("sentences", "pairs", "updates")
    )
    bleu = sum(float(one["mean_bleu"]) * int(one["sentences"]) for one in trained)
    losses = [float(one["loss"]) for one in trained if "loss" in one]
    return {
        "shards": len(found),
        "sentences": sentences or None,
        "pairs": pairs if trained else None,
        "updates": updates if trained else None,
        "pairs_with_loss": 100 * updates / pairs if pairs else None,
        "training_bleu": 100 * bleu / sentences if sentences else None,
        "loss": sum(losses) if losses else None,
    }


def _of_weights(path: Path) -> Record:
    if not path.is_file():
        return {"active_features": None, "norm": None, "passed_on": False}
    active, norm = _size(path, _changed(path))
    attributes = _attributes(path, _changed(path))
    record: Record = {"active_features": active, "norm": norm, "passed_on": bool(attributes.get("stopped"))}
    if "bleu" in attributes:
        # for a batch tuner: corpus BLEU of the translations that it chose from the lists
        record |= {"training_bleu": float(attributes["bleu"])}
    return record


def _of_devtest(
    folder: Path, epoch: int, system: System | None, references: Sequence[Path], tokenize: str
) -> Record:
    bleu, penalty = None, None
    path = folder / "devtest.txt"
    if system is not None and epoch <= len(system.devtest_bleu):
        bleu, penalty = system.devtest_bleu[epoch - 1], system.devtest_brevity_penalty[epoch - 1]
    elif path.is_file() and references:
        bleu, penalty = _score(path, _changed(path), tuple(references), tokenize)
    return {"devtest_bleu": bleu, "brevity_penalty": penalty}


def _changed(path: Path) -> int:
    """Return the time when a file was written, a cache key with which `watch` rereads only changed files."""
    return os.stat(path).st_mtime_ns


@cache
def _attributes(path: Path, changed: int) -> Mapping[str, Any]:
    return header_of(path, FORMAT).attributes


@cache
def _size(path: Path, changed: int) -> tuple[int, float]:
    value = read_weights(path).value
    return int(np.count_nonzero(value)), float(np.linalg.norm(value))


@cache
def _score(path: Path, changed: int, references: tuple[Path, ...], tokenize: str) -> tuple[float, float]:
    (score,), _ = score_epochs(references, [str(path)], tokenize)
    return score.bleu, score.brevity_penalty


def read_features(run: Run, system: System | None) -> dict[str, Any] | None:
    """Return a run's features at the best epoch, by group; None before it is chosen."""
    path = run.folder / "best" / "weights.h5"
    if system is None or not path.is_file():
        return None
    weights = read_weights(path)
    group = find_groups(weights.key, weights.name)
    shards = _shards(run.folder / f"epoch-{system.epoch}" / "selection.h5", weights)
    groups = [
        {"group": name, **_describe(weights, rows, shards)}
        for place, name in enumerate(feature_groups())
        if (rows := np.flatnonzero((group == place) & (weights.value != 0))).size
    ]
    otherwise = "is not a table of selected features; make it with 'itersel report selection'"
    selection = read_optional(run.folder / "selection.json", iter, otherwise)
    return {"groups": groups, "selection": selection or []}


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


def _describe(weights: Weights, rows: Int64s, shards: Int64s | None) -> Record:
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
    place = np.floor((np.log10(np.abs(value), dtype=np.longdouble) - LOWEST) / STEP)
    place = np.clip(place, 0, (HIGHEST - LOWEST) / STEP - 1).astype(np.float64)
    return [
        [LOWEST + STEP * one, int((value[place == one] < 0).sum()), int((value[place == one] > 0).sum())]
        for one in np.unique(place).tolist()
    ]
