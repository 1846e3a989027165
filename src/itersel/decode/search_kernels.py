"""Cube pruning with an integrated language model (Chiang 2007, section 5.3.4; Huang and Chiang 2007)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.forest_kernels import NONE, Forest, Trie
from itersel.decode.rule_kernels import SentenceRules
from itersel.jit import kernel, leaf_kernel
from itersel.lm.kernels import ModelArrays
from itersel.lm.state_kernels import States, compose, word_state

GOAL_RULE = -1  # of the edges that put `</s>` behind a translation of the whole sentence
# So many rules of every bundle are scored with the language model before the first is taken: the order of
# rules is without context, and the second may well be the best one in context. On 60 sentences at pop limit
# 200: 1 rule, mean best score -31.323; 5 rules -31.293 in 1.18 times the time, all rules the same in 2.3.
FIRST_RULES = 5
MAX_POP_LIMIT = (1 << 14) - 1  # ranks of antecedents have to fit into 14 bits of a visited corner
VISITED_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
VISITED_SHIFT = np.uint64(40)


class Hypotheses(NamedTuple):
    """The forest with language model: an item is a node with a language-model state.

    Attributes
    ----------
    item_score
        float64 (items): score of the best derivation. The last item is the goal.
    item_edge
        int32 (items): the first of the item's edges.
    edge_rule
        int32 (edges): rule of the sentence, or `GOAL_RULE`.
    edge_first, edge_second
        int32 (edges): antecedent items, -1 where there is none.
    edge_score
        float64 (edges): score of the best derivation that ends in the edge.
    edge_model
        float64 (edges): the edge's own part of the log10 probability.
    edge_next
        int32 (edges): the next edge of the same item, -1 behind the last.
    """

    item_score: NDArray[np.float64]
    item_edge: NDArray[np.int32]
    edge_rule: NDArray[np.int32]
    edge_first: NDArray[np.int32]
    edge_second: NDArray[np.int32]
    edge_score: NDArray[np.float64]
    edge_model: NDArray[np.float64]
    edge_next: NDArray[np.int32]


class Queue(NamedTuple):
    """Corners of the cubes of one node: a pool, and a binary heap of numbers of the pool.

    Attributes
    ----------
    score, model
        float64: score with language model; the language model's part of it that is the corner's own.
    corner
        int32 (pool, 4): bundle, rank of the rule, ranks of the antecedent items.
    state
        int64: language-model state of the hypothesis.
    heap
        int32: pool numbers.
    visited, visited_node
        uint64, int32 (power of two): hash set of corners, valid for the node that is written beside.
    item_state, item
        int64, int32 (power of two): hash table from states to items; those of earlier nodes are free places.
    """

    score: NDArray[np.float64]
    model: NDArray[np.float64]
    corner: NDArray[np.int32]
    state: NDArray[np.int64]
    heap: NDArray[np.int32]
    visited: NDArray[np.uint64]
    visited_node: NDArray[np.int32]
    item_state: NDArray[np.int64]
    item: NDArray[np.int32]


@kernel
def sort_rules(trie: Trie, rules: SentenceRules) -> None:
    """Sort the rules of every source side by estimate, best first; equal ones stay in grammar order."""
    for node in range(trie.rule_offset.shape[0] - 1):
        begin, end = trie.rule_offset[node], trie.rule_offset[node + 1]
        if end - begin > 1:
            group = np.sort(trie.rule[begin:end])
            order = np.argsort(-rules.estimate[group], kind="mergesort")
            trie.rule[begin:end] = group[order]


@kernel
def make_queue(largest_node: int, pop_limit: int) -> Queue:
    """Allocate a queue for nodes of at most `largest_node` bundles."""
    pool = FIRST_RULES * largest_node + 3 * pop_limit + 1
    capacity = 16
    while capacity < 2 * pool:
        capacity *= 2
    states = 16
    while states < 2 * pop_limit:
        states *= 2
    return Queue(
        np.empty(pool, np.float64),
        np.empty(pool, np.float64),
        np.empty((pool, 4), np.int32),
        np.empty(pool, np.int64),
        np.empty(pool, np.int32),
        np.empty(capacity, np.uint64),
        np.full(capacity, NONE, np.int32),
        np.empty(states, np.int64),
        np.full(states, NONE, np.int32),
    )


@leaf_kernel
def heap_push(queue: Queue, size: int, candidate: int) -> None:
    """Add a pool number to a heap of `size`; among equal scores the older candidate goes first."""
    heap, score = queue.heap, queue.score
    value = score[candidate]
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        other = heap[parent]
        # a newly pushed candidate is always the younger one
        if score[other] >= value:
            break
        heap[place] = other
        place = parent
    heap[place] = candidate


@leaf_kernel
def heap_pop(queue: Queue, size: int) -> int:
    """Take the best candidate off a heap of `size`."""
    heap, score = queue.heap, queue.score
    best = heap[0]
    last = heap[size - 1]
    size -= 1
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size:
            a, b = heap[child], heap[child + 1]
            if score[b] > score[a] or (score[b] == score[a] and b < a):
                child += 1
        other = heap[child]
        if score[last] > score[other] or (score[last] == score[other] and last < other):
            break
        heap[place] = other
        place = child
    heap[place] = last
    return np.int64(best)


@leaf_kernel
def visit(queue: Queue, node: int, bundle: int, rank: int, first: int, second: int) -> bool:
    """Mark a corner; returns whether it is new."""
    packed = (np.int64(bundle) << 46) | (np.int64(rank) << 28) | (np.int64(first) << 14) | np.int64(second)
    key = np.uint64(packed)
    mask = queue.visited.shape[0] - 1
    place = np.int64(((key * VISITED_MULTIPLIER) >> VISITED_SHIFT) & np.uint64(mask))
    while queue.visited_node[place] == node:
        if queue.visited[place] == key:
            return False
        place = (place + 1) & mask
    queue.visited_node[place] = node
    queue.visited[place] = key
    return True


@leaf_kernel
def item_slot(queue: Queue, state: int, node_begin: int) -> int:
    """Return the place of the item of a state, or the free place where it belongs."""
    mask = queue.item.shape[0] - 1
    place = np.int64(((np.uint64(state) * VISITED_MULTIPLIER) >> VISITED_SHIFT) & np.uint64(mask))
    while queue.item[place] >= node_begin and queue.item_state[place] != state:
        place = (place + 1) & mask
    return place


@leaf_kernel
def combine(
    model: ModelArrays, states: States, rules: SentenceRules, rule: int, first: int, second: int
) -> tuple[int, float]:
    """Return state and change in log10 probability when antecedent states (-1: none) go into a rule."""
    state, total = np.int64(rules.state[rule, 0]), 0.0
    if first != NONE:
        if rules.swapped[rule]:
            first, second = second, first
        state, change = compose(model, states, state, first)
        total += change
        state, change = compose(model, states, state, np.int64(rules.state[rule, 1]))
        total += change
        if second != NONE:
            state, change = compose(model, states, state, second)
            total += change
            state, change = compose(model, states, state, np.int64(rules.state[rule, 2]))
            total += change
    return state, total


@kernel
def search(
    forest: Forest,
    trie: Trie,
    rules: SentenceRules,
    model: ModelArrays,
    states: States,
    end_of_sentence: int,
    model_weight: float,
    pop_limit: int,
) -> Hypotheses:
    """Fill the forest bottom-up, at most `pop_limit` hypotheses a node; then the goal item.

    Scores are in the order of rules (see `sort_rules`) and antecedents, so the corner of lowest ranks of
    a bundle is likely the best. `states.counts[2]` says afterwards whether the tables were too small.
    """
    nodes = forest.is_glue.shape[0]
    largest = 0
    for node in range(nodes):
        largest = max(largest, forest.bundle_offset[node + 1] - forest.bundle_offset[node])
    queue = make_queue(largest, pop_limit)
    capacity = (nodes + 1) * pop_limit + 1
    item_score, item_edge = np.empty(capacity, np.float64), np.empty(capacity, np.int32)
    item_state, item_last = np.empty(capacity, np.int64), np.empty(capacity, np.int32)
    edge_rule, edge_next = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    edge_first, edge_second = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    edge_score, edge_model = np.empty(capacity, np.float64), np.empty(capacity, np.float64)
    ranked = np.empty(capacity, np.int32)  # items of a node, best first
    node_offset = np.zeros(nodes + 1, np.int64)
    items, edges = 0, 0

    for node in range(nodes):
        begin = forest.bundle_offset[node]
        pool, size = 0, 0
        for bundle in range(forest.bundle_offset[node + 1] - begin):
            source_side = forest.trie_node[begin + bundle]
            count = trie.rule_offset[source_side + 1] - trie.rule_offset[source_side]
            for rank in range(min(count, FIRST_RULES)):
                queue.corner[pool, 0], queue.corner[pool, 1] = bundle, rank
                queue.corner[pool, 2], queue.corner[pool, 3] = 0, 0
                score_corner(queue, pool, forest, begin, trie, rules, model, states, model_weight,
                             item_score, item_state, ranked, node_offset)  # fmt: skip
                heap_push(queue, size, pool)
                visit(queue, node, bundle, rank, 0, 0)
                pool, size = pool + 1, size + 1
        node_begin = items
        pops = 0
        while size > 0 and pops < pop_limit:
            candidate = heap_pop(queue, size)
            size -= 1
            pops += 1
            bundle = queue.corner[candidate, 0]
            rank, i, j = queue.corner[candidate, 1], queue.corner[candidate, 2], queue.corner[candidate, 3]
            here = begin + bundle
            rule_begin = trie.rule_offset[forest.trie_node[here]]
            rule_count = trie.rule_offset[forest.trie_node[here] + 1] - rule_begin
            first, second = forest.first[here], forest.second[here]

            # record the hypothesis: an edge of a new item, or of the item that has its state
            edge_rule[edges] = trie.rule[rule_begin + rank]
            edge_first[edges] = NONE if first == NONE else ranked[node_offset[first] + i]
            edge_second[edges] = NONE if second == NONE else ranked[node_offset[second] + j]
            edge_score[edges] = queue.score[candidate]
            edge_model[edges] = queue.model[candidate]
            edge_next[edges] = NONE
            state = queue.state[candidate]
            place = item_slot(queue, state, node_begin)
            item = queue.item[place]
            if item >= node_begin:
                edge_next[item_last[item]] = edges
                item_score[item] = max(item_score[item], edge_score[edges])
            else:
                item = items
                items += 1
                queue.item_state[place], queue.item[place] = state, item
                item_state[item], item_edge[item] = state, edges
                item_score[item] = edge_score[edges]
            item_last[item] = edges
            edges += 1

            # its neighbours
            for axis in range(3):
                next_rank, next_i, next_j = rank, i, j
                if axis == 0:
                    next_rank += 1
                    if next_rank == rule_count:
                        continue
                elif axis == 1:
                    next_i += 1
                    if first == NONE or next_i == node_offset[first + 1] - node_offset[first]:
                        continue
                else:
                    next_j += 1
                    if second == NONE or next_j == node_offset[second + 1] - node_offset[second]:
                        continue
                if not visit(queue, node, bundle, next_rank, next_i, next_j):
                    continue
                queue.corner[pool, 0], queue.corner[pool, 1] = bundle, next_rank
                queue.corner[pool, 2], queue.corner[pool, 3] = next_i, next_j
                score_corner(queue, pool, forest, begin, trie, rules, model, states, model_weight,
                             item_score, item_state, ranked, node_offset)  # fmt: skip
                heap_push(queue, size, pool)
                pool, size = pool + 1, size + 1
        order = np.argsort(-item_score[node_begin:items], kind="mergesort")
        for place in range(items - node_begin):
            ranked[node_begin + place] = node_begin + order[place]
        node_offset[node + 1] = items

    end_state = word_state(model, states, end_of_sentence)
    item_edge[items] = edges
    item_score[items] = -np.inf
    for place in range(node_offset[nodes - 1], node_offset[nodes]):
        item = ranked[place]
        _, change = compose(model, states, np.int64(item_state[item]), end_state)
        edge_model[edges] = model.unigram[end_of_sentence, 0] + change
        edge_rule[edges], edge_first[edges], edge_second[edges] = GOAL_RULE, item, NONE
        edge_score[edges] = item_score[item] + model_weight * edge_model[edges]
        edge_next[edges] = edges + 1
        item_score[items] = max(item_score[items], edge_score[edges])
        edges += 1
    edge_next[edges - 1] = NONE
    return Hypotheses(
        item_score[: items + 1], item_edge[: items + 1], edge_rule[:edges], edge_first[:edges],
        edge_second[:edges], edge_score[:edges], edge_model[:edges], edge_next[:edges],
    )  # fmt: skip


@leaf_kernel
def score_corner(
    queue: Queue,
    candidate: int,
    forest: Forest,
    begin: int,
    trie: Trie,
    rules: SentenceRules,
    model: ModelArrays,
    states: States,
    model_weight: float,
    item_score: NDArray[np.float64],
    item_state: NDArray[np.int64],
    ranked: NDArray[np.int32],
    node_offset: NDArray[np.int64],
) -> None:
    """Score the hypothesis at a corner of a bundle, language model included."""
    bundle = begin + queue.corner[candidate, 0]
    rule = trie.rule[trie.rule_offset[forest.trie_node[bundle]] + queue.corner[candidate, 1]]
    score = rules.score[rule]
    first_state, second_state = np.int64(NONE), np.int64(NONE)
    if forest.first[bundle] != NONE:
        item = ranked[node_offset[forest.first[bundle]] + queue.corner[candidate, 2]]
        score += item_score[item]
        first_state = np.int64(item_state[item])
    if forest.second[bundle] != NONE:
        item = ranked[node_offset[forest.second[bundle]] + queue.corner[candidate, 3]]
        score += item_score[item]
        second_state = np.int64(item_state[item])
    state, change = combine(model, states, rules, rule, first_state, second_state)
    queue.model[candidate] = rules.inside[rule] + change
    queue.score[candidate] = score + model_weight * queue.model[candidate]
    queue.state[candidate] = state
