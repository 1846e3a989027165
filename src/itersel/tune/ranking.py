"""Pairwise ranking optimisation: logistic regression on sampled pairs (Hopkins & May 2011)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, hstack
from scipy.special import expit

from itersel.bleu.bleu_kernels import COUNTS, sentence_bleus
from itersel.bleu.names import SENTENCE_BLEUS
from itersel.bleu.order import ORDER
from itersel.bleu.points import from_points, to_points
from itersel.errors import InputError
from itersel.evaluate.names import QUALITY, SENTENCE_BLEU
from itersel.learn.pairs import pro_pairs
from itersel.learn.pro_sampling import PRO_THRESHOLD
from itersel.lists.table import ListTable
from itersel.storage.arrays import Float64s, Int64s
from itersel.vectors.sparse_rows import SparseRows

if TYPE_CHECKING:
    from itersel.tune.tuners.pro import Pro

MAX_STEPS = 1000  # of L-BFGS


def draw_pairs(table: ListTable, tuner: Pro, seed: tuple[int, ...]) -> Int64s:
    """Draw pairs as in PRO (Hopkins & May 2011), int64 (pairs, 2): rows of `table`, the better first."""
    pairs = [np.zeros((0, 2), np.int64)]
    statistics, longest = table.statistics, table.longest_reference

    for sentence in range(table.sentence_count):
        begin, end = table.offset[sentence : sentence + 2]
        quality = table.quality[begin:end]
        if not table.has_quality:
            quality = sentence_bleus(
                SENTENCE_BLEUS[tuner.sentence_bleu],
                statistics.matches[begin:end].astype(np.int64),
                statistics.length[begin:end].astype(np.int64),
                statistics.closest_length[begin:end].astype(np.int64),
                int(min(ORDER, longest[sentence])),
                np.zeros(COUNTS),
            )
        pairs.append(pro_pairs(quality, (*seed, sentence), from_points(tuner.max_difference)) + begin)

    drawn = np.concatenate(pairs)
    if drawn.shape[0] == 0:
        what = QUALITY if table.has_quality else SENTENCE_BLEU
        raise InputError(
            f"no two translations of a sentence are at least {to_points(PRO_THRESHOLD):g} apart in {what} "
            "(0 to 100); use larger lists"
        )

    return drawn


def pair_matrix(table: ListTable, sparse: SparseRows, rows: Int64s, pairs: Int64s) -> csr_array:
    """Return the differences of pairs, better minus worse: (pairs, C + F), dense features first.

    `pairs`, int64 (pairs, 2), are rows of `table`; `rows`, int64, are all of them, ascending, and `sparse`
    has their sparse features.
    """
    matrix = csr_array(
        (sparse.value, sparse.feature.astype(np.int64), sparse.offset),
        shape=(rows.shape[0], sparse.key.shape[0]),
    )
    position = np.searchsorted(rows, pairs)
    difference = csr_array(matrix[position[:, 0]] - matrix[position[:, 1]])
    dense = table.dense[pairs[:, 0]] - table.dense[pairs[:, 1]]
    return csr_array(hstack((csr_array(dense), difference), format="csr"))


class Objective:
    """2 * sum over pairs of log(1 + exp(-<w, x>)) + strength / 2 * |w|^2, and its gradient.

    The factor 2 accounts for both signs: in the paper, (x, better) and (-x, worse) are two examples, and
    without an intercept their losses are the same.
    """

    def __init__(self, matrix: csr_array, strength: float) -> None:
        self._matrix = matrix
        self._strength = strength
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
