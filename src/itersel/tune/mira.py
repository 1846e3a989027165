"""k-best MIRA (Cherry and Foster 2012): passes over merged lists, averaged weights, best pass kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itersel.config.tuners import KBestMira
from itersel.learn.bleu_kernels import ORDER
from itersel.progress import progress
from itersel.tune.accumulate import Pool, SparseRows
from itersel.tune.bleu_kernels import best_rows, bleu_of_counts, corpus_counts
from itersel.tune.mira_kernels import MiraLists, MiraState, mira_pass, score_rows


class Mira:
    """Weights of k-best MIRA, pass after pass.

    Parameters
    ----------
    pool, sparse
        Merged lists; `sparse` has a row for every translation in `pool`.
    dense_start, sparse_start
        float64 (C) and (F): start weights.
    settings
        Settings of the tuner.
    """

    def __init__(
        self,
        pool: Pool,
        sparse: SparseRows,
        dense_start: NDArray[np.float64],
        sparse_start: NDArray[np.float64],
        settings: KBestMira,
    ) -> None:
        self._settings = settings
        self._lists = MiraLists(
            pool.sentence_offset,
            pool.mean_reference,
            pool.statistics,
            pool.dense,
            sparse.feature,
            sparse.value,
            sparse.offset,
        )
        # pseudo-counts of a perfect four-word sentence, so no precision is ever zero
        counts = np.arange(ORDER, 0, -1.0)
        self._state = MiraState(
            dense_start.copy(),
            sparse_start.copy(),
            np.zeros_like(dense_start),
            np.zeros_like(sparse_start),
            np.concatenate((counts, counts, [ORDER])),
            np.zeros(1, np.int64),
        )

    def run_pass(self, order: NDArray[np.int64]) -> int:
        """Process all sentences in the given order; return the number of steps."""
        return mira_pass(self._lists, self._state, order, self._settings.c, self._settings.decay)

    def mean_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean of the weights after each sentence in all passes, dense and sparse."""
        state = self._state
        steps = max(1, int(state.steps[0]))
        return state.dense - state.dense_late / steps, state.sparse - state.sparse_late / steps

    def bleu(self, dense: NDArray[np.float64], sparse: NDArray[np.float64]) -> float:
        """Return corpus BLEU, between 0 and 1, of the best translations under the weights."""
        lists = self._lists
        rows = best_rows(score_rows(lists, dense, sparse), lists.sentence_offset)
        return bleu_of_counts(corpus_counts(rows, lists.statistics))


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
    pool, sparse, dense_start, sparse_start, settings
        See `Mira`.
    seed
        Random seed for the order of sentences, not negative.

    Returns
    -------
    tuple
        Dense and sparse weights, float64 (C) and (F), and BLEU; of equally good passes, those of the first.
    """
    mira = Mira(pool, sparse, dense_start, sparse_start, settings)
    bits = np.random.PCG64(list(seed))
    best: tuple[NDArray[np.float64], NDArray[np.float64], float] | None = None
    for _ in progress(range(settings.passes), "k-best MIRA, passes"):
        mira.run_pass(np.argsort(bits.random_raw(pool.sentence_count), kind="stable"))
        dense, weights = mira.mean_weights()
        bleu = mira.bleu(dense, weights)
        if best is None or bleu > best[2]:
            best = dense, weights, bleu
    assert best is not None
    return best
