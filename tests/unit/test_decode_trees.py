"""Derivations as trees: they yield the translation, its score, and its word alignment."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.naive.strategies import load_arpa, make_decoder, small_grammars
from tests.unit.test_decoder import ARPA

from itersel.config.search import Search
from itersel.decode.decoder import Decoder
from itersel.decode.output import text_of
from itersel.decode.trees import derive_all
from itersel.grammar.build import Rule, make_shard
from itersel.vectors.weights import make_weights


def read(nodes):
    """Return source and target of the first tree in a list of nodes, and the remaining nodes."""
    node, rest = nodes[0], nodes[1:]
    parts = {}
    for gap in range(1, 1 + sum(isinstance(symbol, int) for symbol in node.source)):
        assert rest[0].depth == node.depth + 1
        *parts[-gap], rest = read(rest)
    source, target = (
        [word for symbol in side for word in (parts[symbol][which] if symbol in parts else [symbol])]
        for which, side in enumerate((node.source, node.target))
    )
    assert node.end - node.begin == len(source)
    return source, target, rest


@given(problem=small_grammars() | small_grammars(categories=True))
def test_trees_yield_the_best_translation(problem, tmp_path):
    decoder = make_decoder(problem, tmp_path, Search(pop_limit=100))
    shard = decoder.shard
    words = shard.vocabulary.to_list()
    best, [found] = derive_all(decoder, 0, *decoder.weight_vectors(make_weights(problem.weights)), words, 1)
    assert " ".join(found.words) == text_of(best, 0, words)
    assert found.score == best.score[0]
    assert sum(node.score for node in found.nodes) + found.model == pytest.approx(found.score, abs=1e-9)
    source, target, rest = read(list(found.nodes))
    assert source == [words[word] for word in shard.source]
    assert tuple(target) == found.words
    assert not rest
    for node in found.nodes:
        assert [abs(value) for _, value in node.features] == sorted(
            (abs(value) for _, value in node.features), reverse=True
        )


def test_alignment_of_swapped_nonterminals(tmp_path):
    rules = [
        Rule((-1, "v", -2), (-2, "x", "y", -1), {"Swap": 1.0}, ((1, 1), (1, 2))),
        Rule(("a", "b"), ("x", "z"), {}, ((0, 1), (1, 0))),
        Rule(("c",), ("y",), {"Class:1": 0.5}, ((0, 0),)),
    ]
    shard = make_shard([("a", "b", "v", "c")], None, [rules])
    decoder = Decoder(shard, load_arpa(ARPA, tmp_path))
    vectors = decoder.weight_vectors(make_weights({"Swap": 1.0, "PassThrough": -1.0, "Class:1": 2.0}))
    _, [found] = derive_all(decoder, 0, *vectors, shard.vocabulary.to_list(), 1)
    assert found.words == ("y", "x", "y", "x", "z")
    # a-z, b-x; v with both words in the middle; c with the first word
    assert found.links == ((0, 4), (1, 3), (2, 1), (2, 2), (3, 0))
    assert [(node.depth, node.begin, node.end) for node in found.nodes] == [
        (0, 0, 4),
        (1, 0, 4),
        (2, 0, 2),
        (2, 3, 4),
    ]
    assert ("Swap", 1.0) in found.nodes[1].features
    assert ("Class:1", 1.0) in found.nodes[3].features


def test_a_sentence_without_words(tmp_path):
    shard = make_shard([()], None, [[]])
    decoder = Decoder(shard, load_arpa(ARPA, tmp_path))
    _, [found] = derive_all(decoder, 0, *decoder.weight_vectors(make_weights({})), [], 1)
    assert (found.nodes, found.words, found.links, found.score) == ((), (), (), 0.0)
