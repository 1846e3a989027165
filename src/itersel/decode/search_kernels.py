"""Cube pruning with an integrated language model (Chiang 2007, section 5.3.4; Huang and Chiang 2007)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import inline_kernel, kernel, leaf_kernel
from itersel.decode.hypothesis_kernels import GLUE_FACTOR, GOAL_RULE, Hypotheses
from itersel.decode.parse_kernels import Forest
from itersel.decode.queue_kernels import (
    BUNDLE,
    FIRST,
    FIRST_RANK,
    FIRST_RULES,
    INTEGERS,
    LM,
    NUMBERS,
    RANK,
    RULE,
    SCORE,
    SECOND,
    SECOND_RANK,
    STATE,
    Queue,
    sift_down,
    sift_up,
)
from itersel.decode.scoring_kernels import MISSING, SentenceRules
from itersel.decode.trie_kernels import Trie
from itersel.grammar.array_kernels import sort_stably
from itersel.lm.compose_kernels import compose
from itersel.lm.lookup_kernels import ModelArrays
from itersel.lm.state_kernels import EMPTY_STATE, States, begin_state, word_state
from itersel.storage.hash_kernels import GOLDEN_RATIO

STATE_SHIFT = np.uint64(40)


class SearchProblem(NamedTuple):
    """The input of the search, and its pop limit."""

    forest: Forest
    trie: Trie
    rules: SentenceRules  # sorted by `sort_rules`
    model: ModelArrays
    lm_weight: float  # of the log10 probability
    begin_of_sentence: int  # number of `<s>` in the language model; negative if [S] -> [X] adds it
    end_of_sentence: int  # number of `</s>`
    pop_limit: int  # hypotheses popped per node; `GLUE_FACTOR` times as many at a node of the glue category


@kernel
def sort_rules(trie: Trie, rules: SentenceRules) -> None:
    """Sort the rules of each source side by estimate, best first; ties stay in grammar order."""
    largest = 0
    for node in range(trie.rule_offset.shape[0] - 1):
        largest = max(largest, trie.rule_offset[node + 1] - trie.rule_offset[node])

    order = np.empty(largest, np.int64)
    other = np.empty(largest, np.int64)
    rule = np.empty(largest, np.int64)
    key = np.empty(largest)

    for node in range(trie.rule_offset.shape[0] - 1):
        begin = trie.rule_offset[node]
        size = trie.rule_offset[node + 1] - trie.rule_offset[node]
        if size > 1:
            for i in range(size):
                order[i] = i
                rule[i] = trie.rule[begin + i]
                key[i] = rule[i]
            sort_stably(order, key, other, size)

            for i in range(size):
                key[i] = -rules.estimate[rule[i]]
            sort_stably(order, key, other, size)

            for i in range(size):
                trie.rule[begin + i] = rule[order[i]]


@inline_kernel
def combine(
    model: ModelArrays, states: States, rules: SentenceRules, rule: int, first: int, second: int
) -> tuple[int, float]:
    """Return the state of a rule applied to antecedent states, and the change in log10 probability.

    The state of a missing antecedent is empty, and so is the segment after it. (An antecedent may also be
    empty because some rules have no target words.)
    """
    if rules.swapped[rule]:
        first, second = second, first

    state = np.int64(rules.state[rule, 0])
    total = 0.0
    for piece in range(4):
        if piece == 0:
            right = first
        elif piece == 2:
            right = second
        else:
            right = np.int64(rules.state[rule, (piece + 1) >> 1])

        state, change = compose(model, states, state, right)
        total += change

    return state, total


@inline_kernel
def item_at(hypotheses: Hypotheses, node: int, rank: int) -> int:
    """Return the item at a rank of a node, -1 if there is no node."""
    if node == MISSING:
        return np.int64(MISSING)
    return np.int64(hypotheses.ranked[hypotheses.node_offset[node] + rank])


@inline_kernel
def score_corner(
    problem: SearchProblem, states: States, queue: Queue, hypotheses: Hypotheses, candidate: int
) -> float:
    """Score the hypothesis at a corner, language model included; its rule and its items are known."""
    rules = problem.rules
    row = INTEGERS * candidate
    rule = np.int64(queue.corner[row + RULE])
    first = np.int64(queue.corner[row + FIRST])
    second = np.int64(queue.corner[row + SECOND])

    score = rules.score[rule]
    first_state = np.int64(EMPTY_STATE)
    second_state = np.int64(EMPTY_STATE)

    if first != MISSING:
        score += hypotheses.item_score[first]
        first_state = hypotheses.item_state[first]

    if second != MISSING:
        score += hypotheses.item_score[second]
        second_state = hypotheses.item_state[second]

    state, change = combine(problem.model, states, rules, rule, first_state, second_state)
    change += rules.inside[rule]
    score += problem.lm_weight * change

    row = NUMBERS * candidate
    queue.number[row + LM] = change
    queue.number[row + SCORE] = score
    queue.state[row + STATE] = state
    return score


@leaf_kernel
def first_corners(
    problem: SearchProblem, states: States, queue: Queue, hypotheses: Hypotheses, node: int
) -> int:
    """Score the first rules of each bundle with the best antecedents; returns the size of the heap."""
    forest = problem.forest
    trie = problem.trie
    size = 0

    for bundle in range(forest.bundle_offset[node], forest.bundle_offset[node + 1]):
        source_side = forest.trie_node[bundle]
        begin = trie.rule_offset[source_side]
        count = trie.rule_offset[source_side + 1] - begin
        first = item_at(hypotheses, np.int64(forest.first[bundle]), 0)
        second = item_at(hypotheses, np.int64(forest.second[bundle]), 0)

        for rank in range(min(count, FIRST_RULES)):
            row = INTEGERS * size
            queue.corner[row + BUNDLE] = bundle
            queue.corner[row + RANK] = rank
            queue.corner[row + FIRST_RANK] = 0
            queue.corner[row + SECOND_RANK] = 0
            queue.corner[row + RULE] = trie.rule[begin + rank]
            queue.corner[row + FIRST] = first
            queue.corner[row + SECOND] = second

            queue.heap[size] = size
            queue.heap_score[size] = score_corner(problem, states, queue, hypotheses, size)
            size += 1

    for place in range((size >> 1) - 1, -1, -1):
        sift_down(queue, size, place, np.int64(queue.heap[place]), queue.heap_score[place])
    return size


@inline_kernel
def add_edge(queue: Queue, hypotheses: Hypotheses, candidate: int, node_begin: int) -> None:
    """Turn a corner into an edge of the node's item with the same state, or of a new item."""
    edge = hypotheses.counts[1]
    row = INTEGERS * candidate
    hypotheses.edge_rule[edge] = queue.corner[row + RULE]
    hypotheses.edge_first[edge] = queue.corner[row + FIRST]
    hypotheses.edge_second[edge] = queue.corner[row + SECOND]

    row = NUMBERS * candidate
    score = queue.number[row + SCORE]
    state = queue.state[row + STATE]

    hypotheses.edge_score[edge] = score
    hypotheses.edge_lm[edge] = queue.number[row + LM]
    hypotheses.edge_next[edge] = MISSING
    hypotheses.counts[1] = edge + 1

    mask = queue.slot.shape[0] - 1
    place = np.int64(((np.uint64(state) * GOLDEN_RATIO) >> STATE_SHIFT) & np.uint64(mask))
    while queue.slot[place] >= node_begin and hypotheses.item_state[queue.slot[place]] != state:
        place = (place + 1) & mask

    item = np.int64(queue.slot[place])
    if item >= node_begin:
        hypotheses.edge_next[hypotheses.item_last[item]] = edge
        hypotheses.item_score[item] = max(hypotheses.item_score[item], score)
    else:
        item = hypotheses.counts[0]
        hypotheses.counts[0] = item + 1
        queue.slot[place] = item
        hypotheses.item_state[item] = state
        hypotheses.item_edge[item] = edge
        hypotheses.item_score[item] = score
    hypotheses.item_last[item] = edge


