"""CKY+ without language model: which rules apply over which spans, with which antecedents.

The forest depends on the grammar alone, not on the weights. Its nodes are X over [i, j) and S over [0, j);
the rules that share a source side and antecedents form one *bundle* (one cube of cube pruning).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.rule_kernels import GLUE_RULE, GLUE_START_RULE, RuleTable
from itersel.jit import kernel, leaf_kernel

NONE = -1
NONTERMINAL = -1  # the edge of the trie for any nonterminal
TRIE_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
TRIE_SHIFT = np.uint64(32)


class Trie(NamedTuple):
    """Source sides of a sentence's rules; node 0 is the root.

    Attributes
    ----------
    key, child
        int64, int32 (power of two): hash table from (node, symbol) to the node behind; -1 is free.
    rule_offset, rule
        int64 (nodes + 1), int32: the rules (of the sentence) whose source side ends at a node.
    """

    key: NDArray[np.int64]
    child: NDArray[np.int32]
    rule_offset: NDArray[np.int64]
    rule: NDArray[np.int32]


class Forest(NamedTuple):
    """Nodes in an order in which antecedents come first.

    Attributes
    ----------
    bundle_offset
        int64 (nodes + 1): the bundles of each node.
    trie_node
        int32 (bundles): the source side; its rules are those of the trie node.
    first, second
        int32 (bundles): the antecedent nodes, -1 where there is none.
    is_glue
        bool (nodes): the node is an S. The last node is the goal S over the whole sentence.
    """

    bundle_offset: NDArray[np.int64]
    trie_node: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    is_glue: NDArray[np.bool_]


@leaf_kernel
def trie_slot(key: NDArray[np.int64], node: int, symbol: int) -> int:
    """Return where (node, symbol) is in the hash table, or the free place where it belongs."""
    wanted = (np.int64(node) << 32) | np.int64(symbol + 1)
    mask = key.shape[0] - 1
    place = np.int64(((np.uint64(wanted) * TRIE_MULTIPLIER) >> TRIE_SHIFT) & np.uint64(mask))
    while key[place] != -1 and key[place] != wanted:
        place = (place + 1) & mask
    return place


@kernel
def build_trie(table: RuleTable, rule: NDArray[np.int32]) -> Trie:
    """Put the source sides of the rules of a sentence into a trie.

    The glue rules stand in front of `rule`; they are not matched against words and get the last two nodes.
    """
    symbols = 0
    for i in range(rule.shape[0]):
        symbols += table.source_offset[rule[i] + 1] - table.source_offset[rule[i]]
    capacity = 16
    while capacity < 2 * symbols:
        capacity *= 2
    key = np.full(capacity, -1, np.int64)
    child = np.zeros(capacity, np.int32)
    end_node = np.empty(rule.shape[0], np.int32)
    nodes = 1
    for i in range(2, rule.shape[0]):
        node = 0
        for j in range(table.source_offset[rule[i]], table.source_offset[rule[i] + 1]):
            place = trie_slot(key, node, max(table.source[j], NONTERMINAL))
            if key[place] == -1:
                key[place] = (np.int64(node) << 32) | np.int64(max(table.source[j], NONTERMINAL) + 1)
                child[place] = nodes
                nodes += 1
            node = child[place]
        end_node[i] = node
    end_node[GLUE_START_RULE] = nodes
    end_node[GLUE_RULE] = nodes + 1
    nodes += 2
    offset = np.zeros(nodes + 1, np.int64)
    for node in end_node:
        offset[node + 1] += 1
    for node in range(nodes):
        offset[node + 1] += offset[node]
    filled = offset[:-1].copy()
    grouped = np.empty(rule.shape[0], np.int32)
    for i in range(rule.shape[0]):
        grouped[filled[end_node[i]]] = i
        filled[end_node[i]] += 1
    return Trie(key, child, offset, grouped)


@kernel
def grown(array: NDArray[np.int32], used: int) -> NDArray[np.int32]:
    """Return the array, in a copy of twice its size if it is full."""
    if used < array.shape[0]:
        return array
    larger = np.empty(2 * array.shape[0], np.int32)
    larger[:used] = array
    return larger


@kernel
def parse(words: NDArray[np.int32], trie: Trie, max_span: int) -> Forest:
    """Find all bundles of a sentence (at least one word) by CKY+ (Chappelier and Rajman 1998).

    Start positions go from right to left, ends from left to right; a dotted item is a trie node with its
    antecedents, kept in a list for each end position.
    """
    length = words.shape[0]
    node_of = np.full((length, length + 1), NONE, np.int32)
    offset = np.zeros(length * min(max_span, length) + length + 1, np.int64)
    is_glue = np.zeros(offset.shape[0] - 1, np.bool_)
    trie_node = np.empty(256, np.int32)
    first, second = np.empty(256, np.int32), np.empty(256, np.int32)
    bundles, nodes = 0, 0

    item_node, item_next = np.empty(1024, np.int32), np.empty(1024, np.int32)
    item_first, item_second = np.empty(1024, np.int32), np.empty(1024, np.int32)
    head, tail = np.empty(length + 1, np.int32), np.empty(length + 1, np.int32)
    for i in range(length - 1, -1, -1):
        limit = min(length, i + max_span)
        head[:], tail[:] = NONE, NONE
        # the root of the trie is the only item that ends where it starts
        item_node[0], item_first[0], item_second[0], item_next[0] = 0, NONE, NONE, NONE
        head[i], tail[i] = 0, 0
        items = 1
        for j in range(i, limit + 1):
            found = bundles
            item = head[j]
            while item != NONE:
                node = item_node[item]
                if j > i and trie.rule_offset[node + 1] > trie.rule_offset[node]:
                    trie_node, first = grown(trie_node, bundles), grown(first, bundles)
                    second = grown(second, bundles)
                    trie_node[bundles], first[bundles] = node, item_first[item]
                    second[bundles] = item_second[item]
                    bundles += 1
                item = item_next[item]
            if bundles > found:
                node_of[i, j] = nodes
                nodes += 1
                offset[nodes] = bundles
                # X over [i, j) as the first antecedent of a rule that starts with a nonterminal
                place = trie_slot(trie.key, 0, NONTERMINAL)
                if trie.key[place] != -1:
                    item_node, item_next = grown(item_node, items), grown(item_next, items)
                    item_first, item_second = grown(item_first, items), grown(item_second, items)
                    item_node[items], item_first[items] = trie.child[place], node_of[i, j]
                    item_second[items], item_next[items] = NONE, NONE
                    item_next[tail[j]] = items
                    tail[j] = items
                    items += 1
            item = head[j]
            while item != NONE:
                node = item_node[item]
                for end in range(j + 1, limit + 1):
                    # end == j + 1 is tried twice: as the next word, and as a nonterminal over it
                    for terminal in range(2 if end == j + 1 else 1):
                        if terminal == 1:
                            place = trie_slot(trie.key, node, words[j])
                            antecedent = NONE
                        else:
                            # from the root this is done above, when the node is known to exist
                            antecedent = node_of[j, end]
                            if antecedent == NONE or j == i:
                                continue
                            place = trie_slot(trie.key, node, NONTERMINAL)
                        if trie.key[place] == -1:
                            continue
                        item_node, item_next = grown(item_node, items), grown(item_next, items)
                        item_first, item_second = grown(item_first, items), grown(item_second, items)
                        item_node[items] = trie.child[place]
                        item_first[items], item_second[items] = item_first[item], item_second[item]
                        if antecedent != NONE and item_first[item] == NONE:
                            item_first[items] = antecedent
                        elif antecedent != NONE:
                            item_second[items] = antecedent
                        item_next[items] = NONE
                        if head[end] == NONE:
                            head[end] = items
                        else:
                            item_next[tail[end]] = items
                        tail[end] = items
                        items += 1
                item = item_next[item]

    glue_node = np.full(length + 1, NONE, np.int32)
    trie_nodes = trie.rule_offset.shape[0] - 1
    for j in range(1, length + 1):
        found = bundles
        for k in range(j):
            antecedent = node_of[k, j]
            if antecedent == NONE or (k > 0 and glue_node[k] == NONE):
                continue
            trie_node, first = grown(trie_node, bundles), grown(first, bundles)
            second = grown(second, bundles)
            if k == 0:
                trie_node[bundles], first[bundles], second[bundles] = trie_nodes - 2, antecedent, NONE
            else:
                trie_node[bundles], first[bundles], second[bundles] = trie_nodes - 1, glue_node[k], antecedent
            bundles += 1
        if bundles > found:
            glue_node[j] = nodes
            is_glue[nodes] = True
            nodes += 1
            offset[nodes] = bundles
    return Forest(
        offset[: nodes + 1], trie_node[:bundles], first[:bundles], second[:bundles], is_glue[:nodes]
    )
