"""Invalid binary files: one line with file and array, even if the checksums are correct."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from tests.damage import reseal_array, reseal_header, resealed

from itersel.cli.main import main
from itersel.config.search import Grammar
from itersel.errors import InputError
from itersel.grammar.build import Rule, make_shard
from itersel.grammar.categories import MAX_CATEGORIES
from itersel.grammar.extract import extract_shard
from itersel.grammar.index import build_index, load_index
from itersel.grammar.shard import FORMAT, read_shard, write_shard
from itersel.limits import DEFAULT_TEMPLATES, UNPACKED_BYTES
from itersel.lm.binary import load_model
from itersel.storage.formats import Array, FileFormat, check_arrays
from itersel.storage.hdf5 import write_attribute
from itersel.storage.strings import string_table
from itersel.vectors.weights import make_weights, write_weights

TEXT = "the house is small .\nthe small house\na house is that\nsmall is the house .\n"
LINKS = "0-0 1-1 2-2 3-3 4-4\n0-0 1-1 2-2\n0-0 1-1 2-2 3-3\n0-0 1-1 2-2 3-3 4-4\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a shard, a language model and an index."""
    folder = tmp_path_factory.mktemp("made")
    rules = [Rule(("a",), (word,), {"CountEF": 1.0, "Class:x": 2.0}, ((0, 0),)) for word in "xyz"]
    rules.append(Rule((-1, "b", -2), (-2, "x", -1), {}, ((1, 1),)))
    write_shard(folder / "shard.h5", make_shard([("a", "b", "a")], [("x", "y")], [rules]))
    (folder / "text").write_text(TEXT)
    (folder / "links").write_text(LINKS)
    build_index(folder / "text", folder / "text", folder / "links", folder / "index")
    settings = Grammar(templates=(*DEFAULT_TEMPLATES, "Count"))
    text, output = folder / "text", folder / "extracted.h5"
    extract_shard(folder / "index", text, output, references=[text], settings=settings)
    lm = ["lm", "estimate", "--order", "3", "--input", str(folder / "text"), "--output", str(folder / "arpa")]
    assert main(lm) == 0
    assert main(["lm", "compile", "--input", str(folder / "arpa"), "--output", str(folder / "model")]) == 0
    return folder


