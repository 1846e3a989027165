"""The best derivation of a sentence as a tree of rules with scores, and the alignment that it implies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itersel.decode.decoder import Decoder
from itersel.decode.derivations import SentenceForest
from itersel.grammar.shard import Shard

FEATURES = 6  # shown of a rule: those that add most to its score


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
        Weighted features, language model not included.
    features
        Name and weighted value of those that add most to the score.
    """

    depth: int
    source: tuple[str | int, ...]
    target: tuple[str | int, ...]
    begin: int
    end: int
    score: float
    features: tuple[tuple[str, float], ...]


class Derivation(NamedTuple):
    """The best derivation of a sentence.

    Attributes
    ----------
    nodes
        Rules, each before what stands in its nonterminals, in the order of the source.
    words
        Of the translation.
    links
        Word alignment, source-target, from 0, in order.
    score
        Of the model.
    model
        The part of the score that the language model gives.
    """

    nodes: tuple[Node, ...]
    words: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    score: float
    model: float


class _Part(NamedTuple):
    """A rule (its number in the sentence and in the shard) and the parts in its nonterminals, by number."""

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
    """Translate a sentence, and return how.

    Parameters
    ----------
    decoder, sentence, dense, sparse
        See `itersel.decode.decoder.Decoder.decode`.
    words
        The vocabulary of the shard.
    """
    seen: list[SentenceForest] = []

    def look(forest: SentenceForest) -> tuple[()]:
        seen.append(forest)
        return ()

    found = decoder.decode(sentence, dense, sparse, 1, look)
    target = tuple(words[word] for word in found.word)
    if not seen:
        # a sentence without words
        return Derivation((), target, (), float(found.score[0]), 0.0)
    forest = seen[0]
    root = _tree(decoder.shard, forest, forest.best.rule[: forest.best.rule_offset[1]])
    nodes, links = [], []
    for part, depth, begin, output in _walk(decoder.shard, root):
        nodes.append(_node(decoder, forest, part, depth, begin, (dense, sparse), words))
        links += _links(decoder.shard, part, begin, output)
    model = forest.model_weight * float(forest.best.model[0])
    return Derivation(tuple(nodes), target, tuple(sorted(links)), float(found.score[0]), model)


def _tree(shard: Shard, forest: SentenceForest, rules: NDArray[np.int32]) -> _Part:
    """Build the tree of rules that stand before their parts, which are in the order of the target.

    From the last rule to the first: so deep trees need no deep recursion.
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
    """Yield each part with its depth, and where its source and its target begin."""
    waiting = [(root, 0, 0, 0)]
    while waiting:
        part, depth, begin, output = waiting.pop()
        yield part, depth, begin, output
        source, target = _sides(shard, part.rule)
        begins, outputs = _places(shard, part, begin, output)
        for gap, child in reversed([*enumerate(part.children, 1)]):
            waiting.append((child, depth + 1, begins[source.index(-gap)], outputs[target.index(-gap)]))


def _places(shard: Shard, part: _Part, begin: int, output: int) -> tuple[list[int], list[int]]:
    """Return where each symbol of the source and of the target side begins in its sentence."""
    source, target = _sides(shard, part.rule)
    return (
        _offsets(source, begin, [one.source_length for one in part.children]),
        _offsets(target, output, [one.target_length for one in part.children]),
    )


def _offsets(symbols: Sequence[int], begin: int, lengths: Sequence[int]) -> list[int]:
    """Return where each symbol of a side begins; `lengths` are those of what is in its nonterminals."""
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
    """Return the weighted features of a rule that add most to its score, by magnitude, then by name."""
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
    """Return the symbols of the source and of the target side of a rule."""
    return (
        shard.rule_source[slice(*shard.rule_source_offset[rule : rule + 2])].tolist(),
        shard.rule_target[slice(*shard.rule_target_offset[rule : rule + 2])].tolist(),
    )
