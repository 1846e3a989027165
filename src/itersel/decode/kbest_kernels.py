"""Lazy k-best derivations with distinct yields (Huang and Chiang 2005, algorithm 3).

Duplicates are removed at every item: parts with equal yields only lead to derivations with equal yields.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.decode.hypothesis_kernels import GOAL_RULE, Hypotheses
from itersel.decode.scoring_kernels import MISSING, RuleTable, SentenceRules
from itersel.grammar.array_kernels import doubled
from itersel.storage.arrays import Bools, Float64s, Int32s, Int64s, UInt64s


class Derivations(NamedTuple):
    """Candidates and derivations of all visited items."""

    score: Float64s  # (pool)
    edge: Int32s  # (pool)
    first: Int32s  # (pool): the ranks of the antecedents' derivations
    second: Int32s
    # (pool): for a popped candidate, the antecedents' derivations; -1 for none
    first_part: Int32s
    second_part: Int32s
    left: Int32s  # (pool): links of the skew heap of candidates
    right: Int32s
    hash: UInt64s  # (pool): hash of a derivation's yield
    power: UInt64s  # (pool): the hash base to the power of the yield's length
    heap: Int32s  # (items): root of the heap of candidates
    last: Int32s  # (items): the candidate whose successors have not been added yet
    block: Int32s  # (items): row in `ranked`, -1 before the first visit
    size: Int32s  # (items): number of derivations found
    exhausted: Bools  # (items): no derivations are left
    ranked: Int32s  # (visited items, k): derivations, best first
    # (items + 1): the items in progress, and the rank that each must reach
    stack_item: Int32s
    stack_rank: Int32s
    counts: Int64s  # (2): number of pool entries and rows in use


class Trees(NamedTuple):
    """Derivations and their sub-derivations, one per row."""

    score: Float64s
    edge: Int32s  # the topmost edge
    first: Int32s  # the rows of its antecedents' derivations, -1 for none
    second: Int32s


class Best(NamedTuple):
    """The k best derivations of a sentence, best first; offsets have k + 1 elements."""

    score: Float64s  # (k)
    lm: Float64s  # (k): language-model log10 probability, including `</s>`
    rule: Int32s  # the rules of each derivation (indices into the sentence's rules)
    rule_offset: Int64s
    word: Int32s  # the words of each yield (numbers in the vocabulary of the grammars)
    word_offset: Int64s


@leaf_kernel
def before(derivations: Derivations, a: int, b: int) -> bool:
    """Whether candidate a precedes b: the higher score, else the older one."""
    return derivations.score[a] > derivations.score[b] or (
        derivations.score[a] == derivations.score[b] and a < b
    )


@leaf_kernel
def meld(derivations: Derivations, a: int, b: int) -> int:
    """Join two skew heaps (Sleator and Tarjan 1986), top-down."""
    if a == MISSING:
        return b
    if b == MISSING:
        return a
    if before(derivations, b, a):
        a, b = b, a

    root = a
    while True:
        # what was on the left goes to the right; what is melded goes to the left
        rest = derivations.right[a]
        derivations.right[a] = derivations.left[a]
        if rest == MISSING:
            derivations.left[a] = b
            return root

        if before(derivations, b, rest):
            rest, b = b, rest
        derivations.left[a] = rest
        a = rest


@leaf_kernel
def add_candidate(
    hypotheses: Hypotheses, derivations: Derivations, item: int, edge: int, first: int, second: int
) -> None:
    """Put a candidate into the heap of an item. If the pool is full, do nothing: `kbest` checks for that."""
    candidate = derivations.counts[0]
    derivations.counts[0] = candidate + 1
    if candidate >= derivations.score.shape[0]:
        return

    score = hypotheses.edge_score[edge]
    if first > 0:
        antecedent = hypotheses.edge_first[edge]
        score -= hypotheses.item_score[antecedent]
        score += derivations.score[derivations.ranked[derivations.block[antecedent], first]]
    if second > 0:
        antecedent = hypotheses.edge_second[edge]
        score -= hypotheses.item_score[antecedent]
        score += derivations.score[derivations.ranked[derivations.block[antecedent], second]]

    derivations.score[candidate] = score
    derivations.edge[candidate] = edge
    derivations.first[candidate] = first
    derivations.second[candidate] = second
    derivations.left[candidate] = MISSING
    derivations.right[candidate] = MISSING

    derivations.heap[item] = meld(derivations, derivations.heap[item], candidate)


@leaf_kernel
def hash_yield(
    hypotheses: Hypotheses, rules: SentenceRules, derivations: Derivations, candidate: int
) -> None:
    """Fill in the parts, hash and power of a candidate whose antecedents' derivations are known."""
    edge = derivations.edge[candidate]
    first = hypotheses.edge_first[edge]
    second = hypotheses.edge_second[edge]
    rule = hypotheses.edge_rule[edge]

    a = MISSING
    b = MISSING
    if first != MISSING:
        a = derivations.ranked[derivations.block[first], derivations.first[candidate]]
    if second != MISSING:
        b = derivations.ranked[derivations.block[second], derivations.second[candidate]]

    derivations.first_part[candidate] = a
    derivations.second_part[candidate] = b

    if rule == GOAL_RULE:
        derivations.hash[candidate] = derivations.hash[a]
        derivations.power[candidate] = derivations.power[a]
        return

    if rules.swapped[rule]:
        a, b = b, a

    # the words of the rule, with the yields of the antecedents in place of the nonterminals
    value = rules.hash[rule, 0]
    power = rules.power[rule, 0]

    if a != MISSING:
        value = value * derivations.power[a] + derivations.hash[a]
        value = value * rules.power[rule, 1] + rules.hash[rule, 1]
        power *= derivations.power[a] * rules.power[rule, 1]

    if b != MISSING:
        value = value * derivations.power[b] + derivations.hash[b]
        value = value * rules.power[rule, 2] + rules.hash[rule, 2]
        power *= derivations.power[b] * rules.power[rule, 2]

    derivations.hash[candidate] = value
    derivations.power[candidate] = power


