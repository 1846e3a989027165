"""Another decoder's lists, used instead of our decoder: the k best translations under given weights."""

from __future__ import annotations

import numpy as np

from itersel.decode.decoder import DerivationFinder, KBest, WeightVectors
from itersel.errors import InputError
from itersel.lists.table import ListTable, best_first
from itersel.vectors.weights import Weights, find_named, find_weights

NO_WORDS = np.zeros(0, np.int32)


class ListDecoder:
    """Finds the k best translations of a sentence in its list; ties keep the order of the list.

    Learners use it like `itersel.decode.decoder.Decoder`, and the table like `itersel.grammar.shard.Shard`.
    """

    def __init__(self, table: ListTable) -> None:
        self._table, self.dense_names = table, table.dense_names

    def weight_vectors(self, weights: Weights) -> WeightVectors:
        """Return `weights` as dense (C) and sparse (F) float64 vectors of this table."""
        dense = find_named(weights, self.dense_names)
        return WeightVectors(dense, find_weights(weights, self._table.feature_key))

    def decode(
        self, sentence: int, weights: WeightVectors, k: int, finder: DerivationFinder | None = None
    ) -> KBest:
        """Return the k best translations of a sentence; see `itersel.decode.decoder.Decoder.decode`."""
        if finder is not None:
            raise InputError("lists have no forest to search for hope and fear; use candidates: k-best")

        table = self._table
        every = np.arange(*table.offset[sentence : sentence + 2])
        score = table.scores_of(every, weights.dense, weights.sparse)
        best = best_first(score, k)

        rows = every[best]
        sparse, statistics = table.sparse_rows.take(rows), table.statistics
        matches, length = (array[rows].astype(np.int64) for array in statistics[:2])
        return KBest(
            NO_WORDS,
            np.zeros(rows.shape[0] + 1, np.int64),
            score[best],
            table.dense[rows],
            sparse.feature,
            sparse.value,
            sparse.offset,
            table.quality[rows] if table.has_quality else table.quality,
            (matches, length),
        )