@pytest.fixture
def files(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder."""
    for name in ("shard.h5", "extracted.h5", "model", "index", "text"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    return tmp_path


def put(name: str, row: int, value: float) -> Callable[[h5py.File], None]:
    def change(stream: h5py.File) -> None:
        stream[name][row] = value

    return change


def replaced(name: str, array: Callable[[Any], object]) -> Callable[[h5py.File], None]:
    def change(stream: h5py.File) -> None:
        content = array(stream[name][:])
        del stream[name]
        stream[name] = content

    return change


def attribute(name: str, value: str) -> Callable[[h5py.File], None]:
    def change(stream: h5py.File) -> None:
        write_attribute(stream.attrs, name, value)

    return change


# a change to a shard, and the error
SHARD = [
    (put("rule_feature", 1, 2**31 - 1), "'rule_feature' holds 2147483647 in row 1"),
    (put("rule_feature", 1, -(10**9)), "'rule_feature' holds -1000000000 in row 1"),
    (put("rule_feature_offset", -1, 2**40), "'rule_feature_offset' runs from 0 to 1099511627776"),
    (replaced("rule_feature_offset", lambda array: array[:0]), "'rule_feature_offset' has no rows, although"),
    (put("rule_feature_offset", 2, 2**40), "'rule_feature_offset' falls after row 2"),
    (replaced("feature_name_offset", lambda array: array[::-1]), "'feature_name_offset' runs from"),
    (put("rule_source_offset", 3, 2**40), "'rule_source_offset' falls after row 3"),
    (put("rule_target", 4, -3), "'rule_target' holds -3 in row 4"),
    (put("rule_kind", 1, 0), "'rule_kind' does not begin with the two glue rules (rule 1)"),
    (put("rule_target", 3, -1), "'rule_target' holds other nonterminals than the source side (rule 2)"),
    (put("rule_source", 3, -2), "'rule_source' holds a source side without words, or nonterminals out of"),
    (put("rule_alignment", (0, 1), 1), "'rule_alignment' points outside of the rule (rule 2)"),
    (put("rule_kind", 4, 2), "'rule_kind' holds a glue rule that is not one of the first two rules (rule 4)"),
    (put("rule_kind", 4, 9), "'rule_kind' holds 9 in row 4"),
    (put("source", 1, 10**9), "'source' holds 1000000000 in row 1"),
    (put("reference", 0, -1), "'reference' holds -1 in row 0"),
    (put("grammar_dense", (1, 2), np.inf), "'grammar_dense' holds ["),
    (put("grammar_dense", (1, 2), 1e30), "'grammar_dense' holds ["),
    (put("grammar_dense", (1, 2), np.nan), "'grammar_dense' holds ["),
    (put("rule_feature_value", 0, np.nan), "'rule_feature_value' holds nan in row 0"),
    (put("grammar_rule", 0, -5), "'grammar_rule' holds -5 in row 0"),
    (put("grammar_rule", 0, 0), "'grammar_rule' holds 0 in row 0"),
    (put("vocabulary", 0, 0xFF), "'vocabulary' is not UTF-8"),
    (replaced("source", lambda array: array.astype(">i4")), "'source' is of type >i4, not <i4"),
    (replaced("source", lambda array: array.astype("<f4")), "'source' is of type <f4, not <i4"),
    (replaced("source", lambda array: array[:, None]), "'source' has 2 dimensions, not 1"),
    (replaced("grammar_dense", lambda array: array[:, 0]), "'grammar_dense' has 1 dimensions, not 2"),
    (replaced("grammar_rule", lambda array: array[1:]), "'grammar_dense' has the shape 6x7, not 5x"),
    (lambda stream: stream.__delitem__("source"), "'source' cannot be read (there is no 'source')"),
    (attribute("dense_names", json.dumps(["a"])), "'dense_names' must hold 7 different names"),
    (attribute("dense_names", json.dumps([1] * 7)), "'dense_names' is not a list of names"),
    (
        attribute("dense_names", json.dumps(["a", "b", "c", "d", "e", "f", "Glue"])),
        "'Glue' cannot be a dense",
    ),
    (attribute("dense_names", json.dumps(["a", "b", "c", "d", "e", "f", "\ud800"])), "cannot be a dense"),
    (attribute("dense_names", json.dumps(["a", "b", "c", "d", "e", "f", ""])), "'' cannot be a dense"),
    (attribute("dense_names", "["), "its attributes are not JSON"),
    (attribute("computed", "1"), "'computed' is not a list of different names"),
    (attribute("computed", json.dumps(["Lex"])), "'computed' has a template that 'templates' lacks"),
    (attribute("attributes", "[" * 100_000), "its attributes are not JSON"),
]


@pytest.mark.parametrize(("change", "said"), SHARD)
def test_shard(files: Path, capsys: pytest.CaptureFixture[str], change: Any, said: str) -> None:
    with resealed(files / "shard.h5") as stream:
        change(stream)
    check_train(files, capsys, said)


# the same for a shard that was extracted
EXTRACTED = [
    (put("grammar_samples", 3, -1), "'grammar_samples' holds -1 in row 3"),
    (put("grammar_count", 3, 1_000_001), "'grammar_count' holds 1000001 in row 3"),
    (put("grammar_singleton", 3, 2), "'grammar_singleton' holds 2 in row 3"),
    (put("rule_cost", (3, 1), np.nan), "'rule_cost' holds ["),
    (put("rule_bin", 3, 22), "'rule_bin' holds 22 in row 3"),
    (replaced("grammar_count", lambda array: array[1:]), "'grammar_count' has the shape"),
    (replaced("grammar_count", lambda array: array[:0]), "'grammar_count' has 0 rows, not"),
    (replaced("grammar_samples", lambda array: array[:0]), "'grammar_samples' has 0 rows, not"),
    (replaced("rule_cost", lambda array: array[:0]), "'rule_cost' has 0 rows, not"),
    (lambda stream: stream.__delitem__("rule_cost"), "'rule_cost' has 0 rows, not"),
    (lambda stream: stream.__delitem__("rule_bin"), "'rule_bin' has no rows, although the features of"),
    (attribute("dense_names", json.dumps(list("abcdefg"))), "'dense_names' are not those of an extracted"),
]


@pytest.mark.parametrize(("change", "said"), EXTRACTED)
def test_extracted_shard(files: Path, capsys: pytest.CaptureFixture[str], change: Any, said: str) -> None:
    (files / "extracted.h5").rename(files / "shard.h5")
    with resealed(files / "shard.h5") as stream:
        change(stream)
    check_train(files, capsys, said)


# the same for a shard with categories X, S, B, A; rules 2 to 4: [B] -> [A], [A] -> a [B], a passed through
CATEGORIES = [
    (put("rule_category", (2, 0), 4), "'rule_category' holds [4, 3, 0] in row 2, outside of 0 to 3"),
    (put("rule_category", (2, 0), 3), "'rule_category' has categories that can be made of themselves"),
    (put("rule_category", (1, 2), 1), "'rule_category' holds categories that do not fit the rule (rule 1)"),
    (put("rule_category", (0, 0), 0), "'rule_category' has categories that can be made of themselves"),
    (put("rule_category", (3, 2), 1), "'rule_category' holds categories that do not fit the rule (rule 3)"),
    (put("rule_category", (4, 0), 2), "'rule_category' holds categories that do not fit the rule (rule 4)"),
    (replaced("rule_category", lambda array: array[1:]), "'rule_category' has the shape 4x3, not 5x3"),
    (
        replaced("rule_category", lambda array: array[:0]),
        "'rule_source' holds a source side without words, or",
    ),
    (replaced("rule_category", lambda array: array.astype("<u4")), "'rule_category' is of type <u4, not <u2"),
    (put("category", 0, ord("Y")), "'category' must hold different names, X and S first"),
    (put("category", 2, ord("A")), "'category' must hold different names, X and S first"),
    (put("category", 3, ord("]")), "'category' holds ']', which is no category"),
    (put("category", 3, ord(" ")), "'category' holds ' ', which is no category"),
    (put("category_offset", 3, 4), "'category' holds '', which is no category"),
]


@pytest.mark.parametrize(("change", "said"), CATEGORIES)
def test_categories_of_a_shard(
    files: Path, capsys: pytest.CaptureFixture[str], change: Any, said: str
) -> None:
    rules = [
        Rule((-1,), (-1,), categories=("B", "A", "X")),
        Rule(("a", -1), (-1,), categories=("A", "B", "X")),
    ]
    shard = make_shard([("a",)], [("x",)], [rules])
    assert shard.category.to_list() == ["X", "S", "B", "A"]
    write_shard(files / "shard.h5", shard)
    with resealed(files / "shard.h5") as stream:
        change(stream)
    check_train(files, capsys, said)


def test_too_many_categories(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = Rule((-1, "a"), (-1,), categories=("A", "B", "X"))
    shard = make_shard([("a",)], [("x",)], [[rule]])
    names = string_table(["X", "S", *(f"N{number}" for number in range(MAX_CATEGORIES - 1))])
    write_shard(files / "shard.h5", replace(shard, category=names))
    check_train(files, capsys, f"'category' has more than {MAX_CATEGORIES} names")


def check_train(files: Path, capsys: pytest.CaptureFixture[str], said: str) -> None:
    capsys.readouterr()
    arguments = ["--shard", str(files / "shard.h5"), "--model", str(files / "model")]
    assert main(["train", *arguments, "--output", str(files / "weights.h5")]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"itersel train: {files}/")
    assert said in message
    assert message.count("\n") == 1
    assert not (files / "weights.h5").exists()


def test_a_size_larger_than_the_file(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with h5py.File(files / "shard.h5", "r+") as stream:
        del stream["source"]
        stream.create_dataset("source", (1 << 40,), "<i4", chunks=(1 << 20,))
    check_train(
        files, capsys, "'source' cannot be read (takes 4398046511104 bytes, of which the file holds 0)"
    )


# these shards list no categories, and their sentences have one reference each
ABSENT = ("category", "rule_category", "sentence_reference_offset")
COUNTS = ("rule_bin", "rule_cost", "grammar_samples", "grammar_count", "grammar_singleton")


@pytest.mark.parametrize("name", [name for name in FORMAT.arrays if name not in ABSENT])
def test_a_flipped_bit(files: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    if name in COUNTS:
        (files / "extracted.h5").rename(files / "shard.h5")
    with h5py.File(files / "shard.h5", "r+") as stream:
        array = stream[name][:]
        array.reshape(-1).view(np.uint8)[array.nbytes // 2] ^= 4
        stream[name][...] = array
    check_train(files, capsys, f"shard.h5: damaged: array '{name}' does not match its checksum")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "is not a shard; make one with 'itersel grammar extract'"),
        ("weights file/2", "is not a shard"),
        ("shard/1", "is a shard of another version of itersel"),
        ("shard/99", "is a shard of another version of itersel"),
    ],
)
def test_format_of_a_shard(
    files: Path, capsys: pytest.CaptureFixture[str], value: str | None, said: str
) -> None:
    with h5py.File(files / "shard.h5", "r+") as stream:
        del stream.attrs["format"]
        if value is not None:
            write_attribute(stream.attrs, "format", value)
    check_train(files, capsys, said)


def test_shard_of_version_1(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files without checksums had variable-length texts, which are not read."""
    with h5py.File(files / "shard.h5", "r+") as stream:
        stream.attrs["kind"], stream.attrs["format"] = "shard", 1
        del stream.attrs["digests"]
    check_train(files, capsys, "damaged, or of another version of itersel")


def test_a_sentence_that_rules_do_not_cover(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It must not be translated partially: "b" becomes "x", which is on no source side."""
    with resealed(files / "shard.h5") as stream:
        stream["source"][1] = 2
    check_train(files, capsys, "has no rules for some words of the sentence 'a x a'")


def test_a_shard_without_rules(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with resealed(files / "shard.h5") as stream:
        for name, array in (
            ("grammar_rule", np.zeros(0, np.int32)),
            ("grammar_dense", np.zeros((0, 7), np.float32)),
        ):
            del stream[name]
            stream[name] = array
        stream["grammar_offset"][...] = 0
    check_train(files, capsys, "has no rules for some words of the sentence 'a b a'")


def test_arrays_that_unpack_to_far_more_than_the_file(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with h5py.File(files / "shard.h5", "r+") as stream:
        del stream["source"]
        # just above the limit of small files
        stream.create_dataset("source", data=np.zeros(UNPACKED_BYTES // 4 + 1, np.int32), compression="gzip")
    check_train(files, capsys, "(takes 67108868 bytes, of which the file holds ")


def test_undeclared_compression_is_rejected(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = files / "packed.h5"
    write_weights(path, make_weights({"a": 1.0, "b": 2.0}))
    with resealed(path) as stream:
        value = stream["v"][:]
        del stream["v"]
        stream.create_dataset("v", data=value, compression="gzip", chunks=True)
    assert main(["weights", "show", str(path)]) == 1
    assert "array 'v' cannot be read (is stored in another way than itersel does)" in capsys.readouterr().err


def test_an_attribute_of_the_wrong_type(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = files / "weights.h5"
    write_weights(path, make_weights({"a": 1.0}))
    with h5py.File(path, "r+") as stream:
        stream.attrs["epoch"] = np.longdouble(1)
    assert main(["weights", "show", str(path)]) == 1
    assert "weights.h5: damaged, or of another version of itersel" in capsys.readouterr().err


def fill(array: Any) -> None:
    array[:, 0] |= 4


MODEL = [
    ("words_data", lambda array: array.__setitem__(0, 0xFF), "'words_data' is not UTF-8"),
    ("words_data", lambda array: array.__setitem__(1, ord("x")), "'words_data' lacks <unk>"),
    ("unigram", lambda array: array.__setitem__((1, 0), np.nan), "'unigram' holds ["),
    ("unigram_flags", lambda array: array.__setitem__(0, 8), "'unigram_flags' holds 8 in row 0"),
    ("slots", fill, "'slots' is too full"),
    ("slots", lambda array: array.view(np.float32).fill(np.inf), "'slots'"),
    ("words_offset", lambda array: array.__setitem__(2, 2**40), "'words_offset' falls after row 2"),
]


@pytest.mark.parametrize(("name", "change", "said"), MODEL)
def test_model(files: Path, capsys: pytest.CaptureFixture[str], name: str, change: Any, said: str) -> None:
    reseal_array(files / "model", name, change)
    check_train(files, capsys, f"{files}/model: damaged: array {said}")


@pytest.mark.parametrize("order", [0, 10, 10**9, True, "3"])
def test_order_of_a_model(files: Path, capsys: pytest.CaptureFixture[str], order: object) -> None:
    reseal_header(files / "model", lambda header: header["attributes"].update(order=order))
    check_train(files, capsys, "model: damaged or truncated")


INDEX = [
    ("source", lambda array: array.__setitem__(1, 2**31 - 1), "'source' holds 2147483647 in row 1"),
    ("source", lambda array: array.__setitem__(1, 0), "'source' has no end of a sentence where one must be"),
    ("room", lambda array: array.__setitem__(2, 200), "'room' is not the rest of the sentence (position 2)"),
    ("suffix", lambda array: array.__setitem__(2, -1), "'suffix' holds -1 in row 2"),
    ("position", lambda array: array.__setitem__((3, 4), 10**6), "'position' does not fit the links"),
    (
        "position",
        lambda array: array.__setitem__((3, 2), 0),
        "'position' does not fit the links (position 3)",
    ),
    ("position", lambda array: array.__setitem__((3, 0), 1 << 9), "'position' marks a phrase that crosses"),
    ("position", lambda array: array.__setitem__((3, 1), 1 << 9), "'position' marks a phrase that crosses"),
    ("link", lambda array: array.__setitem__(0, 10**6), "'link' holds 1000000 in row 0"),
    ("pair_key", lambda array: array.fill(1), "'pair_key' is full"),
    ("word_begin", lambda array: array.__setitem__(1, 10**9), "'word_begin' falls after row 1"),
    # "a" becomes a second "."
    (
        "words_data",
        lambda array: array.__setitem__(array == ord("a"), ord(".")),
        "'words_data' holds a word twice",
    ),
]


def extract(files: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    arguments = ["--index", str(files / "index"), "--input", str(files / "text")]
    assert main(["grammar", "extract", *arguments, "--output", str(files / "new.h5")]) == 1
    assert not (files / "new.h5").exists()
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    return message


@pytest.mark.parametrize(("name", "change", "said"), INDEX)
def test_index(files: Path, capsys: pytest.CaptureFixture[str], name: str, change: Any, said: str) -> None:
    reseal_array(files / "index", name, change)
    assert f"{files}/index: damaged: array {said}" in extract(files, capsys)


def test_shape_in_the_header_of_an_index(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reseal_header(files / "index", lambda header: header["arrays"]["position"].update(shape=[3, 5]))
    assert "array 'position' does not match its checksum" in extract(files, capsys)


def test_suffixes_out_of_order(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reseal_array(files / "index", "suffix", lambda array: array.fill(array.shape[0] - 1))
    assert "its array 'suffix' is out of order" in extract(files, capsys)


@pytest.mark.parametrize("name", ["model", "index"])
@pytest.mark.parametrize("place", [20, 0.5, 0.8])
def test_a_flipped_bit_of_an_array_file(files: Path, name: str, place: float) -> None:
    content = bytearray((files / name).read_bytes())
    content[place if isinstance(place, int) else int(place * len(content))] ^= 16
    (files / name).write_bytes(content)
    with pytest.raises(InputError, match=r"damaged|does not match its checksum"):
        (load_model if name == "model" else load_index)(files / name)


def test_valid_files_are_accepted(files: Path) -> None:
    assert read_shard(files / "shard.h5").sentence_count == 1
    assert load_model(files / "model").order == 3
    assert load_index(files / "index").sentence_count == 4


def test_a_declaration_names_sizes_once() -> None:
    """Sizes come from the first array that has them, whatever the order of names in a shape."""
    declared = FileFormat(
        "x",
        1,
        "x",
        {"a": Array("<i4", ("N", 2)), "b": Array("<i8", ("N+1",), into="M"), "c": Array("|u1", ("M",))},
    )
    arrays = {"a": np.zeros((3, 2), np.int32), "b": np.array([0, 1, 1, 4]), "c": np.zeros(4, np.uint8)}
    assert check_arrays(declared, arrays, "file") == {"N": 3, "M": 4}
    with pytest.raises(
        InputError, match=r"^file: damaged: array 'b' has the shape 3, not 4; recreate the file$"
    ):
        check_arrays(declared, {**arrays, "b": np.array([0, 1, 4])}, "file")
    with pytest.raises(InputError, match="array 'b' runs from 0 to 4, not from 0 to 5"):
        check_arrays(declared, {**arrays, "c": np.zeros(5, np.uint8)}, "file")
    with pytest.raises(InputError, match="array 'a' has the shape 3x3, not 3x2"):
        check_arrays(declared, {**arrays, "a": np.zeros((3, 3), np.int32)}, "file")
