"""Pruning a forest with a language model by the best derivation through each edge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.hypotheses import Hypotheses
from itersel.decode.trie_kernels import NONE
from itersel.jit import kernel


class Kept(NamedTuple):
    """The pruned forest.

    Attributes
    ----------
    edge
        int32 (E): edges grouped by item, in search order.
    edge_offset
        int64 (I + 1): the edges of each item.
    item
        int32 (items before): the new number of each item, -1 if it was pruned.
    """

    edge: NDArray[np.int32]
    edge_offset: NDArray[np.int64]
    item: NDArray[np.int32]


@kernel
def best_through_edges(found: Hypotheses) -> NDArray[np.float64]:
    """Return the score of the best derivation through each edge, float64 (edges); minus infinity for none.

    These are max-marginals: inside and outside scores, with the maximum instead of the sum.
    """
    items, edges = found.counts[0], found.counts[1]
    outside = np.full(items, -np.inf)
    through = np.full(edges, -np.inf)
    outside[items - 1] = 0.0
    for item in range(items - 1, -1, -1):
        if outside[item] == -np.inf:
            continue
        edge = found.item_edge[item]
        while edge != NONE:
            through[edge] = outside[item] + found.edge_score[edge]
            for antecedent in (found.edge_first[edge], found.edge_second[edge]):
                if antecedent != NONE:
                    rest = through[edge] - found.item_score[antecedent]
                    outside[antecedent] = max(outside[antecedent], rest)
            edge = found.edge_next[edge]
    return through


@kernel
def keep_edges(found: Hypotheses, through: NDArray[np.float64], threshold: float) -> Kept:
    """Keep the edges whose best derivation scores at least `threshold` (see `best_through_edges`).

    An item that is still needed keeps its best edge even if rounding puts it below the threshold.
    """
    items = found.counts[0]
    needed = np.zeros(items, np.bool_)
    is_kept = np.zeros(through.shape[0], np.bool_)
    needed[items - 1] = True
    for item in range(items - 1, -1, -1):
        if not needed[item]:
            continue
        edge = found.item_edge[item]
        best = edge
        while edge != NONE:
            is_kept[edge] = through[edge] >= threshold
            if found.edge_score[edge] > found.edge_score[best]:
                best = edge
            edge = found.edge_next[edge]
        is_kept[best] = True
        edge = found.item_edge[item]
        while edge != NONE:
            if is_kept[edge]:
                for antecedent in (found.edge_first[edge], found.edge_second[edge]):
                    if antecedent != NONE:
                        needed[antecedent] = True
            edge = found.edge_next[edge]
    edges, count = np.empty(is_kept.sum(), np.int32), 0
    offset = np.zeros(needed.sum() + 1, np.int64)
    number = np.full(items, NONE, np.int32)
    used = 0
    for item in range(items):
        if not needed[item]:
            continue
        number[item] = used
        edge = found.item_edge[item]
        while edge != NONE:
            if is_kept[edge]:
                edges[count] = edge
                count += 1
            edge = found.edge_next[edge]
        used += 1
        offset[used] = count
    return Kept(edges, offset, number)
