"""The source sides of a sentence's rules as a trie; see `scoring_kernels` for "X only".

Shapes: N = nodes of the trie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.decode.scoring_kernels import MISSING, RuleTable
from itersel.grammar.grammar_kernels import CATEGORY_S, GLUE_ROW, GLUE_RULES, GLUE_START_ROW
from itersel.storage.arrays import Bools, Int32s, Int64s
from itersel.storage.hash_kernels import GOLDEN_RATIO

NONTERMINAL = -1  # the trie's edge of an X; other categories have -2, -3, ...
SYMBOL_MASK = (1 << 32) - 1
TRIE_SHIFT = np.uint64(32)


class Trie(NamedTuple):
    """Source sides of a sentence's rules; node 0 is the root."""

    # (power of two): hash table from (node, symbol) to the child node; -1 marks a free slot
    key: Int64s
    child: Int32s
    rule_offset: Int64s  # (N + 1)
    rule: Int32s  # the sentence's rules whose source side ends at each node
    takes_nonterminal: Bools  # (N, or longer): the node has an outgoing edge with a nonterminal
    # (N), empty if X only: the left-hand side of the node's rules; the node of the rules with the same source
    # side and another left-hand side, -1 for none
    category: Int32s
    other: Int32s


@leaf_kernel
def trie_key(node: int, symbol: int) -> int:
    """Return the key of an edge of the trie."""
    return (np.int64(node) << 32) | ((np.int64(symbol) + 1) & SYMBOL_MASK)


@leaf_kernel
def trie_slot(key: Int64s, node: int, symbol: int) -> int:
    """Return the slot of (node, symbol) in the hash table, or the free slot where it belongs."""
    wanted = trie_key(node, symbol)
    mask = key.shape[0] - 1
    place = np.int64(((np.uint64(wanted) * GOLDEN_RATIO) >> TRIE_SHIFT) & np.uint64(mask))
    while key[place] != -1 and key[place] != wanted:
        place = (place + 1) & mask
    return place


@leaf_kernel
def glue_rule_node(trie: Trie, row: int) -> int:
    """Return the node of a glue rule; the last nodes of the trie are those of the glue rules, in order."""
    nodes = trie.rule_offset.shape[0] - 1
    return nodes - GLUE_RULES + row


@leaf_kernel
def place_left_side(category: Int32s, other: Int32s, node: int, left: int, nodes: int) -> int:
    """Return the node of the rules with a left-hand side whose source side ends at a node.

    It is the node itself for the first left-hand side, and a new one, `nodes`, for each further one.
    """
    while category[node] != left and other[node] != MISSING:
        node = other[node]
    if category[node] != MISSING and category[node] != left:
        other[node] = nodes
        node = nodes
    category[node] = left
    return node


@kernel
def build_trie(rule_table: RuleTable, rule: Int32s) -> Trie:
    """Build a trie from the source sides of a sentence's rules.

    `rule` begins with the glue rules, which are not matched against words and get the last two nodes.
    """
    x_only = rule_table.category.shape[0] == 0
    symbols = 0
    for i in range(rule.shape[0]):
        symbols += rule_table.source_offset[rule[i] + 1] - rule_table.source_offset[rule[i]]

    capacity = 16
    while capacity < 2 * symbols:
        capacity *= 2
    key = np.full(capacity, -1, np.int64)
    child = np.zeros(capacity, np.int32)

    # one node for each symbol and each left-hand side at most, and the root
    room = symbols + rule.shape[0] + 1
    takes_nonterminal = np.zeros(room, np.bool_)
    room = 0 if x_only else room
    category = np.full(room, MISSING, np.int32)
    other = np.full(room, MISSING, np.int32)

    end_node = np.empty(rule.shape[0], np.int32)
    nodes = 1

    for i in range(GLUE_RULES, rule.shape[0]):
        node = 0
        for j in range(rule_table.source_offset[rule[i]], rule_table.source_offset[rule[i] + 1]):
            symbol = np.int64(rule_table.source[j])
            if symbol < 0:
                symbol = (
                    NONTERMINAL if x_only else NONTERMINAL - np.int64(rule_table.category[rule[i], -symbol])
                )

            place = trie_slot(key, node, symbol)
            if key[place] == -1:
                key[place] = trie_key(node, symbol)
                child[place] = nodes
                takes_nonterminal[node] |= symbol < 0
                nodes += 1
            node = child[place]

        if not x_only:
            node = place_left_side(category, other, node, np.int32(rule_table.category[rule[i], 0]), nodes)
            nodes = max(nodes, node + 1)

        end_node[i] = node

    end_node[GLUE_START_ROW] = nodes + GLUE_START_ROW
    end_node[GLUE_ROW] = nodes + GLUE_ROW
    nodes += GLUE_RULES
    if not x_only:
        category[nodes - GLUE_RULES : nodes] = CATEGORY_S

    offset, grouped = group_rules(end_node, nodes)
    return Trie(key, child, offset, grouped, takes_nonterminal, category, other)


@kernel
def group_rules(end_node: Int32s, nodes: int) -> tuple[Int64s, Int32s]:
    """Return `Trie.rule_offset` and `Trie.rule`, given the node where the source side of each rule ends."""
    offset = np.zeros(nodes + 1, np.int64)
    for node in end_node:
        offset[node + 1] += 1
    for node in range(nodes):
        offset[node + 1] += offset[node]

    filled = offset[:-1].copy()
    grouped = np.empty(end_node.shape[0], np.int32)
    for i in range(end_node.shape[0]):
        grouped[filled[end_node[i]]] = i
        filled[end_node[i]] += 1
    return offset, grouped
