"""Cost-augmented decoding compared with full enumeration and plain Python, and learning with it."""

import dataclasses
import itertools
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.examples import MANY
from tests.naive import augmented as naive
from tests.naive import learning, strategies
from tests.refusals import input_error

from itersel.bleu.bleu_kernels import ngram_matches
from itersel.bleu.names import SENTENCE_BLEUS
from itersel.bleu.sentence import SentenceBleu
from itersel.config.learning_steps import TrainSettings
from itersel.config.search import Search
from itersel.decode.decoder import Decoder, extend
from itersel.decode.kbest_kernels import Best
from itersel.grammar.build import Rule, make_grammars
from itersel.learn import augmented
from itersel.learn.augmented import FEAR, HOPE, ORACLE, Objective, find_augmented, largest_bleu
from itersel.learn.learners.mira import Mira
from itersel.learn.partial_kernels import MAX_NGRAM_COUNT, index_references
from itersel.learn.train import train_shard
from itersel.vectors.shard_weights import ShardState
from itersel.vectors.weights import make_weights

EVERYTHING = 10**4  # a beam larger than any item of a small forest needs

# counts of a pseudo-corpus: matches, n-grams, lengths
contexts = st.sampled_from([None, (3.0, 2.0, 1.0, 0.5, 5.0, 4.0, 3.0, 2.0, 8.0)])
reference_texts = st.lists(st.sampled_from((*strategies.TARGET_WORDS, "a", "other")), min_size=1, max_size=7)
RULES = [Rule((s,), (t,), {}) for s in "ab" for t in (s.upper(), s + "1", s + "2", s + "3")]
MIRA = Mira(sentence_bleu="nakov", candidates="forest", c=0.5)


class Case(NamedTuple):
    """A sentence, its references, and the objective."""

    problem: strategies.Problem
    references: list[list[str]]
    variant: str
    context: tuple[float, ...] | None
    objective: Objective

    def decoder(self, folder):
        return strategies.make_decoder(self.problem, folder, Search(pop_limit=5000), *self.references)

    def target(self, grammars):
        return make_target(self.variant, grammars.reference_lengths(0), self.context)

    def bleu(self, target):
        bleu = learning.Bleu(self.variant)
        bleu.context = target.context[[*range(8), 4, 8]].tolist()
        return bleu


def make_target(variant, references, context):
    target = SentenceBleu(variant).against(references)
    # only BLEU with a pseudo-corpus has a context
    return target._replace(context=np.array(context)) if context and variant == "chiang" else target


def scaled(problem, seed):
    """Return a problem with random weights, scaled so that cost matters."""
    random = np.random.default_rng(seed)
    return problem._replace(weights={name: 0.03 * random.normal() for name in problem.weights})


cases = st.builds(
    Case,
    st.builds(scaled, strategies.small_grammars(), st.integers(0, 2**32)),
    st.lists(reference_texts, min_size=1, max_size=3),
    st.sampled_from(sorted(SENTENCE_BLEUS)),
    contexts,
    st.sampled_from([HOPE, FEAR, ORACLE]),
)


def objective_values(kbest, references, target, objective):
    bleu = target.of_matches(kbest.matches(references), kbest.length)
    return objective.share * kbest.score + objective.gain * target.length_factor * bleu


@given(cases, st.integers(1, 20))
def test_an_unlimited_beam_finds_the_best(tmp_path, case, k):
    """Compared with all translations, also if those that cannot beat the k best are pruned."""
    problem, objective = case.problem, case.objective
    decoder = case.decoder(tmp_path)
    target = case.target(decoder.grammars)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(augmented, "BEAM", EVERYTHING)
        finder = partial(find_augmented, (objective,), target)
        vectors = decoder.weight_vectors(make_weights(problem.weights))
        found = decoder.decode(0, vectors, k, finder)
    bleu = case.bleu(target)
    expected = max(
        objective.share * one.score
        + objective.gain * target.length_factor * bleu.of(one.words, *case.references)
        for one in strategies.solve(problem, 10**6)
    )
    values = objective_values(found, decoder.grammars.references(0), target, objective)
    assert values.max() == pytest.approx(expected, abs=1e-4)
    assert (np.diff(found.score) <= 1e-9).all()


@given(cases, st.integers(1, 4))
def test_equals_plain_python(tmp_path, case, beam):
    problem, objective = case.problem, case.objective
    decoder = case.decoder(tmp_path)
    grammars, target = decoder.grammars, case.target(decoder.grammars)
    forests = []

    def read(forest, references):
        forests.append(naive.read_forest(forest))
        # the k best do not prune anything
        worst = forest.best._replace(score=forest.best.score - 1e6)
        return find_augmented((objective,), target, forest._replace(best=worst), references)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(augmented, "BEAM", beam)
        vectors = decoder.weight_vectors(make_weights(problem.weights))
        found = decoder.decode(0, vectors, 1, read)
    words = tuple(
        tuple(grammars.reference[a:b].tolist()) for a, b in itertools.pairwise(grammars.reference_offset)
    )
    gain = objective.gain * target.length_factor
    expected = naive.search(forests[0], words, case.bleu(target), objective.share, gain, beam)
    assume(not expected.is_close_call)
    best = objective_values(found, grammars.references(0), target, objective)
    # the second translation, if its words differ from those of the first
    assert best[-1] == pytest.approx(expected.best.objective, abs=1e-9)
    assert tuple(found.word[found.word_offset[-2] :].tolist()) == expected.best.words


