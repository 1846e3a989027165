"""cdec's text grammars: reading, writing, and every error with its position."""

import os
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.strategies import SOURCE_WORDS, categorized_rules, eighths, small_rules
from tests.refusals import input_error
from tests.text_grammars import features_by_rule, rows_of, write

from itersel.cli.main import main
from itersel.grammar.build import CategorySet, Rule, make_grammars
from itersel.grammar.grammar_kernels import GRAMMAR_RULE, PASS_THROUGH
from itersel.grammar.sentence_grammars import (
    MAX_CATEGORIES,
    MAX_CATEGORY_SENTENCE,
    SentenceGrammars,
    read_grammars,
    write_grammars,
)
from itersel.grammar.sparse import FeatureNames
from itersel.grammar.text_format import export_grammars, import_grammars, parse_rule, read_grammar, read_input
from itersel.storage.files import read_lines
from itersel.storage.strings import StringTable
from itersel.vectors.feature_names import GRAMMAR_FEATURES, MAX_DENSE, is_dense_name

SEVEN = " ".join(f"{name}={value}" for value, name in enumerate(GRAMMAR_FEATURES))
# what the nonterminals of each side must be
SOURCE, TARGET = ("source", "[X,1]", "[X,2]"), "target"
RULE = f"[X] ||| a [X,1] ||| [X,1] x ||| {SEVEN} ||| 0-1"

# of extracted grammars; imported ones have dense features instead
COUNTS = ("grammar_dense", "grammar_samples", "grammar_count", "grammar_singleton", "rule_cost")
texts = st.lists(st.sampled_from((*SOURCE_WORDS, "ä\u00a0ö")), min_size=1, max_size=4)
# the largest single-precision number within the bounds of features
LARGEST = 999999995904.0
values = eighths() | st.floats(-LARGEST, LARGEST, width=32)


def assert_equal(first, second):
    assert first.dense().tobytes() == second.dense().tobytes()
    for item in fields(SentenceGrammars):
        if item.name in COUNTS:
            continue
        a, b = getattr(first, item.name), getattr(second, item.name)
        if isinstance(a, StringTable | FeatureNames):
            assert a.to_list() == b.to_list(), item.name
        elif isinstance(a, np.ndarray):
            # compared as bytes, because -0 is not 0
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), item.name
        elif item.name != "attributes":
            assert a == b, item.name


def import_one(folder, *lines, text="a b"):
    write(folder / "g" / "grammar.0", *lines)
    import_grammars(write(folder / "text", text), folder / "g", folder / "sentences.h5")
    return read_grammars(folder / "sentences.h5")


