"""Forests for MERT: their arrays and the validation of files.

The forest of a sentence is a hypergraph. An item is a node with a language-model state; an edge is a rule and
the items of its nonterminals. Items are in topological order, antecedents first; the last item is the goal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.rule_kernels import NONE
from itersel.jit import kernel


class Forests(NamedTuple):
    """The forests of all sentences of a file.

    Shapes: N sentences, M references, I items, E edges, R rules, C dense features.

    Attributes
    ----------
    item_offset
        int64 (N + 1): the items of each sentence; the last is the goal.
    edge_offset
        int64 (I + 1): the edges of each item.
    edge_rule
        int32 (E): rule of the sentence, counted from 0.
    edge_first, edge_second
        int32 (E): antecedents, items of the sentence counted from 0; -1 for none.
    edge_model
        float64 (E): the edge's contribution to the language model's log10 probability.
    rule_offset
        int64 (N + 1): the rules of each sentence.
    rule_dense
        float64 (R, C): features of the rules, except the language model.
    target, target_offset
        int32, int64 (R + 1): target sides; -1 and -2 are nonterminals, 0 is any word that is not in the
        references, and other words are numbered as in `reference`.
    reference, reference_offset
        int32, int64 (M + 1): words, numbered from 1 within each sentence in order of first occurrence.
    sentence_reference_offset
        int64 (N + 1): the references of each sentence.
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
    sentence_reference_offset: NDArray[np.int64]


@kernel
def find_bad_sentence(forests: Forests) -> int:
    """Return the first sentence whose forest is invalid, or -1.

    Every sentence needs an item and every item an edge. Every edge needs a rule of the sentence, and one
    antecedent, which precedes the item, for each nonterminal on the target side of the rule.
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