@leaf_kernel
def pop_corners(
    problem: SearchProblem,
    states: States,
    queue: Queue,
    hypotheses: Hypotheses,
    node: int,
    size: int,
    limit: int,
) -> None:
    """Pop the best corners off the heap of `size` elements and push their neighbours.

    Every corner (rule, i, j) is pushed by exactly one neighbour: j - 1, or i - 1 if j is 0, or the previous
    rule if both are 0. So no corner is visited twice.
    """
    node_begin = hypotheses.counts[0]
    pool = size
    pops = 0
    while size > 0 and pops < limit:
        candidate = np.int64(queue.heap[0])
        pops += 1
        add_edge(queue, hypotheses, candidate, node_begin)

        # The first neighbour takes the place of the corner, at the top: it will be nearly as good, and not
        # sink far. The last corner would sift to the bottom.
        top_is_free = True
        for axis in range(3):
            if not make_neighbour(problem, queue, hypotheses, candidate, pool, axis):
                continue

            score = score_corner(problem, states, queue, hypotheses, pool)
            if top_is_free:
                sift_down(queue, size, 0, pool, score)
                top_is_free = False
            else:
                sift_up(queue, size, pool, score)
                size += 1
            pool += 1

        if top_is_free:
            size -= 1
            sift_down(queue, size, 0, np.int64(queue.heap[size]), queue.heap_score[size])


