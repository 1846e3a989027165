"""One pass of k-best MIRA over merged lists (Cherry and Foster 2012, algorithm 1).

Shapes: N sentences, H translations, C dense and F sparse features. Weights are those of the dense features,
followed by those of the sparse ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from itersel.bleu.bleu_kernels import (
    COUNTS,
    MATCHES,
    NGRAMS,
    REFERENCE,
    WORDS,
    Statistics,
    add_counts,
    brevity_penalty,
    make_counts,
    ngram_count,
    ngram_counts,
)
from itersel.bleu.order import ORDER
from itersel.compile.jit import kernel, leaf_kernel
from itersel.lists.table import ListTable
from itersel.storage.arrays import Float64s, Int32s, Int64s
from itersel.vectors.sparse_rows import SparseRows


class MiraLists(NamedTuple):
    """The arrays of an `itersel.lists.table.ListTable` that passes need; sparse features are separate."""

    offset: Int64s
    dense: Float64s
    statistics: Statistics
    mean_reference: Float64s
    quality: Float64s


class MiraState(NamedTuple):
    """The weights during training."""

    weight: Float64s  # (C + F): current weights
    # float64 (C + F): sum of all updates, each times the number of steps before it. The mean of the weights
    # after n steps is weight - late / n, so a step only touches its own features.
    late: Float64s
    # float64 (`COUNTS`): counts of the decaying pseudo-corpus, see `itersel.bleu.bleu_kernels`
    background: Float64s
    steps: Int64s  # (1): sentences seen so far, in all passes


def mira_lists(table: ListTable) -> MiraLists:
    """Return the arrays of a table that passes need."""
    return MiraLists(table.offset, table.dense, table.statistics, table.mean_reference, table.quality)


def start_state(start: Float64s) -> MiraState:
    """Return the state before the first pass, from the start weights."""
    # pseudo-counts of a perfect sentence of ORDER words, so no precision is ever zero
    ngrams = ngram_counts(np.array(ORDER))
    background = make_counts(ngrams, ngrams, ORDER)
    return MiraState(start.copy(), np.zeros_like(start), background, np.zeros(1, np.int64))


def mean_weights(state: MiraState) -> Float64s:
    """Return the mean of the weights after each sentence in all passes."""
    return state.weight - state.late / max(1, int(state.steps[0]))


class Difference(NamedTuple):
    """Scratch for the difference of two translations: space for as many features as all have."""

    feature: Int32s
    value: Float64s


@leaf_kernel
def score_row(dense: Float64s, sparse: SparseRows, weight: Float64s, row: int) -> float:
    """Return the model score of a translation.

    Unlike in `ListTable.scores`, dense and sparse features are in one sum, so the last digits may differ.
    """
    columns = dense.shape[1]
    total = 0.0
    for column in range(columns):
        total += weight[column] * dense[row, column]
    for i in range(sparse.offset[row], sparse.offset[row + 1]):
        total += weight[columns + sparse.feature[i]] * sparse.value[i]
    return total


@kernel
def score_rows(dense: Float64s, sparse: SparseRows, weight: Float64s) -> Float64s:
    """Return the model scores of all translations, float64 (H)."""
    score = np.empty(dense.shape[0])
    for row in range(score.shape[0]):
        score[row] = score_row(dense, sparse, weight, row)
    return score


@leaf_kernel
def background_bleu(statistics: Statistics, row: int, mean_reference: float, background: Float64s) -> float:
    """Return BLEU of background and translation together, times their reference length.

    The factor (Chiang et al. 2008) turns BLEU into a number of words, so that the contribution of a
    translation does not shrink as the background grows. It uses the mean length of the references, which is
    the same for all translations of a sentence; otherwise it would favour long ones.
    """
    product = 1.0
    for n in range(ORDER):
        ngrams = background[NGRAMS + n] + ngram_count(statistics.length[row], n + 1)
        product *= (background[MATCHES + n] + statistics.matches[row, n]) / ngrams

    length = background[WORDS] + statistics.length[row]
    reference = background[REFERENCE] + statistics.closest_length[row]

    # the root of degree ORDER; unlike powers, square roots are rounded alike on all processors
    mean = math.sqrt(math.sqrt(product))
    bleu = mean * brevity_penalty(length, reference)
    return bleu * (background[REFERENCE] + mean_reference)


@leaf_kernel
def fill_difference(dense: Float64s, sparse: SparseRows, hope: int, fear: int, scratch: Difference) -> int:
    """Fill `scratch` with the features of hope minus those of fear; returns their number.

    Merges the sparse features of both, which are sorted.
    """
    columns = dense.shape[1]
    for column in range(columns):
        scratch.feature[column] = column
        scratch.value[column] = dense[hope, column] - dense[fear, column]

    i = sparse.offset[hope]
    hope_end = sparse.offset[hope + 1]
    j = sparse.offset[fear]
    fear_end = sparse.offset[fear + 1]
    used = columns
    while i < hope_end or j < fear_end:
        takes_hope = j == fear_end or (i < hope_end and sparse.feature[i] <= sparse.feature[j])
        takes_fear = i == hope_end or (j < fear_end and sparse.feature[j] <= sparse.feature[i])

        scratch.value[used] = 0.0
        if takes_hope:
            scratch.feature[used] = columns + sparse.feature[i]
            scratch.value[used] += sparse.value[i]
            i += 1
        if takes_fear:
            scratch.feature[used] = columns + sparse.feature[j]
            scratch.value[used] -= sparse.value[j]
            j += 1
        used += 1
    return used


@leaf_kernel
def mira_update(state: MiraState, difference: Difference, used: int, cost: float, c: float) -> None:
    """Move the weights until hope leads fear by `cost`, with a step size of at most `c`.

    The first `used` features of `difference` are those of hope minus those of fear.
    """
    loss = cost
    norm = 0.0
    for i in range(used):
        loss -= state.weight[difference.feature[i]] * difference.value[i]
        norm += difference.value[i] * difference.value[i]
    if not loss > 0.0 or norm == 0.0:
        return

    step_size = min(c, loss / norm)
    before = state.steps[0]
    for i in range(used):
        feature = difference.feature[i]
        step = step_size * difference.value[i]
        state.weight[feature] += step
        state.late[feature] += before * step


@kernel
def mira_pass(
    lists: MiraLists, sparse: SparseRows, state: MiraState, order: Int64s, c: float, decay: float
) -> None:
    """Take one step per sentence, in the given order.

    Hope is the translation with the highest model score plus quality, fear that with the highest model score
    minus quality; ties go to the first. The quality, BLEU or that of the lists, counts once per reference
    word. After each sentence, the background decays by `decay`, and the hope is added.
    """
    # as many features as all translations together have
    size = lists.dense.shape[1] + sparse.feature.shape[0]
    difference = Difference(np.empty(size, np.int32), np.empty(size))

    for sentence in order:
        mean_reference = lists.mean_reference[sentence]
        hope = np.int64(-1)
        fear = np.int64(-1)
        hope_value = 0.0
        fear_value = 0.0
        hope_quality = 0.0
        fear_quality = 0.0

        for row in range(lists.offset[sentence], lists.offset[sentence + 1]):
            score = score_row(lists.dense, sparse, state.weight, row)

            if lists.quality.shape[0]:
                quality = lists.quality[row] * mean_reference
            else:
                quality = background_bleu(lists.statistics, row, mean_reference, state.background)

            if hope < 0 or score + quality > hope_value:
                hope = row
                hope_value = score + quality
                hope_quality = quality
            if fear < 0 or score - quality > fear_value:
                fear = row
                fear_value = score - quality
                fear_quality = quality

        used = fill_difference(lists.dense, sparse, hope, fear, difference)
        cost = hope_quality - fear_quality
        mira_update(state, difference, used, cost, c)

        state.steps[0] += 1
        for i in range(COUNTS):
            state.background[i] *= decay
        add_counts(state.background, lists.statistics, hope, 1)
