"""Measures of each epoch of a run: scores, updates, weights."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from itersel.report.page.folder import Run
from itersel.report.system import System, read_system, score_epochs
from itersel.storage.hdf5 import open_hdf5, read_header
from itersel.vectors.weights import FORMAT, read_weights

Record = dict[str, Any]


def read_curves(run: Run, references: Sequence[Path], tokenize: str) -> list[Record]:
    """Return a record for each epoch of a run; values not known yet are None.

    Parameters
    ----------
    run
        A run, finished or not.
    references
        References of devtest; without them, only epochs of a finished run have scores on devtest.
    tokenize
        See `itersel.report.system.score_epochs`.
    """
    path = run.folder / "best" / "system.json"
    system = read_system(path) if path.is_file() else None
    records = []
    for epoch in run.epochs:
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
    record: Record = {"shards": len(found), "sentences": sentences or None}
    bleu = sum(float(one["mean_bleu"]) * int(one["sentences"]) for one in trained)
    losses = [float(one["loss"]) for one in trained if "loss" in one]
    return record | {
        "pairs": pairs if trained else None,
        "updates": updates if trained else None,
        "pairs_with_loss": 100 * updates / pairs if pairs else None,
        "training_bleu": 100 * bleu / sentences if sentences else None,
        "loss": sum(losses) if losses else None,
    }


def _of_weights(path: Path) -> Record:
    if not path.is_file():
        return {"active_features": None, "norm": None}
    active, norm = _size(path, _changed(path))
    record: Record = {"active_features": active, "norm": norm}
    attributes = _attributes(path, _changed(path))
    if "bleu" in attributes:
        # for a batch tuner: corpus BLEU of the translations that it chose from the lists
        record |= {"training_bleu": float(attributes["bleu"])}
    return record


def _of_devtest(
    folder: Path, epoch: int, system: System | None, references: Sequence[Path], tokenize: str
) -> Record:
    bleu, penalty = None, None
    if system is not None and epoch <= len(system.devtest_bleu):
        bleu, penalty = system.devtest_bleu[epoch - 1], system.devtest_brevity_penalty[epoch - 1]
    elif (folder / "devtest.txt").is_file() and references:
        path = folder / "devtest.txt"
        bleu, penalty = _score(path, _changed(path), tuple(references), tokenize)
    return {"devtest_bleu": bleu, "brevity_penalty": penalty}


def _changed(path: Path) -> int:
    """Return the time when a file was written, a cache key with which `watch` rereads only changed files."""
    return os.stat(path).st_mtime_ns


@cache
def _attributes(path: Path, changed: int) -> Mapping[str, Any]:
    with open_hdf5(path) as stream:
        return read_header(stream, FORMAT, path).attributes


@cache
def _size(path: Path, changed: int) -> tuple[int, float]:
    """Return the number of nonzero weights and their Euclidean norm."""
    value = read_weights(path).value
    return int(np.count_nonzero(value)), float(np.linalg.norm(value))


@cache
def _score(path: Path, changed: int, references: tuple[Path, ...], tokenize: str) -> tuple[float, float]:
    (score,), _ = score_epochs(references, [str(path)], tokenize)
    return score.bleu, score.brevity_penalty
