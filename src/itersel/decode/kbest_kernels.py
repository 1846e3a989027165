"""Lazy k-best derivations with distinct yields (Huang and Chiang 2005, algorithm 3).

Duplicates are removed at every item: parts with equal yields only lead to derivations with equal yields.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.hypotheses import GOAL_RULE, Hypotheses
from itersel.decode.rule_kernels import RuleTable, SentenceRules
from itersel.decode.trie_kernels import NONE
from itersel.grammar.array_kernels import doubled
from itersel.jit import kernel, leaf_kernel


class Derivations(NamedTuple):
    """Candidates and derivations of all visited items.

    Attributes
    ----------
    score
        float64 (pool).
    edge, first, second
        int32 (pool): an edge, and the ranks of its antecedents' derivations.
    first_part, second_part
        int32 (pool): for a popped candidate, the antecedents' derivations; -1 for none.
    left, right
        int32 (pool): links of the skew heap of candidates.
    hash, power
        uint64 (pool): hash of a derivation's yield, and the hash base to the power of the yield's length.
    heap, last, block, size
        int32 (items): root of the heap of candidates; the candidate whose successors have not been added
        yet; row in `ranked`, -1 before the first visit; number of derivations found.
    exhausted
        bool (items): no derivations are left.
    ranked
        int32 (visited items, k): derivations, best first.
    stack_item, stack_rank
        int32 (items + 1): the items in progress, and the rank that each must reach.
    counts
        int64 (2): number of pool entries and rows in use.
    """

    score: NDArray[np.float64]
    edge: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    first_part: NDArray[np.int32]
    second_part: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    hash: NDArray[np.uint64]
    power: NDArray[np.uint64]
    heap: NDArray[np.int32]
    last: NDArray[np.int32]
    block: NDArray[np.int32]
    size: NDArray[np.int32]
    exhausted: NDArray[np.bool_]
    ranked: NDArray[np.int32]
    stack_item: NDArray[np.int32]
    stack_rank: NDArray[np.int32]
    counts: NDArray[np.int64]


@kernel
def make_derivations(items: int, pool: int, rows: int, k: int) -> Derivations:
    """Allocate the tables: `pool` candidates, and `rows` visited items."""
    return Derivations(
        np.empty(pool, np.float64), np.empty(pool, np.int32), np.empty(pool, np.int32),
        np.empty(pool, np.int32), np.empty(pool, np.int32), np.empty(pool, np.int32),
        np.empty(pool, np.int32), np.empty(pool, np.int32), np.empty(pool, np.uint64),
        np.empty(pool, np.uint64), np.full(items, NONE, np.int32), np.full(items, NONE, np.int32),
        np.full(items, NONE, np.int32), np.zeros(items, np.int32), np.zeros(items, np.bool_),
        np.empty((rows, k), np.int32), np.empty(items + 1, np.int32), np.empty(items + 1, np.int32),
        np.zeros(2, np.int64),
    )  # fmt: skip


@leaf_kernel
def before(found: Derivations, a: int, b: int) -> bool:
    """Whether candidate a precedes b: the higher score, else the older one."""
    return found.score[a] > found.score[b] or (found.score[a] == found.score[b] and a < b)


@leaf_kernel
def meld(found: Derivations, a: int, b: int) -> int:
    """Join two skew heaps (Sleator and Tarjan 1986), top-down."""
    if a == NONE:
        return b
    if b == NONE:
        return a
    if before(found, b, a):
        a, b = b, a
    root = a
    while True:
        # what was on the left goes to the right; what is melded goes to the left
        rest = found.right[a]
        found.right[a] = found.left[a]
        if rest == NONE:
            found.left[a] = b
            return root
        if before(found, b, rest):
            rest, b = b, rest
        found.left[a] = rest
        a = rest


@leaf_kernel
def add_candidate(
    hypotheses: Hypotheses, found: Derivations, item: int, edge: int, first: int, second: int
) -> None:
    """Put a candidate into the heap of an item. If the pool is full, do nothing: `kbest` checks for that."""
    candidate = found.counts[0]
    found.counts[0] = candidate + 1
    if candidate >= found.score.shape[0]:
        return
    score = hypotheses.edge_score[edge]
    if first > 0:
        antecedent = hypotheses.edge_first[edge]
        score -= hypotheses.item_score[antecedent]
        score += found.score[found.ranked[found.block[antecedent], first]]
    if second > 0:
        antecedent = hypotheses.edge_second[edge]
        score -= hypotheses.item_score[antecedent]
        score += found.score[found.ranked[found.block[antecedent], second]]
    found.score[candidate], found.edge[candidate] = score, edge
    found.first[candidate], found.second[candidate] = first, second
    found.left[candidate], found.right[candidate] = NONE, NONE
    found.heap[item] = meld(found, found.heap[item], candidate)


@leaf_kernel
def hash_yield(hypotheses: Hypotheses, rules: SentenceRules, found: Derivations, candidate: int) -> None:
    """Fill in the parts, hash and power of a candidate whose antecedents' derivations are known."""
    edge = found.edge[candidate]
    first, second = hypotheses.edge_first[edge], hypotheses.edge_second[edge]
    rule = hypotheses.edge_rule[edge]
    a, b = NONE, NONE
    if first != NONE:
        a = found.ranked[found.block[first], found.first[candidate]]
    if second != NONE:
        b = found.ranked[found.block[second], found.second[candidate]]
    found.first_part[candidate], found.second_part[candidate] = a, b
    if rule == GOAL_RULE:
        found.hash[candidate], found.power[candidate] = found.hash[a], found.power[a]
        return
    if rules.swapped[rule]:
        a, b = b, a
    value, power = rules.hash[rule, 0], rules.power[rule, 0]
    if a != NONE:
        value = (value * found.power[a] + found.hash[a]) * rules.power[rule, 1] + rules.hash[rule, 1]
        power *= found.power[a] * rules.power[rule, 1]
    if b != NONE:
        value = (value * found.power[b] + found.hash[b]) * rules.power[rule, 2] + rules.hash[rule, 2]
        power *= found.power[b] * rules.power[rule, 2]
    found.hash[candidate], found.power[candidate] = value, power


