"""k-best MIRA (Cherry and Foster 2012): passes over merged lists, averaged weights, best pass kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.config.tuners import KBestMira
from itersel.learn.bleu_kernels import ORDER
from itersel.progress import progress
from itersel.tune.accumulate import Pool, SparseRows
from itersel.tune.bleu_kernels import best_bleu
from itersel.tune.mira_kernels import MiraState, mira_pass, score_rows


def start_state(dense: NDArray[np.float64], sparse: NDArray[np.float64]) -> MiraState:
    """Return the state before the first pass, from the start weights of dense and sparse features."""
    # pseudo-counts of a perfect four-word sentence, so no precision is ever zero
    counts = np.arange(ORDER, 0, -1.0)
    return MiraState(
        dense.copy(),
        sparse.copy(),
        np.zeros_like(dense),
        np.zeros_like(sparse),
        np.concatenate((counts, counts, [ORDER])),
        np.zeros(1, np.int64),
    )


def mean_weights(state: MiraState) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean of the weights after each sentence in all passes, dense and sparse."""
    steps = max(1, int(state.steps[0]))
    return state.dense - state.dense_late / steps, state.sparse - state.sparse_late / steps


def tune_mira(
    pool: Pool,
    sparse: SparseRows,
    dense_start: NDArray[np.float64],
    sparse_start: NDArray[np.float64],
    settings: KBestMira,
    seed: tuple[int, ...],
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Run all passes, and keep the averaged weights of the pass with the highest corpus BLEU.

    Parameters
    ----------
    pool, sparse
        Merged lists; `sparse` has a row for every translation in `pool`.
    dense_start, sparse_start
        float64 (C) and (F): start weights.
    settings
        Settings of the tuner.
    seed
        Random seed for the order of sentences, not negative.

    Returns
    -------
    tuple
        Dense and sparse weights, float64 (C) and (F), and BLEU between 0 and 1; of equally good passes, those
        of the first.
    """
    state = start_state(dense_start, sparse_start)
    bits = np.random.PCG64(list(seed))
    best: tuple[NDArray[np.float64], NDArray[np.float64], float] | None = None
    for _ in progress(range(settings.passes), "k-best MIRA, passes"):
        order = np.argsort(bits.random_raw(pool.sentence_count), kind="stable")
        mira_pass(pool, sparse, state, order, settings.c, settings.decay)
        dense, weights = mean_weights(state)
        score = score_rows(pool.dense, sparse, dense, weights)
        bleu = best_bleu(score, pool.sentence_offset, pool.statistics)
        if best is None or bleu > best[2]:
            best = dense, weights, bleu
    assert best is not None
    return best
