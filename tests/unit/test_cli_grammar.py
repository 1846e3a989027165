"""The options of ``itersel grammar``; the modules have their own tests."""

import argparse
from pathlib import Path

import pytest

from itersel.cli.grammar import add_arguments
from itersel.cli.main import main
from itersel.config.search import Grammar
from itersel.grammar.shard import read_shard


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a folder with a word-aligned corpus."""
    (tmp_path / "source").write_text("das haus\ndas buch\ndas haus\n")
    (tmp_path / "target").write_text("the house\nthe book\nthe house\n")
    (tmp_path / "alignment").write_text("0-0 1-1\n" * 3)
    return tmp_path


def grammar(folder: Path, *arguments: str) -> int:
    """Run a step; file names of the corpus are resolved in its folder."""
    return main(["grammar", *(str(folder / a[1:]) if a.startswith("@") else a for a in arguments)])


def test_defaults_are_those_of_the_settings() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = parser.parse_args(["extract", "--index", "i", "--input", "t", "--output", "s"])
    expected = Grammar()
    assert {name: getattr(options, name) for name in vars(expected)} == vars(expected)


def test_from_a_corpus_to_text_grammars(corpus: Path) -> None:
    files = ("--source", "@source", "--target", "@target", "--alignment", "@alignment")
    assert grammar(corpus, "index", *files, "--output", "@index") == 0
    (corpus / "ids").write_text("0\n1\n2\n")
    inputs = ("--index", "@index", "--input", "@source", "--references", "@target")
    assert grammar(corpus, "extract", *inputs, "--leave-one-out", "@ids", "--output", "@shard.h5") == 0
    assert read_shard(corpus / "shard.h5").has_references
    assert grammar(corpus, "export", "--shard", "@shard.h5", "--output", "@g") == 0
    again = ("--input", "@source", "--grammars", "@g", "--output", "@again.h5")
    assert grammar(corpus, "import", *again) == 0
    assert grammar(corpus, "export", "--shard", "@again.h5", "--output", "@g2") == 0
    for number in range(3):
        name = f"grammar.{number}.gz"
        assert (corpus / "g" / name).read_bytes() == (corpus / "g2" / name).read_bytes()


def test_settings_reach_the_extractor(corpus: Path) -> None:
    files = ("--source", "@source", "--target", "@target", "--alignment", "@alignment")
    assert grammar(corpus, "index", *files, "--output", "@index") == 0
    counts = []
    for symbols in ("1", "2"):
        inputs = ("--index", "@index", "--input", "@source", "--max-symbols", symbols)
        assert grammar(corpus, "extract", *inputs, "--output", "@shard.h5") == 0
        counts.append(read_shard(corpus / "shard.h5").grammar_rule.shape[0])
    assert counts[0] < counts[1]


def test_a_setting_out_of_bounds_is_an_error(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (
        "--index",
        "@index",
        "--input",
        "@source",
        "--output",
        "@shard.h5",
        "--max-nonterminals",
        "3",
    )
    assert grammar(corpus, "extract", *arguments) == 2
    assert "--max-nonterminals: '3' is not a whole number from 0 to 2" in capsys.readouterr().err
