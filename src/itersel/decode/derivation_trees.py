"""Derivations of translations: trees of rules with scores and features, which imply a word alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from itersel.decode.decoder import Decoder
from itersel.decode.translations import KBest, SentenceForest, WeightVectors
from itersel.storage.arrays import Int32s

FEATURES = 6  # maximum number of features shown for a rule


class Node(NamedTuple):
    """A rule in a derivation."""

    depth: int  # 0 for the root
    # words, or -1 and -2 for the first and second nonterminal of the source side
    source: tuple[str | int, ...]
    target: tuple[str | int, ...]
    begin: int  # of its span of source words
    end: int
    score: float  # sum of the weighted features, without the language model
    features: tuple[tuple[str, float], ...]  # names and weighted values of those that contribute most


class Derivation(NamedTuple):
    """A derivation of a sentence."""

    nodes: tuple[Node, ...]  # rules in pre-order; the children of a rule are in source order
    words: tuple[str, ...]
    links: tuple[tuple[int, int], ...]  # word alignment, source-target, from 0, sorted
    score: float
    lm: float  # contribution of the language model to the score


class _Subtree(NamedTuple):
    """A rule (its number in the sentence), its sides, and the parts in its nonterminals, in source order."""

    number: int
    source: list[int]
    target: list[int]
    children: tuple[_Subtree, ...]
    source_length: int
    target_length: int


def derive_all(
    decoder: Decoder, sentence: int, weights: WeightVectors, words: Sequence[str], k: int
) -> tuple[KBest, list[Derivation]]:
    """Find the k best translations of a sentence and their derivations; `words` is the vocabulary."""
    forest = decoder.forest(sentence, weights, k)
    if forest is None:
        return decoder.no_words(), [Derivation((), (), (), 0.0, 0.0)]

    kbest = decoder.translations(forest)
    return kbest, [_derivation(decoder, forest, rank, weights, words) for rank in range(kbest.score.shape[0])]


def _derivation(
    decoder: Decoder, forest: SentenceForest, rank: int, weights: WeightVectors, words: Sequence[str]
) -> Derivation:
    grammars = decoder.grammars
    best = forest.best
    nodes: list[Node] = []
    links: list[tuple[int, int]] = []
    root = _tree(forest, best.rule[slice(*best.rule_offset[rank : rank + 2])])

    # parts with their depth and the positions where their source and target begin
    waiting = [(root, 0, 0, 0)]
    while waiting:
        part, depth, begin, output = waiting.pop()
        source = _offsets(part.source, begin, [one.source_length for one in part.children])
        target = _offsets(part.target, output, [one.target_length for one in part.children])
        for gap, child in reversed([*enumerate(part.children, 1)]):
            places = source[part.source.index(-gap)], target[part.target.index(-gap)]
            waiting.append((child, depth + 1, *places))

        rule = forest.rules.rule[part.number]
        points = grammars.rule_alignment[slice(*grammars.rule_alignment_offset[rule : rule + 2])]
        links += [(source[i], target[j]) for i, j in points.tolist()]

        source_side, target_side = (
            tuple(words[symbol] if symbol >= 0 else symbol for symbol in side)
            for side in (part.source, part.target)
        )

        score = float(forest.rules.score[part.number])
        features = _largest(decoder, forest, part.number, weights)
        end = begin + part.source_length
        nodes.append(
            Node(
                depth=depth,
                source=source_side,
                target=target_side,
                begin=begin,
                end=end,
                score=score,
                features=features,
            )
        )

    text = tuple(words[word] for word in best.word[slice(*best.word_offset[rank : rank + 2])])
    lm = forest.lm_weight * float(best.lm[rank])
    return Derivation(tuple(nodes), text, tuple(sorted(links)), float(best.score[rank]), lm)


def _tree(forest: SentenceForest, rules: Int32s) -> _Subtree:
    """Build a tree from rules in pre-order, with children in target order.

    Rules are processed from last to first, so deep trees need no recursion.
    """
    rule_table = forest.rule_table
    waiting: list[_Subtree] = []
    for number in rules[::-1].tolist():
        rule = int(forest.rules.rule[number])
        source = rule_table.source[slice(*rule_table.source_offset[rule : rule + 2])].tolist()
        target = rule_table.target[slice(*rule_table.target_offset[rule : rule + 2])].tolist()

        parts = {-symbol: waiting.pop() for symbol in target if symbol < 0}
        children = tuple(parts[gap] for gap in sorted(parts))
        lengths = (
            len(source) - len(parts) + sum(one.source_length for one in children),
            len(target) - len(parts) + sum(one.target_length for one in children),
        )
        waiting.append(_Subtree(number, source, target, children, *lengths))

    (root,) = waiting
    return root


def _offsets(symbols: Sequence[int], begin: int, lengths: Sequence[int]) -> list[int]:
    """Return where each symbol of a side begins; `lengths` are the numbers of words in its nonterminals."""
    offsets = []
    place = begin
    for symbol in symbols:
        offsets.append(place)
        place += lengths[-symbol - 1] if symbol < 0 else 1
    return offsets


def _largest(
    decoder: Decoder, forest: SentenceForest, number: int, weights: WeightVectors
) -> tuple[tuple[str, float], ...]:
    """Return the weighted features that contribute most to a rule's score, by magnitude, then by name."""
    dense = forest.rules.dense[number] * weights.dense
    weighted = dict(zip(decoder.dense_names, dense.tolist(), strict=True))
    rule_table = forest.rule_table
    rule = forest.rules.rule[number]
    row = slice(*rule_table.feature_offset[rule : rule + 2])
    values = rule_table.feature_value[row] * weights.sparse[rule_table.feature[row]]
    for feature, value in zip(rule_table.feature[row].tolist(), values.tolist(), strict=True):
        weighted[decoder.grammars.feature_name.get(feature)] = value
    order = sorted((item for item in weighted.items() if item[1]), key=lambda item: (-abs(item[1]), item[0]))
    return tuple(order[:FEATURES])