@inline_kernel
def make_neighbour(
    problem: SearchProblem, queue: Queue, hypotheses: Hypotheses, candidate: int, pool: int, axis: int
) -> bool:
    """Put a neighbour of a corner into the pool: the next rule, first or second item, for axes 0, 1 and 2.

    Returns False if there is none, or if it is pushed by another corner.
    """
    corner = queue.corner
    row = INTEGERS * candidate
    new = INTEGERS * pool

    bundle = np.int64(corner[row + BUNDLE])
    rank = np.int64(corner[row + RANK])
    rule = np.int64(corner[row + RULE])
    first_rank = np.int64(corner[row + FIRST_RANK])
    second_rank = np.int64(corner[row + SECOND_RANK])
    first = np.int64(corner[row + FIRST])
    second = np.int64(corner[row + SECOND])

    if axis == 0:
        rank += 1
        if rank < FIRST_RULES or first_rank + second_rank > 0:
            return False

        source_side = problem.forest.trie_node[bundle]
        if rank >= problem.trie.rule_offset[source_side + 1] - problem.trie.rule_offset[source_side]:
            return False

        rule = np.int64(problem.trie.rule[problem.trie.rule_offset[source_side] + rank])
    elif axis == 1:
        first_rank += 1
        antecedent = np.int64(problem.forest.first[bundle])
        if first == MISSING or second_rank > 0 or first_rank >= item_count(hypotheses, antecedent):
            return False
        first = item_at(hypotheses, antecedent, first_rank)
    else:
        second_rank += 1
        antecedent = np.int64(problem.forest.second[bundle])
        if second == MISSING or second_rank >= item_count(hypotheses, antecedent):
            return False
        second = item_at(hypotheses, antecedent, second_rank)

    corner[new + BUNDLE] = bundle
    corner[new + RANK] = rank
    corner[new + RULE] = rule
    corner[new + FIRST_RANK] = first_rank
    corner[new + SECOND_RANK] = second_rank
    corner[new + FIRST] = first
    corner[new + SECOND] = second
    return True


@inline_kernel
def item_count(hypotheses: Hypotheses, node: int) -> int:
    """Return the number of items of a node."""
    return hypotheses.node_offset[node + 1] - hypotheses.node_offset[node]


@leaf_kernel
def rank_items(hypotheses: Hypotheses, node: int, begin: int) -> None:
    """Sort the items of a node, which start at `begin`, best first; ties keep their order.

    Insertion sort is fast here: apart from the language model's influence, items are created in this order.
    """
    for item in range(begin, hypotheses.counts[0]):
        score = hypotheses.item_score[item]
        place = item
        while place > begin and hypotheses.item_score[hypotheses.ranked[place - 1]] < score:
            hypotheses.ranked[place] = hypotheses.ranked[place - 1]
            place -= 1
        hypotheses.ranked[place] = item
    hypotheses.node_offset[node + 1] = hypotheses.counts[0]


@leaf_kernel
def add_goal(
    problem: SearchProblem, states: States, hypotheses: Hypotheses, start_state: int, end_state: int
) -> None:
    """Add the goal item: each item of the last node, between the states of `<s>` and `</s>`.

    If items already include `<s>`, `start_state` is the empty state.
    """
    node = problem.forest.is_glue.shape[0] - 1
    goal = hypotheses.counts[0]
    edge = hypotheses.counts[1]

    hypotheses.item_edge[goal] = edge
    hypotheses.item_score[goal] = -np.inf

    for place in range(hypotheses.node_offset[node], hypotheses.node_offset[node + 1]):
        item = hypotheses.ranked[place]
        state, start_change = compose(problem.model, states, start_state, hypotheses.item_state[item])
        _, change = compose(problem.model, states, state, end_state)

        hypotheses.edge_lm[edge] = problem.model.unigram[problem.end_of_sentence, 0] + (start_change + change)
        hypotheses.edge_rule[edge] = GOAL_RULE
        hypotheses.edge_first[edge] = item
        hypotheses.edge_second[edge] = MISSING
        hypotheses.edge_score[edge] = (
            hypotheses.item_score[item] + problem.lm_weight * hypotheses.edge_lm[edge]
        )
        hypotheses.edge_next[edge] = edge + 1

        hypotheses.item_score[goal] = max(hypotheses.item_score[goal], hypotheses.edge_score[edge])
        edge += 1

    hypotheses.edge_next[edge - 1] = MISSING
    hypotheses.item_last[goal] = edge - 1
    hypotheses.counts[0] = goal + 1
    hypotheses.counts[1] = edge


@leaf_kernel
def search(problem: SearchProblem, states: States, queue: Queue, hypotheses: Hypotheses) -> None:
    """Fill the forest bottom-up, then add the goal item.

    Rules and antecedents are sorted by score, so the corner with the lowest ranks of a bundle is likely the
    best. Afterwards, `states.counts[1]` tells whether the tables were too small.
    """
    for place in range(queue.slot.shape[0]):
        queue.slot[place] = MISSING
    hypotheses.counts[0] = 0
    hypotheses.counts[1] = 0
    hypotheses.node_offset[0] = 0

    for node in range(problem.forest.is_glue.shape[0]):
        begin = hypotheses.counts[0]
        size = first_corners(problem, states, queue, hypotheses, node)
        limit = problem.pop_limit * (GLUE_FACTOR if problem.forest.is_glue[node] else 1)
        pop_corners(problem, states, queue, hypotheses, node, size, limit)
        rank_items(hypotheses, node, begin)

    start_state = np.int64(EMPTY_STATE)
    if problem.begin_of_sentence >= 0:
        start_state = begin_state(problem.model, states, problem.begin_of_sentence)
    add_goal(
        problem, states, hypotheses, start_state, word_state(problem.model, states, problem.end_of_sentence)
    )
