"""Grammar extraction compared with the naive extractor, worked examples, and invalid input."""

import h5py
import numpy as np
import pytest
from hypothesis import example as explicit
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import MANY
from tests.naive import extractor as naive
from tests.naive.features import sparse_features
from tests.refusals import input_error
from tests.text_grammars import features_by_rule, grammar_of, index_lines, rows_of, rule_of, write

from itersel.config.extraction import ExtractionSettings
from itersel.grammar.build import Rule, make_grammars
from itersel.grammar.extract import extract_grammars
from itersel.grammar.grammar_kernels import GLUE, GLUE_START, GRAMMAR_RULE, PASS_THROUGH
from itersel.grammar.sentence_grammars import read_grammars, write_grammars
from itersel.storage.strings import StringTable
from itersel.vectors.feature_names import BUILT_IN_TEMPLATES, DEFAULT_TEMPLATES, GRAMMAR_FEATURES

SOURCE_WORDS = "abc"
TARGET_WORDS = "xyz"


def index_corpus(folder, corpus):
    source, target = ([" ".join(pair[side]) for pair in corpus] for side in (0, 1))
    links = [" ".join(f"{i}-{j}" for i, j in sorted(pair.links)) for pair in corpus]
    return index_lines(folder, source, target, links)


def extract(folder, sentences, own=None, chosen=None):
    """Extract the grammars of some sentences, each without its own pairs, from the index in `folder`."""
    text = write(folder / "input", *map(" ".join, sentences))
    ids = own and write(folder / "ids", *(" ".join(map(str, numbers)) for numbers in own))
    extract_grammars(folder / "index", text, folder / "sentences.h5", leave_one_out=ids, settings=chosen)
    return read_grammars(folder / "sentences.h5")


@st.composite
def sentence_pairs(draw):
    """Draw a sentence and a word-for-word translation, with some words moved, added, dropped or relinked.

    Links drawn independently would yield hardly any rules with nonterminals.
    """
    size = draw(st.sampled_from([8, 8, 7, 6, 5, 4, 1, 0]))
    source = [draw(st.sampled_from(SOURCE_WORDS)) for _ in range(size)]
    # words, and the source positions that they translate (or -1)
    target = [(draw(st.sampled_from(TARGET_WORDS)), i) for i in range(size)]
    for _ in range(draw(st.integers(0, 3)) if size else 0):
        i, j = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))
        target.insert(j, target.pop(i))
    for _ in range(draw(st.integers(0, 1))):
        target.insert(draw(st.integers(0, len(target))), (draw(st.sampled_from(TARGET_WORDS)), -1))
    unaligned = draw(st.sets(st.integers(0, max(size - 1, 0)), max_size=1))
    links = {(i, j) for j, (_, i) in enumerate(target) if i >= 0 and i not in unaligned}
    if size:
        points = st.tuples(st.integers(0, size - 1), st.integers(0, len(target) - 1))
        links |= draw(st.sets(points, max_size=1))
    return naive.SentencePair(tuple(source), tuple(word for word, _ in target), frozenset(links))


@st.composite
def problems(draw):
    """Draw a corpus, sentences to extract for, what to leave out for each or None, and settings."""
    corpus = draw(st.lists(sentence_pairs(), min_size=2, max_size=5))
    # copies, some of which are left out
    corpus += draw(st.lists(st.sampled_from(corpus), max_size=2))
    chosen = ExtractionSettings(
        max_span=draw(st.sampled_from([8, 6, 2])),
        max_symbols=draw(st.sampled_from([5, 4, 3, 1])),
        max_nonterminals=draw(st.sampled_from([2, 1, 0])),
        min_gap=draw(st.sampled_from([1, 1, 2])),
        max_samples=draw(st.sampled_from([300, 3, 2, 1])),
    )
    if draw(st.booleans()):
        own = []
        for number in draw(st.lists(st.integers(0, len(corpus) - 1), min_size=1, max_size=3)):
            same = [i for i, pair in enumerate(corpus) if pair.source == corpus[number].source]
            copies = draw(st.lists(st.sampled_from(same), unique=True))
            own.append([number, *(i for i in copies if i != number)])
        return corpus, [corpus[numbers[0]].source for numbers in own], own, chosen
    words = st.lists(st.sampled_from(SOURCE_WORDS + "q"), min_size=3, max_size=8).map(tuple)
    return corpus, draw(st.lists(words, min_size=1, max_size=2)), None, chosen


def example(source, target, links):
    points = [tuple(map(int, point.split("-"))) for point in links.split()]
    return naive.SentencePair(tuple(source.split()), tuple(target.split()), frozenset(points))


