"""Damaged shards, weights and models: exit status 1, one line that names the file, nothing written."""

import shutil

import numpy as np
import pytest
from tests.damage import reseal_array, reseal_header, resealed

from itersel.cli.main import main
from itersel.grammar.build import Rule, make_shard
from itersel.grammar.index import build_index
from itersel.grammar.shard import write_shard
from itersel.lm.binary import compile_model
from itersel.vectors.weights import make_weights, write_weights

ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n-1\tx\n\n\\end\\\n"


@pytest.fixture
def files(tmp_path):
    """Return a folder with valid files."""
    shard = make_shard([("a", "b")], [("x",)], [[Rule(("a",), ("x",), {"CountEF": 1.0})]])
    write_shard(tmp_path / "shard.h5", shard)
    (tmp_path / "lm.arpa").write_text(ARPA)
    compile_model(tmp_path / "lm.arpa", tmp_path / "lm.bin")
    write_weights(tmp_path / "weights.h5", make_weights({"CountEF": 1.0}))
    return tmp_path


def steps(files):
    """Return steps that read all of them."""
    read = ["--shard", files / "shard.h5", "--model", files / "lm.bin", "--weights", files / "weights.h5"]
    return [
        [step, *map(str, read), "--output", str(files / name)]
        for step, name in (("decode", "out"), ("train", "out.h5"))
    ]


def check_refused(files, broken, capsys, words=()):
    """Run both steps and check their messages and output files."""
    before = sorted(files.iterdir())
    for arguments in steps(files):
        assert main(arguments) == 1
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        assert str(files / broken) in message
        assert all(word in message for word in words)
        assert sorted(files.iterdir()) == before


def test_valid_files_are_accepted(files):
    for arguments in steps(files):
        assert main(arguments) == 0


@pytest.mark.parametrize("name", ["shard.h5", "weights.h5", "lm.bin"])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_truncated(files, name, part, capsys):
    content = (files / name).read_bytes()
    (files / name).write_bytes(content[: int(part * len(content))])
    check_refused(files, name, capsys)


@pytest.mark.parametrize("name", ["shard.h5", "weights.h5", "lm.bin"])
def test_missing(files, name, capsys):
    (files / name).unlink()
    check_refused(files, name, capsys, ["no such file"])


def test_a_file_of_another_kind(files, capsys):
    shutil.copy(files / "weights.h5", files / "shard.h5")
    check_refused(files, "shard.h5", capsys, ["not a shard"])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(files, value, capsys):
    with resealed(files / "weights.h5") as stream:
        stream["v"][0] = value
    check_refused(files, "weights.h5", capsys, ["CountEF", "not finite"])


def test_weights_that_are_not_finite_as_text(files, capsys):
    (files / "weights.txt").write_text("Glue 1\nCountEF nan\n")
    arguments = [str(files / "weights.txt") if "weights.h5" in word else word for word in steps(files)[0]]
    assert main(arguments) == 1
    assert f"{files / 'weights.txt'}:2: the weight of 'CountEF' is nan" in capsys.readouterr().err


def test_inconsistent_features_are_reported_with_both_files(files, capsys):
    with resealed(files / "weights.h5") as stream:
        stream["features/name"][0] = ord("X")
    assert main(steps(files)[1]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"itersel train: {files / 'shard.h5'} and {files / 'weights.h5'}: ")
    assert "have the same 64-bit key" in message


