"""The commands printed at the end of a run."""

import shlex

import pytest
from tests.scored import make_system

from itersel.corpus.compounds import CompoundSplitter
from itersel.corpus.corpora import Corpus
from itersel.corpus.prepare import Preparation
from itersel.corpus.settings import Words
from itersel.corpus.text import Bitext
from itersel.report.hints import hints, hints_for_lists, short_sentence
from itersel.system.chosen import write_system

RAW = ["Baum", "Das Haus ist im Wald.", "Das ist ein Türhaus!", "Das ist ein Baum."]


@pytest.fixture
def systems(tmp_path):
    """Return the folders of three systems, of which 'b' has the best epoch."""
    folders = {}
    for name, bleu in (("a", (21.0, 20.0)), ("b", (19.0, 22.5)), ("c", (22.5,))):
        folders[name] = tmp_path / f"it's {name}"
        write_system(folders[name] / "system.json", make_system(name, bleu))
    return folders


@pytest.mark.parametrize(
    ("prepared", "sentence"),
    [
        # the first sentence of the raw text is in another split
        (["baum", "", "das ist ein tür haus !", "das ist ein baum ."], "Das ist ein Türhaus!"),
        (["baum"], "Baum"),
        # the raw text is no longer the one that was prepared
        (["das ist ein tor ."], "das ist ein tor ."),
    ],
)
def test_short_sentence(tmp_path, prepared, sentence):
    paths = {}
    for name, lines in (("prepared", prepared), ("de", RAW), ("en", ["x"] * len(RAW))):
        paths[name] = tmp_path / name
        paths[name].write_text("".join(f"{line}\n" for line in lines))
    preparation = Preparation(Words("de", "en"), compounds=CompoundSplitter({"tür": 9, "haus": 9}))
    corpus = Corpus(source=(str(paths["de"]),), target=(str(paths["en"]),))
    assert short_sentence(paths["prepared"], [corpus], preparation, 2**20) == sentence
    paths["de"].unlink()
    assert short_sentence(paths["prepared"], [corpus], preparation, 2**20) in prepared


@pytest.mark.parametrize(("most", "sentence"), [(3, "das ist ein baum ."), (4, "Das ist ein Baum.")])
def test_only_the_beginning_of_the_corpus_is_searched(tmp_path, monkeypatch, most, sentence):
    """The fourth sentence of the corpus is the first one of the text; nothing after it is read."""

    def endless(corpora, reading):
        yield Bitext(RAW[:2], RAW[:2])
        yield Bitext(RAW[2:], RAW[2:])
        raise AssertionError

    monkeypatch.setattr("itersel.report.hints.corpus_blocks", endless)
    monkeypatch.setattr("itersel.report.hints.MAX_SENTENCES_READ", most)
    prepared = tmp_path / "prepared"
    prepared.write_text("das ist ein baum .\n" * 10)
    assert short_sentence(prepared, [], Preparation(Words("de", "en")), 2**20) == sentence


def test_names_are_quoted(systems):
    sentence = "Das ist 'ein $(Haus)."
    lines = list(hints(systems, sentence, "the cache", "bin", ["my config.yaml"]))
    printf, translate = ["printf", "%s\\n", sentence, "|"], ["bin/itersel", "translate", "--system"]
    assert shlex.split(lines[1]) == [*printf, "ITERSEL_CACHE=the cache", *translate, str(systems["b"])]
    assert "my config.yaml" in lines[2]
    assert shlex.split(lines[3]) == ["bin/itersel", "run", "--configfile", "my config.yaml"]


def test_without_a_user_config(systems):
    best, translate, file, command = hints(systems, "Das ist ein Haus.", None, ".venv/bin", [])
    assert best == "To translate text with b, the best on devtest:"
    assert translate.startswith("    printf '%s\\n' 'Das ist ein Haus.' | .venv/bin/itersel translate ")
    assert file.endswith("in config.yaml, and run:")
    assert command == "    .venv/bin/itersel run"


def test_lists_are_reranked_by_the_best_system(systems):
    best, rerank = hints_for_lists(systems, ["--source", "the source", "--nbest", "l's"], "the cache", "bin")
    assert "with b," in best
    files = ["--source", "the source", "--nbest", "l's"]
    command = ["ITERSEL_CACHE=the cache", "bin/itersel", "rescore", "--system", str(systems["b"]), *files]
    assert shlex.split(rerank) == command


def test_chance_in_one_repeat_does_not_decide(tmp_path):
    """As in the table, the best experiment has the best mean over its repeats; of these, the best is used."""
    systems = {}
    for name, repeat, bleu in (("a", 1, 10.0), ("a", 2, 30.0), ("b", 1, 24.0), ("b", 2, 25.0)):
        systems[f"{name}.{repeat}"] = tmp_path / f"{name}.{repeat}"
        write_system(systems[f"{name}.{repeat}"] / "system.json", make_system(name, (bleu,), repeat))
    _, rerank = hints_for_lists(systems, ["--nbest", "lists"], None, "bin")
    assert str(systems["b.2"]) in rerank