def about(sentence, *corpus):
    """Return a problem: one sentence, with nothing left out."""
    return [*corpus], [tuple(sentence.split())], None, ExtractionSettings()


STRAIGHT, CROSSED = example("a b", "x x", "0-0 1-1"), example("a b", "x x", "0-1 1-0")
UNALIGNED = example("a b", "z w", "1-0")


@MANY
@given(problems())
# unaligned words occur in rules, but never without an aligned word
@explicit(about("a b c", example("a b c", "x z", "0-0 2-1")))
# the second gap begins the translation
@explicit(about("a b a c a", example("a b a c a", "z x y x x", "0-1 1-2 2-3 3-0 4-4")))
# "a" is translated as x, as y, and unaligned
@explicit(about("a b", example("a b", "x z", "0-0 1-1"), example("a", "y", "0-0"), UNALIGNED))
# the most frequent alignment, or the smallest of them
@explicit(about("a b", CROSSED, STRAIGHT, CROSSED))
@explicit(about("a b", CROSSED, STRAIGHT))
@explicit(about("a b", example("a b", "x x", "0-0 0-1 1-1"), STRAIGHT))
def test_equals_the_naive_extractor(tmp_path, problem):
    corpus, sentences, own, chosen = problem
    index_corpus(tmp_path, corpus)
    grammars = extract(tmp_path, sentences, own, chosen)
    slow = naive.Extractor(corpus, chosen)
    for number, words in enumerate(sentences):
        expected = slow.grammar(words, () if own is None else own[number])
        found = grammar_of(grammars, number)
        assert found.keys() == expected.keys()
        for rule, entry in expected.items():
            assert found[rule].features == pytest.approx(entry.features, abs=1e-5)
            assert found[rule].alignment == entry.alignment


# Chiang 2007, figure 1; "the" belongs to the relative clause
CHIANG = example(
    "aozhou shi yu bei han you bangjiao de shaoshu guojia zhiyi",
    "australia is one of the few countries that have diplomatic relations with north korea",
    "0-0 1-1 2-11 3-12 4-13 5-8 6-9 6-10 7-4 7-7 8-5 9-6 10-2 10-3",
)


def test_rules_of_chiang(tmp_path):
    """The rules in Chiang 2007, section 2."""
    index_corpus(tmp_path, [CHIANG])
    rules = grammar_of(extract(tmp_path, [CHIANG.source]), 0)
    # <yu X1 you X2, have X2 with X1>
    assert rules[("yu", -1, "you", -2), ("have", -2, "with", -1)].alignment == ((0, 2), (2, 0))
    # <X1 de X2, the X2 that X1>
    assert rules[(-1, "de", -2), ("the", -2, "that", -1)].alignment == ((1, 0), (1, 2))
    # <X1 zhiyi, one of X1>
    assert rules[(-1, "zhiyi"), ("one", "of", -1)].alignment == ((1, 0), (1, 1))
    assert rules[("aozhou",), ("australia",)].alignment == ((0, 0),)
    # one sentence pair: everything occurs once, and every word has one translation
    for entry in rules.values():
        coherent, sample_count, pair_count, source_cost, _, *singletons = entry.features
        assert (coherent, source_cost, *singletons) == (0, 0, 1, 1)
        assert sample_count == pair_count == pytest.approx(np.log10(2))
    assert not any(np.signbit(entry.features).any() for entry in rules.values())


def test_copies_are_left_out_wherever_they_are_listed(tmp_path):
    index_lines(tmp_path, ["a"] * 2, ["x"] * 2, ["0-0"] * 2)
    grammars = extract(tmp_path, ["a", "a"], [[0, 1], [1, "@1"]])
    assert grammars.attributes["leave_one_out"]
    assert not any(grammar_of(grammars, sentence) for sentence in (0, 1))


@given(problems(), st.randoms(use_true_random=False))
def test_a_grammar_does_not_depend_on_the_other_sentences(tmp_path, problem, random):
    """Nor does the order of its rules depend on the order of sentences or on their division into files."""
    corpus, sentences, own, chosen = problem
    index_corpus(tmp_path, corpus)
    whole = extract(tmp_path, sentences, own, chosen)
    order = random.sample(range(len(sentences)), random.randint(1, len(sentences)))
    part = extract(tmp_path, [sentences[i] for i in order], own and [own[i] for i in order], chosen)
    for place, number in enumerate(order):
        assert rows_of(part, place) == rows_of(whole, number)


def test_unknown_words_pass_through_in_the_order_of_the_sentence(tmp_path):
    """Word numbers follow the order of the sentences, where `b` precedes `c`."""
    index_lines(tmp_path, ["a"], ["x"], ["0-0"])
    rows = rows_of(extract(tmp_path, ["b", "cabc"]), 1)
    assert [rule[0] for kind, rule, _ in rows if kind == PASS_THROUGH] == [("a",), ("c",), ("b",)]


