"""The commands printed at the end of a run."""

from __future__ import annotations

import shlex

import pytest

from itersel.report.hints import best_system, hints, short_sentence
from itersel.report.system import System, write_system


@pytest.fixture
def systems(tmp_path):
    """Return the folders of three systems, of which 'b' has the best epoch."""
    folders = {}
    for name, bleu in (("a", (21.0, 20.0)), ("b", (19.0, 22.5)), ("c", (22.5,))):
        folders[name] = tmp_path / f"it's {name}"
        folders[name].mkdir()
        values = ("perceptron", "mean", "dev", "all", "random", 1, bleu.index(max(bleu)) + 1, bleu)
        values = (*values, "tokenized-bleu", bleu, "devtest", "nrefs:1", 7)
        write_system(folders[name] / "system.json", System(name, 1, *values))
    return folders


def test_best_system(systems):
    assert best_system(systems) == "b"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("haus\n\ndas ist ein haus .\ndas ist ein baum .\n", "das ist ein haus ."), ("haus\nbaum\n", "haus")],
)
def test_short_sentence(tmp_path, text, sentence):
    (tmp_path / "text").write_text(text)
    assert short_sentence(tmp_path / "text") == sentence


def test_names_are_quoted(systems, tmp_path):
    (tmp_path / "text").write_text("das ist 'ein $(haus) .\n")
    lines = list(hints(systems, tmp_path / "text", "the cache", "bin", ["my config.yaml"]))
    assert shlex.split(lines[1]) == [
        *["printf", "%s\\n", "das ist 'ein $(haus) .", "|"],
        *["ITERSEL_CACHE=the cache", "bin/itersel", "translate", "--system", str(systems["b"])],
    ]
    assert "my config.yaml" in lines[2]
    assert shlex.split(lines[3]) == ["bin/itersel", "run", "--configfile", "my config.yaml"]


def test_without_a_user_config(systems, tmp_path):
    (tmp_path / "text").write_text("das ist ein haus .\n")
    _, translate, file, command = hints(systems, tmp_path / "text", None, ".venv/bin", [])
    assert translate.startswith("    printf '%s\\n' 'das ist ein haus .' | .venv/bin/itersel translate ")
    assert file.endswith("in config.yaml, and run:")
    assert command == "    .venv/bin/itersel run"