def test_line_ends_and_control_characters_in_names_are_escaped(files, capsys):
    with resealed(files / "weights.h5") as stream:
        stream["features/name"][:4] = list(b"\n\x1b\x00x")
    assert main(steps(files)[1]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert r"'\n\x1b\x00xtEF'" in message


def test_a_sentence_without_any_rule(files, capsys):
    with resealed(files / "shard.h5") as stream:
        del stream["grammar_rule"], stream["grammar_dense"]
        stream["grammar_rule"], stream["grammar_dense"] = np.zeros(0, "<i4"), np.zeros((0, 7), "<f4")
        stream["grammar_offset"][...] = 0
    check_refused(files, "shard.h5", capsys, ["has no rules for some words of the sentence 'a b'"])


def test_a_shard_without_references_cannot_be_trained_on(files, capsys):
    write_shard(files / "shard.h5", make_shard([("a",)], None, [[]]))
    assert main(steps(files)[1]) == 1
    assert "no references" in capsys.readouterr().err


def test_a_model_of_the_wrong_order(files, capsys):
    compiling = ["lm", "compile", "--order", "3", "--input", str(files / "lm.arpa")]
    assert main([*compiling, "--output", str(files / "new.bin")]) == 1
    message = capsys.readouterr().err
    assert str(files / "lm.arpa") in message
    assert "is of order 1, expected order 3" in message
    assert not (files / "new.bin").exists()


HEADERS = {
    "no kind": lambda header: header.pop("kind"),
    "a list": lambda header: [],
    "another kind": lambda header: header.update(kind="grammar-index"),
    "another format": lambda header: header.update(format=99),
    "no format": lambda header: header.pop("format"),
    "no size": lambda header: header.pop("size"),
    "size a text": lambda header: header.update(size="x"),
    "no arrays": lambda header: header.pop("arrays"),
    "an array less": lambda header: header["arrays"].pop("slots"),
    "a position beyond": lambda header: header["arrays"]["slots"].update(position=1 << 40),
    "a position before": lambda header: header["arrays"]["slots"].update(position=-64),
    "a shape too large": lambda header: header["arrays"]["slots"].update(shape=[1 << 62, 2]),
    "a shape that is none": lambda header: header["arrays"]["slots"].update(shape=[2.5, 2]),
    "a negative shape": lambda header: header["arrays"]["slots"].update(shape=[-1, -2]),
    "no dimensions": lambda header: header["arrays"]["slots"].update(shape=[]),
    "a flat shape": lambda header: header["arrays"]["slots"].update(shape=[4]),
    "another type": lambda header: header["arrays"]["unigram"].update(dtype="<f8"),
    "no type": lambda header: header["arrays"]["unigram"].pop("dtype"),
    "attributes a number": lambda header: header.update(attributes=3),
    "no order": lambda header: header["attributes"].pop("order"),
    "order a text": lambda header: header["attributes"].update(order="three"),
}


@pytest.mark.parametrize("change", HEADERS)
def test_damaged_headers_of_array_files(files, change, capsys):
    reseal_header(files / "lm.bin", HEADERS[change])
    check_refused(files, "lm.bin", capsys)


@pytest.mark.parametrize("length", [0, 1, 1 << 40, 1 << 62, (1 << 64) - 1])
def test_damaged_lengths_of_headers(files, length, capsys):
    content = (files / "lm.bin").read_bytes()
    (files / "lm.bin").write_bytes(content[:8] + length.to_bytes(8, "little") + content[16:])
    check_refused(files, "lm.bin", capsys, ["damaged"])


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            lambda path: reseal_header(path, lambda header: header["arrays"].pop("suffix")),
            "damaged or truncated; recreate it\n",
        ),
        # their sums would exceed the bounds of a shard; the error must name the index, not the shard
        (
            lambda path: reseal_array(path, "pair_cost", lambda cost: cost.fill(1e11)),
            "damaged: array 'pair_cost' holds",
        ),
    ],
)
def test_a_damaged_index(files, damage, problem, capsys):
    for name, text in (("source", "a\n"), ("target", "x\n"), ("alignment", "0-0\n")):
        (files / name).write_text(text)
    build_index(files / "source", files / "target", files / "alignment", files / "index")
    damage(files / "index")
    extracting = ["grammar", "extract", "--index", str(files / "index"), "--input", str(files / "source")]
    assert main([*extracting, "--output", str(files / "new.h5")]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"itersel grammar: {files / 'index'}: {problem}")
    assert message.count("\n") == 1
    assert not (files / "new.h5").exists()
