"""Sums of the sparse features of a translation, so that few weights are retuned on dev.

The column of a sum is the score of a translation's sparse features under given weights; its weight is a
factor for all of these weights. Flanigan, Dyer & Carbonell (2013) search along directions of such columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itersel.lists.table import ListTable
from itersel.vectors.sparse_rows import no_sparse_rows
from itersel.vectors.weights import Weights

# Names of the columns. They contain spaces, so they cannot be names of dense features.
SPARSE_SUM, EPOCH_START_SUM = "sparse features", "sparse features at the start of the epoch"


class SparseSum(NamedTuple):
    """A column with a sum of sparse features."""

    name: str
    weights: Weights  # of the sparse features
    start: float  # weight of the column to start from
    epoch_step: float  # change of its weight from the epoch's start weights to the tuner's


def sparse_sums(start_weights: Weights, epoch_start: Weights | None = None) -> tuple[SparseSum, ...]:
    """Return the sum with the tuner's start weights, and with the epoch's if given."""
    sums = (SparseSum(SPARSE_SUM, start_weights, start=1.0, epoch_step=1.0),)
    if epoch_start is None:
        return sums
    return (*sums, SparseSum(EPOCH_START_SUM, epoch_start, start=0.0, epoch_step=-1.0))


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