@MANY
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=7), min_size=1, max_size=3),
    st.lists(st.integers(0, 4), max_size=12),
    st.sampled_from(sorted(SENTENCE_BLEUS)),
    contexts,
)
def test_bound_of_bleu(references, words, variant, context):
    made = strategies.make_references(*references)
    target = make_target(variant, made.lengths, context)
    length = np.array([len(words)])
    matches = ngram_matches(np.array(words, np.int32), np.append(0, length), made)
    assert target.of_matches(matches, length)[0] <= largest_bleu(target, made) + 1e-12


def test_an_ngram_count_that_exceeds_a_byte():
    ngrams = index_references(strategies.make_references([0] * (MAX_NGRAM_COUNT + 50)), 1)
    assert ngrams.available.tolist() == [0, *[MAX_NGRAM_COUNT] * 4]


def best_of(texts, score):
    offset = np.cumsum([0] + [len(words) for words in texts]).astype(np.int64)
    word = np.array([word for words in texts for word in words], np.int32)
    return Best(np.array(score), -np.array(score), word + 10, offset, word, offset)


def test_an_extended_list_has_distinct_texts():
    best = best_of([[1, 2], [3]], [5.0, 4.0])
    assert extend(best, [best_of([[3]], [3.0]), best_of([[1, 2]], [2.0]), best_of([], [])]) is best
    texts = [([], 1.0), ([1], 2.0), ([3], 4.0), ([1], 3.0)]
    longer = extend(best, [best_of([text], [score]) for text, score in texts])
    assert longer.score.tolist() == [5, 4, 3, 1]
    assert longer.lm.tolist() == [-5, -4, -3, -1]
    assert longer.word.tolist() == [1, 2, 3, 1]
    assert longer.word_offset.tolist() == [0, 2, 3, 4, 4]
    assert longer.rule.tolist() == [11, 12, 13, 11]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return a language model without words."""
    grams = {(word,): (-1, 0) for word in ("<unk>", "<s>", "</s>")}
    return strategies.load_arpa(strategies.to_arpa(grams, 1), tmp_path_factory.mktemp("augmented"))


@pytest.fixture(scope="module")
def grammars():
    """Return sentences translated into capital letters; their forests are far larger than the lists below."""
    sentences = [tuple(text) for text in ("abba", "", "aabb", "babab", "bb", "aaa", "abab")]
    capital = [tuple(word.upper() for word in sentence) for sentence in sentences]
    capital[4] = ()
    return make_grammars(sentences, capital, [RULES if one else [] for one in sentences])


@pytest.fixture
def train(grammars, model):
    """Return a function that trains on the sentences."""

    def run(threads=1, epochs=1, k=2, **options):
        learner, start = dataclasses.replace(MIRA, **options), None
        decoders = [Decoder(grammars, model) for _ in range(threads)]
        for epoch in range(1, epochs + 1):
            how = TrainSettings(k_best=max(k, 2), learner=learner, epoch=epoch)
            # settings do not allow 1, with which only forests have translations to compare
            object.__setattr__(how, "k_best", k)
            result = train_shard(grammars, decoders, start, how)
            start = ShardState(result.weights)
        return result

    return run


@pytest.mark.parametrize("hope", ["cost-diminished", "oracle"])
@pytest.mark.parametrize(
    ("fear", "constraints"),
    [("cost-augmented", "hope-fear"), ("prediction", "hope-fear"), ("cost-augmented", "all")],
)
def test_a_separable_problem_is_separated(grammars, model, train, hope, fear, constraints):
    weights = train(epochs=4, hope=hope, fear=fear, constraints=constraints).weights
    decoder = Decoder(grammars, model)
    for sentence in (0, 2, 3, 5, 6):
        found = decoder.decode(sentence, decoder.weight_vectors(weights), 1)
        assert found.word.tolist() == grammars.references(sentence).word.tolist()


def test_learning_from_translations_that_are_only_in_the_forest(train):
    """The list has only one translation, right or wrong, and nothing to compare it with."""
    assert train(k=1, candidates="k-best").updates == 0
    assert train(k=1).updates > 0


@pytest.mark.parametrize("bleu", ["nakov", "chiang"])
def test_threads_make_no_difference(train, bleu):
    one = train(delay=4, sentence_bleu=bleu).weights.to_dict()
    assert one == train(delay=4, sentence_bleu=bleu).weights.to_dict()
    assert one == train(threads=3, delay=4, sentence_bleu=bleu).weights.to_dict()
    assert one != train(delay=1, sentence_bleu=bleu).weights.to_dict()


@pytest.mark.parametrize("weight", [1.1e12, -1.1e12, np.nan])
def test_start_weights_beyond_the_limit(grammars, model, weight):
    start = ShardState(make_weights({"CountEF": weight}))
    with input_error("'CountEF'"):
        train_shard(grammars, [Decoder(grammars, model)], start, TrainSettings(k_best=4, learner=MIRA))


def test_a_forest_larger_than_the_limit_loses_its_worst_edges(grammars, model, monkeypatch):
    decoder = Decoder(grammars, model)
    vectors = decoder.weight_vectors(make_weights({"R:X:a:a2": 2.0, "R:X:b:b3": 1.0}))
    search = partial(find_augmented, (ORACLE,), SentenceBleu("nakov").against(grammars.reference_lengths(0)))
    assert decoder.decode(0, vectors, 1, search).score.shape[0] == 2
    monkeypatch.setattr(augmented, "MAX_EDGES", 1)
    assert decoder.decode(0, vectors, 1, search).score.shape[0] == 1
