"""The forest with a language model, which cube pruning fills, of items and edges; and its pruning."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel
from itersel.decode.scoring_kernels import MISSING
from itersel.storage.arrays import Float64s, Int32s, Int64s

# Rule of the goal's edges: they add `</s>`, and `<s>` unless [S] -> [X] does, to a whole translation.
GOAL_RULE = -1
# The pop limit of a glue node is this many times that of others: glue nodes are few, and every derivation
# goes through them. docs/decoder.md has the figures.
GLUE_FACTOR = 5


class Hypotheses(NamedTuple):
    """Items and edges; an item is a node with a language-model state. The last item is the goal."""

    item_score: Float64s  # (items): score of the best derivation
    item_edge: Int32s  # (items): the first of the item's edges
    item_last: Int32s  # (items): the last of them
    item_state: Int64s  # (items): language-model state
    edge_rule: Int32s  # (edges): rule of the sentence, or `GOAL_RULE`
    edge_first: Int32s  # (edges): antecedent items, -1 for none
    edge_second: Int32s
    edge_score: Float64s  # (edges): score of the best derivation whose topmost edge this is
    edge_lm: Float64s  # (edges): the edge's own contribution to the log10 probability
    edge_next: Int32s  # (edges): the next edge of the same item, -1 at the end
    ranked: Int32s  # (items): the items of each node, best first
    node_offset: Int64s  # (nodes + 1)
    counts: Int64s  # (2): number of items and edges in use


class Kept(NamedTuple):
    """The pruned forest: I items and E edges."""

    edge: Int32s  # (E): edges grouped by item, in search order
    edge_offset: Int64s  # (I + 1)
    item: Int32s  # (items before): the new number of each item, -1 if it was pruned


def make_hypotheses(nodes: int, glue_nodes: int, pop_limit: int) -> Hypotheses:
    """Allocate hypotheses for `nodes` nodes, `glue_nodes` of them of the glue category, and the goal."""
    items = pop_limit * (nodes + (GLUE_FACTOR - 1) * glue_nodes) + 1
    edges = items + GLUE_FACTOR * pop_limit
    return Hypotheses(
        item_score=np.empty(items),
        item_edge=np.empty(items, np.int32),
        item_last=np.empty(items, np.int32),
        item_state=np.empty(items, np.int64),
        edge_rule=np.empty(edges, np.int32),
        edge_first=np.empty(edges, np.int32),
        edge_second=np.empty(edges, np.int32),
        edge_score=np.empty(edges),
        edge_lm=np.empty(edges),
        edge_next=np.empty(edges, np.int32),
        ranked=np.empty(items, np.int32),
        node_offset=np.empty(nodes + 1, np.int64),
        counts=np.zeros(2, np.int64),
    )


@kernel
def best_through_edges(hypotheses: Hypotheses) -> Float64s:
    """Return the score of the best derivation through each edge, float64 (edges); minus infinity for none.

    These are max-marginals: inside and outside scores, with the maximum instead of the sum.
    """
    items = hypotheses.counts[0]
    edges = hypotheses.counts[1]
    outside = np.full(items, -np.inf)
    through = np.full(edges, -np.inf)
    outside[items - 1] = 0.0

    for item in range(items - 1, -1, -1):
        if outside[item] == -np.inf:
            continue

        edge = hypotheses.item_edge[item]
        while edge != MISSING:
            through[edge] = outside[item] + hypotheses.edge_score[edge]
            for antecedent in (hypotheses.edge_first[edge], hypotheses.edge_second[edge]):
                if antecedent != MISSING:
                    rest = through[edge] - hypotheses.item_score[antecedent]
                    outside[antecedent] = max(outside[antecedent], rest)
            edge = hypotheses.edge_next[edge]
    return through


@kernel
def keep_edges(hypotheses: Hypotheses, through: Float64s, threshold: float) -> Kept:
    """Keep the edges whose best derivation scores at least `threshold` (see `best_through_edges`).

    An item that is still needed keeps its best edge even if rounding puts it below the threshold.
    """
    items = hypotheses.counts[0]
    needed = np.zeros(items, np.bool_)
    is_kept = np.zeros(through.shape[0], np.bool_)
    needed[items - 1] = True

    for item in range(items - 1, -1, -1):
        if not needed[item]:
            continue

        edge = hypotheses.item_edge[item]
        best = edge
        while edge != MISSING:
            is_kept[edge] = through[edge] >= threshold
            if hypotheses.edge_score[edge] > hypotheses.edge_score[best]:
                best = edge
            edge = hypotheses.edge_next[edge]
        is_kept[best] = True

        edge = hypotheses.item_edge[item]
        while edge != MISSING:
            if is_kept[edge]:
                for antecedent in (hypotheses.edge_first[edge], hypotheses.edge_second[edge]):
                    if antecedent != MISSING:
                        needed[antecedent] = True
            edge = hypotheses.edge_next[edge]

    edges = np.empty(is_kept.sum(), np.int32)
    count = 0
    offset = np.zeros(needed.sum() + 1, np.int64)
    number = np.full(items, MISSING, np.int32)
    used = 0

    for item in range(items):
        if not needed[item]:
            continue

        number[item] = used
        edge = hypotheses.item_edge[item]
        while edge != MISSING:
            if is_kept[edge]:
                edges[count] = edge
                count += 1
            edge = hypotheses.edge_next[edge]
        used += 1
        offset[used] = count
    return Kept(edges, offset, number)
