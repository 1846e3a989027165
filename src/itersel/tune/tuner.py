"""The batch tuners by name, and two of them, PRO and k-best MIRA.

They read lists or forests and write a weights file. The next iteration decodes with these weights and adds
its lists to the existing ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack
from scipy.special import expit

import itersel
from itersel.arrays import Float64s, Int64s
from itersel.bleu.kernels import COUNTS, ORDER, score_hypotheses
from itersel.bleu.sentence import VARIANTS
from itersel.config.learners import HELD_OUT_TUNERS, Batch, ForestMert, KBestMira, LineSearch, Mert, Pro
from itersel.config.options import name_in
from itersel.errors import InputError, located
from itersel.learn.pairs import PRO_THRESHOLD, pro_pairs
from itersel.progress import progress
from itersel.storage.formats import FileFormat, FilePath
from itersel.tune.accumulate import FileLists, Pool, SparseRows, find_files
from itersel.tune.forests import FORMAT as FORESTS
from itersel.tune.forests import read_search
from itersel.tune.generate import FORMAT as LISTS
from itersel.tune.generate import START, SUM, start_weights
from itersel.tune.line_kernels import project
from itersel.tune.mert import ListSearch, climb, tune_mert
from itersel.tune.mira_kernels import MiraState, mira_pass, score_rows
from itersel.tune.task import Task, elsewhere
from itersel.vectors.weights import Weights, check_magnitude, make_weights, write_weights

MAX_STEPS = 1000  # of L-BFGS


def sample_pairs(pool: Pool, settings: Pro, seed: tuple[int, ...]) -> Int64s:
    """Draw pairs as in PRO (Hopkins & May 2011), int64 (pairs, 2): rows of `pool`, the better first."""
    pairs = [np.zeros((0, 2), np.int64)]
    statistics = pool.statistics
    for sentence in range(pool.sentence_count):
        begin, end = pool.sentence_offset[sentence : sentence + 2]
        bleu = pool.quality[begin:end]
        if not pool.quality.shape[0]:
            bleu = score_hypotheses(
                VARIANTS[settings.bleu],
                statistics.matches[begin:end].astype(np.int64),
                statistics.length[begin:end].astype(np.int64),
                statistics.reference_length[begin:end].astype(np.int64),
                int(min(ORDER, pool.longest_reference[sentence])),
                np.zeros(COUNTS),
            )
        pairs.append(pro_pairs(bleu, (*seed, sentence), settings.max_difference) + begin)
    found = np.concatenate(pairs)
    if found.shape[0] == 0:
        what = "quality" if pool.quality.shape[0] else "sentence BLEU"
        raise InputError(
            f"no two translations of a sentence are at least {PRO_THRESHOLD} apart in {what}; "
            "use larger lists"
        )
    return found


def pair_matrix(pool: Pool, sparse: SparseRows, rows: Int64s, pairs: Int64s) -> csr_array:
    """Return the differences of pairs, better minus worse: (pairs, C + F), dense features first.

    `pairs`, int64 (pairs, 2), are rows of `pool`; `rows`, int64, are all of them, ascending, and `sparse` has
    their sparse features.
    """
    matrix = csr_array(
        (sparse.value, sparse.feature.astype(np.int64), sparse.offset),
        shape=(rows.shape[0], sparse.key.shape[0]),
    )
    place = np.searchsorted(rows, pairs)
    difference = csr_array(matrix[place[:, 0]] - matrix[place[:, 1]])
    dense = pool.dense[pairs[:, 0]] - pool.dense[pairs[:, 1]]
    return csr_array(hstack((csr_array(dense), difference), format="csr"))


class Objective:
    """2 * sum over pairs of log(1 + exp(-<w, x>)) + strength / 2 * |w|^2, and its gradient.

    The factor 2 accounts for both signs: in the paper, (x, better) and (-x, worse) are two examples, and
    without an intercept their losses are the same.
    """

    def __init__(self, matrix: csr_array, strength: float) -> None:
        self._matrix, self._strength = matrix, strength
        # the transposed matrix in row format: its products sum in a fixed order, without scattered access
        self._transposed = csr_array(matrix.T)

    def __call__(self, weights: Float64s) -> tuple[float, Float64s]:
        """Return the value and gradient at `weights`, float64 (C + F)."""
        margin = self._matrix @ weights
        loss = 2.0 * float(np.logaddexp(0.0, -margin).sum())
        gradient = self._transposed @ (-2.0 * expit(-margin))
        value = loss + self._strength / 2 * float(np.sum(weights * weights))
        return value, np.asarray(gradient + self._strength * weights)


def fit_ranking(matrix: csr_array, strength: float) -> Float64s:
    """Return the weights that minimise `Objective`, float64 (C + F), by L-BFGS from zero."""
    result = minimize(
        Objective(matrix, strength),
        np.zeros(matrix.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_STEPS, "maxfun": 2 * MAX_STEPS, "ftol": 1e-10, "gtol": 1e-6},
    )
    if not result.success:
        print(f"warning: L-BFGS stopped early ({result.message}); increase strength", file=sys.stderr)
    return np.asarray(result.x, np.float64)


def start_state(start: Float64s) -> MiraState:
    """Return the state before the first pass, from the start weights."""
    # pseudo-counts of a perfect four-word sentence, so no precision is ever zero
    counts = np.arange(ORDER, 0, -1.0)
    background = np.concatenate((counts, counts, [ORDER]))
    return MiraState(start.copy(), np.zeros_like(start), background, np.zeros(1, np.int64))


def mean_weights(state: MiraState) -> Float64s:
    """Return the mean of the weights after each sentence in all passes."""
    return state.weight - state.late / max(1, int(state.steps[0]))


def tune_mira(
    pool: Pool, sparse: SparseRows, start: Float64s, settings: KBestMira, seed: tuple[int, ...]
) -> tuple[Float64s, float]:
    """Run all passes of k-best MIRA (Cherry & Foster 2012).

    Returns the averaged weights of the pass with the best translations (`Pool.best`), the first if several
    are equally good, and `Pool.best`. `sparse` has a row for every translation in `pool`; `start`,
    float64 (C + F), are weights of dense and sparse features.
    """
    state = start_state(start)
    bits = np.random.PCG64(list(seed))
    best, best_score = start, -np.inf
    for _ in progress(range(settings.passes), "k-best MIRA, passes"):
        order = np.argsort(bits.random_raw(pool.sentence_count), kind="stable")
        mira_pass(pool, sparse, state, order, settings.c, settings.decay)
        weights = mean_weights(state)
        score = score_rows(pool.dense, sparse, weights)
        bleu = pool.best(score)
        if bleu > best_score:
            best, best_score = weights, bleu
    return best, best_score


class Tuned(NamedTuple):
    """Result of a tuner."""

    weights: Weights  # all that are not zero
    # of the best translations in the lists under these weights: corpus BLEU, 0 to 100, or the mean quality
    score: float
    sentences: int
    translations: int  # distinct ones; 0 for forests


def mert(task: Task, settings: Mert) -> Tuned:
    """Tune by MERT over k-best lists."""
    pool = task.pool()
    weights, bleu = tune_mert(ListSearch(pool), task.start, settings, task.seed)
    return _tuned(pool, task.weights(weights), bleu)


def line_search(task: Task, settings: LineSearch) -> Tuned:
    """Search along given directions, one after another, until none of them improves BLEU."""
    pool = task.pool()
    search = ListSearch(pool)
    directions = task.directions(settings.directions, search.scale)
    weights, bleu = climb(search, task.start, lambda: directions)
    return _tuned(pool, task.weights(weights), bleu)


def forest_mert(task: Task, settings: ForestMert) -> Tuned:
    """Tune by MERT over forests."""
    assert isinstance(task.lists, FileLists)
    search = read_search(task.lists.files)
    weights, bleu = tune_mert(search, task.start, settings, task.seed)
    return Tuned(task.weights(weights), 100 * bleu, search.sentence_count, 0)


def pro(task: Task, settings: Pro) -> Tuned:
    """Tune by PRO. Features that are in no pair get their start weight times 1 - interpolation."""
    pool = task.pool()
    pairs = sample_pairs(pool, settings, task.seed)
    rows = np.unique(pairs)
    sparse = task.sparse(pool.origin[rows])
    found = fit_ranking(pair_matrix(pool, sparse, rows, pairs), settings.strength)
    # Hopkins and May 2011, figure 2
    rest = 1.0 - settings.interpolation
    value = settings.interpolation * found + rest * task.start_with(sparse)
    result = task.weights(value, sparse, rest)
    score = project(np.ascontiguousarray(pool.dense.T), value[: pool.dense.shape[1]])
    if not task.sums:
        score += task.lists.sparse_scores(pool.origin, result)
    return _tuned(pool, result, pool.best(score))


def kbest_mira(task: Task, settings: KBestMira) -> Tuned:
    """Tune by k-best MIRA. Features that are in no list keep their weights."""
    pool = task.pool()
    sparse = task.sparse(pool.origin)
    value, bleu = tune_mira(pool, sparse, task.start_with(sparse), settings, task.seed)
    return _tuned(pool, task.weights(value, sparse, 1.0), bleu)


def _tuned(pool: Pool, weights: Weights, best: float) -> Tuned:
    score = best if pool.quality.shape[0] else 100 * best
    return Tuned(weights, score, pool.sentence_count, pool.dense.shape[0])


class Tuner(NamedTuple):
    """A tuner: its function, and the format of its files.

    If it `searches` for the highest BLEU, it cannot tune single sparse features.
    """

    run: Callable[[Task, Any], Tuned]
    searches: bool = False
    format: FileFormat = LISTS


RUNS = {
    "mert": Tuner(mert, searches=True),
    "pro": Tuner(pro),
    "kbest-mira": Tuner(kbest_mira),
    "forest-mert": Tuner(forest_mert, searches=True, format=FORESTS),
    "line-search": Tuner(line_search, searches=True),
}


def _check_task(tuner: Tuner, task: Task) -> None:
    """Raise an InputError if the tuner cannot tune the sparse features of the files or start weights."""
    lists = task.lists
    if not isinstance(lists, FileLists):
        return
    names, first = lists.dense_names, lists.files[0].path
    if tuner.format is FORESTS and (SUM in names) != bool(task.sums):
        wanted = "all" if task.sums else "dense"
        raise InputError(f"recreate these forests with --features {wanted}", first)
    if not tuner.searches or task.sums:
        return
    if tuner.format is LISTS and lists.has_sparse_features():
        raise InputError(
            "MERT tunes only dense features, but the lists have sparse ones; recreate them with "
            "--features dense, or choose another tuner",
            first,
        )
    others = elsewhere(task.before, make_weights(dict.fromkeys((*names, *START), 0.0)))
    if others.key.shape[0]:
        raise InputError(
            f"the start weights have a sparse feature, '{others.name.get(0)}', but MERT tunes only dense "
            "features; add --sum-sparse, or start from dense weights"
        )


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
    """Tune on the lists or forests of all shards and iterations so far, and write the weights.

    There must be one file for each of the shards 0 to `shards` - 1 and the iterations 1 to `iteration`; with
    forests and `is_summed`, only `iteration`, because they contain the sums for the weights that they were
    decoded with. `before` are the weights that the newest lists were decoded with (default: those of the
    first iteration), `last` those of the previous epoch; see `Task`.
    """
    name = name_in(HELD_OUT_TUNERS, settings)
    if before is None and iteration > 1:
        raise InputError(f"iteration {iteration} needs --previous, the weights used to decode its lists")
    first = iteration if is_summed and RUNS[name].format is FORESTS else 1
    files = find_files(paths, shards, range(first, iteration + 1), RUNS[name].format)
    before = start_weights(files[0].dense_names) if before is None else before
    sums = tuple(one for one in (before, last) if one is not None) if is_summed else ()
    result = tune_task(settings, Task(FileLists(files), before, sums, (seed, iteration)))
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
        "bleu": result.score,
    }
    write_weights(output, result.weights, attributes)
    return result


def tune_task(settings: Batch, task: Task) -> Tuned:
    """Tune; errors name the lists."""
    name = name_in(HELD_OUT_TUNERS, settings)
    tuner = RUNS[name]
    check_magnitude(task.before, " at the start", "start from smaller weights")
    with located(task.lists.name):
        _check_task(tuner, task)
        result = tuner.run(task, settings)
        if tuner.searches and result.score == 0.0 and not task.has_quality:
            raise InputError(
                "BLEU is 0 for all weights tried; decode with better weights, larger lists or denser forests"
            )
    check_magnitude(result.weights, f" from --tuner {name}", "regularise more, or choose smaller steps")
    return result
