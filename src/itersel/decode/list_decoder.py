"""Given lists, used instead of our decoder: the k best translations under some weights."""

from __future__ import annotations

import numpy as np

from itersel.decode.translations import Candidates, DerivationFinder, WeightVectors
from itersel.errors import InputError
from itersel.lists.table import ListTable, best_first


class ListDecoder:
    """Finds the k best translations of a sentence in its list; ties keep the order of the list.

    It is a `itersel.decode.opening.SentenceDecoder`.
    """

    def __init__(self, table: ListTable) -> None:
        self._table = table
        self.dense_names = table.dense_names

    def candidates(
        self, sentence: int, weights: WeightVectors, k: int, finder: DerivationFinder | None = None
    ) -> Candidates:
        """Return the k best translations of a sentence; there is no forest for `finder`."""
        if finder is not None:
            raise InputError("lists have no forest to search for hope and fear; use candidates: k-best")

        table = self._table
        every = np.arange(*table.offset[sentence : sentence + 2])
        score = table.scores_of(every, weights.dense, weights.sparse)
        best = best_first(score, k)

        rows = every[best]
        sparse = table.sparse_rows.take(rows)
        return Candidates(
            score=score[best],
            dense=table.dense[rows],
            feature=sparse.feature,
            feature_value=sparse.value,
            feature_offset=sparse.offset,
            matches=table.statistics.matches[rows].astype(np.int64),
            length=table.statistics.length[rows].astype(np.int64),
            quality=table.quality[rows] if table.has_quality else table.quality,
        )
