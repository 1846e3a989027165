"""Forests for MERT: pruning, and what a damaged file could hold.

The forest of a sentence is a hypergraph. An item is a node with a language-model state, an edge a rule with
the items of its nonterminals. Items are numbered so that antecedents come before their heads; the last one is
the goal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.forest_kernels import NONE
from itersel.decode.search_kernels import Hypotheses
from itersel.jit import kernel


class Kept(NamedTuple):
    """What is left of a forest.

    Attributes
    ----------
    edge
        int32 (E): edges by item, in the order of the search.
    edge_offset
        int64 (I + 1): the edges of each item.
    item
        int32 (items before): the number of an item now, -1 if it is gone.
    """

    edge: NDArray[np.int32]
    edge_offset: NDArray[np.int64]
    item: NDArray[np.int32]


@kernel
def best_through_edges(found: Hypotheses) -> NDArray[np.float64]:
    """Return the score of the best derivation through each edge, float64 (edges); minus infinity for none.

    Inside times outside with the maximum for the sum (max-marginals), from the goal down.
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
    """Keep the edges with a derivation through them of at least `threshold` (see `best_through_edges`).

    Whatever rounding does, an item that is still needed keeps its best edge, so that nothing is cut off.
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


class Forests(NamedTuple):
    """The forests of all sentences of a file.

    Shapes: N sentences, I items, E edges, R rules, C dense features.

    Attributes
    ----------
    item_offset
        int64 (N + 1): the items of each sentence; the last is the goal.
    edge_offset
        int64 (I + 1): the edges of each item.
    edge_rule
        int32 (E): rule of the sentence, from 0.
    edge_first, edge_second
        int32 (E): antecedents, items of the sentence from 0; -1 where there is none.
    edge_model
        float64 (E): what the language model adds in this place, log10.
    rule_offset
        int64 (N + 1): the rules of each sentence.
    rule_dense
        float64 (R, C): features of the rules, without the language model's.
    target, target_offset
        int32, int64 (R + 1): target sides; -1 and -2 are nonterminals, 0 is a word that the reference lacks,
        others are those of `reference`.
    reference, reference_offset
        int32, int64 (N + 1): words, numbered in each sentence from 1 in the order in which they come.
    """

    item_offset: NDArray[np.int64]
    edge_offset: NDArray[np.int64]
    edge_rule: NDArray[np.int32]
    edge_first: NDArray[np.int32]
    edge_second: NDArray[np.int32]
    edge_model: NDArray[np.float64]
    rule_offset: NDArray[np.int64]
    rule_dense: NDArray[np.float64]
    target: NDArray[np.int32]
    target_offset: NDArray[np.int64]
    reference: NDArray[np.int32]
    reference_offset: NDArray[np.int64]


@kernel
def find_bad_sentence(forests: Forests) -> int:
    """Return the first sentence whose forest could not be walked through, or -1.

    Every sentence needs an item, every item an edge, every edge a rule of the sentence and antecedents that
    come before the item, exactly those that the target side of the rule asks for, each once.
    """
    for sentence in range(forests.item_offset.shape[0] - 1):
        begin, end = forests.item_offset[sentence], forests.item_offset[sentence + 1]
        first_rule, rules = forests.rule_offset[sentence], forests.rule_offset[sentence + 1]
        if begin == end:
            return sentence
        for item in range(begin, end):
            if forests.edge_offset[item] == forests.edge_offset[item + 1]:
                return sentence
            for edge in range(forests.edge_offset[item], forests.edge_offset[item + 1]):
                rule = first_rule + forests.edge_rule[edge]
                if rule < first_rule or rule >= rules:
                    return sentence
                wanted_first, wanted_second = 0, 0
                for i in range(forests.target_offset[rule], forests.target_offset[rule + 1]):
                    wanted_first += forests.target[i] == -1
                    wanted_second += forests.target[i] == -2
                first, second = forests.edge_first[edge], forests.edge_second[edge]
                if max(first, second) >= item - begin or min(first, second) < NONE:
                    return sentence
                if wanted_first != (first != NONE) or wanted_second != (second != NONE):
                    return sentence
    return -1
