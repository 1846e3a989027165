"""Text grammars with other categories than X, and one grammar for all sentences."""

import gzip
from pathlib import Path

import pytest
from tests.text_grammars import import_one, listed_rules, write

from itersel.errors import InputError
from itersel.grammar.build import Rule, make_shard
from itersel.grammar.categories import MAX_CATEGORIES, MAX_CATEGORY_SENTENCE
from itersel.grammar.export import export_grammars
from itersel.grammar.shard import GRAMMAR_RULE, PASS_THROUGH, read_shard, write_shard
from itersel.grammar.text import (
    import_grammars,
)


def test_cycles_of_unary_rules_are_rejected_across_sentences(
    tmp_path: Path,
) -> None:
    write(tmp_path / "grammar.0", "[A] ||| [B,1] ||| [1] |||", "[B] ||| [S,1] ||| [1] |||")
    write(tmp_path / "grammar.1", "[X] ||| a ||| x |||", "[X] ||| [A,1] ||| [1] |||")
    with pytest.raises(InputError, match=r"\[S\] -> \[X\], \[X\] can be made of itself") as error:
        import_grammars(write(tmp_path / "text", "a", "a"), tmp_path, tmp_path / "shard.h5")
    assert (error.value.path, error.value.line) == (tmp_path / "grammar.1", 2)
    assert not (tmp_path / "shard.h5").exists()


def test_number_of_categories_is_limited(tmp_path: Path) -> None:
    names = [f"N{number}" for number in range(MAX_CATEGORIES - 2)]
    lines = [f"[{name}] ||| a ||| x |||" for name in names]
    assert import_one(tmp_path, *lines).category.to_list() == ["X", "S", *names]
    with pytest.raises(InputError, match=r"more than 1000 categories, \[Over\] is one too many") as error:
        import_one(tmp_path, *lines, "[Over] ||| a ||| x |||")
    assert error.value.line == MAX_CATEGORIES - 1


def test_sentence_length_is_limited_if_categories_may_span_a_sentence(tmp_path: Path) -> None:
    text = " ".join("a" * (MAX_CATEGORY_SENTENCE + 1))
    assert import_one(tmp_path, "[X] ||| a ||| x |||", text=text).sentence_count == 1
    assert import_one(tmp_path, "[A] ||| a ||| x |||", text=text[2:]).sentence_count == 1
    (tmp_path / "shard.h5").unlink()
    with pytest.raises(InputError, match="has 201 words; with other categories than X") as error:
        import_one(tmp_path, "[A] ||| a ||| x |||", text=text)
    assert (error.value.path, error.value.line) == (tmp_path / "text", 1)
    assert not (tmp_path / "shard.h5").exists()


def test_one_grammar_is_filtered_for_each_sentence(tmp_path: Path) -> None:
    grammar = write(tmp_path / "grammar", "[A] ||| a [X,1] ||| [1] x |||", "[X] ||| b ||| y |||")
    text = write(tmp_path / "text", "a", '<seg grammar="missing">b</seg>')
    import_grammars(text, None, tmp_path / "shard.h5", grammar=grammar)
    shard = read_shard(tmp_path / "shard.h5")
    copied = [(PASS_THROUGH, (word,), (word,)) for word in "ab"]
    assert listed_rules(shard, 0) == [(GRAMMAR_RULE, ("a", -1), (-1, "x")), copied[0]]
    assert listed_rules(shard, 1) == [(GRAMMAR_RULE, ("b",), ("y",)), copied[1]]
    with pytest.raises(InputError, match="no such file"):
        import_grammars(text, None, tmp_path / "shard.h5", grammar=tmp_path / "none")


def test_export_of_categories_rejects_words_that_look_like_nonterminals(tmp_path: Path) -> None:
    import_one(tmp_path, "[NP] ||| a [NN,1] [X,2] ||| [2] [1] |||", text="a [1]")
    export_grammars(tmp_path / "shard.h5", tmp_path / "out")
    [line] = gzip.decompress((tmp_path / "out" / "grammar.0.gz").read_bytes()).decode().splitlines()
    assert line.startswith("[NP] ||| a [NN,1] [X,2] ||| [X,2] [NN,1] ||| ")
    write_shard(tmp_path / "shard.h5", make_shard([["a"]], None, [[Rule(("a",), ("[1]",))]]))
    with pytest.raises(InputError, match=r"the word '\[1\]' would mean something else"):
        export_grammars(tmp_path / "shard.h5", tmp_path / "refused")
