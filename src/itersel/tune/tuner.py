"""The batch tuners by name: they read lists or forests and write a weights file.

The next iteration decodes with these weights and adds its lists to the existing ones. On held-out text, the
sparse features are summed to one: see `itersel.tune.summed`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import itersel
from itersel.config.tuners import Batch, ForestMert, KBestMira, LineSearch, Mert, Pro, tuner_name
from itersel.errors import InputError
from itersel.storage.formats import MAX_MAGNITUDE, FileFormat
from itersel.storage.strings import string_table
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
from itersel.tune.forest_mert import read_search
from itersel.tune.forests import FORMAT as FORESTS
from itersel.tune.generate import FORMAT as LISTS
from itersel.tune.generate import START
from itersel.tune.line_kernels import project
from itersel.tune.line_search import named_directions, search_lines
from itersel.tune.mert import ListSearch, tune_mert
from itersel.tune.mira import tune_mira
from itersel.tune.pro import fit_ranking, interpolate, pair_matrix, sample_pairs
from itersel.tune.summed import SUM, elsewhere, join_weights, no_sparse, spread, start_values, sum_sparse
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import Weights, find_weights, make_weights, write_weights

FilePath = str | os.PathLike[str]


class Tuned(NamedTuple):
    """Result of a tuner.

    Attributes
    ----------
    weights
        All non-zero weights.
    bleu
        Corpus BLEU, 0 to 100, of the best translations in the lists under these weights.
    sentences, translations
        Number of sentences and distinct translations tuned on; 0 translations for forests.
    """

    weights: Weights
    bleu: float
    sentences: int
    translations: int


class Task(NamedTuple):
    """The input of every tuner.

    Attributes
    ----------
    files
        As returned by `find_files`.
    before
        Weights that the newest lists were decoded with.
    seed
        Random seed.
    is_summed
        Whether the sparse features are summed to one; see `itersel.tune.summed`.
    last
        Mixed weights of the previous epoch, for the line search from these to `before`.
    """

    files: Sequence[ListFile]
    before: Weights
    seed: tuple[int, ...]
    is_summed: bool = False
    last: Weights | None = None


def _dense_lists(task: Task, with_last: bool = False) -> tuple[Pool, list[Weights]]:
    """Return lists with only dense features, and the weights used for the sums in their last columns."""
    if not task.is_summed:
        if has_sparse_features(task.files):
            raise InputError(
                "MERT tunes only dense features, but the lists have sparse ones; recreate them with "
                "--features dense, or choose another tuner",
                task.files[0].path,
            )
        _refuse_sparse(task)
        return merge_lists(task.files), []
    sums = [task.before, task.last] if with_last and task.last is not None else [task.before]
    return sum_sparse(task.files, merge_lists(task.files), sums), sums


def _refuse_sparse(task: Task) -> None:
    """Raise an InputError if the start weights have features that a tuner of dense features would drop."""
    table = string_table(sorted({*task.files[0].dense_names, *START}))
    others = elsewhere(task.before, [(feature_keys(table), table)])
    if others.key.shape[0]:
        raise InputError(
            f"the start weights have a sparse feature, '{others.name.get(0)}', but MERT tunes only dense "
            "features; add --sum-sparse, or start from dense weights"
        )


def _check_bleu(bleu: float) -> None:
    if bleu == 0.0:
        raise InputError(
            "BLEU is 0 for all weights tried; decode with better weights, larger lists or denser forests"
        )


def mert(task: Task, settings: Mert) -> Tuned:
    """Tune by MERT over k-best lists."""
    pool, sums = _dense_lists(task)
    start = start_values(pool.dense_names, task.before)
    weights, bleu = tune_mert(ListSearch(pool), start, settings, task.seed)
    _check_bleu(bleu)
    return _tuned(pool, spread(pool.dense_names, weights, sums), bleu)


def line_search(task: Task, settings: LineSearch) -> Tuned:
    """Search along given directions, one after another, until none of them improves BLEU."""
    pool, sums = _dense_lists(task, with_last=True)
    start = start_values(pool.dense_names, task.before)
    search = ListSearch(pool)
    directions = named_directions(settings.directions, pool.dense_names, search.scale, start, task.last)
    weights, bleu = search_lines(search, start, directions)
    _check_bleu(bleu)
    return _tuned(pool, spread(pool.dense_names, weights, sums), bleu)


def forest_mert(task: Task, settings: ForestMert) -> Tuned:
    """Tune by MERT over forests."""
    names = task.files[0].dense_names
    if (SUM in names) != task.is_summed:
        wanted = "all" if task.is_summed else "dense"
        raise InputError(f"recreate these forests with --features {wanted}", task.files[0].path)
    if not task.is_summed:
        _refuse_sparse(task)
    search = read_search(task.files)
    weights, bleu = tune_mert(search, start_values(names, task.before), settings, task.seed)
    _check_bleu(bleu)
    result = spread(names, weights, [task.before] if task.is_summed else [])
    return Tuned(result, 100 * bleu, search.sentence_count, 0)


def pro(task: Task, settings: Pro) -> Tuned:
    """Tune by PRO. Features that are in no pair get their start weight times 1 - interpolation."""
    if task.is_summed:
        pool, sums = _dense_lists(task)
        pairs = sample_pairs(pool, settings, task.seed)
        rows = np.unique(pairs)
        found = fit_ranking(pair_matrix(pool, no_sparse(rows.shape[0]), rows, pairs), settings.strength)
        start = start_values(pool.dense_names, task.before)
        weights = interpolate(found, start, settings.interpolation)
        return _scored(task, pool, weights, spread(pool.dense_names, weights, sums))
    pool = merge_lists(task.files)
    pairs = sample_pairs(pool, settings, task.seed)
    rows = np.unique(pairs)
    sparse = read_sparse(task.files, pool.origin[rows])
    table = string_table(pool.dense_names)
    keys = feature_keys(table)
    found = fit_ranking(pair_matrix(pool, sparse, rows, pairs), settings.strength)
    before = np.concatenate((find_weights(task.before, keys), find_weights(task.before, sparse.key)))
    dense, values = np.split(interpolate(found, before, settings.interpolation), [keys.shape[0]])
    others = elsewhere(task.before, [(keys, table), (sparse.key, sparse.name)])
    result = join_weights(
        [
            (keys, table, dense),
            (sparse.key, sparse.name, values),
            (others.key, others.name, (1.0 - settings.interpolation) * others.value),
        ]
    )
    return _scored(task, pool, dense, result)


def _scored(task: Task, pool: Pool, dense: NDArray[np.float64], result: Weights) -> Tuned:
    """Return weights with their BLEU on the lists; `dense` are the weights of the columns."""
    score = project(np.ascontiguousarray(pool.dense.T), dense)
    if not task.is_summed:
        score = score + sparse_scores(task.files, pool.origin, result)
    chosen = best_rows(score, pool.sentence_offset)
    return _tuned(pool, result, bleu_of_counts(corpus_counts(chosen, pool.statistics)))


def kbest_mira(task: Task, settings: KBestMira) -> Tuned:
    """Tune by k-best MIRA. Features that are in no list keep their weights."""
    if task.is_summed:
        pool, sums = _dense_lists(task)
        sparse = no_sparse(pool.statistics.length.shape[0])
        start = start_values(pool.dense_names, task.before)
        dense, _, bleu = tune_mira(pool, sparse, start, np.zeros(0), settings, task.seed)
        return _tuned(pool, spread(pool.dense_names, dense, sums), bleu)
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
    others = elsewhere(task.before, [(keys, table), (sparse.key, sparse.name)])
    parts = [(keys, table, dense), (sparse.key, sparse.name, weights)]
    parts.append((others.key, others.name, others.value))
    return _tuned(pool, join_weights(parts), bleu)


class Tuner(NamedTuple):
    """A tuner: the function that runs it, and the format of the files that it reads."""

    run: Callable[[Task, Any], Tuned]
    format: FileFormat = LISTS


RUNS = {
    "mert": Tuner(mert),
    "pro": Tuner(pro),
    "kbest-mira": Tuner(kbest_mira),
    "forest-mert": Tuner(forest_mert, FORESTS),
    "line-search": Tuner(line_search),
}


def tune(
    settings: Batch,
    paths: Sequence[FilePath],
    output: FilePath,
    *,
    shards: int,
    iteration: int,
    before: Weights | None = None,
    seed: int = 1,
    is_summed: bool = False,
    last: Weights | None = None,
) -> Tuned:
    """Tune on the lists of all shards and iterations so far, and write the weights.

    Parameters
    ----------
    settings
        Settings of a tuner; their type selects the tuner.
    paths
        Files of lists or forests, in any order.
    output
        Weights to write, whole or not at all.
    shards, iteration
        There must be one file for each of the shards 0 to `shards` - 1 and the iterations 1 to `iteration`;
        with forests and `is_summed`, only `iteration`.
    before
        Weights that the newest lists were decoded with; by default, those of the first iteration.
    seed
        Random seed, combined with the iteration.
    is_summed
        Tune the dense features and one feature for all sparse ones together. Forests contain the sums for
        the weights that they were decoded with, so different iterations cannot be combined.
    last
        Weights of the previous epoch; a line search can follow the step from these to `before`.

    Raises
    ------
    InputError
        If files are missing, damaged or inconsistent, or nothing can be learned from them.
    """
    name = tuner_name(settings)
    if before is None and iteration > 1:
        raise InputError(f"iteration {iteration} needs --previous, the weights used to decode its lists")
    before = make_weights(START) if before is None else before
    _check_magnitude(before, "at the start", "start from smaller weights")
    first = iteration if is_summed and RUNS[name].format is FORESTS else 1
    files = find_files(paths, shards, range(first, iteration + 1), RUNS[name].format)
    try:
        result = RUNS[name].run(Task(files, before, (seed, iteration), is_summed, last), settings)
    except InputError as error:
        if error.path is not None:
            raise
        raise InputError(error.message, _all_of(files)) from None
    _check_magnitude(result.weights, f"from --tuner {name}", "regularise more, or choose smaller steps")
    attributes = {
        "kind": "mixed-weights",
        "version": itersel.__version__,
        "settings": json.dumps(
            {"tuner": name, "seed": seed, **asdict(settings), "lists": json.loads(files[0].settings)},
            sort_keys=True,
        ),
        "tuner": name,
        "iteration": iteration,
        "shards": shards,
        "sentences": result.sentences,
        "translations": result.translations,
        "bleu": result.bleu,
    }
    write_weights(output, result.weights, attributes)
    return result


def _all_of(files: Sequence[ListFile]) -> str:
    """Return a short name of all files for messages."""
    others = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{os.fspath(files[0].path)}{others}"


def _check_magnitude(weights: Weights, whose: str, advice: str) -> None:
    """Raise an InputError if scores could overflow or the weights could not be read back."""
    bad = np.flatnonzero(~(np.abs(weights.value) <= MAX_MAGNITUDE))  # NaN too
    if bad.size:
        name, value = weights.name.get(int(bad[0])), float(weights.value[bad[0]])
        raise InputError(f"the weight of '{name}' {whose} is {value}; {advice}")


def _tuned(pool: Pool, weights: Weights, bleu: float) -> Tuned:
    return Tuned(weights, 100 * bleu, pool.sentence_count, pool.statistics.length.shape[0])
