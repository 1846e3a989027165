"""One pass of k-best MIRA over merged lists (Cherry and Foster 2012, algorithm 1).

Shapes: N sentences, H translations, C dense and F sparse features.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.jit import kernel
from itersel.learn.bleu_kernels import ORDER
from itersel.tune.accumulate import Pool, SparseRows
from itersel.tune.bleu_kernels import COUNTS, Statistics, add_counts


class MiraState(NamedTuple):
    """The weights during training.

    Attributes
    ----------
    dense, sparse
        float64 (C) and (F): current weights.
    dense_late, sparse_late
        float64 (C) and (F): sum of all updates, each times the number of steps before it. The mean of the
        weights after n steps is weights - late / n, so a step only touches its own features.
    background
        float64 (9): counts of the decaying pseudo-corpus, see `itersel.tune.bleu_kernels`.
    steps
        int64 (1): sentences seen so far, in all passes.
    """

    dense: NDArray[np.float64]
    sparse: NDArray[np.float64]
    dense_late: NDArray[np.float64]
    sparse_late: NDArray[np.float64]
    background: NDArray[np.float64]
    steps: NDArray[np.int64]


class Difference(NamedTuple):
    """Scratch for the sparse difference of two translations: int32 and float64, twice the longest row."""

    feature: NDArray[np.int32]
    value: NDArray[np.float64]


@kernel
def score_row(
    dense: NDArray[np.float64],
    sparse: SparseRows,
    dense_weight: NDArray[np.float64],
    sparse_weight: NDArray[np.float64],
    row: int,
) -> float:
    """Return the score of a translation."""
    total = 0.0
    for c in range(dense_weight.shape[0]):
        total += dense_weight[c] * dense[row, c]
    for i in range(sparse.offset[row], sparse.offset[row + 1]):
        total += sparse_weight[sparse.feature[i]] * sparse.value[i]
    return total


@kernel
def score_rows(
    dense: NDArray[np.float64],
    sparse: SparseRows,
    dense_weight: NDArray[np.float64],
    sparse_weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the scores of all translations, float64 (H)."""
    score = np.empty(dense.shape[0])
    for row in range(score.shape[0]):
        score[row] = score_row(dense, sparse, dense_weight, sparse_weight, row)
    return score


@kernel
def background_bleu(
    statistics: Statistics, row: int, mean_reference: float, background: NDArray[np.float64]
) -> float:
    """Return BLEU of background and translation together, times their reference length.

    The factor (Chiang et al. 2008) turns BLEU into a number of words, so that the contribution of a
    translation does not shrink as the background grows. It uses the mean length of the references, which is
    the same for all translations of a sentence; otherwise it would favour long ones.
    """
    product = 1.0
    for n in range(ORDER):
        ngrams = background[ORDER + n] + max(0, statistics.length[row] - n)
        product *= (background[n] + statistics.matches[row, n]) / ngrams
    length = background[ORDER] + statistics.length[row]
    reference = background[2 * ORDER] + statistics.reference_length[row]
    bleu = math.sqrt(math.sqrt(product))
    if length < reference:
        bleu *= math.exp(1.0 - reference / length)
    return bleu * (background[2 * ORDER] + mean_reference)


@kernel
def sparse_difference(sparse: SparseRows, hope: int, fear: int, scratch: Difference) -> int:
    """Fill `scratch` with the sparse features of hope minus those of fear; returns their number.

    Merges both rows, which are sorted by feature.
    """
    i, end = sparse.offset[hope], sparse.offset[hope + 1]
    j, fear_end = sparse.offset[fear], sparse.offset[fear + 1]
    used = 0
    while i < end or j < fear_end:
        takes_hope = j == fear_end or (i < end and sparse.feature[i] <= sparse.feature[j])
        takes_fear = i == end or (j < fear_end and sparse.feature[j] <= sparse.feature[i])
        scratch.value[used] = 0.0
        if takes_hope:
            scratch.feature[used] = sparse.feature[i]
            scratch.value[used] += sparse.value[i]
            i += 1
        if takes_fear:
            scratch.feature[used] = sparse.feature[j]
            scratch.value[used] -= sparse.value[j]
            j += 1
        used += 1
    return used


@kernel
def mira_step(
    pool: Pool,
    sparse: SparseRows,
    state: MiraState,
    scratch: Difference,
    hope: int,
    fear: int,
    cost: float,
    limit: float,
) -> bool:
    """Move the weights until hope leads fear by `cost`, by at most `limit`; returns whether they changed."""
    used = sparse_difference(sparse, hope, fear, scratch)
    loss, norm = cost, 0.0
    for c in range(state.dense.shape[0]):
        difference = pool.dense[hope, c] - pool.dense[fear, c]
        loss -= state.dense[c] * difference
        norm += difference * difference
    for i in range(used):
        loss -= state.sparse[scratch.feature[i]] * scratch.value[i]
        norm += scratch.value[i] * scratch.value[i]
    if not loss > 0.0 or norm == 0.0:
        return False
    rate, before = min(limit, loss / norm), state.steps[0]
    for c in range(state.dense.shape[0]):
        step = rate * (pool.dense[hope, c] - pool.dense[fear, c])
        state.dense[c] += step
        state.dense_late[c] += before * step
    for i in range(used):
        feature, step = scratch.feature[i], rate * scratch.value[i]
        state.sparse[feature] += step
        state.sparse_late[feature] += before * step
    return True


@kernel
def mira_pass(
    pool: Pool, sparse: SparseRows, state: MiraState, order: NDArray[np.int64], limit: float, decay: float
) -> int:
    """Take one step per sentence, in the given order; returns how many changed the weights.

    Hope is the translation with the highest score plus BLEU, fear that with the highest score minus BLEU;
    ties go to the first. After each sentence, the background decays by `decay` and the hope is added.
    """
    longest = 0
    for row in range(pool.dense.shape[0]):
        longest = max(longest, sparse.offset[row + 1] - sparse.offset[row])
    scratch = Difference(np.empty(2 * longest, np.int32), np.empty(2 * longest))
    moved = 0
    for sentence in order:
        mean_reference = pool.mean_reference[sentence]
        hope, fear = np.int64(-1), np.int64(-1)
        hope_value, fear_value, hope_bleu, fear_bleu = 0.0, 0.0, 0.0, 0.0
        for row in range(pool.sentence_offset[sentence], pool.sentence_offset[sentence + 1]):
            score = score_row(pool.dense, sparse, state.dense, state.sparse, row)
            bleu = background_bleu(pool.statistics, row, mean_reference, state.background)
            if hope < 0 or score + bleu > hope_value:
                hope, hope_value, hope_bleu = row, score + bleu, bleu
            if fear < 0 or score - bleu > fear_value:
                fear, fear_value, fear_bleu = row, score - bleu, bleu
        if mira_step(pool, sparse, state, scratch, hope, fear, hope_bleu - fear_bleu, limit):
            moved += 1
        state.steps[0] += 1
        for i in range(COUNTS):
            state.background[i] *= decay
        add_counts(state.background, pool.statistics, hope, 1)
    return moved
