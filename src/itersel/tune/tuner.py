"""The batch tuners by name: what goes in, and a weights file that comes out.

The next iteration decodes with these weights, and adds its lists to those that are there already.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import itersel
from itersel.errors import InputError
from itersel.features import feature_keys, unique_features
from itersel.select.common import common_features
from itersel.storage.formats import MAX_MAGNITUDE, FileFormat
from itersel.strings import StringTable, concatenate, string_table
from itersel.tune.accumulate import (
    ListFile,
    Pool,
    find_files,
    has_sparse_features,
    merge_lists,
    read_sparse,
    sparse_scores,
)
from itersel.tune.bleu_kernels import best_rows, bleu_of_counts, corpus_counts
from itersel.tune.forest_mert import ForestMertSettings, read_search
from itersel.tune.forests import FORMAT as FORESTS
from itersel.tune.generate import start_weights
from itersel.tune.line_kernels import project
from itersel.tune.lists import FORMAT as LISTS
from itersel.tune.mert import ListSearch, MertSettings, tune_mert
from itersel.tune.mira import MiraSettings, tune_mira
from itersel.tune.pro import ProSettings, fit_ranking, interpolate, pair_matrix, sample_pairs
from itersel.weights import Weights, find_weights, write_weights

FilePath = str | os.PathLike[str]
Settings = MertSettings | ProSettings | MiraSettings | ForestMertSettings


class Tuned(NamedTuple):
    """What a tuner has found.

    Attributes
    ----------
    weights
        All weights that are not 0.
    bleu
        Corpus BLEU, 0 to 100, of the translations in the lists that these weights like best.
    sentences, translations
        Counts of what was tuned on, equal translations once; forests have no translations to count.
    """

    weights: Weights
    bleu: float
    sentences: int
    translations: int


class Task(NamedTuple):
    """What every tuner is given: files, weights before, and a seed of two numbers."""

    files: Sequence[ListFile]
    before: Weights
    seed: tuple[int, ...]


def mert(task: Task, settings: MertSettings) -> Tuned:
    """Tune by MERT over k-best lists."""
    _refuse_sparse(task)
    pool = merge_lists(task.files)
    table = string_table(pool.dense_names)
    keys = feature_keys(table)
    weights, bleu = tune_mert(ListSearch(pool), find_weights(task.before, keys), settings, task.seed)
    return _tuned(pool, _make_weights([(keys, table, weights)]), bleu)


def forest_mert(task: Task, settings: ForestMertSettings) -> Tuned:
    """Tune by MERT over forests."""
    search = read_search(task.files)
    table = string_table(task.files[0].dense_names)
    keys = feature_keys(table)
    how = MertSettings(settings.directions, settings.restarts)
    weights, bleu = tune_mert(search, find_weights(task.before, keys), how, task.seed)
    if bleu == 0.0:
        raise InputError(
            "BLEU is 0 for all weights that were tried; decode with better weights, or denser forests",
            task.files[0].path,
        )
    return Tuned(_make_weights([(keys, table, weights)]), 100 * bleu, search.sentence_count, 0)


def pro(task: Task, settings: ProSettings) -> Tuned:
    """Tune by PRO. Weights that no pair knows of are those before, times 1 - interpolation."""
    pool = merge_lists(task.files)
    pairs = sample_pairs(pool, settings, task.seed)
    rows = np.unique(pairs)
    sparse = read_sparse(task.files, pool.origin[rows])
    table = string_table(pool.dense_names)
    keys = feature_keys(table)
    found = fit_ranking(pair_matrix(pool, sparse, rows, pairs), settings.strength)
    before = np.concatenate((find_weights(task.before, keys), find_weights(task.before, sparse.key)))
    dense, weights = np.split(interpolate(found, before, settings.interpolation), [keys.shape[0]])
    parts = [(keys, table, dense), (sparse.key, sparse.name, weights)]
    others = _elsewhere(task.before, parts)
    parts.append((others.key, others.name, (1.0 - settings.interpolation) * others.value))
    result = _make_weights(parts)
    score = project(np.ascontiguousarray(pool.dense.T), dense) + sparse_scores(
        task.files, pool.origin, result
    )
    chosen = best_rows(score, pool.sentence_offset)
    counts = corpus_counts(chosen, pool.matches, pool.length)
    return _tuned(pool, result, bleu_of_counts(counts, int(pool.reference_length.sum())))


def kbest_mira(task: Task, settings: MiraSettings) -> Tuned:
    """Tune by k-best MIRA. Weights of features that no list has stay."""
    pool = merge_lists(task.files)
    sparse = read_sparse(task.files, pool.origin)
    table = string_table(pool.dense_names)
    keys = feature_keys(table)
    dense, weights, bleu = tune_mira(
        pool,
        sparse,
        find_weights(task.before, keys),
        find_weights(task.before, sparse.key),
        settings,
        task.seed,
    )
    parts = [(keys, table, dense), (sparse.key, sparse.name, weights)]
    others = _elsewhere(task.before, parts)
    return _tuned(pool, _make_weights([*parts, (others.key, others.name, others.value)]), bleu)


@dataclass(frozen=True)
class Tuner:
    """A tuner: its settings, the function that runs it, and what files it reads."""

    settings: type[Any]
    run: Callable[[Task, Any], Tuned]
    format: FileFormat = LISTS


TUNERS = {
    "mert": Tuner(MertSettings, mert),
    "pro": Tuner(ProSettings, pro),
    "kbest-mira": Tuner(MiraSettings, kbest_mira),
    "forest-mert": Tuner(ForestMertSettings, forest_mert, FORESTS),
}


def tune(
    name: str,
    paths: Sequence[FilePath],
    output: FilePath,
    settings: Settings,
    *,
    shards: int,
    iteration: int,
    before: Weights | None = None,
    seed: int = 1,
) -> Tuned:
    """Tune on the lists of all shards and iterations so far, and write the weights.

    Parameters
    ----------
    name
        One of `TUNERS`.
    paths
        Files of lists, in any order.
    output
        Weights to write, whole or not at all.
    settings
        Of this tuner.
    shards, iteration
        There must be one file for each of the shards 0 to `shards` - 1 and the iterations 1 to `iteration`.
    before
        Weights that the newest lists were made with; those of the first iteration by default.
    seed
        Of everything that is drawn, together with the iteration.

    Raises
    ------
    InputError
        If files are missing, damaged, or do not belong together, or nothing can be learned from them.
    """
    before = start_weights() if before is None else before
    _check_start(before)
    files = find_files(paths, shards, iteration, TUNERS[name].format)
    result = TUNERS[name].run(Task(files, before, (seed, iteration)), settings)
    if not np.isfinite(result.weights.value).all():
        raise InputError(
            f"weights of --tuner {name} have overflowed; regularise more, or choose smaller steps"
        )
    attributes = {
        "kind": "mixed-weights",
        "version": itersel.__version__,
        "settings": json.dumps(
            {"tuner": name, "seed": seed, **asdict(settings), "lists": json.loads(files[0].settings)},
            sort_keys=True,
        ),
        "tuner": name,
        "epoch": iteration,
        "iteration": iteration,
        "shards": shards,
        "sentences": result.sentences,
        "translations": result.translations,
        "bleu": result.bleu,
    }
    write_weights(output, result.weights, attributes)
    return result


def _check_start(before: Weights) -> None:
    """Raise an InputError where scores could overflow; features are as small as this, too."""
    bad = np.flatnonzero(np.abs(before.value) > MAX_MAGNITUDE)
    if bad.size:
        name, value = before.name.get(int(bad[0])), float(before.value[bad[0]])
        raise InputError(f"the weight of '{name}' before is {value}; start from smaller weights")


def _refuse_sparse(task: Task) -> None:
    if has_sparse_features(task.files):
        raise InputError(
            "MERT tunes dense features alone, and the lists have sparse ones; "
            "make them with --features dense, or choose another tuner",
            task.files[0].path,
        )


def _tuned(pool: Pool, weights: Weights, bleu: float) -> Tuned:
    return Tuned(weights, 100 * bleu, pool.sentence_count, pool.length.shape[0])


def _make_weights(
    parts: Sequence[tuple[NDArray[np.uint64], StringTable, NDArray[np.float64]]],
) -> Weights:
    """Put features, names and weights together; no feature may be in two parts, and none weighs 0."""
    key = np.concatenate([part[0] for part in parts])
    value = np.concatenate([part[2] for part in parts])
    name = concatenate([part[1] for part in parts])
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    key, name = unique_features(key, name)
    if twice.size:
        raise InputError(f"'{name.get(int(twice[0]))}' is a dense and a sparse feature; rename one")
    kept = np.flatnonzero(value[order] != 0)
    return Weights(key[kept], value[order][kept], name.take(kept))


def _elsewhere(
    weights: Weights, parts: Sequence[tuple[NDArray[np.uint64], StringTable, NDArray[np.float64]]]
) -> Weights:
    """Return the weights of features that are in none of the parts."""
    is_elsewhere = np.ones(weights.key.shape[0], bool)
    for key, name, _ in parts:
        order = np.argsort(key, kind="stable")
        is_elsewhere[common_features(key[order], name.take(order), weights.key, weights.name)[1]] = False
    rows = np.flatnonzero(is_elsewhere)
    return Weights(weights.key[rows], weights.value[rows], weights.name.take(rows))
