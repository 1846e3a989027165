"""Given lists, used instead of our decoder: the k best translations under some weights."""

from __future__ import annotations

import numpy as np

from itersel.decode.decoder import DerivationFinder, KBest, WeightVectors
from itersel.errors import InputError
from itersel.lists.table import ListTable, best_first

NO_WORDS = np.zeros(0, np.int32)


class ListDecoder:
    """Finds the k best translations of a sentence in its list; ties keep the order of the list.

    It is a `itersel.decode.opening.SentenceDecoder`.
    """

    def __init__(self, table: ListTable) -> None:
        self._table = table
        self.dense_names = table.dense_names

    def decode(
        self, sentence: int, weights: WeightVectors, k: int, finder: DerivationFinder | None = None
    ) -> KBest:
        """Return the k best translations of a sentence; there is no forest for `finder`."""
        if finder is not None:
            raise InputError("lists have no forest to search for hope and fear; use candidates: k-best")

        table = self._table
        every = np.arange(*table.offset[sentence : sentence + 2])
        score = table.scores_of(every, weights.dense, weights.sparse)
        best = best_first(score, k)

        rows = every[best]
        sparse = table.sparse_rows.take(rows)
        statistics = table.statistics
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