def listed_rules(grammars, sentence=0):
    """Return the kind, source and target side of the rules of a sentence, as words."""
    return [(kind, *sides) for kind, sides, _ in rows_of(grammars, sentence)]


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (
            "[X] ||| a [X,1] b [X,2] ||| [X,2] x [X,1] ||| A=1 Class:b=-2.5e-1 ||| 0-1 2-1",
            Rule(("a", -1, "b", -2), (-2, "x", -1), {"A": 1, "Class:b": -0.25}, ((0, 1), (2, 1))),
        ),
        ("[X] ||| a ||| x ||| A=1", Rule(("a",), ("x",), {"A": 1.0})),
        ("[X] ||| a ||| x ||| |||", Rule(("a",), ("x",))),
        ("[X] ||| a ||| ||| A=1", Rule(("a",), (), {"A": 1.0})),
        # only ASCII's white space
        ("[X] ||| a\u00a0b\tc ||| x ||| ", Rule(("a\u00a0b", "c"), ("x",))),
    ],
)
def test_a_rule_is_parsed(line, rule):
    assert parse_rule(line) == rule


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("[X] ||| a ||| x", 3),
        ("[X] ||| a ||| x ||| A=1 ||| 0-0 ||| more", 6),
        ("", 1),
        ("a [X][X] [X] ||| b [X][X] [X] ||| 0.5 ||| 0-0", ("'a [X][X] [X]'", "[X]", "Moses")),
        ("[X] ||| a ||| x ||| 0.5", "'0.5'"),
        ("[X,1] ||| b ||| x ||| A=1", "'[X,1]'"),
        ("[] ||| b ||| x ||| A=1", "'[]'"),
        ("[X] ||| a [X,3] ||| x [X,3] ||| A=1", "'[X,3]'"),
        (f"[X] ||| a [{'N' * 101},1] ||| x [1] ||| A=1", f"'[{'N' * 101},1]'"),
        ("[X] ||| a [NP,1] ||| x [NN,1] ||| A=1", (1, "[NP]", "[NN]")),
        ("[X] ||| a [NP,1] ||| x [2] ||| A=1", TARGET),
        ("[X] ||| a ||| [1] ||| A=1", TARGET),
        ("[X] ||| a [X,2] ||| x [X,2] ||| A=1", SOURCE),
        ("[X] ||| [X,2] a [X,1] ||| x [X,2] [X,1] ||| A=1", SOURCE),
        ("[X] ||| [X,1] a [X,1] ||| x [X,1] ||| A=1", SOURCE),
        ("[X] ||| [X,1] a [X,2] [X,2] ||| x [X,1] [X,2] ||| A=1", SOURCE),
        ("[X] ||| [X,1] a ||| x ||| A=1", TARGET),
        ("[X] ||| [X,1] a ||| x [X,1] [X,1] ||| A=1", TARGET),
        ("[X] ||| [X,1] a [X,2] ||| [X,1] [X,1] ||| A=1", TARGET),
        ("[X] ||| a ||| x [X,1] ||| A=1", TARGET),
        ("[X] ||| ||| x ||| A=1", "source"),
        ("[X] ||| [X,1] ||| x [X,1] ||| A=1", ("[S] -> [X]", "[X]")),
        ("[X] ||| [S,1] ||| x [S,1] ||| A=1", ("[S] -> [X]", "[X]")),
        ("[X] ||| a ||| x ||| A", "'A'"),
        ("[X] ||| a ||| x ||| =1", "'=1'"),
        ("[X] ||| a ||| x ||| A=nan", ("'A=nan'", "1e+12")),
        ("[X] ||| a ||| x ||| A=-inf", ("'A=-inf'", "1e+12")),
        ("[X] ||| a ||| x ||| A=1.1e12", ("'A=1.1e12'", "1e+12")),
        ("[X] ||| a ||| x ||| A=1 A=2", "'A'"),
        ("[X] ||| a ||| x ||| PassThrough=1", "'PassThrough'"),
        ("[X] ||| a ||| x ||| R:X:a:x=1", "'R:X:a:x'"),
        ("[X] ||| a ||| x ||| A=1 ||| 0", "'0'"),
        ("[X] ||| a ||| x ||| A=1 ||| 0-300", "'0-300'"),
        ("[X] ||| a ||| x ||| A=1 ||| 0-1", "0-1"),
        ("[X] ||| a ||| x ||| A=1 ||| 1-0", "1-0"),
    ],
)
def test_a_bad_rule_is_an_error_with_file_and_line(tmp_path, line, facts):
    with input_error(f"{tmp_path}/g/grammar.0:2:", facts):
        import_one(tmp_path, RULE, line, RULE)
    assert sorted(os.listdir(tmp_path)) == ["g", "text"]


def test_rules_are_grouped_by_source_side_with_pass_through_rules_last(tmp_path):
    sides = "b ||| y", "a b ||| z", "b ||| x", "a b ||| y"
    grammars = import_one(tmp_path, *(f"[X] ||| {both} ||| " for both in sides), text="b a b")
    assert listed_rules(grammars) == [
        (GRAMMAR_RULE, ("b",), ("y",)),
        (GRAMMAR_RULE, ("b",), ("x",)),
        (PASS_THROUGH, ("b",), ("b",)),
        (GRAMMAR_RULE, ("a", "b"), ("z",)),
        (GRAMMAR_RULE, ("a", "b"), ("y",)),
        (PASS_THROUGH, ("a",), ("a",)),
    ]


def test_templates_of_an_import(tmp_path):
    """Features of computed templates must not be listed; those of other templates are kept."""
    write(tmp_path / "grammar.0", "[X] ||| a ||| x ||| Lex:b_y=2 Count:2=1 ||| 0-0")
    files = write(tmp_path / "text", "a"), tmp_path, tmp_path / "sentences.h5"
    import_grammars(*files, templates=("RBS", "Del"))
    grammars = read_grammars(tmp_path / "sentences.h5")
    assert grammars.templates == ("RBS", "Del", "Lex", "Count")
    names = set(grammars.feature_name.to_list())
    assert {"Lex:b_y", "Count:2", "RBS:<r>_a"} <= names
    assert not any(name.startswith(("R:", "Shape", "Lex:a")) for name in names)
    with input_error(".0:1:", "'Lex:b_y'", "--templates"):
        import_grammars(*files, templates=("Lex",))
    with input_error("'Count'"):
        import_grammars(*files, templates=("Count",))


