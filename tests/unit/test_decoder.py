"""The decoder compared with the naive one, and edge cases."""

import math

import numpy as np
import pytest
from hypothesis import given
from tests.examples import MANY
from tests.naive.strategies import small_grammars, solve, to_arpa, to_shard

from itersel.config.search import Search
from itersel.decode.decoder import Decoder
from itersel.decode.forest_kernels import parse
from itersel.decode.output import best_line, kbest_lines, text_of
from itersel.decode.trie_kernels import Trie
from itersel.errors import InputError
from itersel.grammar.build import Rule, make_shard
from itersel.grammar.categories import MAX_CATEGORY_SENTENCE
from itersel.lm.binary import compile_model, load_model
from itersel.vectors.weights import make_weights

ARPA = [
    "\\data\\",
    "ngram 1=5",
    "",
    "\\1-grams:",
    "-1\t<unk>",
    "-1\t<s>",
    "-1\t</s>",
    "-1\tx",
    "-2\ty",
    "\\end\\",
]
BIGRAMS = [
    *("\\data\\", "ngram 1=5", "ngram 2=3", "", "\\1-grams:"),
    *("-3\t<unk>\t0", "-9\t<s>\t0", "-1\t</s>", "-1\tx\t0", "-1\ty\t0", "", "\\2-grams:"),
    *("-0.25\t<s> x", "-0.125\t<s> y", "-0.5\ty x", "", "\\end\\"),
]


def model_of(arpa, folder):
    """Compile the lines of an ARPA file."""
    (folder / "lm.arpa").write_text("\n".join(arpa) + "\n")
    compile_model(folder / "lm.arpa", folder / "lm.bin")
    return load_model(folder / "lm.bin")


@MANY
@given(problem=small_grammars() | small_grammars(categories=True))
def test_k_best_lists_equal_the_naive_decoder(problem, tmp_path):
    expected = solve(problem, k=20)
    shard = to_shard(problem)
    # far more pops than any of these forests has hypotheses, so nothing is pruned
    decoder = Decoder(
        shard, model_of(to_arpa(problem.model, problem.order), tmp_path), Search(pop_limit=5000)
    )
    vectors = decoder.weight_vectors(make_weights(problem.weights))
    found = decoder.decode(0, *vectors, k=20)
    words = shard.vocabulary.to_list()
    texts = [text_of(found, rank, words) for rank in range(found.score.shape[0])]

    assert len(set(texts)) == len(texts)
    assert found.score == pytest.approx([translation.score for translation in expected], abs=1e-4)
    assert np.all(np.diff(found.score) <= 1e-9)
    best = {" ".join(translation.words): translation for translation in solve(problem, k=10**6)}
    for rank, text in enumerate(texts):
        # ties may be ordered differently, but each string has the score of its best derivation
        assert found.score[rank] == pytest.approx(best[text].score, abs=1e-4)
        features = dict(zip(decoder.dense_names, found.dense[rank], strict=True))
        begin, end = found.feature_offset[rank : rank + 2]
        for i, value in zip(found.feature[begin:end], found.feature_value[begin:end], strict=True):
            features[shard.feature_name.get(i)] = value
        score = sum(problem.weights.get(name, 0) * value for name, value in features.items())
        assert score == pytest.approx(found.score[rank], abs=1e-4)
        assert features["LanguageModel"] == pytest.approx(
            best[text].features.get("LanguageModel", 0), abs=1e-4
        )


def test_ties_are_in_grammar_order_for_any_pop_limit(tmp_path):
    rules = [Rule(("a",), (word,), {}) for word in ("y", "x", "z")]
    shard = make_shard([("a",)], None, [rules])
    model = model_of(ARPA, tmp_path)
    for pop_limit in (10, 100):
        decoder = Decoder(shard, model, Search(pop_limit=pop_limit))
        found = decoder.decode(0, *decoder.weight_vectors(make_weights({})))
        words = shard.vocabulary.to_list()
        assert [text_of(found, rank, words) for rank in range(4)] == ["y", "x", "z", "a"]


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
    shard = make_shard([("a", "b", "c")], None, [rules])
    assert shard.category.to_list() == ["X", "S", "N", "V", "Q", "R"]
    model = model_of(BIGRAMS, tmp_path)
    decoder = Decoder(shard, model)
    weights = {"Swap": 1.0, "Lone": 1.0, "PassThrough": -1.0}
    found = decoder.decode(0, *decoder.weight_vectors(make_weights(weights)))
    words = shard.vocabulary.to_list()
    assert [text_of(found, rank, words) for rank in range(4)] == ["y x y", "y a b", "x y c", "a b c"]
    features = dict(zip(decoder.dense_names, found.dense[0], strict=True))
    assert found.score.tolist() == [2, 0, -1, -3]
    # <s> y, y x, y after x, </s> after y: the last two are not in the model, and backoff is free
    assert features["LanguageModel"] == pytest.approx(-0.125 - 0.5 - 1 - 1)


def test_a_sentence_out_of_bounds_is_an_error(tmp_path):
    words = ("a",) * (MAX_CATEGORY_SENTENCE + 1)
    shard = make_shard([words], None, [[Rule(("a",), ("x",), categories=("A", "X", "X"))]])
    decoder = Decoder(shard, model_of(ARPA, tmp_path))
    with pytest.raises(InputError, match="a sentence of 201 words; with other categories than X"):
        decoder.decode(0, *decoder.weight_vectors(make_weights({})))


