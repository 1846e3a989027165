"""The best derivations of a sentence as trees of rules with scores, and their word alignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.decoder import Decoder, KBest
from itersel.decode.derivations import SentenceForest
from itersel.grammar.shard import Shard

FEATURES = 6  # maximum number of features shown for a rule


class Node(NamedTuple):
    """A rule in a derivation.

    Attributes
    ----------
    depth
        0 for the root.
    source, target
        Symbols: words, or -1 and -2 for the first and second nonterminal of the source side.
    begin, end
        Its span of source words.
    score
        Sum of the weighted features, without the language model.
    features
        Names and weighted values of the features that contribute most to the score.
    """

    depth: int
    source: tuple[str | int, ...]
    target: tuple[str | int, ...]
    begin: int
    end: int
    score: float
    features: tuple[tuple[str, float], ...]


class Derivation(NamedTuple):
    """A derivation of a sentence.

    Attributes
    ----------
    nodes
        Rules in pre-order; the children of a rule are in source order.
    words
        Words of the translation.
    links
        Word alignment, source-target, from 0, sorted.
    score
        Model score.
    model
        Contribution of the language model to the score.
    """

    nodes: tuple[Node, ...]
    words: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    score: float
    model: float


class _Part(NamedTuple):
    """A rule, by its number in the sentence and in the shard, and the parts in its nonterminals, in order."""

    number: int
    rule: int
    children: tuple[_Part, ...]
    source_length: int
    target_length: int


def derive(
    decoder: Decoder,
    sentence: int,
    dense: NDArray[np.float64],
    sparse: NDArray[np.float64],
    words: Sequence[str],
) -> Derivation:
    """Translate a sentence, and return its best derivation; see `derive_all`."""
    return derive_all(decoder, sentence, dense, sparse, words, 1)[1][0]


def derive_all(
    decoder: Decoder,
    sentence: int,
    dense: NDArray[np.float64],
    sparse: NDArray[np.float64],
    words: Sequence[str],
    k: int,
) -> tuple[KBest, list[Derivation]]:
    """Find the k best translations of a sentence and their derivations.

    Parameters
    ----------
    decoder, sentence, dense, sparse, k
        See `itersel.decode.decoder.Decoder.decode`.
    words
        The vocabulary of the shard.
    """
    seen: list[SentenceForest] = []

    def look(forest: SentenceForest) -> tuple[()]:
        seen.append(forest)
        return ()

    found = decoder.decode(sentence, dense, sparse, k, look)
    if not seen:
        # a sentence without words
        return found, [Derivation((), (), (), float(found.score[0]), 0.0)]
    [forest] = seen
    weights = dense, sparse
    return found, [_derivation(decoder, forest, rank, weights, words) for rank in range(found.score.shape[0])]


def _derivation(
    decoder: Decoder,
    forest: SentenceForest,
    rank: int,
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    words: Sequence[str],
) -> Derivation:
    best = forest.best
    root = _tree(decoder.shard, forest, best.rule[slice(*best.rule_offset[rank : rank + 2])])
    nodes, links = [], []
    for part, depth, begin, output in _walk(decoder.shard, root):
        nodes.append(_node(decoder, forest, part, depth, begin, weights, words))
        links += _links(decoder.shard, part, begin, output)
    target = tuple(words[word] for word in best.word[slice(*best.word_offset[rank : rank + 2])])
    model = forest.model_weight * float(best.model[rank])
    return Derivation(tuple(nodes), target, tuple(sorted(links)), float(best.score[rank]), model)


def _tree(shard: Shard, forest: SentenceForest, rules: NDArray[np.int32]) -> _Part:
    """Build a tree from rules in pre-order, with children in target order.

    Rules are processed from last to first, so deep trees need no recursion.
    """
    waiting: list[_Part] = []
    for number in rules[::-1].tolist():
        rule = int(forest.rules.rule[number])
        source, target = _sides(shard, rule)
        gaps = [-symbol for symbol in target if symbol < 0]
        parts = {gap: waiting.pop() for gap in gaps}
        children = tuple(parts[gap] for gap in sorted(parts))
        lengths = (
            sum(symbol >= 0 for symbol in source) + sum(one.source_length for one in children),
            sum(symbol >= 0 for symbol in target) + sum(one.target_length for one in children),
        )
        waiting.append(_Part(number, rule, children, *lengths))
    (root,) = waiting
    return root


def _walk(shard: Shard, root: _Part) -> Iterator[tuple[_Part, int, int, int]]:
    """Yield each part with its depth and the positions where its source and target begin."""
    waiting = [(root, 0, 0, 0)]
    while waiting:
        part, depth, begin, output = waiting.pop()
        yield part, depth, begin, output
        source, target = _sides(shard, part.rule)
        begins, outputs = _places(shard, part, begin, output)
        for gap, child in reversed([*enumerate(part.children, 1)]):
            waiting.append((child, depth + 1, begins[source.index(-gap)], outputs[target.index(-gap)]))


def _places(shard: Shard, part: _Part, begin: int, output: int) -> tuple[list[int], list[int]]:
    """Return the positions in the sentences where the symbols of the source and target sides begin."""
    source, target = _sides(shard, part.rule)
    return (
        _offsets(source, begin, [one.source_length for one in part.children]),
        _offsets(target, output, [one.target_length for one in part.children]),
    )


def _offsets(symbols: Sequence[int], begin: int, lengths: Sequence[int]) -> list[int]:
    """Return where each symbol of a side begins; `lengths` are the numbers of words in its nonterminals."""
    found, place = [], begin
    for symbol in symbols:
        found.append(place)
        place += lengths[-symbol - 1] if symbol < 0 else 1
    return found


def _links(shard: Shard, part: _Part, begin: int, output: int) -> list[tuple[int, int]]:
    source, target = _places(shard, part, begin, output)
    points = shard.rule_alignment[slice(*shard.rule_alignment_offset[part.rule : part.rule + 2])]
    return [(source[i], target[j]) for i, j in points.tolist()]


def _node(
    decoder: Decoder,
    forest: SentenceForest,
    part: _Part,
    depth: int,
    begin: int,
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    words: Sequence[str],
) -> Node:
    source, target = (
        tuple(words[symbol] if symbol >= 0 else symbol for symbol in side)
        for side in _sides(decoder.shard, part.rule)
    )
    return Node(
        depth,
        source,
        target,
        begin,
        begin + part.source_length,
        float(forest.rules.score[part.number]),
        _largest(decoder, forest, part, weights),
    )


def _largest(
    decoder: Decoder,
    forest: SentenceForest,
    part: _Part,
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> tuple[tuple[str, float], ...]:
    """Return the weighted features that contribute most to a rule's score, by magnitude, then by name."""
    dense = forest.rules.dense[part.number] * weights[0]
    found = dict(zip(decoder.dense_names, dense.tolist(), strict=True))
    if decoder.use_sparse:
        shard = decoder.shard
        row = slice(*shard.rule_feature_offset[part.rule : part.rule + 2])
        values = shard.rule_feature_value[row] * weights[1][shard.rule_feature[row]]
        for feature, value in zip(shard.rule_feature[row].tolist(), values.tolist(), strict=True):
            found[shard.feature_name.get(feature)] = value
    order = sorted((item for item in found.items() if item[1]), key=lambda item: (-abs(item[1]), item[0]))
    return tuple(order[:FEATURES])


def _sides(shard: Shard, rule: int) -> tuple[list[int], list[int]]:
    """Return the symbols of the source and target sides of a rule."""
    return (
        shard.rule_source[slice(*shard.rule_source_offset[rule : rule + 2])].tolist(),
        shard.rule_target[slice(*shard.rule_target_offset[rule : rule + 2])].tolist(),
    )
