"""The rules of one sentence: their scores, and the language-model states of their target sides.

Here, in `trie_kernels` and in `parse_kernels`, "X only" means a grammar whose nonterminals are all X, the
usual case. Such a grammar lists no categories.

Shapes: R = rules of the sentence, C = dense features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itersel.compile.jit import kernel, leaf_kernel
from itersel.grammar.grammar_kernels import GLUE_START_ROW
from itersel.lm.compose_kernels import compose
from itersel.lm.lookup_kernels import ModelArrays
from itersel.lm.state_kernels import EMPTY_STATE, States, begin_state, word_state
from itersel.storage.arrays import Bools, Float32s, Float64s, Int32s, Int64s, UInt16s, UInt64s
from itersel.storage.hash_kernels import GOLDEN_RATIO

# In the place of the number of an item, edge, node or candidate.
MISSING = -1
SEGMENTS = 3  # target words before, between and after at most two nonterminals
YIELD_BASE = GOLDEN_RATIO  # odd: base of the polynomial hash of a yield
YIELD_MIX = np.uint64(0xBF58476D1CE4E5B9)
YIELD_SHIFT = np.uint64(31)


class RuleTable(NamedTuple):
    """The rules of all grammars, for the kernels; shapes as in `itersel.grammar.sentence_grammars`."""

    source: Int32s
    source_offset: Int64s
    target: Int32s
    target_offset: Int64s
    feature: Int32s
    feature_value: Float32s
    feature_offset: Int64s
    lm_word: Int32s  # (words of the vocabulary): number in the language model, 0 if it is unknown
    category: UInt16s


class SentenceRules(NamedTuple):
    """The rules of one sentence, beginning with the two glue rules."""

    rule: Int32s  # (R): row of the `RuleTable`
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
    rule_table: RuleTable, rules: SentenceRules, dense_weight: Float64s, sparse_weight: Float64s
) -> None:
    """Fill in `score`: dense and sparse features times their weights, summed in feature order."""
    columns = dense_weight.shape[0]
    for i in range(rules.rule.shape[0]):
        total = 0.0
        for column in range(columns):
            total += rules.dense[i, column] * dense_weight[column]

        rule = rules.rule[i]
        for j in range(rule_table.feature_offset[rule], rule_table.feature_offset[rule + 1]):
            total += sparse_weight[rule_table.feature[j]] * rule_table.feature_value[j]
        rules.score[i] = total


@leaf_kernel
def word_hash(word: int) -> np.uint64:
    """Spread a word number over 64 bits."""
    mixed = (np.uint64(word) + np.uint64(1)) * YIELD_MIX
    return (mixed ^ (mixed >> YIELD_SHIFT)) * YIELD_BASE


@kernel
def state_rules(
    rule_table: RuleTable,
    rules: SentenceRules,
    model: ModelArrays,
    states: States,
    begin_of_sentence: int,
    lm_weight: float,
) -> None:
    """Fill in `state`, `inside`, `swapped`, `hash`, `power` and `estimate`.

    If all nonterminals are X, every derivation begins with the rule [S] -> [X]. Its first segment is `<s>`,
    so every item of the glue category knows its left context. With other categories, `begin_of_sentence` is
    negative, and the goal adds `<s>`.
    """
    # of single words, when they are known
    word_states = np.full(rule_table.lm_word.shape[0], EMPTY_STATE, np.int64)

    for i in range(rules.rule.shape[0]):
        rule = rules.rule[i]
        segment = 0
        state = np.int64(EMPTY_STATE)
        inside = 0.0
        value = np.uint64(0)
        power = np.uint64(1)

        if i == GLUE_START_ROW and begin_of_sentence >= 0:
            state = begin_state(model, states, begin_of_sentence)

        for j in range(rule_table.target_offset[rule], rule_table.target_offset[rule + 1]):
            symbol = rule_table.target[j]
            if symbol < 0:
                if segment == 0:
                    rules.swapped[i] = symbol == -2

                rules.state[i, segment] = state
                rules.hash[i, segment] = value
                rules.power[i, segment] = power

                segment += 1
                state = np.int64(EMPTY_STATE)
                value = np.uint64(0)
                power = np.uint64(1)
                continue

            word = rule_table.lm_word[symbol]
            if word_states[symbol] == EMPTY_STATE:
                word_states[symbol] = word_state(model, states, word)

            state, change = compose(model, states, state, word_states[symbol])
            inside += model.unigram[word, 0] + change

            value = value * YIELD_BASE + word_hash(symbol)
            power *= YIELD_BASE

        rules.state[i, segment] = state
        rules.hash[i, segment] = value
        rules.power[i, segment] = power

        rules.inside[i] = inside
        rules.estimate[i] = rules.score[i] + lm_weight * inside
