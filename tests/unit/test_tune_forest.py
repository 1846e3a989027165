"""MERT over forests, compared with all derivations of small forests; pruning; forest files."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.damage import put
from tests.examples import MANY
from tests.naive import learning
from tests.naive import tuning as naive
from tests.naive.strategies import load_arpa, make_decoder, small_grammars, solve, to_arpa
from tests.naive.tuning import Edge, Translation
from tests.refusals import check_facts, input_error
from tests.steps import settings
from tests.tuning import make_decodable, tune_command, write_decoded

from itersel.cli.main import main
from itersel.config.learning_steps import TuneSettings
from itersel.config.search import ForestSettings, Search
from itersel.decode.decoder import Decoder
from itersel.grammar.build import Rule, make_grammars
from itersel.lm.binary import load_model
from itersel.storage.ragged import offsets_of
from itersel.tune.forest_files import FORMAT, read_forests
from itersel.tune.forest_kernels import Forests, find_bad_sentence, goal_lines
from itersel.tune.forest_line_search import ForestLineSearch
from itersel.tune.generate_forests import generate_forests, make_forest, prune_forest
from itersel.tune.iteration import tune
from itersel.tune.mert import tune_mert
from itersel.tune.start_weights import START_WEIGHTS
from itersel.tune.tuners.forest_mert import ForestMert
from itersel.vectors.weights import make_weights, read_itersel_weights

WORDS = 4
MAX_DERIVATIONS = 100  # of an edge, since tests enumerate all of them


@st.composite
def small_forests(draw):
    """Draw a forest whose lines are multiples of 1/8, and references."""
    eighths = st.integers(-16, 16).map(lambda n: Fraction(n, 8))
    forest = []
    counts = []
    for item in range(draw(st.integers(1, 4))):
        edges, count = [], 0
        for _ in range(draw(st.integers(1, 3))):
            antecedents = tuple(draw(st.lists(st.integers(0, item - 1), max_size=2))) if item else ()
            if math.prod(counts[one] for one in antecedents) > MAX_DERIVATIONS:
                antecedents = ()
            count += math.prod(counts[one] for one in antecedents)
            target = draw(st.lists(st.integers(0, WORDS - 1), max_size=3))
            for symbol in range(1, len(antecedents) + 1):
                target.insert(draw(st.integers(0, len(target))), -symbol)
            edges.append(Edge((draw(eighths), draw(eighths)), antecedents, tuple(target)))
        forest.append(edges)
        counts.append(count)
    words = st.lists(st.integers(1, WORDS - 1), min_size=1, max_size=6).map(tuple)
    return forest, tuple(draw(st.lists(words, min_size=1, max_size=3)))


# the column of the language model; intercepts come by column 0 and by the model, slopes by column 1
MODEL = 2
WEIGHTS, DIRECTION = np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])


def to_forests(drawn):
    """Convert forests to arrays; every edge has a separate rule."""
    edges = [edge for forest, _ in drawn for item in forest for edge in item]
    model = [float(i % 5 - 2) / 4 for i in range(len(edges))]
    dense = [[float(one.line[0]) - m, float(one.line[1]), 0.0] for one, m in zip(edges, model, strict=True)]
    numbers = [range(sum(map(len, forest))) for forest, _ in drawn]
    return Forests(
        item_offset=offsets_of([len(forest) for forest, _ in drawn]),
        edge_offset=offsets_of([len(item) for forest, _ in drawn for item in forest]),
        edge_rule=np.array([i for one in numbers for i in one], np.int32),
        edge_first=np.array([(*edge.antecedents, -1, -1)[0] for edge in edges], np.int32),
        edge_second=np.array([(*edge.antecedents, -1, -1)[1] for edge in edges], np.int32),
        edge_lm=np.array(model),
        rule_offset=offsets_of([len(one) for one in numbers]),
        rule_dense=np.array(dense),
        target=np.array([symbol for edge in edges for symbol in edge.target], np.int32),
        target_offset=offsets_of([len(edge.target) for edge in edges]),
        reference=np.array([word for _, texts in drawn for words in texts for word in words], np.int32),
        reference_offset=offsets_of([len(words) for _, texts in drawn for words in texts]),
        sentence_reference_offset=offsets_of([len(texts) for _, texts in drawn]),
    )


def as_translation(words, references):
    # 0 is a word that is in no reference
    return Translation(tuple(learning.counts(words, *references)[0]), len(words), {})


@given(st.lists(st.tuples(small_forests(), small_forests()), min_size=2, max_size=3), st.integers(1, 2))
def test_line_search_equals_all_derivations(drawn, iterations):
    """The first sentence is a shard, the others are another; each sentence has a forest per iteration."""
    sentences = [([first, second][:iterations], texts) for (first, texts), (second, _) in drawn]
    shards = [
        [to_forests([(found[number], texts) for found, texts in shard]) for number in range(iterations)]
        for shard in (sentences[:1], sentences[1:])
    ]
    assert all(find_bad_sentence(forests) == -1 for shard in shards for forests in shard)
    line_search = ForestLineSearch(shards, MODEL)
    assert line_search.sentence_count == len(drawn)
    begin, found = line_search.intervals(WEIGHTS, DIRECTION)
    every = [
        [one for forest in forests for one in naive.derivations(forest, len(forest) - 1)]
        for forests, _ in sentences
    ]
    lists = [[line for line, _ in one] for one in every]
    references = [texts for _, texts in sentences]
    # points from the lines that are highest for some x; there are too many crossings of all lines
    hulls = [sorted({one[naive.best([a + b * x for a, b in one])] for x in points(one)}) for one in lists]
    for x in naive.points_between(naive.crossings(hulls)):
        bleus = set()
        for pick in (min, max):
            # derivations with the same line may have different words; the search may choose any of them
            chosen = []
            for one, texts in zip(every, references, strict=True):
                most = max(a + b * x for (a, b), _ in one)
                tied = [as_translation(words, texts) for (a, b), words in one if a + b * x == most]
                chosen.append(pick(tied, key=lambda t: (t.matches, -t.length)))
            lengths = [naive.Sentence(tuple(map(len, texts)), []) for texts in references]
            bleus.add(naive.corpus_bleu(chosen, naive.reference_length(lengths, chosen)))
        interval = np.searchsorted(begin, float(x), side="right") - 1
        if len(bleus) == 1:
            assert found[interval] == pytest.approx(bleus.pop(), abs=1e-12)


def points(lines):
    return naive.points_between(naive.crossings([sorted(set(lines))]))


@MANY
@given(small_forests())
def test_goal_lines_are_the_envelope(drawn):
    forest, references = drawn
    forests = to_forests([drawn])
    rule_line = np.ascontiguousarray(np.stack((forests.rule_dense[:, 0], forests.rule_dense[:, 1]), axis=1))
    offset, number, statistics = goal_lines(forests, rule_line, np.array([1.0, 0.0]))
    every = naive.derivations(forest, len(forest) - 1)
    lines = sorted({line for line, _ in every})
    highest = {lines[naive.best([a + b * x for a, b in lines])] for x in points(lines)}
    assert offset.tolist() == [0, len(highest)]
    assert [tuple(map(Fraction, row)) for row in number.tolist()] == sorted(highest, key=lambda line: line[1])
    for row, matches, *lengths in zip(number.tolist(), *(part.tolist() for part in statistics), strict=True):
        words = [w for line, w in every if line == tuple(map(Fraction, row))]
        closest = naive.Sentence(tuple(map(len, references)), []).reference_length
        found = [as_translation(w, references) for w in words]
        assert (*matches, *lengths) in {(*one.matches, one.length, closest(one)) for one in found}


def decoded(problem, folder):
    """Return a decoder without pruning, and the problem without sparse weights."""
    decoder = make_decoder(problem, folder, Search("dense", pop_limit=5000), ("x", "a", "y"))
    dense = {name: value for name, value in problem.weights.items() if name in decoder.dense_names}
    return decoder, problem._replace(weights=dense)


def forests_of(decoder, weights, limit):
    rules, found = decoder.search(0, decoder.weight_vectors(make_weights(weights)))
    grammars = decoder.grammars
    arrays = make_forest(grammars, rules, rules.dense, found, limit, grammars.references(0))
    arrays["sentence_reference_offset"] = np.array([1])
    declared = {name: FORMAT.arrays[name] for name in Forests._fields}
    whole = {name: np.append(0, part) if declared[name].into else part for name, part in arrays.items()}
    return Forests(**{name: np.asarray(whole[name], declared[name].dtype) for name in Forests._fields})


@given(small_grammars(), st.lists(st.integers(-1000, 1000), min_size=16, max_size=16), st.integers(1, 12))
def test_forest_of_the_decoder(tmp_path, problem, direction, limit):
    decoder, problem = decoded(problem, tmp_path)
    names = decoder.dense_names
    weights = np.array([problem.weights.get(name, 0.0) for name in names])
    step = np.array(direction[: len(names)]) / 1000
    whole, pruned = (forests_of(decoder, problem.weights, size) for size in (10**6, limit))
    assert find_bad_sentence(whole) == find_bad_sentence(pruned) == -1
    line_searches = [ForestLineSearch([[one]], decoder.lm_column) for one in (whole, pruned)]
    found, kept = (line_search.score_lines(weights, step) for line_search in line_searches)
    for x in (0.0, -2.0, 0.5, 30.0):
        there = dict(zip(names, (weights + x * step).tolist(), strict=True))
        best = solve(problem._replace(weights=there), k=1)[0]
        assert (found.intercept + x * found.slope).max() == pytest.approx(best.score, abs=1e-3)
    # pruning keeps the best
    assert pruned.edge_rule.shape[0] <= whole.edge_rule.shape[0]
    assert kept.intercept.max() == pytest.approx(found.intercept.max(), abs=1e-9)


def test_pruning_by_the_best_derivation_through_an_edge(tmp_path):
    rules = [Rule((s,), (t,), {"CountEF": v}) for s, t, v in
             (("a", "x", 4.0), ("a", "y", 1.0), ("b", "x", 2.0), ("b", "z", 0.0))]  # fmt: skip
    model = load_arpa(to_arpa(dict.fromkeys([("<unk>",), ("<s>",), ("</s>",)], (-1.0, 0.0)), 1), tmp_path)
    decoder = Decoder(make_grammars([("a", "b")], [("x", "x")], [rules]), model, Search("dense"))
    weights = decoder.weight_vectors(make_weights({"CountEF": 1.0, "PassThrough": -9.0}))
    _, found = decoder.search(0, weights)
    # best derivation: one rule for a, one for b, two glue rules and the goal
    assert prune_forest(found, 1).edge.shape[0] == 5
    # then b with z (2 less), then a with y (3 less)
    assert prune_forest(found, 6).edge.shape[0] == 6
    assert prune_forest(found, 7).edge.shape[0] == 7


def test_separable_forests_are_separated():
    """Also a set of one sentence: the good derivation is the best only in a cone of directions."""
    good, bad = (1, 2, 3, 1), (0, 2, 1, 0)
    drawn = [
        ([[Edge((Fraction(a), Fraction(b)), (), words) for a, b, words in edges]], ((1, 2, 3, 1),))
        for edges in ([(2, -1, bad), (1, 1, good), (-3, 0, bad)], [(-1, 3, good), (0, 1, bad), (1, -2, bad)])
    ]
    for sentences in (drawn, drawn[:1]):
        line_search = ForestLineSearch([[to_forests(sentences)]], MODEL)
        start = np.array([1.0, -1.0, 1.0])
        assert line_search.quality_of_best(start) < 1.0
        weights, bleu = tune_mert(line_search, start, 5, 0, (1,))
        assert bleu == pytest.approx(1.0) == line_search.quality_of_best(weights)


DENSE = settings(features="dense")


@pytest.fixture(scope="module")
def decodable(tmp_path_factory):
    sentences = [("a b a b b", "x y x y z"), ("", "x"), ("b a a b", "y x x y")]
    return make_decodable(tmp_path_factory.mktemp("forests"), "x y x y z\ny x x y\n", sentences)


def test_command(decodable, tmp_path, capsys):
    paths = []
    (tmp_path / "start").write_text("".join(f"{name} {value}\n" for name, value in START_WEIGHTS.items()))
    for number in (0, 1):
        for iteration in (1, 2):
            paths.append(tmp_path / f"{number}.{iteration}.h5")
            place = [f"--file-number={number}", f"--iteration={iteration}"]
            start = f"--start={tmp_path / 'start'}"
            assert write_decoded("step forest", decodable, paths[-1], *DENSE, *place, start) == 0
    assert write_decoded("step forest", decodable, tmp_path / "x.h5", *DENSE, "--iteration", "2") == 1
    check_facts(capsys.readouterr().err, 2, "--start")
    contents = set()
    for order in (paths, paths[::-1], paths[2:] + paths[:2]):
        assert main(tune_command(tmp_path, order, tuner="forest-mert")) == 0
        contents.add((tmp_path / "out.h5").read_bytes())
    assert len(contents) == 1
    assert read_itersel_weights(tmp_path / "out.h5").value.shape[0] > 0
    assert main(tune_command(tmp_path, paths)) == 1
    check_facts(capsys.readouterr().err, ".h5:", "itersel step kbest")
    assert write_decoded("step forest", decodable, tmp_path / "x.h5", *DENSE, sentences="plain.h5") == 1
    check_facts(capsys.readouterr().err, "plain.h5:", "--reference")


def test_forest_without_words(decodable, tmp_path):
    assert write_decoded("step forest", decodable, tmp_path / "1.h5", *DENSE) == 0
    forests = read_forests(tmp_path / "1.h5", 12)
    assert np.diff(forests.item_offset).tolist()[1] == 1
    matches, *lengths = ForestLineSearch([[forests]], 10).score_lines(np.ones(12), np.zeros(12)).statistics
    assert [*matches[1].tolist(), *(each[1] for each in lengths)] == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("name", "row", "value", "facts"),
    [
        ("edge_first", -1, 10**6, 3),
        ("edge_first", 0, 0, 1),
        ("edge_rule", 1, 10**6, 1),
        ("edge_offset", 1, 0, 1),
        ("target", 0, -2, 1),
        ("rule_dense", 0, math.nan, "'rule_dense'"),
        ("edge_lm", 0, math.inf, "'edge_lm'"),
        ("target", 0, -3, ("'target'", -3)),
    ],
)
def test_bad_forests(decodable, tmp_path, name, row, value, facts):
    path = tmp_path / "1.h5"
    assert write_decoded("step forest", decodable, path, *DENSE) == 0
    put(name, row, value)(path)
    with input_error(facts):
        tune(TuneSettings(ForestMert()), [path], tmp_path / "w.h5")
    assert not (tmp_path / "w.h5").exists()


def test_empty_tuning_set(decodable, tmp_path):
    model = load_model(decodable / "model")
    for sentences, references, facts in (([], [], ()), ([("a",)], [("a", "x", "y", "z")], ("BLEU", 0))):
        grammars = make_grammars(sentences, references, [[]] * len(sentences))
        decoder = Decoder(grammars, model, Search("dense"))
        generate_forests(tmp_path / "1.h5", grammars, decoder, make_weights({}), ForestSettings("dense"))
        with input_error(facts):
            tune(TuneSettings(ForestMert()), [tmp_path / "1.h5"], tmp_path / "w.h5")
