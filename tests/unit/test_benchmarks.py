"""The benchmarks, which take too long for a test: their commands have options that exist."""

from benchmarks import data

from itersel.cli.main import make_parser
from itersel.storage.files import write_lines


def test_commands_that_prepare_the_data(tmp_path, monkeypatch):
    """`run` only parses the commands, so nothing is made."""
    parsed = []

    def parse(program, *words):
        parsed.append(words)
        make_parser(is_full=True).parse_args(words)

    monkeypatch.setattr(data, "run", parse)
    monkeypatch.setenv("ITERSEL_PARITY", str(tmp_path))
    for name in ("train.de.gz", "train.en.gz"):
        write_lines(tmp_path / "corpus" / name, ["a b"])
    data.prepare(tmp_path / "work")

    made = {" ".join(words[:2]) for words in parsed}
    assert made == {
        "lm estimate",
        "lm compile",
        "grammar index",
        "step divide",
        "grammar extract",
        "grammar import",
    }