def test_export_lists_features_that_an_import_does_not_compute(tmp_path):
    """Also names without a colon."""
    features = {"Lex:a_x": 1.0, "Del:b": 2.0, "Shape_T10000": 1.0, "Count:2": 1.0, "Own_name": 0.5}
    rule = Rule(("a",), ("x",), features, ((0, 0),))
    write_grammars(tmp_path / "sentences.h5", make_grammars([("a",)], None, [[rule]]))
    export_grammars(tmp_path / "sentences.h5", tmp_path)
    [found] = read_grammar(tmp_path / "grammar.0.gz")
    assert {name: value for name, value in found.features.items() if name not in GRAMMAR_FEATURES} == features


def test_a_rule_listed_twice_is_two_instances_of_one_rule(tmp_path):
    grammars = import_one(
        tmp_path, "[X] ||| a ||| x ||| CountEF=1", "[X] ||| a ||| x ||| CountEF=2", text="a"
    )
    assert grammars.grammar_rule.tolist() == [2, 2, 3]
    assert grammars.grammar_dense[:, GRAMMAR_FEATURES.index("CountEF")].tolist() == [1, 2, 0]


def test_listed_features_become_dense_columns_or_sparse_features(tmp_path):
    assert all(map(is_dense_name, ["CountEF", "Dense", "PhraseModel_0", "P2", "LanguageModel_OOV"]))
    assert not any(map(is_dense_name, ["Class:one", "Source_haus", "_0", "A_0_1", "1"]))
    grammars = import_one(tmp_path, "[X] ||| a ||| x ||| Zeta=1 Class:one=0.5", "[X] ||| b ||| x ||| Beta=2")
    assert grammars.dense_names == (*GRAMMAR_FEATURES, "Beta", "Zeta")
    assert grammars.grammar_dense[:, -2:].tolist() == [[0, 1], [0, 0], [2, 0], [0, 0]]
    assert (np.diff(grammars.rule_feature[slice(*grammars.rule_feature_offset[2:4])]) > 0).all()
    first, *others = features_by_rule(grammars)[2:]
    assert (first["Class:one"], first["R:X:a:x"]) == (0.5, 1)
    assert not any("Class:one" in features for features in others)


def test_too_many_dense_features_are_an_error(tmp_path):
    enough = MAX_DENSE - len(GRAMMAR_FEATURES)
    lines = [f"[X] ||| a ||| x ||| D{number}=1" for number in range(enough)]
    assert len(import_one(tmp_path, *lines).dense_names) == MAX_DENSE
    with input_error(MAX_DENSE, "'Over'"):
        import_one(tmp_path, *lines, "[X] ||| a ||| x ||| Over=1")


def test_segments_name_their_grammars(tmp_path):
    first = write(tmp_path / "one.gz", RULE)
    text = write(tmp_path / "text", f'<seg grammar="{first}" id="7"> a &amp; b </seg>', "plain")
    with input_error(f"{text}:2:", "--grammars"):
        read_input(text)
    sentences = read_input(text, tmp_path)
    assert [sentence.words for sentence in sentences] == [["a", "&amp;", "b"], ["plain"]]
    assert [sentence.grammar for sentence in sentences] == [first, tmp_path / "grammar.1.gz"]
    # the id of a segment without a name is the number of its grammar
    grammar = write(tmp_path / "grammar.7", RULE)
    assert read_input(write(text, '<seg id="7">a</seg>'), tmp_path)[0].grammar == grammar


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("<seg id=7> a </seg>", "<seg"),
        ('<seg id="7"> a', "<seg"),
        ("<segment> a </segment>", "<seg"),
        ("a ||| b", "'|||'"),
    ],
)
def test_a_bad_line_of_the_input(tmp_path, line, facts):
    with input_error("text:2:", facts):
        read_input(write(tmp_path / "text", "fine", line), tmp_path)


def test_a_missing_grammar_is_an_error(tmp_path):
    write(tmp_path / "grammar.0", RULE)
    with input_error("text:2:", "/grammar.1.gz"):
        import_grammars(write(tmp_path / "text", "a", "a"), tmp_path, tmp_path / "sentences.h5")


