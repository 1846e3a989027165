"""Perceptron updates of the weights of one shard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from itersel.learn.update_kernels import Vector, add_update, gram_matrix, make_columns, violated_pairs

if TYPE_CHECKING:
    from itersel.decode.decoder import KBest

# A pair whose better translation leads by less than this has a loss. (The loss of the perceptron has no
# gradient where the lead is 0. Counting a lead of 0 as a mistake, as dtrain does, is what makes
# learning start: with all weights zero, all leads are 0.)
MARGIN = {"perceptron": 0.0, "margin-perceptron": 1.0}
UPDATES = ("sequential", "sentence")


class Learner:
    """The weights of a shard while it is being trained.

    Parameters
    ----------
    dense, sparse
        float64 (C) and (F): weights to start from.
    loss
        ``perceptron``, (-<w, x>)+ over the differences x of pairs; ``margin-perceptron``, (1 - <w, x>)+.
    update
        ``sequential``: each pair sees the weights that the pair before has left [S12, algorithm 1].
        ``sentence``: the scores of the decoder decide for all pairs of a sentence (so does dtrain).
    rate
        Learning rate.
    """

    def __init__(
        self,
        dense: NDArray[np.float64],
        sparse: NDArray[np.float64],
        loss: str = "perceptron",
        update: str = "sentence",
        rate: float = 0.0001,
    ) -> None:
        self._dense = Vector(dense, np.zeros(dense.shape[0]), dense.copy())
        self._sparse = Vector(sparse, np.zeros(sparse.shape[0]), sparse.copy())
        self._column_of = np.full(sparse.shape[0], -1, np.int32)
        self._margin, self._sequential, self._rate = MARGIN[loss], update == "sequential", rate

    @property
    def dense(self) -> NDArray[np.float64]:
        """The dense weights now, float64 (C)."""
        return self._dense.value

    @property
    def sparse(self) -> NDArray[np.float64]:
        """The sparse weights now, float64 (F)."""
        return self._sparse.value

    def learn(self, kbest: KBest, pairs: NDArray[np.int64]) -> int:
        """Update the weights by the pairs (p, 2) of a k-best list; returns the number of pairs with a loss.

        Margins start from the scores of the k-best list.
        """
        if pairs.shape[0] == 0:
            return 0
        columns = make_columns(
            kbest.dense, kbest.feature, kbest.feature_value, kbest.feature_offset, self._column_of
        )
        gram = gram_matrix(columns) if self._sequential else np.zeros((0, 0))
        coefficient, updates = violated_pairs(
            kbest.score, pairs, gram, self._rate, self._margin, self._sequential
        )
        if updates:
            add_update(columns, coefficient, self._rate, self._dense, self._sparse)
        return updates
