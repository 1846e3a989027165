"""CKY+ without a language model: which rules apply to which spans, with which antecedents.

The forest depends only on the grammar, not on the weights. Its nodes are categories over [i, j): X over
spans up to a limit, S over [0, j) by the glue rules, and any other categories of the grammar. Rules that
share a source side, a left-hand side and antecedents form one *bundle* (one cube of cube pruning).

With X only, the S nodes come last, after all X nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.decode.scoring_kernels import MISSING
from itersel.decode.trie_kernels import NONTERMINAL, Trie, glue_rule_node, trie_slot
from itersel.grammar.array_kernels import doubled
from itersel.grammar.grammar_kernels import CATEGORY_S, CATEGORY_X, GLUE_ROW, GLUE_START_ROW
from itersel.storage.arrays import Bools, Int32s, Int64s


class Forest(NamedTuple):
    """The nodes of the forest, antecedents first.

    The last node is the goal, S over the whole sentence; if it cannot be derived, there are no nodes.
    """

    bundle_offset: Int64s  # (nodes + 1): the bundles of each node
    trie_node: Int32s  # (bundles): trie node of the source side, which holds the rules
    first: Int32s  # (bundles): the antecedent nodes, -1 for none
    second: Int32s
    is_glue: Bools  # (nodes): the node is an S that starts at the beginning of the sentence


class Bundles(NamedTuple):
    """Bundles and nodes under construction, with spare capacity."""

    trie_node: Int32s  # (bundles), as the next two: columns of `Forest`
    first: Int32s
    second: Int32s
    end: Int32s  # (nodes): the end of a node's bundles
    category: Int32s  # (nodes)


class Chart(NamedTuple):
    """The nodes over each span, int32 (starts, lengths + 1): the first, and one past the last; 0 for none."""

    begin: Int32s
    end: Int32s


class DottedItems(NamedTuple):
    """Rule prefixes that match from one start position: a linked list for each end position.

    Also the bundles of a span until all are known: a linked list for each category, in order of rank.
    """

    node: Int32s  # (items): trie node
    first: Int32s  # (items): the antecedents so far
    second: Int32s
    next: Int32s  # (items): the next item of the same list, -1 at its end
    head: Int32s  # (positions): the first item of each list
    tail: Int32s  # (positions): the last one


@kernel
def more_bundles(bundles: Bundles) -> Bundles:
    """Return the bundles with twice the capacity."""
    return Bundles(
        doubled(bundles.trie_node), doubled(bundles.first), doubled(bundles.second), doubled(bundles.end),
        doubled(bundles.category),
    )  # fmt: skip


@kernel
def more_items(items: DottedItems) -> DottedItems:
    """Return the dotted items with twice the capacity."""
    return DottedItems(
        doubled(items.node),
        doubled(items.first),
        doubled(items.second),
        doubled(items.next),
        items.head,
        items.tail,
    )


@leaf_kernel
def add_item(items: DottedItems, used: int, end: int, node: int, first: int, second: int) -> None:
    """Append an item to the list of an end position; the caller ensures that there is capacity."""
    items.node[used] = node
    items.first[used] = first
    items.second[used] = second
    items.next[used] = MISSING
    if items.head[end] == MISSING:
        items.head[end] = used
    else:
        items.next[items.tail[end]] = used
    items.tail[end] = used


@kernel
def add_complete(items: DottedItems, at: int, trie: Trie, bundles: Bundles, used: int) -> tuple[Bundles, int]:
    """Add the items of the list `at` that are complete rules to the bundles, of which `used` are in use."""
    item = items.head[at]
    while item != MISSING:
        node = items.node[item]
        if trie.rule_offset[node + 1] > trie.rule_offset[node]:
            if used == bundles.first.shape[0]:
                bundles = more_bundles(bundles)
            bundles.trie_node[used] = node
            bundles.first[used] = items.first[item]
            bundles.second[used] = items.second[item]
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
    words: Int32s,
    chart: Chart,
    category: Int32s,
    trie: Trie,
) -> tuple[DottedItems, int]:
    """Advance the items that end at `at` over the next word, and over every node that starts there."""
    item = items.head[at]
    while item != MISSING:
        node = items.node[item]
        first = items.first[item]
        second = items.second[item]
        # a node at the start is known only when all its bundles are: see `parse`
        last = limit if at > begin and trie.takes_nonterminal[node] else at

        for end in range(at + 1, last + 1):
            for antecedent in range(chart.begin[at, end - at], chart.end[at, end - at]):
                place = trie_slot(trie.key, node, NONTERMINAL - category[antecedent])
                if trie.key[place] != -1:
                    if used == items.node.shape[0]:
                        items = more_items(items)
                    if first == MISSING:
                        add_item(items, used, end, trie.child[place], antecedent, MISSING)
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
def start_with(
    items: DottedItems, used: int, end: int, node: int, category: int, trie: Trie
) -> tuple[DottedItems, int]:
    """Add the rules that start with a nonterminal of this category, with a node as their first antecedent."""
    place = trie_slot(trie.key, 0, NONTERMINAL - category)
    if trie.key[place] != -1:
        if used == items.node.shape[0]:
            items = more_items(items)
        add_item(items, used, end, trie.child[place], node, MISSING)
        used += 1
    return items, used


@kernel
def parse(words: Int32s, trie: Trie, max_span: int, rank: Int32s | None) -> Forest:
    """Find all bundles of a sentence (at least one word) by CKY+ (Chappelier and Rajman 1998).

    Start positions go from right to left, ends from left to right. `max_span` is the longest span of an X.
    `rank`, int32 (categories), orders the categories over one span. None means X only; the code for other
    categories is then not even compiled.
    """
    length = words.shape[0]
    longest = min(max_span, length) if rank is None else length
    chart = Chart(np.zeros((length, longest + 1), np.int32), np.zeros((length, longest + 1), np.int32))
    bundles = Bundles(
        np.empty(256, np.int32), np.empty(256, np.int32), np.empty(256, np.int32),
        np.empty(256, np.int32), np.empty(256, np.int32),
    )  # fmt: skip
    items = make_items(1024, length + 1)
    if rank is not None:
        waiting = make_items(16, rank.shape[0])

    used = 0
    nodes = 0
    left_nodes = 0

    for begin in range(length - 1, -1, -1):
        limit = min(length, begin + longest)
        left_nodes = nodes
        items.head[:] = MISSING
        # the root of the trie is the only item that ends where it starts
        add_item(items, 0, begin, 0, MISSING, MISSING)
        items, used_items = advance(items, 1, begin, begin, limit, words, chart, bundles.category, trie)

        for end in range(begin + 1, limit + 1):
            before = nodes
            if rank is None:
                bundles, bundle_end = add_complete(items, end, trie, bundles, used)
                if bundle_end > used:
                    bundles.end[nodes] = bundle_end
                    bundles.category[nodes] = CATEGORY_X
                    nodes += 1
                    used = bundle_end
            else:
                bundles, waiting, used, nodes = add_categories(
                    items, begin, end, max_span, trie, chart, rank, bundles, waiting, used, nodes
                )

            chart.begin[begin, end - begin] = before
            chart.end[begin, end - begin] = nodes

            for node in range(before, nodes):
                items, used_items = start_with(items, used_items, end, node, bundles.category[node], trie)
            items, used_items = advance(
                items, used_items, begin, end, limit, words, chart, bundles.category, trie
            )

    if rank is None:
        left_nodes = nodes
        bundles, nodes = add_glue(bundles, used, nodes, chart, trie)
    elif (
        nodes == 0
        or bundles.category[nodes - 1] != CATEGORY_S
        or chart.end[0, length] == chart.begin[0, length]
    ):
        nodes = 0

    return make_forest(bundles, nodes, left_nodes)


@kernel
def make_forest(bundles: Bundles, nodes: int, left_nodes: int) -> Forest:
    """Return the forest of the first `nodes` nodes; those from `left_nodes` start where the sentence does."""
    offset = np.zeros(nodes + 1, np.int64)
    is_glue = np.zeros(nodes, np.bool_)
    for node in range(nodes):
        offset[node + 1] = bundles.end[node]
        is_glue[node] = node >= left_nodes and bundles.category[node] == CATEGORY_S

    used = offset[nodes]
    return Forest(offset, bundles.trie_node[:used], bundles.first[:used], bundles.second[:used], is_glue)


@kernel
def make_items(room: int, lists: int) -> DottedItems:
    """Allocate lists."""
    return DottedItems(
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32),
        np.empty(room, np.int32), np.empty(lists, np.int32), np.empty(lists, np.int32),
    )  # fmt: skip


@kernel
def add_categories(
    items: DottedItems,
    begin: int,
    end: int,
    max_span: int,
    trie: Trie,
    chart: Chart,
    rank: Int32s,
    bundles: Bundles,
    waiting: DottedItems,
    used: int,
    nodes: int,
) -> tuple[Bundles, DottedItems, int, int]:
    """Add the nodes over a span, category by category, so that unary rules find their antecedents.

    Returns bundles, the scratch space `waiting`, and how many bundles and nodes are in use.
    """
    glue_start = glue_rule_node(trie, GLUE_START_ROW)
    glue = glue_rule_node(trie, GLUE_ROW)
    count = 0
    waiting.head[:] = MISSING

    item = items.head[end]
    while item != MISSING:
        node = items.node[item]
        first = items.first[item]
        second = items.second[item]
        waiting, count = add_waiting(waiting, count, trie, rank, node, first, second)
        item = items.next[item]

    if begin == 0:
        for middle in range(1, end):
            left = find_node(chart, bundles.category, 0, middle, CATEGORY_S)
            right = find_node(chart, bundles.category, middle, end, CATEGORY_X)
            if left != MISSING and right != MISSING:
                waiting, count = add_waiting(waiting, count, trie, rank, glue, left, right)

    for place in range(rank.shape[0]):
        item = waiting.head[place]
        if item == MISSING:
            continue

        category = trie.category[waiting.node[item]]
        if category == CATEGORY_X and end - begin > max_span:
            continue

        bundles, used = add_complete(waiting, place, trie, bundles, used)
        bundles.end[nodes] = used
        bundles.category[nodes] = category
        nodes += 1
        if category == CATEGORY_S and end - begin == chart.begin.shape[0]:
            break  # the goal is the last node: nothing needs what could be made of it

        edge = trie_slot(trie.key, 0, NONTERMINAL - category)
        if trie.key[edge] != -1:
            waiting, count = add_waiting(waiting, count, trie, rank, trie.child[edge], nodes - 1, MISSING)
        if category == CATEGORY_X and begin == 0:
            waiting, count = add_waiting(waiting, count, trie, rank, glue_start, nodes - 1, MISSING)

    return bundles, waiting, used, nodes


@kernel
def add_waiting(
    waiting: DottedItems, count: int, trie: Trie, rank: Int32s, node: int, first: int, second: int
) -> tuple[DottedItems, int]:
    """Add the rules of a source side to the lists of their left-hand sides; `count` entries are in use."""
    while node != MISSING:
        if trie.rule_offset[node + 1] > trie.rule_offset[node]:
            if count == waiting.node.shape[0]:
                waiting = more_items(waiting)
            add_item(waiting, count, rank[trie.category[node]], node, first, second)
            count += 1
        node = trie.other[node]
    return waiting, count


@leaf_kernel
def find_node(chart: Chart, category: Int32s, begin: int, end: int, wanted: int) -> int:
    """Return the node of a category over [begin, end), -1 if there is none."""
    for node in range(chart.begin[begin, end - begin], chart.end[begin, end - begin]):
        if category[node] == wanted:
            return node
    return MISSING


@kernel
def add_glue(bundles: Bundles, used: int, nodes: int, chart: Chart, trie: Trie) -> tuple[Bundles, int]:
    """Add the S nodes over [0, j) (X only); returns the bundles and the number of nodes in use.

    There are no nodes if no S covers the whole sentence.
    """
    length = chart.begin.shape[0]
    longest = chart.begin.shape[1] - 1
    glue_start = glue_rule_node(trie, GLUE_START_ROW)
    glue = glue_rule_node(trie, GLUE_ROW)
    glue_node = np.full(length + 1, MISSING, np.int32)

    for end in range(1, length + 1):
        before = used
        for middle in range(max(0, end - longest), end):
            antecedent = chart.begin[middle, end - middle]
            if antecedent == chart.end[middle, end - middle] or (middle > 0 and glue_node[middle] == MISSING):
                continue

            if used == bundles.first.shape[0]:
                bundles = more_bundles(bundles)
            if middle == 0:
                bundles.trie_node[used] = glue_start
                bundles.first[used] = antecedent
                bundles.second[used] = MISSING
            else:
                bundles.trie_node[used] = glue
                bundles.first[used] = glue_node[middle]
                bundles.second[used] = antecedent
            used += 1

        if used > before:
            glue_node[end] = nodes
            bundles.end[nodes] = used
            bundles.category[nodes] = CATEGORY_S
            nodes += 1

    if glue_node[length] == MISSING:
        nodes = 0
    return bundles, nodes
