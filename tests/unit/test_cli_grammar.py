"""The sub-steps of ``itersel grammar``; the modules have their own tests."""

from pathlib import Path

from itersel.cli.main import main
from itersel.grammar.shard import read_shard


def test_from_a_corpus_to_text_grammars_and_back(tmp_path: Path) -> None:
    def grammar(*arguments: str) -> None:
        assert main(["grammar", *(word.replace("@", f"{tmp_path}/") for word in arguments)]) == 0

    (tmp_path / "source").write_text("das haus\ndas buch\ndas haus\n")
    (tmp_path / "target").write_text("the house\nthe book\nthe house\n")
    (tmp_path / "alignment").write_text("0-0 1-1\n" * 3)
    (tmp_path / "ids").write_text("0\n1\n2\n")
    files = ("--source", "@source", "--target", "@target", "--alignment", "@alignment")
    grammar("index", *files, "--output", "@index")
    inputs = ("--index", "@index", "--input", "@source", "--references", "@target")
    inputs += ("--leave-one-out", "@ids")
    grammar("extract", *inputs, "--output", "@shard.h5")
    grammar("export", "--shard", "@shard.h5", "--output", "@g")
    grammar("import", "--input", "@source", "--grammars", "@g", "--output", "@again.h5")
    grammar("export", "--shard", "@again.h5", "--output", "@g2")
    for number in range(3):
        name = f"grammar.{number}.gz"
        assert (tmp_path / "g" / name).read_bytes() == (tmp_path / "g2" / name).read_bytes()
    # settings reach the extractor
    grammar("extract", *inputs, "--max-symbols", "1", "--output", "@small.h5")
    shard, small = read_shard(tmp_path / "shard.h5"), read_shard(tmp_path / "small.h5")
    assert shard.has_references
    assert small.grammar_rule.shape[0] < shard.grammar_rule.shape[0]
