"""The decoder compared with the naive one, edge cases, derivations as trees, and its heap."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import MANY
from tests.naive.strategies import features_of, load_arpa, make_decoder, small_grammars, solve
from tests.refusals import input_error

from itersel.compile.jit import kernel
from itersel.config.search import Search
from itersel.decode.decoder import Decoder
from itersel.decode.derivation_trees import derive_all
from itersel.decode.output import kbest_lines, text_of
from itersel.decode.queue_kernels import make_queue, sift_down, sift_up
from itersel.grammar.build import Rule, make_grammars
from itersel.lm.state_kernels import make_states
from itersel.vectors.weights import make_weights

ARPA = ["\\data\\", "ngram 1=5", "", "\\1-grams:", "-1\t<unk>", "-1\t<s>", "-1\t</s>", "-1\tx", "-2\ty"]
ARPA += ["\\end\\"]
BIGRAMS = [
    *("\\data\\", "ngram 1=5", "ngram 2=3", "", "\\1-grams:"),
    *("-3\t<unk>\t0", "-9\t<s>\t0", "-1\t</s>", "-1\tx\t0", "-1\ty\t0", "", "\\2-grams:"),
    *("-0.25\t<s> x", "-0.125\t<s> y", "-0.5\ty x", "", "\\end\\"),
]


def decode(decoder, weights, sentence=0, k=100):
    return decoder.decode(sentence, decoder.weight_vectors(make_weights(weights)), k=k)


def texts_of(decoder, found):
    words = decoder.grammars.vocabulary.to_list()
    return [text_of(found, rank, words) for rank in range(found.score.shape[0])]


@MANY
@given(problem=small_grammars() | small_grammars(categories=True), max_span=st.integers(1, 6))
def test_k_best_lists_equal_the_naive_decoder(problem, max_span, tmp_path):
    # far more pops than any of these forests has hypotheses, so nothing is pruned
    decoder = make_decoder(problem, tmp_path, Search(pop_limit=5000, max_span=max_span))
    found = decode(decoder, problem.weights, k=20)
    texts = texts_of(decoder, found)
    everything = solve(problem, 10**6, max_span)
    assert len(set(texts)) == len(texts)
    assert found.score == pytest.approx([translation.score for translation in everything[:20]], abs=1e-4)
    assert np.all(np.diff(found.score) <= 1e-9)
    best = {" ".join(translation.words): translation for translation in everything}
    for rank, text in enumerate(texts):
        # ties may be ordered differently, but each string has the score of its best derivation
        assert found.score[rank] == pytest.approx(best[text].score, abs=1e-4)
        features = features_of(decoder, found, rank)
        score = sum(problem.weights.get(name, 0) * value for name, value in features.items())
        assert score == pytest.approx(found.score[rank], abs=1e-4)
        for name in ("LanguageModel", "LanguageModel_OOV", "WordPenalty"):
            assert features.get(name, 0) == pytest.approx(best[text].features.get(name, 0), abs=1e-4)


def test_ties_are_in_grammar_order_for_any_pop_limit(tmp_path):
    grammars = make_grammars([("a",)], None, [[Rule(("a",), (word,), {}) for word in ("y", "x", "z")]])
    for pop_limit in (10, 100):
        decoder = Decoder(grammars, load_arpa(ARPA, tmp_path), Search(pop_limit=pop_limit))
        assert texts_of(decoder, decode(decoder, {})) == ["y", "x", "z", "a"]


def test_a_sentence_may_be_any_s_and_begins_once(tmp_path):
    """No <s> moves to the middle if an S at the beginning is swapped to the end."""
    rules = [
        Rule(("a",), ("x",), {}, (), ("N", "X", "X")),
        Rule(("b",), ("y",), {}, (), ("V", "X", "X")),
        Rule((-1, -2), (-1, -2), {}, (), ("S", "N", "V")),
        Rule((-1, "c"), ("y", -1), {"Swap": 1.0}, (), ("Q", "S", "X")),
        Rule((-1,), (-1,), {"Lone": 1.0}, (), ("R", "Q", "X")),
        Rule((-1,), (-1,), {}, (), ("S", "R", "X")),
    ]
    grammars = make_grammars([("a", "b", "c")], None, [rules])
    assert grammars.category.to_list() == ["X", "S", "N", "V", "Q", "R"]
    decoder = Decoder(grammars, load_arpa(BIGRAMS, tmp_path))
    found = decode(decoder, {"Swap": 1.0, "Lone": 1.0, "PassThrough": -1.0})
    assert texts_of(decoder, found)[:4] == ["y x y", "y a b", "x y c", "a b c"]
    assert found.score.tolist() == [2, 0, -1, -3]
    # <s> y, y x, y after x, </s> after y: the last two are not in the model, and backoff is free
    assert features_of(decoder, found)["LanguageModel"] == pytest.approx(-0.125 - 0.5 - 1 - 1)


def test_words_after_an_empty_antecedent_are_scored(tmp_path):
    rules = [Rule(("b", -1, -2), (-1, "y", -2, "x"), {"Whole": 1.0}), Rule(("a",), (), {"Nothing": 1.0})]
    decoder = Decoder(make_grammars([("b", "a", "a")], None, [rules]), load_arpa(ARPA, tmp_path))
    found = decode(decoder, {"Whole": 1.0, "Nothing": 1.0})
    assert texts_of(decoder, found)[0] == "y x"
    assert features_of(decoder, found)["LanguageModel"] == pytest.approx(-4)


def test_an_empty_sentence_translates_to_an_empty_line(tmp_path):
    grammars = make_grammars([(), ("a",)], None, [[], []])
    decoder = Decoder(grammars, load_arpa(ARPA, tmp_path))
    found = decode(decoder, {"LanguageModel": 1.0})
    lines = kbest_lines(
        0, found, [0], grammars.vocabulary.to_list(), decoder.dense_names, grammars.feature_name
    )
    assert list(lines) == ["0 |||  |||  ||| 0"]


def test_dense_features_exclude_sparse_ones(tmp_path):
    grammars = make_grammars([("a",)], None, [[Rule(("a",), ("x",), {})]])
    decoder = Decoder(grammars, load_arpa(ARPA, tmp_path), Search("dense"))
    found = decode(decoder, {"R:X:a:x": 5.0, "PassThrough": -1.0})
    assert found.feature.shape[0] == 0
    assert found.score.tolist() == [0.0, -1.0]


def test_bad_input(tmp_path):
    for length, category, k, facts in (
        (1, "X", 0, (0, 1)),
        (1, "X", 10**9, 10**9),
        (201, "A", 1, (201, 200)),
        (2, "A", 1, "'a a'"),
        (2, "X", 1, "'a a'"),
    ):
        grammars = make_grammars(
            [("a",) * length], None, [[Rule(("b",), ("x",), {}, (), (category, "X", "X"))]]
        )
        # as in a damaged file: without the rule that passes "a" through
        no_rules = {"grammar_rule": grammars.grammar_rule[:0], "grammar_offset": np.zeros(2, np.int64)}
        decoder = Decoder(dataclasses.replace(grammars, **no_rules), load_arpa(ARPA, tmp_path))
        with input_error(facts):
            decode(decoder, {}, k=k)


def test_sentences_do_not_depend_on_those_decoded_before(tmp_path):
    # tables are reused for the next sentence, and are larger than needed after a long one
    rules = [Rule(("a",), (x,), {"CountEF": float(i)}) for i, x in enumerate("xyz")]
    lengths = (3, 40, 3, 1, 12)
    grammars = make_grammars([("a",) * n for n in lengths], None, [rules] * len(lengths))
    model, weights = load_arpa(ARPA, tmp_path), {"CountEF": 0.1, "LanguageModel": 1.0}
    one = Decoder(grammars, model)
    for sentence in range(len(lengths)):
        expected = decode(Decoder(grammars, model), weights, sentence)
        found = decode(one, weights, sentence)
        assert found.score.tolist() == expected.score.tolist()
        assert found.word.tolist() == expected.word.tolist()


def test_tables_that_are_too_small_grow(tmp_path, monkeypatch):
    rules = [Rule(("a",), (x, y), {"CountEF": float(i)}) for i, (x, y) in enumerate(["xy", "yx", "zz", "zx"])]
    grammars, model = make_grammars([("a",) * 4], None, [rules]), load_arpa(ARPA, tmp_path)
    weights = {"CountEF": 0.1, "LanguageModel": 1.0}
    large = decode(Decoder(grammars, model), weights)
    monkeypatch.setattr("itersel.decode.decoder.PAIRS_PER_WORD", 1)
    small = decode(Decoder(grammars, model), weights)
    assert small.score.tolist() == large.score.tolist()
    assert small.word.tolist() == large.word.tolist()


def test_only_tables_of_usual_size_are_kept(tmp_path, monkeypatch):
    """Those that a sentence needs beyond the limit are freed after it."""
    rules = [Rule(("a",), (x, y), {"CountEF": float(i)}) for i, (x, y) in enumerate(["xy", "yx", "zz", "zx"])]
    lengths = (4, 1, 4)
    grammars = make_grammars([("a",) * n for n in lengths], None, [rules] * len(lengths))
    model, weights = load_arpa(ARPA, tmp_path), {"CountEF": 0.1, "LanguageModel": 1.0}
    expected = [decode(Decoder(grammars, model), weights, sentence) for sentence in range(len(lengths))]
    made = []

    def make_noted(order, edges, pairs):
        made.append(pairs)
        return make_states(order, edges, pairs)

    monkeypatch.setattr("itersel.decode.decoder.make_states", make_noted)
    monkeypatch.setattr("itersel.decode.decoder.MAX_FIRST_PAIRS", 4)
    one = Decoder(grammars, model)
    for sentence, best in enumerate(expected):
        assert decode(one, weights, sentence).score.tolist() == best.score.tolist()
    assert max(made) > 4
    assert sum(states.pairs.key.nbytes for states in one._states.values()) < 100


def read_tree(nodes):
    """Return source and target of the first tree in a list of nodes, and the remaining nodes."""
    node, rest = nodes[0], nodes[1:]
    parts = {}
    for gap in range(1, 1 + sum(isinstance(symbol, int) for symbol in node.source)):
        assert rest[0].depth == node.depth + 1
        *parts[-gap], rest = read_tree(rest)
    source, target = (
        [word for symbol in side for word in (parts[symbol][which] if symbol in parts else [symbol])]
        for which, side in enumerate((node.source, node.target))
    )
    assert node.end - node.begin == len(source)
    return source, target, rest


@given(problem=small_grammars() | small_grammars(categories=True))
def test_trees_yield_the_best_translation(problem, tmp_path):
    decoder = make_decoder(problem, tmp_path, Search(pop_limit=100))
    grammars = decoder.grammars
    words = grammars.vocabulary.to_list()
    best, [found] = derive_all(decoder, 0, decoder.weight_vectors(make_weights(problem.weights)), words, 1)
    assert " ".join(found.words) == text_of(best, 0, words)
    assert found.score == best.score[0]
    assert sum(node.score for node in found.nodes) + found.lm == pytest.approx(found.score, abs=1e-9)
    source, target, rest = read_tree(list(found.nodes))
    assert source == [words[word] for word in grammars.source]
    assert tuple(target) == found.words
    assert not rest
    for node in found.nodes:
        magnitudes = [abs(value) for _, value in node.features]
        assert magnitudes == sorted(magnitudes, reverse=True)


def test_alignment_of_swapped_nonterminals(tmp_path):
    rules = [
        Rule((-1, "v", -2), (-2, "x", "y", -1), {"Swap": 1.0}, ((1, 1), (1, 2))),
        Rule(("a", "b"), ("x", "z"), {}, ((0, 1), (1, 0))),
        Rule(("c",), ("y",), {"Class:1": 0.5}, ((0, 0),)),
    ]
    grammars = make_grammars([("a", "b", "v", "c")], None, [rules])
    decoder = Decoder(grammars, load_arpa(ARPA, tmp_path))
    vectors = decoder.weight_vectors(make_weights({"Swap": 1.0, "PassThrough": -1.0, "Class:1": 2.0}))
    _, [found] = derive_all(decoder, 0, vectors, grammars.vocabulary.to_list(), 1)
    assert found.words == ("y", "x", "y", "x", "z")
    # a-z, b-x; v with both words in the middle; c with the first word
    assert found.links == ((0, 4), (1, 3), (2, 1), (2, 2), (3, 0))
    places = [(node.depth, node.begin, node.end) for node in found.nodes]
    assert places == [(0, 0, 4), (1, 0, 4), (2, 0, 2), (2, 3, 4)]
    assert ("Swap", 1.0) in found.nodes[1].features
    assert ("Class:1", 1.0) in found.nodes[3].features


@kernel
def pop_all(queue, score, built, pushed, order):
    """Build a heap from the first corners at once, push the others, and pop all."""
    size = built
    for i in range(size):
        queue.heap[i], queue.heap_score[i] = i, score[i]
    for place in range((size >> 1) - 1, -1, -1):
        sift_down(queue, size, place, queue.heap[place], queue.heap_score[place])
    for i in range(built, built + pushed):
        sift_up(queue, size, i, score[i])
        size += 1
    for i in range(order.shape[0]):
        order[i] = queue.heap[0]
        size -= 1
        sift_down(queue, size, 0, queue.heap[size], queue.heap_score[size])


@MANY
@given(st.lists(st.integers(-3, 3), max_size=40), st.lists(st.integers(-3, 3), max_size=40))
def test_corners_are_popped_best_first_with_ties_by_age(built, pushed):
    scores = np.array([*built, *pushed], np.float64)
    queue = make_queue(scores.shape[0] + 1, 1)
    order = np.full(scores.shape[0], -1)
    pop_all(queue, scores, len(built), len(pushed), order)
    assert order.tolist() == sorted(range(scores.shape[0]), key=lambda i: (-scores[i], i))