def test_a_word_without_rules_passes_through(tmp_path):
    shard = make_shard([("new", "words")], None, [[]])
    decoder = Decoder(shard, model_of(ARPA, tmp_path))
    found = decoder.decode(0, *decoder.weight_vectors(make_weights({"PassThrough": -1.0})))
    assert best_line(found, shard.vocabulary.to_list()) == "new words"
    features = dict(zip(decoder.dense_names, found.dense[0], strict=True))
    assert features["PassThrough"] == 2
    assert features["Glue"] == 1
    assert features["LanguageModel_OOV"] == 2
    assert features["WordPenalty"] == pytest.approx(-2 / math.log(10))
    assert features["LanguageModel"] == pytest.approx(-3)
    assert found.score.tolist() == pytest.approx([-2])


def test_words_after_an_empty_antecedent_are_scored(tmp_path):
    rules = [Rule(("b", -1, -2), (-1, "y", -2, "x"), {"Whole": 1.0}), Rule(("a",), (), {"Nothing": 1.0})]
    shard = make_shard([("b", "a", "a")], None, [rules])
    decoder = Decoder(shard, model_of(ARPA, tmp_path))
    found = decoder.decode(0, *decoder.weight_vectors(make_weights({"Whole": 1.0, "Nothing": 1.0})))
    assert best_line(found, shard.vocabulary.to_list()) == "y x"
    features = dict(zip(decoder.dense_names, found.dense[0], strict=True))
    assert features["LanguageModel"] == pytest.approx(-4)


def test_an_empty_sentence_translates_to_an_empty_line(tmp_path):
    shard = make_shard([(), ("a",)], None, [[], []])
    decoder = Decoder(shard, model_of(ARPA, tmp_path))
    found = decoder.decode(0, *decoder.weight_vectors(make_weights({"LanguageModel": 1.0})))
    words = shard.vocabulary.to_list()
    assert best_line(found, words) == ""
    assert list(kbest_lines(0, found, words, decoder.dense_names, shard.feature_name)) == [
        "0 |||  |||  ||| 0"
    ]


def test_a_sentence_that_nothing_covers_has_no_nodes():
    words = np.array([5, 6], np.int32)
    trie = Trie(
        key=np.full(16, -1, np.int64),
        child=np.zeros(16, np.int32),
        rule_offset=np.zeros(2, np.int64),
        rule=np.zeros(0, np.int32),
        takes_nonterminal=np.zeros(1, np.bool_),
        category=np.full(1, -1, np.int32),
        other=np.full(1, -1, np.int32),
    )
    forest = parse(words, trie, 15, np.arange(3, dtype=np.int32))
    assert forest.is_glue.shape[0] == 0


def test_x_spans_are_limited_and_glue_is_not(tmp_path):
    words = ("a",) * 20
    long_rule = Rule(("a", -1, "a"), ("x", -1, "x"), {"Long": 1.0})
    shard = make_shard([words], None, [[long_rule]])
    decoder = Decoder(shard, model_of(ARPA, tmp_path), Search(max_span=3))
    found = decoder.decode(0, *decoder.weight_vectors(make_weights({"Long": 1.0})), k=1)
    assert best_line(found, shard.vocabulary.to_list()).split().count("x") == 12
    assert len(best_line(found, shard.vocabulary.to_list()).split()) == 20


def test_dense_features_exclude_sparse_ones(tmp_path):
    shard = make_shard([("a",)], None, [[Rule(("a",), ("x",), {})]])
    decoder = Decoder(shard, model_of(ARPA, tmp_path), Search("dense"))
    found = decoder.decode(0, *decoder.weight_vectors(make_weights({"R:X:a:x": 5.0, "PassThrough": -1.0})))
    assert found.feature.shape[0] == 0
    assert found.score.tolist() == [0.0, -1.0]


@pytest.mark.parametrize("k", [0, 10**9])
def test_a_list_out_of_bounds_is_an_error(k, tmp_path):
    shard = make_shard([("a",)], None, [[]])
    decoder = Decoder(shard, model_of(ARPA, tmp_path))
    with pytest.raises(InputError, match="best translations"):
        decoder.decode(0, *decoder.weight_vectors(make_weights({})), k=k)


def test_sentences_do_not_depend_on_those_decoded_before(tmp_path):
    # tables are reused for the next sentence, and are larger than needed after a long one
    rules = [Rule(("a",), (x,), {"CountEF": float(i)}) for i, x in enumerate("xyz")]
    lengths = (3, 40, 3, 1, 12)
    shard = make_shard([("a",) * n for n in lengths], None, [rules] * len(lengths))
    model = model_of(ARPA, tmp_path)
    weights = make_weights({"CountEF": 0.1, "LanguageModel": 1.0})
    one = Decoder(shard, model)
    for sentence in range(len(lengths)):
        fresh = Decoder(shard, model)
        expected = fresh.decode(sentence, *fresh.weight_vectors(weights))
        found = one.decode(sentence, *one.weight_vectors(weights))
        assert found.score.tolist() == expected.score.tolist()
        assert found.word.tolist() == expected.word.tolist()


def test_tables_that_are_too_small_grow(tmp_path, monkeypatch):
    monkeypatch.setattr("itersel.decode.decoder.PAIRS_PER_WORD", 1)
    rules = [Rule(("a",), (x, y), {"CountEF": float(i)}) for i, (x, y) in enumerate(["xy", "yx", "zz", "zx"])]
    shard = make_shard([("a",) * 4], None, [rules])
    model = model_of(ARPA, tmp_path)
    weights = make_weights({"CountEF": 0.1, "LanguageModel": 1.0})
    decoder = Decoder(shard, model)
    small = decoder.decode(0, *decoder.weight_vectors(weights))
    monkeypatch.undo()
    decoder = Decoder(shard, model)
    large = decoder.decode(0, *decoder.weight_vectors(weights))
    assert small.score.tolist() == large.score.tolist()
    assert small.word.tolist() == large.word.tolist()
