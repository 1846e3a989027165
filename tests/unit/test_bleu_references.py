"""Several references: joining, writing and reading, and from raw text to grammars."""

import dataclasses
import itertools
import json

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.damage import resealed
from tests.examples import MANY
from tests.naive.strategies import make_references
from tests.refusals import input_error

from itersel.bleu.references import join_references
from itersel.cli.main import main
from itersel.grammar.build import make_grammars
from itersel.grammar.sentence_grammars import read_grammars, write_grammars
from itersel.storage.files import write_lines
from itersel.storage.hdf5 import DIGESTS

SOURCES = [("a", "b"), (), ("a",)]
FIRST = [("x", "y"), ("z",), ("x",)]
FURTHER = [[("y",), (), ()], [("x", "x", "new"), (), ("z",)]]


@st.composite
def parallel_texts(draw):
    lines, line = draw(st.integers(0, 4)), st.lists(st.integers(0, 9), max_size=2)
    text = st.lists(line, min_size=lines, max_size=lines)
    return draw(st.lists(text, min_size=1, max_size=3))


@MANY
@given(parallel_texts())
def test_an_empty_line_is_not_a_reference_unless_all_are_empty(texts):
    nothing = np.zeros(0, np.int32), np.zeros(1, np.int64)
    sides = [make_references(*text) if text else nothing for text in texts]
    word, offset, sentence_offset = join_references([(one[0], one[1]) for one in sides])
    expected = [[one for one in lines if one] or [[]] for lines in zip(*texts, strict=True)]
    flat = [one for references in expected for one in references]
    assert [word[a:b].tolist() for a, b in itertools.pairwise(offset)] == flat
    if all(len(references) == 1 for references in expected):
        assert sentence_offset.shape == (0,)
    else:
        assert np.diff(sentence_offset).tolist() == list(map(len, expected))


def several(path):
    write_grammars(path, make_grammars(SOURCES, FIRST, [[]] * 3, further_references=FURTHER))
    return path


def test_several_references_are_read_as_they_were_written(tmp_path):
    grammars = read_grammars(several(tmp_path / "several.h5"))
    words = grammars.vocabulary.to_list()
    found = []
    for references in map(grammars.references, range(3)):
        ends = itertools.pairwise(references.offset)
        found.append([[words[i] for i in references.word[a:b]] for a, b in ends])
    assert found == [[["x", "y"], ["y"], ["x", "x", "new"]], [["z"]], [["x"], ["z"]]]
    lengths = grammars.reference_lengths(0)
    assert lengths.each.tolist() == [2, 1, 3]
    assert (lengths.longest, lengths.mean) == (3, 2.0)
    write_grammars(tmp_path / "again.h5", grammars)
    assert (tmp_path / "again.h5").read_bytes() == (tmp_path / "several.h5").read_bytes()


def test_files_with_one_reference_are_unchanged(tmp_path):
    """Their format is the same as before several references were supported."""
    write_grammars(tmp_path / "one.h5", make_grammars(SOURCES, FIRST, [[]] * 3))
    empty = [[()] * 3] * 2
    write_grammars(tmp_path / "empty.h5", make_grammars(SOURCES, FIRST, [[]] * 3, further_references=empty))
    assert (tmp_path / "one.h5").read_bytes() == (tmp_path / "empty.h5").read_bytes()
    with h5py.File(tmp_path / "one.h5") as stream:
        assert "sentence_reference_offset" not in stream
        assert "sentence_reference_offset" not in json.loads(stream.attrs[DIGESTS])
    with h5py.File(several(tmp_path / "several.h5")) as stream:
        assert stream["sentence_reference_offset"][:].tolist() == [0, 3, 4, 6]


@pytest.mark.parametrize(
    ("offset", "facts"),
    [
        ([0, 3, 3, 6], "'sentence_reference_offset'"),
        ([0, 3, 4, 5], ("'sentence_reference_offset'", 0, 5, 6)),
        ([0, 6], ("'sentence_reference_offset'", 2, 4)),
        ([], (6, 3)),
    ],
)
def test_damaged_references(tmp_path, offset, facts):
    with resealed(several(tmp_path / "sentences.h5")) as stream:
        del stream["sentence_reference_offset"]
        if offset:
            stream["sentence_reference_offset"] = np.array(offset, np.int64)
    with input_error("sentences.h5", facts):
        read_grammars(tmp_path / "sentences.h5")


def test_groups_without_references(tmp_path):
    none = np.zeros(0, np.int64)
    grammars = read_grammars(several(tmp_path / "sentences.h5"))
    grammars = dataclasses.replace(grammars, reference=none.astype(np.int32), reference_offset=none)
    write_grammars(tmp_path / "sentences.h5", grammars)
    with input_error("'sentence_reference_offset'"):
        read_grammars(tmp_path / "sentences.h5")


def test_from_text_to_grammars(tmp_path, refused):
    """References stay with their sentence, and all are prepared in the same way."""
    for name, lines in {
        "source": ["Ein Haus", "Der Hund!", "Das Haus"],
        "target": ["A house", "The dog!", "The house"],
        "other": ["One House", "", "This House"],
        "align": ["0-0 1-1"] * 3,
        "short.gz": ["x"],
    }.items():
        write_lines(tmp_path / name, lines)

    def command(words):
        return [word.replace("%", f"{tmp_path}/") for word in words.split()]

    raw = "--source=%source --target=%target --source-language=de --target-language=en --output=%corpus"
    train = "--source=%corpus/train.source.gz --target=%corpus/train.target.gz"
    dev = "--source=%corpus/dev.source.gz --target=%corpus/dev.target.gz --target=%corpus/dev.target.1.gz"
    part = "--input=%divided/0.source.gz --reference=%divided/0.target.gz --reference=%divided/0.target.1.gz"
    for step in (
        f"corpus prepare --split=train {raw}",
        f"corpus prepare --split=dev --target=%other {raw}",
        f"grammar index --alignment=%align --output=%index {train}",
        f"step divide --output=%divided {dev}",
        f"grammar extract --index=%index --output=%sentences.h5 {part}",
    ):
        assert main(command(step)) == 0
    found = read_grammars(tmp_path / "sentences.h5")
    words = found.vocabulary.to_list()
    sources = [found.source[a:b] for a, b in itertools.pairwise(found.source_offset)]
    assert {
        " ".join(words[i] for i in source): " ".join(words[i] for i in found.references(n).word)
        for n, source in enumerate(sources)
    } == {"ein haus": "one house a house", "der hund !": "the dog !", "das haus": "this house the house"}
    for step in (
        f"step divide --output=%no {dev} --target=%short.gz",
        f"grammar extract --index=%index --output=%no {part} --reference=%short.gz",
    ):
        refused(command(step), str(tmp_path / "short.gz"))