@leaf_kernel
def is_settled(found: Derivations, item: int, rank: int) -> bool:
    """Whether an item's derivation of this rank has been found, or is known not to exist."""
    return found.size[item] > rank or found.exhausted[item] or rank >= found.ranked.shape[1]


@leaf_kernel
def find_derivations(hypotheses: Hypotheses, rules: SentenceRules, found: Derivations, goal: int) -> None:
    """Find all k derivations of the goal, and those of other items that they need.

    An explicit stack holds the items in progress, because numba breaks recursive functions when it loads
    them from its cache (numba issue 6061).

    Every corner (first, second) of an edge has one parent: (first, second - 1), or (first - 1, 0) if second
    is 0. A corner never scores higher than its parent, so candidates are popped in the exact order without
    a set of visited corners.
    """
    found.stack_item[0], found.stack_rank[0] = goal, found.ranked.shape[1] - 1
    depth = 1
    while depth > 0:
        item, rank = found.stack_item[depth - 1], found.stack_rank[depth - 1]
        if is_settled(found, item, rank):
            depth -= 1
            continue
        if found.block[item] == NONE and not visit_item(hypotheses, found, item):
            return
        wanted, wanted_rank = awaited(hypotheses, found, item)
        if wanted != NONE:
            found.stack_item[depth], found.stack_rank[depth] = wanted, wanted_rank
            depth += 1
            continue
        add_successors(hypotheses, found, item)
        if found.counts[0] > found.score.shape[0]:
            return
        next_derivation(hypotheses, rules, found, item)


@leaf_kernel
def visit_item(hypotheses: Hypotheses, found: Derivations, item: int) -> bool:
    """Add the first candidates of an item, one per edge; returns False if a table is full."""
    if found.counts[1] >= found.ranked.shape[0]:
        found.counts[0] = found.score.shape[0] + 1
        return False
    found.block[item] = found.counts[1]
    found.counts[1] += 1
    edge = hypotheses.item_edge[item]
    while edge != NONE:
        add_candidate(hypotheses, found, item, edge, 0, 0)
        edge = hypotheses.edge_next[edge]
    return found.counts[0] <= found.score.shape[0]


@leaf_kernel
def awaited(hypotheses: Hypotheses, found: Derivations, item: int) -> tuple[int, int]:
    """Return an item and a rank that must be settled before this item can continue, or -1 for none."""
    last = found.last[item]
    if last != NONE:
        edge, i, j = found.edge[last], found.first[last], found.second[last]
        first, second = hypotheses.edge_first[edge], hypotheses.edge_second[edge]
        if first != NONE and j == 0 and not is_settled(found, first, i + 1):
            return np.int64(first), np.int64(i + 1)
        if second != NONE and not is_settled(found, second, j + 1):
            return np.int64(second), np.int64(j + 1)
    candidate = found.heap[item]
    if candidate != NONE:
        # higher ranks were settled when the candidate was made
        edge = found.edge[candidate]
        first, second = hypotheses.edge_first[edge], hypotheses.edge_second[edge]
        if first != NONE and found.size[first] == 0:
            return np.int64(first), np.int64(0)
        if second != NONE and found.size[second] == 0:
            return np.int64(second), np.int64(0)
    return np.int64(NONE), np.int64(0)


@leaf_kernel
def add_successors(hypotheses: Hypotheses, found: Derivations, item: int) -> None:
    """Add the neighbours of the last popped candidate."""
    last = found.last[item]
    if last == NONE:
        return
    found.last[item] = NONE
    edge, i, j = found.edge[last], found.first[last], found.second[last]
    first, second = hypotheses.edge_first[edge], hypotheses.edge_second[edge]
    if first != NONE and j == 0 and found.size[first] > i + 1:
        add_candidate(hypotheses, found, item, edge, i + 1, 0)
    if second != NONE and found.size[second] > j + 1:
        add_candidate(hypotheses, found, item, edge, i, j + 1)


