"""Learning curves: what training, mixing and devtest say of each epoch."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from itersel.errors import InputError
from itersel.evaluate.epoch_scores import read_epochs, score_epochs
from itersel.report.folder import FoundRepeat
from itersel.results import EPOCH_PREFIX, WEIGHTS, epoch_folder, epoch_of, shard_weights, translation_file
from itersel.storage.hdf5 import header_of
from itersel.storage.provenance import read_provenance
from itersel.system.chosen import ChosenSystem
from itersel.vectors.weights import FORMAT, read_itersel_weights

EARLIER_VERSION = "is of an earlier version; run snakemake, which recreates it"

Record = dict[str, Any]


def read_curves(
    repeat: FoundRepeat, system: ChosenSystem | None, references: Sequence[Path], retokenize: str
) -> list[Record]:
    """Return a record for each epoch of a repeat, finished or not; values not known yet are None.

    Without the `references` of devtest, only epochs of a finished repeat have scores on devtest.
    """
    found = (epoch_of(path.name) for path in repeat.path.glob(f"{EPOCH_PREFIX}*"))
    records = []
    for epoch in sorted(number for number in found if number is not None):
        folder = repeat.path / epoch_folder(epoch)
        record = {"epoch": epoch, "chosen": system is not None and system.epoch == epoch}
        record |= _of_shards(folder) | _of_weights(folder / WEIGHTS)
        # A batch tuner that trains all weights has no shards. After shards, it retuned on dev.
        tuner_quality = record.pop("tuner_quality", None)
        if record["sentences"] is None:
            record["training_quality"] = tuner_quality
        record |= _of_devtest(folder, epoch, system, references, retokenize)
        records.append(record)
    return records


def _of_shards(folder: Path) -> Record:
    """Return sums over the shards that have been trained."""
    found = {path: _attributes(path, _changed(path)) for path in sorted(folder.glob(shard_weights("*")))}
    trained = [one for one in found.values() if "pairs" in one]
    for path, one in found.items():
        if "pairs" in one and "mean_quality" not in one:
            raise InputError(EARLIER_VERSION, path)

    sentences, pairs, updates = (
        sum(int(one[key]) for one in trained) for key in ("sentences", "pairs", "updates")
    )
    quality = sum(float(one["mean_quality"]) * int(one["sentences"]) for one in trained)
    losses = [float(one["loss"]) for one in trained if "loss" in one]

    return {
        "shards": len(found),
        "sentences": sentences or None,
        "pairs": pairs if trained else None,
        "updates": updates if trained else None,
        "pairs_with_loss": 100 * updates / pairs if pairs else None,
        "training_quality": quality / sentences if sentences else None,
        "loss": sum(losses) if losses else None,
    }


def _of_weights(path: Path) -> Record:
    if not path.is_file():
        return {"active_features": None, "norm": None, "passed_on": False}
    active, norm = _size(path, _changed(path))
    attributes = _attributes(path, _changed(path))
    if "bleu" in attributes:
        raise InputError(EARLIER_VERSION, path)
    record: Record = {
        "active_features": active,
        "norm": norm,
        "passed_on": read_provenance(attributes, path).stopped,
    }
    return record | {"tuner_quality": float(attributes["quality"])} if "quality" in attributes else record


def _of_devtest(
    folder: Path, epoch: int, system: ChosenSystem | None, references: Sequence[Path], retokenize: str
) -> Record:
    bleu, penalty = None, None
    path = folder / translation_file("devtest")
    if system is not None and epoch <= len(system.devtest_tokenized_bleu):
        bleu, penalty = system.devtest_tokenized_bleu[epoch - 1], system.devtest_brevity_penalty[epoch - 1]
    elif path.is_file() and references:
        bleu, penalty = _score(path, _changed(path), tuple(references), retokenize)
    return {"devtest_tokenized_bleu": bleu, "brevity_penalty": penalty}


def _changed(path: Path) -> int:
    """Return the time when a file was written, a cache key with which `watch` rereads only changed files."""
    return os.stat(path).st_mtime_ns


@cache
def _attributes(path: Path, changed: int) -> Mapping[str, Any]:
    return header_of(path, FORMAT).attributes


@cache
def _size(path: Path, changed: int) -> tuple[int, float]:
    value = read_itersel_weights(path).value
    # not the norm of numpy, whose order of additions depends on where the array is in memory
    return int(np.count_nonzero(value)), math.sqrt(math.fsum((value * value).tolist()))


@cache
def _score(path: Path, changed: int, references: tuple[Path, ...], retokenize: str) -> tuple[float, float]:
    (score,) = score_epochs(read_epochs([path], references), retokenize).tokenized_bleu
    return score.bleu, score.brevity_penalty