@leaf_kernel
def is_settled(derivations: Derivations, item: int, rank: int) -> bool:
    """Whether an item's derivation of this rank has been found, or is known not to exist."""
    return derivations.size[item] > rank or derivations.exhausted[item] or rank >= derivations.ranked.shape[1]


@leaf_kernel
def find_derivations(
    hypotheses: Hypotheses, rules: SentenceRules, derivations: Derivations, goal: int
) -> None:
    """Find all k derivations of the goal, and those of other items that they need.

    An explicit stack holds the items in progress, because numba breaks recursive functions when it loads
    them from its cache (numba issue 6061).

    Every corner (first, second) of an edge has one parent: (first, second - 1), or (first - 1, 0) if second
    is 0. A corner never scores higher than its parent, so candidates are popped in the exact order without
    a set of visited corners.
    """
    derivations.stack_item[0] = goal
    derivations.stack_rank[0] = derivations.ranked.shape[1] - 1
    depth = 1

    while depth > 0:
        item = derivations.stack_item[depth - 1]
        rank = derivations.stack_rank[depth - 1]
        if is_settled(derivations, item, rank):
            depth -= 1
            continue

        if derivations.block[item] == MISSING and not visit_item(hypotheses, derivations, item):
            return

        wanted, wanted_rank = awaited(hypotheses, derivations, item)
        if derivations.counts[0] > derivations.score.shape[0]:
            return

        if wanted != MISSING:
            derivations.stack_item[depth] = wanted
            derivations.stack_rank[depth] = wanted_rank
            depth += 1
            continue

        next_derivation(hypotheses, rules, derivations, item)


@leaf_kernel
def visit_item(hypotheses: Hypotheses, derivations: Derivations, item: int) -> bool:
    """Add the first candidates of an item, one per edge; returns False if a table is full."""
    if derivations.counts[1] >= derivations.ranked.shape[0]:
        derivations.counts[0] = derivations.score.shape[0] + 1
        return False

    derivations.block[item] = derivations.counts[1]
    derivations.counts[1] += 1

    edge = hypotheses.item_edge[item]
    while edge != MISSING:
        add_candidate(hypotheses, derivations, item, edge, 0, 0)
        edge = hypotheses.edge_next[edge]

    return derivations.counts[0] <= derivations.score.shape[0]


@leaf_kernel
def awaited(hypotheses: Hypotheses, derivations: Derivations, item: int) -> tuple[int, int]:
    """Return an item and a rank that must be settled before this item can continue, or -1 for none.

    Adds the neighbours of the last popped candidate once they can be scored.
    """
    last = derivations.last[item]
    if last != MISSING:
        edge = derivations.edge[last]
        i = derivations.first[last]
        j = derivations.second[last]
        first = hypotheses.edge_first[edge]
        second = hypotheses.edge_second[edge]

        # a corner with j > 0 is not the parent of (i + 1, j), see `find_derivations`
        moves_first = first != MISSING and j == 0
        if moves_first and not is_settled(derivations, first, i + 1):
            return np.int64(first), np.int64(i + 1)
        if second != MISSING and not is_settled(derivations, second, j + 1):
            return np.int64(second), np.int64(j + 1)

        derivations.last[item] = MISSING
        if moves_first and derivations.size[first] > i + 1:
            add_candidate(hypotheses, derivations, item, edge, i + 1, 0)
        if second != MISSING and derivations.size[second] > j + 1:
            add_candidate(hypotheses, derivations, item, edge, i, j + 1)

    candidate = derivations.heap[item]
    if candidate != MISSING:
        # higher ranks were settled when the candidate was made
        edge = derivations.edge[candidate]
        first = hypotheses.edge_first[edge]
        second = hypotheses.edge_second[edge]

        if first != MISSING and derivations.size[first] == 0:
            return np.int64(first), np.int64(0)
        if second != MISSING and derivations.size[second] == 0:
            return np.int64(second), np.int64(0)

    return np.int64(MISSING), np.int64(0)