@leaf_kernel
def next_derivation(hypotheses: Hypotheses, rules: SentenceRules, found: Derivations, item: int) -> None:
    """Pop the best candidate of an item if its antecedents are settled; keep it if its yield is new."""
    candidate = found.heap[item]
    if candidate == NONE:
        found.exhausted[item] = True
        return
    edge = found.edge[candidate]
    first, second = hypotheses.edge_first[edge], hypotheses.edge_second[edge]
    if (first != NONE and found.size[first] == 0) or (second != NONE and found.size[second] == 0):
        return  # a successor has come to the top since `awaited` looked
    found.heap[item] = meld(found, found.left[candidate], found.right[candidate])
    found.last[item] = candidate
    hash_yield(hypotheses, rules, found, candidate)
    block = found.block[item]
    for i in range(found.size[item]):
        if found.hash[found.ranked[block, i]] == found.hash[candidate]:
            return
    found.ranked[block, found.size[item]] = candidate
    found.size[item] += 1


class Trees(NamedTuple):
    """Derivations and their sub-derivations, one per row.

    Attributes
    ----------
    score
        float64 (rows).
    edge
        int32 (rows): the topmost edge.
    first, second
        int32 (rows): the derivations of its antecedents, -1 for none.
    """

    score: NDArray[np.float64]
    edge: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]


class Best(NamedTuple):
    """The k best derivations of a sentence, best first; offsets have k + 1 elements.

    Attributes
    ----------
    score
        float64 (k).
    model
        float64 (k): language-model log10 probability, including `</s>`.
    rule, rule_offset
        int32, int64: the rules of each derivation (indices into the sentence's rules).
    word, word_offset
        int32, int64: the words of each yield (indices into the shard's vocabulary).
    complete
        False if the pool was too small; then nothing else is valid.
    """

    score: NDArray[np.float64]
    model: NDArray[np.float64]
    rule: NDArray[np.int32]
    rule_offset: NDArray[np.int64]
    word: NDArray[np.int32]
    word_offset: NDArray[np.int64]
    complete: bool


@kernel
def kbest(
    hypotheses: Hypotheses, rules: SentenceRules, table: RuleTable, k: int, pool: int, rows: int
) -> Best:
    """Find the k best derivations of the goal with distinct yields, or fewer if no more exist."""
    items = hypotheses.counts[0]
    found = make_derivations(items, pool, rows, k)
    goal = items - 1
    find_derivations(hypotheses, rules, found, goal)
    complete = found.counts[0] <= pool
    count = found.size[goal] if complete else 0
    wanted = np.empty(count, np.int32)
    for i in range(count):
        wanted[i] = found.ranked[found.block[goal], i]
    trees = Trees(found.score, found.edge, found.first_part, found.second_part)
    return unfold(hypotheses, rules, table, trees, wanted, complete)


@kernel
def unfold(
    hypotheses: Hypotheses,
    rules: SentenceRules,
    table: RuleTable,
    trees: Trees,
    wanted: NDArray[np.int32],
    complete: bool,
) -> Best:
    """Write out the rules and words of some derivations of the goal, given as rows of `trees`, int32 (k)."""
    count = wanted.shape[0]
    score, model = np.zeros(count, np.float64), np.zeros(count, np.float64)
    rule_offset, word_offset = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    rule, word = np.empty(1024, np.int32), np.empty(1024, np.int32)
    # symbols still to be written, the next one on top: words, or derivations as -1 - number
    stack = np.empty(1024, np.int32)
    used_rules, used_words = 0, 0
    for i in range(count):
        score[i] = trees.score[wanted[i]]
        stack[0] = -1 - wanted[i]
        depth = 1
        while depth > 0:
            depth -= 1
            symbol = stack[depth]
            if symbol >= 0:
                if used_words == word.shape[0]:
                    word = doubled(word)
                word[used_words] = symbol
                used_words += 1
                continue
            derivation = -1 - symbol
            edge = trees.edge[derivation]
            model[i] += hypotheses.edge_model[edge]
            first, second = -1 - trees.first[derivation], -1 - trees.second[derivation]
            if hypotheses.edge_rule[edge] == GOAL_RULE:
                stack[depth] = first
                depth += 1
                continue
            if used_rules == rule.shape[0]:
                rule = doubled(rule)
            rule[used_rules] = hypotheses.edge_rule[edge]
            used_rules += 1
            shard_rule = rules.rule[hypotheses.edge_rule[edge]]
            for j in range(table.target_offset[shard_rule + 1] - 1, table.target_offset[shard_rule] - 1, -1):
                target = table.target[j]
                if depth == stack.shape[0]:
                    stack = doubled(stack)
                stack[depth] = first if target == -1 else (second if target == -2 else target)
                depth += 1
        rule_offset[i + 1], word_offset[i + 1] = used_rules, used_words
    return Best(score, model, rule[:used_rules], rule_offset, word[:used_words], word_offset, complete)
