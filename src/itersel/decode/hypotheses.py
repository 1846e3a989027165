"""The forest with a language model, which cube pruning fills: items of nodes, and their edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Rule of the goal's edges: they add `</s>`, and `<s>` unless [S] -> [X] does, to a whole translation.
GOAL_RULE = -1
# The pop limit of a glue node is this many times that of others: glue nodes are few, and every derivation
# goes through them. docs/decoder.md has the figures.
GLUE_FACTOR = 5


class Hypotheses(NamedTuple):
    """Items and edges; an item is a node with a language-model state.

    Attributes
    ----------
    item_score
        float64 (items): score of the best derivation. The last item is the goal.
    item_edge, item_last
        int32 (items): the first and last of the item's edges.
    item_state
        int64 (items): language-model state.
    edge_rule
        int32 (edges): rule of the sentence, or `GOAL_RULE`.
    edge_first, edge_second
        int32 (edges): antecedent items, -1 for none.
    edge_score
        float64 (edges): score of the best derivation whose topmost edge this is.
    edge_model
        float64 (edges): the edge's own contribution to the log10 probability.
    edge_next
        int32 (edges): the next edge of the same item, -1 at the end.
    ranked, node_offset
        int32 (items), int64 (nodes + 1): the items of each node, best first.
    counts
        int64 (2): number of items and edges in use.
    """

    item_score: NDArray[np.float64]
    item_edge: NDArray[np.int32]
    item_last: NDArray[np.int32]
    item_state: NDArray[np.int64]
    edge_rule: NDArray[np.int32]
    edge_first: NDArray[np.int32]
    edge_second: NDArray[np.int32]
    edge_score: NDArray[np.float64]
    edge_model: NDArray[np.float64]
    edge_next: NDArray[np.int32]
    ranked: NDArray[np.int32]
    node_offset: NDArray[np.int64]
    counts: NDArray[np.int64]


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
        edge_model=np.empty(edges),
        edge_next=np.empty(edges, np.int32),
        ranked=np.empty(items, np.int32),
        node_offset=np.empty(nodes + 1, np.int64),
        counts=np.zeros(2, np.int64),
    )