def test_layout_of_the_grammars(tmp_path):
    index_lines(tmp_path, ["a b a c", "c a"], ["x y x z", "x z"], ["0-0 1-1 2-2 3-3", "0-1 1-0"])
    references = write(tmp_path / "references", "x unseen", "", "y")
    sentences = write(tmp_path / "input", "a b a q", "", "c a")
    extract_grammars(tmp_path / "index", sentences, tmp_path / "sentences.h5", references=[references])
    grammars = read_grammars(tmp_path / "sentences.h5")
    assert grammars.rule_kind[:2].tolist() == [GLUE_START, GLUE]
    assert [rule_of(grammars, rule) for rule in (0, 1)] == [((-1,), (-1,)), ((-1, -2), (-1, -2))]
    assert grammars.vocabulary.take(grammars.source).to_list() == ["a", "b", "a", "q", "c", "a"]
    assert grammars.vocabulary.take(grammars.reference).to_list() == ["x", "unseen", "y"]
    assert grammars.source_offset.tolist() == [0, 4, 4, 6]
    assert grammars.reference_offset.tolist() == [0, 2, 2, 3]
    assert grammars.grammar_offset[1] == grammars.grammar_offset[2]
    for sentence, text in ((0, "abaq"), (2, "ca")):
        rows = rows_of(grammars, sentence)
        passed = [(rule, any(dense)) for kind, rule, dense in rows if kind == PASS_THROUGH]
        assert sorted(passed) == [(((word,), (word,)), False) for word in sorted(set(text))]
        rules = grammars.grammar_rule[slice(*grammars.grammar_offset[sentence : sentence + 2])]
        assert (np.diff(rules) > 0).all()
        # rules are grouped by source side
        sides = [rule[0] for _, rule, _ in rows]
        assert len(set(sides)) == sum(a != b for a, b in zip(sides, [None, *sides], strict=False))
    # every rule except glue is in the grammar of a sentence, without duplicates
    assert np.unique(grammars.grammar_rule).tolist() == list(range(2, grammars.rule_kind.shape[0]))
    keys = [(int(grammars.rule_kind[i]), rule_of(grammars, i)) for i in range(grammars.rule_kind.shape[0])]
    assert len(set(keys)) == len(keys)
    assert "RBS:<r>_a" in grammars.feature_name.to_list()


def test_tables_grow(tmp_path):
    """Tables start with 1024 rows; rows, rules, symbols and points must survive their growth."""
    texts = [[f"{letter}{i}" for letter in "abcdefgh"] for i in range(10)]
    links = frozenset((i, i) for i in range(8))
    index_corpus(tmp_path, [naive.SentencePair(tuple(words), tuple(words), links) for words in texts])
    grammars = extract(tmp_path, texts)
    assert grammars.rule_kind.shape[0] > 2048
    for sentence, words in enumerate(texts):
        alone = extract(tmp_path, [words])
        assert rows_of(grammars, sentence) == rows_of(alone, 0)
        assert grammar_of(grammars, sentence) == grammar_of(alone, 0)


def test_bad_files(tmp_path):
    index_lines(tmp_path, ["a b", "b"], ["x", "x"], ["0-0", "0-0"])
    output, ids, sentences = tmp_path / "never.h5", tmp_path / "ids", write(tmp_path / "input", "b", "a b")

    for lines, *facts in (
        (["1"], f"{ids}:2:", 1, sentences, 2),
        (["1", "0", "0"], f"{ids}:3:", 3, sentences, 2),
        *(
            (["1", bad], f"{ids}:2:", f"'{bad}'")
            for bad in ("2", "-1", "x", "", "1.0", "9" * 5000, "0" * 5000, "\u0661", "\x1e0")
        ),
        (["0", "0"], f"{sentences}:1:", 0),
        (["1", "1"], f"{sentences}:2:", 1),
        (["1", "0 1"], f"{sentences}:2:", 1),
        (["1 1", "0"], f"{ids}:1:"),
        (["1", "0 @1"], f"{ids}:2:", 1, 0),
        (["1", "0 @3"], f"{ids}:2:", 3, 0),
    ):
        write(ids, *lines)
        with input_error(*facts):
            extract_grammars(tmp_path / "index", sentences, output, leave_one_out=ids)
    references = write(tmp_path / "references", "x")
    with input_error(f"{sentences}:2:", 2, 1, references):
        extract_grammars(tmp_path / "index", sentences, output, references=[references])
    with input_error(f"{sentences}:", "'grammar-index'"):
        extract_grammars(sentences, sentences, output)
    assert not output.exists()