def test_references_are_kept(tmp_path):
    write(tmp_path / "grammar.0", RULE)
    write(tmp_path / "grammar.1")
    text, references = write(tmp_path / "text", "a b", ""), write(tmp_path / "references", "x new", "y")
    import_grammars(text, tmp_path, tmp_path / "sentences.h5", [references])
    grammars = read_grammars(tmp_path / "sentences.h5")
    assert grammars.vocabulary.take(grammars.source).to_list() == ["a", "b"]
    assert grammars.vocabulary.take(grammars.reference).to_list() == ["x", "new", "y"]
    assert grammars.source_offset.tolist() == [0, 2, 2]
    assert grammars.reference_offset.tolist() == [0, 2, 3]
    assert grammars.can_be_learned_from
    assert not import_one(tmp_path, RULE).can_be_learned_from
    with input_error(f"{references}:2:", 2, 1, text):
        import_grammars(write(text, "a"), tmp_path, tmp_path / "sentences.h5", [references])


@pytest.mark.parametrize(("word", "target"), [("[X,1]", "x"), ("|||", "x"), ("[NP,12]", "x"), ("a", "[1]")])
def test_a_word_with_a_special_meaning_in_grammars_cannot_be_exported(tmp_path, word, target):
    write_grammars(tmp_path / "sentences.h5", make_grammars([[word]], None, [[Rule(("a",), (target,))]]))
    with input_error(f"'{word if target == 'x' else target}'"):
        export_grammars(tmp_path / "sentences.h5", tmp_path / "g")
    assert not (tmp_path / "g").exists()


def test_export_restores_the_import(tmp_path):
    lines = [
        "[X] ||| a [X,1] b ||| x [X,1] ||| EgivenFCoherent=-0 SampleCountF=0.301029995664 CountEF=1e-05 "
        "MaxLexFgivenE=99 MaxLexEgivenF=0 IsSingletonF=1 IsSingletonFE=0 ||| 0-0 2-0",
        "[X] ||| b ||| ||| EgivenFCoherent=0 Class:one=2.5",
    ]
    import_one(tmp_path, *lines)
    export_grammars(tmp_path / "sentences.h5", tmp_path / "out")
    assert os.listdir(tmp_path / "out") == ["grammar.0.gz"]
    assert read_lines(tmp_path / "out/grammar.0.gz") == [
        "[X] ||| a [X,1] b ||| x [X,1] ||| EgivenFCoherent=-0 SampleCountF=0.30103 CountEF=0.00001 "
        "MaxLexFgivenE=99 MaxLexEgivenF=0 IsSingletonF=1 IsSingletonFE=0 ||| 0-0 2-0",
        "[X] ||| b |||  ||| EgivenFCoherent=0 SampleCountF=0 CountEF=0 "
        "MaxLexFgivenE=0 MaxLexEgivenF=0 IsSingletonF=0 IsSingletonFE=0 Class:one=2.5",
    ]


@st.composite
def corpora(draw):
    sentences, categories = draw(st.lists(texts, max_size=3)), draw(st.booleans())
    names = st.sampled_from((*GRAMMAR_FEATURES, "Other", "Listed:one", "Listed:two"))
    grammars = []
    for words in sentences:
        one = st.one_of(small_rules(words), categorized_rules(words)) if categories else small_rules(words)
        grammars.append([])
        for rule in draw(st.lists(one, max_size=5)):
            ends = len(rule.source) - 1, max(len(rule.target) - 1, 0)
            points = st.tuples(*(st.integers(0, end) for end in ends))
            alignment = draw(st.lists(points, max_size=3)) if rule.target else []
            features = draw(st.dictionaries(names, values, max_size=3))
            grammars[-1].append(rule._replace(features=features, alignment=tuple(alignment)))
    return sentences, grammars


@given(corpora())
def test_a_round_trip_changes_nothing(tmp_path, corpus):
    texts, grammars = corpus
    before = make_grammars(texts, texts, grammars)
    write_grammars(tmp_path / "before.h5", before)
    export_grammars(tmp_path / "before.h5", tmp_path / "g")
    text = write(tmp_path / "text", *map(" ".join, texts))
    import_grammars(text, tmp_path / "g", tmp_path / "after.h5", [text])
    assert_equal(read_grammars(tmp_path / "after.h5"), before)


