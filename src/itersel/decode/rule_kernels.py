"""The rules of one sentence: scores, language-model states of target sides, and source sides as a trie.

Here and in `forest_kernels`, "X only" means a grammar whose nonterminals are all X, the usual case. Such a
grammar lists no categories.

Shapes: R = rules of the sentence, C = dense features, N = nodes of the trie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.arrays import Bools, Float32s, Float64s, Int32s, Int64s, UInt16s, UInt64s
from itersel.compile.jit import kernel, leaf_kernel
from itersel.grammar.shard_kernels import CATEGORY_S
from itersel.lm.kernels import ModelArrays
from itersel.lm.state_kernels import EMPTY_STATE, States, begin_state, compose, word_state

NONE = -1
SEGMENTS = 3  # target words before, between and behind at most two nonterminals
YIELD_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd: base of the polynomial hash of a yield
YIELD_MIX = np.uint64(0xBF58476D1CE4E5B9)
YIELD_SHIFT = np.uint64(31)
GLUE_START_RULE, GLUE_RULE = 0, 1
NONTERMINAL = -1  # the trie's edge of an X; other categories have -2, -3, ...
SYMBOL_MASK = (1 << 32) - 1
TRIE_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
TRIE_SHIFT = np.uint64(32)


class ShardRules(NamedTuple):
    """The rules of a shard, as arrays for the kernels; shapes as in `itersel.grammar.shard.Shard`."""

    source: Int32s
    source_offset: Int64s
    target: Int32s
    target_offset: Int64s
    feature: Int32s
    feature_value: Float32s
    feature_offset: Int64s
    model_word: Int32s  # (words of the shard): number in the language model, 0 if it is unknown
    category: UInt16s


class SentenceRules(NamedTuple):
    """The rules of one sentence, beginning with the two glue rules."""

    rule: Int32s  # (R): row of the `ShardRules`
    dense: Float64s  # (R, C): all dense features; the language-model column is zero
    score: Float64s  # (R): weighted sum of the features, without the language model
    # (R): the score plus the weighted language-model score of the target words without context
    estimate: Float64s
    # (R, 3): language-model states of the target words before, between and after the nonterminals
    state: Int64s
    inside: Float64s  # (R): log10 probability of these words without context
    swapped: Bools  # (R): the nonterminals are swapped on the target side
    hash: UInt64s  # (R, 3): hashes of these words
    power: UInt64s  # (R, 3): the hash base to the power of their number


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


def make_sentence_rules(rule: Int32s, dense: Float64s) -> SentenceRules:
    """Allocate the arrays that the kernels below fill."""
    count = rule.shape[0]
    return SentenceRules(
        rule=rule,
        dense=dense,
        score=np.zeros(count),
        estimate=np.zeros(count),
        state=np.zeros((count, SEGMENTS), np.int64),
        inside=np.zeros(count),
        swapped=np.zeros(count, np.bool_),
        hash=np.zeros((count, SEGMENTS), np.uint64),
        power=np.ones((count, SEGMENTS), np.uint64),
    )


@kernel
def score_rules(
    table: ShardRules, rules: SentenceRules, dense_weight: Float64s, sparse_weight: Float64s
) -> None:
    """Fill in `score`: dense and sparse features times their weights, summed in feature order."""
    columns = dense_weight.shape[0]
    for i in range(rules.rule.shape[0]):
        total = 0.0
        for column in range(columns):
            total += rules.dense[i, column] * dense_weight[column]
        rule = rules.rule[i]
        for j in range(table.feature_offset[rule], table.feature_offset[rule + 1]):
            total += sparse_weight[table.feature[j]] * table.feature_value[j]
        rules.score[i] = total


@leaf_kernel
def word_hash(word: int) -> np.uint64:
    """Spread a word number over 64 bits."""
    mixed = (np.uint64(word) + np.uint64(1)) * YIELD_MIX
    return (mixed ^ (mixed >> YIELD_SHIFT)) * YIELD_BASE


@kernel
def state_rules(
    table: ShardRules,
    rules: SentenceRules,
    model: ModelArrays,
    states: States,
    begin_of_sentence: int,
    model_weight: float,
) -> None:
    """Fill in `state`, `inside`, `swapped`, `hash`, `power` and `estimate`.

    If all nonterminals are X, every derivation begins with the rule [S] -> [X]. Its first segment is `<s>`,
    so every item of the glue category knows its left context. With other categories, `begin_of_sentence` is
    negative, and the goal adds `<s>`.
    """
    # of single words, when they are known
    word_states = np.full(table.model_word.shape[0], EMPTY_STATE, np.int64)
    for i in range(rules.rule.shape[0]):
        rule = rules.rule[i]
        segment, state, inside = 0, np.int64(EMPTY_STATE), 0.0
        value, power = np.uint64(0), np.uint64(1)
        if i == GLUE_START_RULE and begin_of_sentence >= 0:
            state = begin_state(model, states, begin_of_sentence)
        for j in range(table.target_offset[rule], table.target_offset[rule + 1]):
            symbol = table.target[j]
            if symbol < 0:
                if segment == 0:
                    rules.swapped[i] = symbol == -2
                rules.state[i, segment] = state
                rules.hash[i, segment], rules.power[i, segment] = value, power
                segment, state = segment + 1, np.int64(EMPTY_STATE)
                value, power = np.uint64(0), np.uint64(1)
                continue
            word = table.model_word[symbol]
            if word_states[symbol] == EMPTY_STATE:
                word_states[symbol] = word_state(model, states, word)
            state, change = compose(model, states, state, word_states[symbol])
            inside += model.unigram[word, 0] + change
            value = value * YIELD_BASE + word_hash(symbol)
            power *= YIELD_BASE
        rules.state[i, segment] = state
        rules.hash[i, segment], rules.power[i, segment] = value, power
        rules.inside[i] = inside
        rules.estimate[i] = rules.score[i] + model_weight * inside


@leaf_kernel
def trie_key(node: int, symbol: int) -> int:
    """Return the key of an edge of the trie."""
    return (np.int64(node) << 32) | ((np.int64(symbol) + 1) & SYMBOL_MASK)


@leaf_kernel
def trie_slot(key: Int64s, node: int, symbol: int) -> int:
    """Return the slot of (node, symbol) in the hash table, or the free slot where it belongs."""
    wanted = trie_key(node, symbol)
    mask = key.shape[0] - 1
    place = np.int64(((np.uint64(wanted) * TRIE_MULTIPLIER) >> TRIE_SHIFT) & np.uint64(mask))
    while key[place] != -1 and key[place] != wanted:
        place = (place + 1) & mask
    return place


@kernel
def build_trie(table: ShardRules, rule: Int32s) -> Trie:
    """Build a trie from the source sides of a sentence's rules.

    `rule` begins with the glue rules, which are not matched against words and get the last two nodes.
    """
    x_only = table.category.shape[0] == 0
    symbols = 0
    for i in range(rule.shape[0]):
        symbols += table.source_offset[rule[i] + 1] - table.source_offset[rule[i]]
    capacity = 16
    while capacity < 2 * symbols:
        capacity *= 2
    key = np.full(capacity, -1, np.int64)
    child = np.zeros(capacity, np.int32)
    # one node for each symbol and each left-hand side at most, and the root
    room = symbols + rule.shape[0] + 1
    takes_nonterminal = np.zeros(room, np.bool_)
    room = 0 if x_only else room
    category, other = np.full(room, NONE, np.int32), np.full(room, NONE, np.int32)
    end_node = np.empty(rule.shape[0], np.int32)
    nodes = 1
    for i in range(2, rule.shape[0]):
        node = 0
        for j in range(table.source_offset[rule[i]], table.source_offset[rule[i] + 1]):
            symbol = np.int64(table.source[j])
            if symbol < 0:
                symbol = NONTERMINAL if x_only else NONTERMINAL - np.int64(table.category[rule[i], -symbol])
            place = trie_slot(key, node, symbol)
            if key[place] == -1:
                key[place] = trie_key(node, symbol)
                child[place] = nodes
                takes_nonterminal[node] |= symbol < 0
                nodes += 1
            node = child[place]
        if not x_only:
            left = np.int32(table.category[rule[i], 0])
            while category[node] != left and other[node] != NONE:
                node = other[node]
            if category[node] != NONE and category[node] != left:
                other[node] = nodes
                node = nodes
                nodes += 1
            category[node] = left
        end_node[i] = node
    end_node[GLUE_START_RULE] = nodes
    end_node[GLUE_RULE] = nodes + 1
    nodes += 2
    if not x_only:
        category[nodes - 2 : nodes] = CATEGORY_S
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
    return Trie(key, child, offset, grouped, takes_nonterminal, category, other)