@given(problems())
def test_all_templates_for_every_sentence(tmp_path, problem):
    """Counts follow leave-one-out for the sentence, whatever those of other sentences in the file."""
    corpus, sentences, own, _ = problem
    index_corpus(tmp_path, corpus)
    everything = tuple(BUILT_IN_TEMPLATES)
    plain = extract(tmp_path, sentences, own)
    grammars = extract(tmp_path, sentences, own, ExtractionSettings(templates=everything))
    features = features_by_rule(grammars)
    for sentence in range(len(sentences)):
        grammar = grammar_of(grammars, sentence)
        for row in range(*grammars.grammar_offset[sentence : sentence + 2]):
            rule = int(grammars.grammar_rule[row])
            source, target = rule_of(grammars, rule)
            alignment, count = ((0, 0),), 0
            if grammars.rule_kind[rule] == GRAMMAR_RULE:
                dense, alignment = grammar[source, target]
                count = round(10 ** dense[GRAMMAR_FEATURES.index("CountEF")]) - 1
            expected = sparse_features(source, target, alignment=alignment, count=count, templates=everything)
            assert features[rule] == expected
    write_grammars(tmp_path / "again.h5", read_grammars(tmp_path / "sentences.h5"))
    assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "sentences.h5").read_bytes()
    # the first four templates do not depend on the others
    restricted = read_grammars(tmp_path / "sentences.h5", DEFAULT_TEMPLATES)
    assert restricted.templates == plain.templates == DEFAULT_TEMPLATES
    assert restricted.feature_name.to_list() == plain.feature_name.to_list()
    assert np.array_equal(restricted.dense(), plain.dense())
    rows = zip(restricted.grammar_rule.tolist(), plain.grammar_rule.tolist(), strict=True)
    left, right = features_by_rule(restricted), features_by_rule(plain)
    for one, other in rows:
        assert rule_of(restricted, one) == rule_of(plain, other)
        assert left[one] == right[other]


def test_templates_that_grammars_lack(tmp_path):
    index_lines(tmp_path, ["a"], ["x"], ["0-0"])
    grammars = extract(tmp_path, [("a",)], chosen=ExtractionSettings(templates=("RBS", "Lex")))
    assert grammars.templates == ("RBS", "Lex")
    assert set(grammars.feature_name.to_list()) == {
        "Lex:a_x", "Lex:a_a", "RBS:<r>_a", "RBS:a_</r>", "RBS:<r>_X", "RBS:X_</r>", "RBS:<r>_S", "RBS:S_X",
    }  # fmt: skip
    assert set(read_grammars(tmp_path / "sentences.h5", ("Lex",)).feature_name.to_list()) == {
        "Lex:a_x",
        "Lex:a_a",
    }
    with input_error("sentences.h5", "'R'", "RBS"):
        read_grammars(tmp_path / "sentences.h5", ("Lex", "R"))
    with input_error("'R'"):
        extract(tmp_path, [("a",)], chosen=ExtractionSettings(templates=("R", "R")))


def test_only_listed_features_are_stored(tmp_path):
    listed, computed = {"Class:y": 2.0, "Lex:a_x": 3.0}, {"RBS:<r>_a": 1.0, "RBS:a_</r>": 1.0}
    made = make_grammars([("a",)], None, [[Rule(("a",), ("x",), listed, ((0, 0),))]], templates=("RBS",))
    assert made.templates == ("RBS", "Lex")
    assert features_by_rule(made)[2] == {**listed, **computed}
    write_grammars(tmp_path / "sentences.h5", made)
    with h5py.File(tmp_path / "sentences.h5") as stream:
        names = StringTable(stream["feature_name"][:], stream["feature_name_offset"][:])
        assert sorted(names.to_list()) == ["Class:y", "Lex:a_x"]
    read = read_grammars(tmp_path / "sentences.h5")
    assert features_by_rule(read) == features_by_rule(made)
    write_grammars(tmp_path / "again.h5", read)
    assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "sentences.h5").read_bytes()
    assert features_by_rule(read_grammars(tmp_path / "sentences.h5", ("Lex",)))[2] == listed
    assert features_by_rule(read_grammars(tmp_path / "sentences.h5", ("RBS",)))[2] == {
        "Class:y": 2.0,
        **computed,
    }
    assert features_by_rule(read_grammars(tmp_path / "sentences.h5", ()))[2] == {"Class:y": 2.0}
    dense = read_grammars(tmp_path / "sentences.h5", features="dense")
    assert dense.feature_key.size == dense.rule_feature.size == 0
    assert dense.rule_feature_offset.tolist() == [0] * (dense.rule_kind.size + 1)