def test_from_a_corpus_to_text_grammars_and_back(tmp_path):
    def grammar(step):
        assert main(["grammar", *step.replace("@", f"{tmp_path}/").split()]) == 0

    write(tmp_path / "source", "das haus", "das buch", "das haus")
    write(tmp_path / "target", "the house", "the book", "the house")
    write(tmp_path / "alignment", *["0-0 1-1"] * 3)
    write(tmp_path / "ids", *"012")
    grammar("index --source @source --target @target --alignment @alignment --output @index")
    extract = "extract --index @index --input @source --reference @target --leave-one-out @ids"
    grammar(f"{extract} --output @sentences.h5")
    for source, copy in ("sentences", "1"), ("1", "2"):
        grammar(f"export --sentences @{source}.h5 --output @{copy}")
        grammar(f"import --input @source --reference @target --grammars @{copy} --output @{copy}.h5")
    assert (tmp_path / "1.h5").read_bytes() == (tmp_path / "2.h5").read_bytes()
    for number in range(3):
        name = f"grammar.{number}.gz"
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    # settings reach the extractor
    grammar(f"{extract} --max-symbols 1 --output @small.h5")
    grammars, small = read_grammars(tmp_path / "sentences.h5"), read_grammars(tmp_path / "small.h5")
    assert grammars.can_be_learned_from
    assert small.grammar_rule.shape[0] < grammars.grammar_rule.shape[0]


def test_cycles_of_unary_rules_are_rejected_across_sentences(tmp_path):
    write(tmp_path / "grammar.0", "[A] ||| [B,1] ||| [1] |||", "[B] ||| [S,1] ||| [1] |||")
    write(tmp_path / "grammar.1", "[X] ||| a ||| x |||", "[X] ||| [A,1] ||| [1] |||")
    with input_error("/grammar.1:2:", "[S]", "[X]"):
        import_grammars(write(tmp_path / "text", "a", "a"), tmp_path, tmp_path / "sentences.h5")
    assert not (tmp_path / "sentences.h5").exists()


def test_number_of_categories_is_limited(tmp_path):
    names = [f"N{number}" for number in range(MAX_CATEGORIES - 2)]
    lines = [f"[{name}] ||| a ||| x |||" for name in names]
    assert import_one(tmp_path, *lines).category.to_list() == ["X", "S", *names]
    with input_error(":999:", 1000, "[Over]"):
        import_one(tmp_path, *lines, "[Over] ||| a ||| x |||")


def test_sentence_length_is_limited_if_categories_may_span_a_sentence(tmp_path):
    text = " ".join("a" * (MAX_CATEGORY_SENTENCE + 1))
    assert import_one(tmp_path, "[X] ||| a ||| x |||", text=text).sentence_count == 1
    assert import_one(tmp_path, "[A] ||| a ||| x |||", text=text[2:]).sentence_count == 1
    (tmp_path / "sentences.h5").unlink()
    with input_error("/text:1:", 201):
        import_one(tmp_path, "[A] ||| a ||| x |||", text=text)
    assert not (tmp_path / "sentences.h5").exists()


def test_one_grammar_is_filtered_for_each_sentence(tmp_path):
    grammar = write(tmp_path / "grammar", "[A] ||| a [X,1] ||| [1] x |||", "[X] ||| b ||| y |||")
    text = write(tmp_path / "text", "a", '<seg grammar="missing">b</seg>')
    import_grammars(text, None, tmp_path / "sentences.h5", grammar=grammar)
    grammars = read_grammars(tmp_path / "sentences.h5")
    copied = [(PASS_THROUGH, (word,), (word,)) for word in "ab"]
    assert listed_rules(grammars, 0) == [(GRAMMAR_RULE, ("a", -1), (-1, "x")), copied[0]]
    assert listed_rules(grammars, 1) == [(GRAMMAR_RULE, ("b",), ("y",)), copied[1]]
    with input_error(f"{tmp_path / 'none'}:"):
        import_grammars(text, None, tmp_path / "sentences.h5", grammar=tmp_path / "none")


def test_export_of_categories(tmp_path):
    import_one(tmp_path, "[NP] ||| a [NN,1] [X,2] ||| [2] [1] |||", text="a [1]")
    export_grammars(tmp_path / "sentences.h5", tmp_path / "out")
    [line] = read_lines(tmp_path / "out/grammar.0.gz")
    assert line.startswith("[NP] ||| a [NN,1] [X,2] ||| [X,2] [NN,1] ||| ")


def test_a_rule_that_closes_a_cycle_leaves_nothing_behind():
    categories = CategorySet()
    with pytest.raises(ValueError, match=r"\[A\]"):
        categories.add_lone("A", "A")
    categories.add_lone("A", "B")
    categories.add_lone("B", "C")
    with pytest.raises(ValueError, match=r"\[C\]"):
        categories.add_lone("C", "A")