@leaf_kernel
def next_derivation(
    hypotheses: Hypotheses, rules: SentenceRules, derivations: Derivations, item: int
) -> None:
    """Pop the best candidate of an item, whose antecedents are settled; keep it if its yield is new."""
    candidate = derivations.heap[item]
    if candidate == MISSING:
        derivations.exhausted[item] = True
        return

    derivations.heap[item] = meld(derivations, derivations.left[candidate], derivations.right[candidate])
    derivations.last[item] = candidate
    hash_yield(hypotheses, rules, derivations, candidate)

    block = derivations.block[item]
    for i in range(derivations.size[item]):
        if derivations.hash[derivations.ranked[block, i]] == derivations.hash[candidate]:
            return

    derivations.ranked[block, derivations.size[item]] = candidate
    derivations.size[item] += 1


@kernel
def kbest(
    hypotheses: Hypotheses, rules: SentenceRules, rule_table: RuleTable, k: int, pool: int, rows: int
) -> Best:
    """Find the k best derivations of the goal with distinct yields, or fewer if no more exist.

    There are none at all if the tables, for `pool` candidates and `rows` visited items, are too small.
    """
    items = hypotheses.counts[0]
    derivations = Derivations(
        np.empty(pool, np.float64), np.empty(pool, np.int32), np.empty(pool, np.int32),
        np.empty(pool, np.int32), np.empty(pool, np.int32), np.empty(pool, np.int32),
        np.empty(pool, np.int32), np.empty(pool, np.int32), np.empty(pool, np.uint64),
        np.empty(pool, np.uint64), np.full(items, MISSING, np.int32), np.full(items, MISSING, np.int32),
        np.full(items, MISSING, np.int32), np.zeros(items, np.int32), np.zeros(items, np.bool_),
        np.empty((rows, k), np.int32), np.empty(items + 1, np.int32), np.empty(items + 1, np.int32),
        np.zeros(2, np.int64),
    )  # fmt: skip

    goal = items - 1
    find_derivations(hypotheses, rules, derivations, goal)
    count = derivations.size[goal] if derivations.counts[0] <= pool else 0

    wanted = np.empty(count, np.int32)
    for i in range(count):
        wanted[i] = derivations.ranked[derivations.block[goal], i]

    trees = Trees(derivations.score, derivations.edge, derivations.first_part, derivations.second_part)
    return unfold(hypotheses, rules, rule_table, trees, wanted)


@kernel
def push_target(
    stack: Int32s, depth: int, rule_table: RuleTable, row: int, first: int, second: int
) -> tuple[Int32s, int]:
    """Push the target side of a rule, its first symbol last; `first` and `second` are its nonterminals."""
    for j in range(rule_table.target_offset[row + 1] - 1, rule_table.target_offset[row] - 1, -1):
        target = rule_table.target[j]
        if depth == stack.shape[0]:
            stack = doubled(stack)

        if target == -1:
            stack[depth] = first
        elif target == -2:
            stack[depth] = second
        else:
            stack[depth] = target
        depth += 1
    return stack, depth


@kernel
def unfold(
    hypotheses: Hypotheses, rules: SentenceRules, rule_table: RuleTable, trees: Trees, wanted: Int32s
) -> Best:
    """Write out the rules and words of some derivations of the goal, given as rows of `trees`, int32 (k)."""
    count = wanted.shape[0]
    score = np.zeros(count, np.float64)
    lm = np.zeros(count, np.float64)
    rule_offset = np.zeros(count + 1, np.int64)
    word_offset = np.zeros(count + 1, np.int64)
    rule = np.empty(1024, np.int32)
    word = np.empty(1024, np.int32)
    used_rules = 0
    used_words = 0
    # symbols still to be written, the next one on top: words, or derivations as -1 - number
    stack = np.empty(1024, np.int32)

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
            lm[i] += hypotheses.edge_lm[edge]
            first = -1 - trees.first[derivation]
            second = -1 - trees.second[derivation]

            if hypotheses.edge_rule[edge] == GOAL_RULE:
                stack[depth] = first
                depth += 1
                continue

            if used_rules == rule.shape[0]:
                rule = doubled(rule)
            rule[used_rules] = hypotheses.edge_rule[edge]
            used_rules += 1

            row = rules.rule[hypotheses.edge_rule[edge]]
            stack, depth = push_target(stack, depth, rule_table, row, first, second)

        rule_offset[i + 1] = used_rules
        word_offset[i + 1] = used_words

    return Best(score, lm, rule[:used_rules], rule_offset, word[:used_words], word_offset)
