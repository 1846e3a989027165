"""Batch MIRA on k-best lists (Cherry & Foster 2012)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from itersel.bleu.score_kernels import ORDER
from itersel.lists.table import ListTable, SparseRows
from itersel.run.progress import progress
from itersel.storage.arrays import Float64s
from itersel.tune.mira_kernels import MiraState, Scored, mira_pass, score_rows

if TYPE_CHECKING:
    from itersel.tune.tuners.kbest_mira import KBestMira


def start_state(start: Float64s) -> MiraState:
    """Return the state before the first pass, from the start weights."""
    # pseudo-counts of a perfect four-word sentence, so no precision is ever zero
    counts = np.arange(ORDER, 0, -1.0)
    background = np.concatenate((counts, counts, [ORDER]))
    return MiraState(start.copy(), np.zeros_like(start), background, np.zeros(1, np.int64))


def scored(table: ListTable) -> Scored:
    """Return the arrays of a table that passes need."""
    return Scored(table.offset, table.dense, table.statistics, table.mean_reference, table.quality)


def mean_weights(state: MiraState) -> Float64s:
    """Return the mean of the weights after each sentence in all passes."""
    return state.weight - state.late / max(1, int(state.steps[0]))


def tune_mira(
    table: ListTable, sparse: SparseRows, start: Float64s, tuner: KBestMira, seed: tuple[int, ...]
) -> tuple[Float64s, float]:
    """Run all passes of k-best MIRA (Cherry & Foster 2012).

    Returns the averaged weights of the pass with the best translations (`ListTable.best`), the first if
    several are equally good, and `ListTable.best`. `sparse` has a row for every translation in `table`;
    `start`, float64 (C + F), are weights of dense and sparse features.
    """
    state = start_state(start)
    bits = np.random.PCG64(list(seed))
    known = scored(table)
    best, highest = start, -np.inf

    for _ in progress(range(tuner.passes), "k-best MIRA, passes"):
        order = np.argsort(bits.random_raw(table.sentence_count), kind="stable")
        mira_pass(known, sparse, state, order, tuner.c, tuner.decay)

        weights = mean_weights(state)
        score = score_rows(table.dense, sparse, weights)
        quality = table.best(score)
        if quality > highest:
            best, highest = weights, quality

    return best, highest
