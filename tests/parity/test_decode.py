"""The decoder compared with cdec on 60 sentences, with the same grammars, weights and language model."""

from collections import Counter

import numpy as np
import pytest
from tests.naive.strategies import features_of
from tests.text_grammars import read_kbest

from itersel.config.search import Search
from itersel.decode.decoder import Decoder
from itersel.decode.output import text_of
from itersel.grammar.sentence_grammars import read_grammars
from itersel.grammar.text_format import import_grammars
from itersel.lm.binary import compile_model, load_model
from itersel.vectors.weights import read_itersel_weights

pytestmark = pytest.mark.slow

SENTENCES = 60
# cdec adds in single precision and prints 6 digits
SCORE_TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def problem(parity, tmp_path_factory):
    """Return the grammars, language model and weights."""
    folder = tmp_path_factory.mktemp("decode")
    source = parity / "decode"
    import_grammars(source / "src.de", source / "grammar", folder / "sentences.h5", [source / "ref.en"])
    compile_model(parity / "lm" / "train.en.o3.arpa.gz", folder / "lm.bin")
    weights = read_itersel_weights(source / "weights.txt")
    return read_grammars(folder / "sentences.h5"), load_model(folder / "lm.bin"), weights


def decode(problem, pop_limit, k, every=1):
    """Decode every n-th sentence, all by default."""
    grammars, model, weights = problem
    decoder = Decoder(grammars, model, Search(pop_limit=pop_limit))
    vectors = decoder.weight_vectors(weights)
    return decoder, [decoder.decode(i, vectors, k=k) for i in range(0, SENTENCES, every)]


@pytest.fixture(scope="module")
def at_200(problem):
    return decode(problem, 200, 100)


def recorded(path):
    """Return a list of (text, features, score) for each sentence."""
    lists = [[] for _ in range(SENTENCES)]
    for number, *hypothesis in read_kbest(path):
        lists[number].append(hypothesis)
    return lists


def ranks_of(at_200, path):
    """Yield each list and what was recorded for it, with the ranks of its texts."""
    decoder, lists = at_200
    words = decoder.grammars.vocabulary.to_list()
    for found, expected in zip(lists, recorded(path), strict=True):
        yield found, expected, {text_of(found, i, words): i for i in range(found.score.shape[0])}


def test_best_scores_at_a_high_pop_limit_equal_cdecs(problem, parity):
    """Only every third sentence, because each takes half a second at this limit."""
    _, found = decode(problem, 5000, 1, every=3)
    expected = [best[0][2] for best in recorded(parity / "decode" / "best.pop5000.txt")][::3]
    difference = np.array([one.score[0] for one in found]) - expected
    assert difference.min() > -SCORE_TOLERANCE


def test_mean_best_score_at_pop_limit_200_is_no_worse_than_cdecs(at_200, parity):
    expected = recorded(parity / "decode" / "kbest.pop200.gz")
    ours = np.mean([found.score[0] for found in at_200[1]])
    assert ours >= np.mean([best[0][2] for best in expected])


def test_lists_are_as_long_as_cdecs_and_have_distinct_strings(at_200, parity):
    for found, expected, rank_of in ranks_of(at_200, parity / "decode" / "kbest.pop200.gz"):
        assert len(expected) <= len(rank_of) == found.score.shape[0]


def test_strings_of_both_lists_have_the_same_scores_and_dense_features(problem, at_200, parity):
    decoder = at_200[0]
    weighted = set(problem[2].to_dict())
    shared = lower = equal = other = elsewhere = 0
    for found, expected, rank_of in ranks_of(at_200, parity / "decode" / "kbest.pop200.gz"):
        for text, features, score in expected:
            if text not in rank_of:
                continue
            rank = rank_of[text]
            shared += 1
            lower += found.score[rank] < score - SCORE_TOLERANCE
            if abs(found.score[rank] - score) < 1e-4:
                equal += 1
                ours = features_of(decoder, found, rank)
                other += not same_values(ours, features, weighted)
                elsewhere += not same_values(ours, features, decoder.dense_names)
    assert shared > 3500
    assert lower <= 0.005 * shared
    assert equal > 2500
    assert other == 0
    # derivations that differ only in features with zero weight have equal scores
    assert elsewhere <= 0.005 * equal


def same_values(ours, theirs, names):
    return all(abs(ours.get(name, 0) - theirs.get(name, 0)) < 1e-3 for name in names)


def test_sparse_features_have_cdecs_names_and_values(at_200, parity):
    decoder, compared = at_200[0], 0
    for found, expected, rank_of in ranks_of(at_200, parity / "decode" / "kbest20.sparse.gz"):
        for text, features, _ in expected:
            if text not in rank_of:
                continue
            ours = features_of(decoder, found, rank_of[text])
            rules = {name: value for name, value in features.items() if name.startswith("R:")}
            if rules != {name: value for name, value in ours.items() if name.startswith("R:")}:
                continue  # another derivation of the same string
            compared += 1
            sparse = {n: v for n, v in features.items() if n not in decoder.dense_names}
            assert Counter(sparse) == Counter({n: v for n, v in ours.items() if n not in decoder.dense_names})
            found_dense, dense = ([one.get(n, 0) for n in decoder.dense_names] for one in (ours, features))
            assert found_dense == pytest.approx(dense, rel=1e-5, abs=1e-5)
    assert compared > 200
