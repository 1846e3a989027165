"""Sparse features of extracted grammars, by template."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from tests.naive import extractor as naive
from tests.naive.features import sparse_features
from tests.unit.test_grammar_extract import extract, grammar_of, index_corpus, problems, rule_of

from itersel.config.search import Grammar
from itersel.errors import InputError
from itersel.grammar.build import Rule, make_shard
from itersel.grammar.shard import Shard, read_shard, write_shard
from itersel.grammar.shard_kernels import GRAMMAR_RULE
from itersel.limits import DEFAULT_TEMPLATES, GRAMMAR_FEATURES, TEMPLATES
from itersel.storage.strings import StringTable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("templates")


def sparse_of(shard: Shard, rule: int) -> dict[str, float]:
    names = shard.feature_name.to_list()
    row = slice(*shard.rule_feature_offset[rule : rule + 2])
    values = zip(shard.rule_feature[row].tolist(), shard.rule_feature_value[row].tolist(), strict=True)
    return {names[feature]: value for feature, value in values}


@given(problems())
def test_all_templates_for_every_sentence(folder, problem) -> None:
    """Counts follow leave-one-out for the sentence, whatever those of other sentences in the shard."""
    corpus, sentences, own, _ = problem
    index_corpus(folder, corpus)
    everything = tuple(TEMPLATES)
    shard = extract(folder, sentences, own, Grammar(templates=everything))
    for sentence in range(len(sentences)):
        grammar = grammar_of(shard, sentence)
        for row in range(*shard.grammar_offset[sentence : sentence + 2]):
            rule = int(shard.grammar_rule[row])
            source, target = rule_of(shard, rule)
            alignment, count = ((0, 0),), 0
            if shard.rule_kind[rule] == GRAMMAR_RULE:
                dense, alignment = grammar[source, target]
                count = round(10 ** dense[GRAMMAR_FEATURES.index("CountEF")]) - 1
            expected = sparse_features(source, target, alignment=alignment, count=count, templates=everything)
            assert sparse_of(shard, rule) == expected
    write_shard(folder / "again.h5", read_shard(folder / "shard.h5"))
    assert (folder / "again.h5").read_bytes() == (folder / "shard.h5").read_bytes()
    # the first four templates do not depend on the others
    plain = extract(folder, sentences, own, Grammar())
    restricted = read_shard(extract_again(folder, sentences, own, everything), DEFAULT_TEMPLATES)
    assert restricted.templates == plain.templates == DEFAULT_TEMPLATES
    assert restricted.feature_name.to_list() == plain.feature_name.to_list()
    assert np.array_equal(restricted.dense(), plain.dense())
    rows = zip(restricted.grammar_rule.tolist(), plain.grammar_rule.tolist(), strict=True)
    for one, other in rows:
        assert rule_of(restricted, one) == rule_of(plain, other)
        assert sparse_of(restricted, one) == sparse_of(plain, other)


def extract_again(folder: Path, sentences, own, templates) -> Path:
    extract(folder, sentences, own, Grammar(templates=templates))
    return folder / "shard.h5"


def test_templates_that_a_shard_lacks(folder: Path) -> None:
    index_corpus(folder, [naive.SentencePair(("a",), ("x",), frozenset({(0, 0)}))])
    shard = extract(folder, [("a",)], chosen=Grammar(templates=("RBS", "Lex")))
    assert shard.templates == ("RBS", "Lex")
    assert set(shard.feature_name.to_list()) == {
        "Lex:a_x", "Lex:a_a", "RBS:<r>_a", "RBS:a_</r>", "RBS:<r>_X", "RBS:X_</r>", "RBS:<r>_S", "RBS:S_X",
    }  # fmt: skip
    assert set(read_shard(folder / "shard.h5", ("Lex",)).feature_name.to_list()) == {"Lex:a_x", "Lex:a_a"}
    with pytest.raises(
        InputError, match=r"shard\.h5: has no features of template 'R', only of RBS, Lex; ext"
    ):
        read_shard(folder / "shard.h5", ("Lex", "R"))
    with pytest.raises(InputError, match="'R' is named twice"):
        extract(folder, [("a",)], chosen=Grammar(templates=("R", "R")))


def test_a_listed_feature_of_a_computed_template() -> None:
    rule = Rule(("a",), ("x",), {"Lex:a_x": 1.0})
    with pytest.raises(InputError, match="'Lex:a_x' follows from the rule"):
        make_shard([("a",)], None, [[rule]], templates=("RBS", "Lex"))


def test_only_listed_features_are_stored(folder: Path) -> None:
    rule = Rule(("a",), ("x",), {"Class:y": 2.0, "Lex:a_x": 3.0}, ((0, 0),))
    made = make_shard([("a",)], None, [[rule]], templates=("RBS",))
    assert made.templates == ("RBS", "Lex")
    computed = {"RBS:<r>_a": 1.0, "RBS:a_</r>": 1.0}
    assert sparse_of(made, 2) == {"Class:y": 2.0, "Lex:a_x": 3.0, **computed}
    write_shard(folder / "shard.h5", made)
    with h5py.File(folder / "shard.h5") as stream:
        names = StringTable(stream["feature_name"][:], stream["feature_name_offset"][:])
        assert sorted(names.to_list()) == ["Class:y", "Lex:a_x"]
    read = read_shard(folder / "shard.h5")
    assert [sparse_of(read, number) for number in range(4)] == [
        sparse_of(made, number) for number in range(4)
    ]
    write_shard(folder / "again.h5", read)
    assert (folder / "again.h5").read_bytes() == (folder / "shard.h5").read_bytes()
    assert sparse_of(read_shard(folder / "shard.h5", ("Lex",)), 2) == {"Class:y": 2.0, "Lex:a_x": 3.0}
    assert sparse_of(read_shard(folder / "shard.h5", ("RBS",)), 2) == {"Class:y": 2.0, **computed}
    dense = read_shard(folder / "shard.h5", features="dense")
    assert dense.feature_key.size == dense.rule_feature.size == 0
    assert dense.rule_feature_offset.tolist() == [0] * (dense.rule_kind.size + 1)
