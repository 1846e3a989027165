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
        bool (nodes): the node is an S. The last node is the goal S over the whole sentence; without one there
        are no nodes.
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


class Bundles(NamedTuple):
    """Bundles while they are being found: columns of `Forest`, with room for more."""

    trie_node: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]


class DottedItems(NamedTuple):
    """Beginnings of rules that match from one start position: lists, one for each end position.

    Attributes
    ----------
    node, first, second
        int32 (items): trie node, and the antecedents so far.
    next
        int32 (items): the next item of the same list, -1 behind the last.
    head, tail
        int32 (positions): the first and the last item of every list.
    """

    node: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    next: NDArray[np.int32]
    head: NDArray[np.int32]
    tail: NDArray[np.int32]


@kernel
def grown(array: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a copy with twice the room."""
    larger = np.empty(2 * array.shape[0], np.int32)
    larger[: array.shape[0]] = array
    return larger


@kernel
def more_bundles(bundles: Bundles) -> Bundles:
    """Return the bundles, with twice the room."""
    return Bundles(grown(bundles.trie_node), grown(bundles.first), grown(bundles.second))


@kernel
def more_items(items: DottedItems) -> DottedItems:
    """Return the dotted items, with twice the room."""
    return DottedItems(
        grown(items.node), grown(items.first), grown(items.second), grown(items.next), items.head, items.tail
    )


@leaf_kernel
def add_item(items: DottedItems, used: int, end: int, node: int, first: int, second: int) -> None:
    """Put an item at the end of the list of an end position; there has to be room for it."""
    items.node[used], items.first[used], items.second[used] = node, first, second
    items.next[used] = NONE
    if items.head[end] == NONE:
        items.head[end] = used
    else:
        items.next[items.tail[end]] = used
    items.tail[end] = used


@kernel
def add_complete(
    items: DottedItems, end: int, trie: Trie, bundles: Bundles, used: int
) -> tuple[Bundles, int]:
    """Add the items of a list that are whole rules to the bundles, of which `used` are in use."""
    item = items.head[end]
    while item != NONE:
        node = items.node[item]
        if trie.rule_offset[node + 1] > trie.rule_offset[node]:
            if used == bundles.first.shape[0]:
                bundles = more_bundles(bundles)
            bundles.trie_node[used] = node
            bundles.first[used], bundles.second[used] = items.first[item], items.second[item]
            used += 1
        item = items.next[item]
    return bundles, used


@kernel
def advance(
    items: DottedItems,
    used: int,
    begin: int,
    at: int,
    limit: int,
    words: NDArray[np.int32],
    node_of: NDArray[np.int32],
    trie: Trie,
) -> tuple[DottedItems, int]:
    """Carry the items that end at `at` on over the next word, and over every X that starts there."""
    item = items.head[at]
    while item != NONE:
        node, first, second = items.node[item], items.first[item], items.second[item]
        for end in range(at + 1, limit + 1):
            antecedent = node_of[at, end - at]
            # an X at the start is known only when all its rules are: see `parse`
            if antecedent != NONE and at > begin:
                place = trie_slot(trie.key, node, NONTERMINAL)
                if trie.key[place] != -1:
                    if used == items.node.shape[0]:
                        items = more_items(items)
                    if first == NONE:
                        add_item(items, used, end, trie.child[place], antecedent, NONE)
                    else:
                        add_item(items, used, end, trie.child[place], first, antecedent)
                    used += 1
        if at < limit:
            place = trie_slot(trie.key, node, words[at])
            if trie.key[place] != -1:
                if used == items.node.shape[0]:
                    items = more_items(items)
                add_item(items, used, at + 1, trie.child[place], first, second)
                used += 1
        item = items.next[item]
    return items, used


@kernel
def parse(words: NDArray[np.int32], trie: Trie, max_span: int) -> Forest:
    """Find all bundles of a sentence (at least one word) by CKY+ (Chappelier and Rajman 1998).

    Start positions go from right to left, ends from left to right.
    """
    length = words.shape[0]
    node_of = np.full((length, min(max_span, length) + 1), NONE, np.int32)  # by start and length
    offset = np.zeros(node_of.size + length + 1, np.int64)
    bundles = Bundles(np.empty(256, np.int32), np.empty(256, np.int32), np.empty(256, np.int32))
    items = DottedItems(
        np.empty(1024, np.int32), np.empty(1024, np.int32), np.empty(1024, np.int32),
        np.empty(1024, np.int32), np.empty(length + 1, np.int32), np.empty(length + 1, np.int32),
    )  # fmt: skip
    used, nodes = 0, 0
    for begin in range(length - 1, -1, -1):
        limit = min(length, begin + max_span)
        items.head[:] = NONE
        # the root of the trie is the only item that ends where it starts
        add_item(items, 0, begin, 0, NONE, NONE)
        items, used_items = advance(items, 1, begin, begin, limit, words, node_of, trie)
        for end in range(begin + 1, limit + 1):
            bundles, found = add_complete(items, end, trie, bundles, used)
            if found > used:
                node_of[begin, end - begin] = nodes
                nodes, used = nodes + 1, found
                offset[nodes] = used
                # an X as the first antecedent of a rule that starts with a nonterminal
                place = trie_slot(trie.key, 0, NONTERMINAL)
                if trie.key[place] != -1:
                    if used_items == items.node.shape[0]:
                        items = more_items(items)
                    add_item(items, used_items, end, trie.child[place], nodes - 1, NONE)
                    used_items += 1
            items, used_items = advance(items, used_items, begin, end, limit, words, node_of, trie)
    x_nodes = nodes
    bundles, nodes = add_glue(bundles, used, nodes, offset, node_of, trie)
    used = offset[nodes]
    return Forest(
        offset[: nodes + 1], bundles.trie_node[:used], bundles.first[:used], bundles.second[:used],
        np.arange(nodes) >= x_nodes,
    )  # fmt: skip


@kernel
def add_glue(
    bundles: Bundles,
    used: int,
    nodes: int,
    offset: NDArray[np.int64],
    node_of: NDArray[np.int32],
    trie: Trie,
) -> tuple[Bundles, int]:
    """Add the nodes of the glue category, S over [0, j), to bundles and offsets; returns the nodes in use.

    None is where there is no S over the whole sentence.
    """
    length, longest = node_of.shape[0], node_of.shape[1] - 1
    glue_start_rule = trie.rule_offset.shape[0] - 3
    glue_node = np.full(length + 1, NONE, np.int32)
    for end in range(1, length + 1):
        for middle in range(max(0, end - longest), end):
            antecedent = node_of[middle, end - middle]
            if antecedent == NONE or (middle > 0 and glue_node[middle] == NONE):
                continue
            if used == bundles.first.shape[0]:
                bundles = more_bundles(bundles)
            if middle == 0:
                bundles.trie_node[used], bundles.first[used] = glue_start_rule, antecedent
                bundles.second[used] = NONE
            else:
                bundles.trie_node[used], bundles.first[used] = glue_start_rule + 1, glue_node[middle]
                bundles.second[used] = antecedent
            used += 1
        if used > offset[nodes]:
            glue_node[end] = nodes
            nodes += 1
            offset[nodes] = used
    if glue_node[length] == NONE:
        nodes = 0
    return bundles, nodes
