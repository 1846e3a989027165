"""Sums of the sparse features of a translation, so that few weights are tuned on held-out text.

The column of a sum is the score of a translation's sparse features under given weights; its weight is a
factor for all of these weights. Flanigan, Dyer & Carbonell (2013) search along directions of such columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itersel.lists.table import ListTable, no_sparse_rows
from itersel.vectors.weights import Weights

# Names of the columns. They contain spaces, so they cannot be names of dense features.
SPARSE_SUM, LAST_SPARSE_SUM = "sparse features", "sparse features before"


class SparseSum(NamedTuple):
    """A column with a sum of sparse features."""

    name: str
    weights: Weights  # of the sparse features
    start: float  # weight of the column to start from
    step: float  # its change in the step from the weights of the previous epoch to the current ones


def sparse_sums(current: Weights, last: Weights | None = None) -> tuple[SparseSum, ...]:
    """Return the sum with the current weights, and with those of the previous epoch if they are given."""
    sums = (SparseSum(SPARSE_SUM, current, start=1.0, step=1.0),)
    if last is None:
        return sums
    return (*sums, SparseSum(LAST_SPARSE_SUM, last, start=0.0, step=-1.0))


def with_sums(table: ListTable, sums: Sequence[SparseSum]) -> ListTable:
    """Return lists with a column for each sum instead of sparse features."""
    if not sums:
        return table
    columns = [table.sparse.scores(one.weights) for one in sums]
    return table._replace(
        dense=np.column_stack((table.dense, *columns)),
        dense_names=(*table.dense_names, *(one.name for one in sums)),
        sparse=no_sparse_rows(table.translation_count),
    )
