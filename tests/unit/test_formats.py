"""Invalid binary files: exit status 1, one line with file and array, even if the checksums are correct."""

import json
import shutil
from dataclasses import replace
from functools import reduce

import h5py
import numpy as np
import pytest
from tests.damage import put, replaced, reseal_array, reseal_header, resealed, set_attributes
from tests.refusals import input_error
from tests.systems import itersel

from itersel.cli.main import main
from itersel.config.extraction import ExtractionSettings
from itersel.grammar.build import Rule, make_grammars
from itersel.grammar.extract import extract_grammars
from itersel.grammar.grammar_format import FORMAT
from itersel.grammar.index import build_index, load_index
from itersel.grammar.sentence_grammars import MAX_CATEGORIES, read_grammars, write_grammars
from itersel.lm.binary import load_model
from itersel.storage.formats import Array, FileFormat, check_arrays
from itersel.storage.hdf5 import write_attribute
from itersel.storage.strings import string_table
from itersel.vectors.feature_names import DEFAULT_TEMPLATES
from itersel.vectors.weights import make_weights, write_itersel_weights

TEXT = "the house is small .\nthe small house\na house is that\nsmall is the house .\n"
LINKS = "0-0 1-1 2-2 3-3 4-4\n0-0 1-1 2-2\n0-0 1-1 2-2 3-3\n0-0 1-1 2-2 3-3 4-4\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with grammars, weights, a language model and an index."""
    folder = tmp_path_factory.mktemp("made")
    rules = [Rule(("a",), (word,), {"CountEF": 1.0, "Class:x": 2.0}, ((0, 0),)) for word in "xyz"]
    rules.append(Rule((-1, "b", -2), (-2, "x", -1), {}, ((1, 1),)))
    write_grammars(folder / "sentences.h5", make_grammars([("a", "b", "a")], [("x", "y")], [rules]))
    unary = Rule((-1,), (-1,), categories=("B", "A", "X"))
    with_categories = [unary, Rule(("a", -1), (-1,), categories=("A", "B", "X"))]
    grammars = make_grammars([("a",)], [("x",)], [with_categories])
    assert grammars.category.to_list() == ["X", "S", "B", "A"]
    write_grammars(folder / "categories.h5", grammars)
    text = folder / "text"
    text.write_text(TEXT)
    (folder / "links").write_text(LINKS)
    build_index(text, text, folder / "links", folder / "index")
    settings = ExtractionSettings(templates=(*DEFAULT_TEMPLATES, "Count"))
    extract_grammars(folder / "index", text, folder / "extracted.h5", references=[text], settings=settings)
    itersel("lm", "estimate", "--order", "3", "--input", text, "--output", folder / "arpa")
    itersel("lm", "compile", "--input", folder / "arpa", "--output", folder / "model")
    write_itersel_weights(folder / "weights.h5", make_weights({"CountEF": 1.0}))
    return folder


@pytest.fixture
def files(made, tmp_path):
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def reading(folder, file, step="train"):
    read = {"index": folder / "index", "input": folder / "text"}
    if file == "index":
        step = "extract"
    else:
        sentences = file if file in ("extracted.h5", "categories.h5") else "sentences.h5"
        weights = "start" if step == "train" else "weights"
        read = {
            "sentences": folder / sentences,
            weights: folder / "weights.h5",
            "language-model": folder / "model",
        }
    start = ["grammar", "extract"] if step == "extract" else [step]
    return [*start, *(f"--{option}={path}" for option, path in read.items()), f"--output={folder / 'new.h5'}"]


# a value of an array, and what is said about the array
VALUES = [
    ("sentences.h5", "rule_feature", 1, 2**31 - 1, (2147483647, 1)),
    ("sentences.h5", "rule_feature", 1, -(10**9), (-1000000000, 1)),
    ("sentences.h5", "rule_feature_offset", -1, 2**40, (0, 1099511627776)),
    ("sentences.h5", "rule_feature_offset", 2, 2**40, 2),
    ("sentences.h5", "rule_source_offset", 3, 2**40, 3),
    ("sentences.h5", "rule_target", 4, -3, (-3, 4)),
    ("sentences.h5", "rule_kind", 1, 0, 1),
    ("sentences.h5", "rule_target", 3, -1, 2),
    ("sentences.h5", "rule_source", 3, -2, ()),
    ("sentences.h5", "rule_alignment", (0, 1), 1, 2),
    ("sentences.h5", "rule_kind", 4, 2, 4),
    ("sentences.h5", "rule_kind", 4, 9, (9, 4)),
    ("sentences.h5", "source", 1, 10**9, (1000000000, 1)),
    ("sentences.h5", "reference", 0, -1, (-1, 0)),
    ("sentences.h5", "grammar_dense", (1, 2), np.inf, ()),
    ("sentences.h5", "grammar_dense", (1, 2), 1e30, ()),
    ("sentences.h5", "grammar_dense", (1, 2), np.nan, ()),
    ("sentences.h5", "rule_feature_value", 0, np.nan, 0),
    ("sentences.h5", "grammar_rule", 0, -5, (-5, 0)),
    ("sentences.h5", "grammar_rule", 0, 0, 0),
    ("sentences.h5", "vocabulary", 0, 0xFF, "UTF-8"),
    ("extracted.h5", "grammar_samples", 3, -1, (-1, 3)),
    ("extracted.h5", "grammar_count", 3, 1_000_001, (1000001, 3)),
    ("extracted.h5", "grammar_singleton", 3, 2, (2, 3)),
    ("extracted.h5", "rule_cost", (3, 1), np.nan, ()),
    ("extracted.h5", "rule_bin", 3, 22, (22, 3)),
    # with categories X, S, B, A; rules 2 to 4: [B] -> [A], [A] -> a [B], a passed through
    ("categories.h5", "rule_category", (2, 0), 4, ("[4, 3, 0]", 2, 0, 3)),
    ("categories.h5", "rule_category", (2, 0), 3, ()),
    ("categories.h5", "rule_category", (0, 0), 0, ()),
    ("categories.h5", "rule_category", (1, 2), 1, 1),
    ("categories.h5", "rule_category", (3, 2), 1, 3),
    ("categories.h5", "rule_category", (4, 0), 2, 4),
    ("categories.h5", "category", 0, ord("Y"), ()),
    ("categories.h5", "category", 2, ord("A"), ()),
    ("categories.h5", "category", 3, ord("]"), "']'"),
    ("categories.h5", "category", 3, ord(" "), "' '"),
    ("model", "words_data", 0, 0xFF, "UTF-8"),
    ("model", "words_data", 1, ord("x"), "<unk>"),
    ("model", "words_offset", 2, 2**40, 2),
    ("model", "unigram", (1, 0), np.nan, ()),
    ("model", "unigram_flags", 0, 8, (8, 0)),
    ("model", "slots", (slice(None), 0), 4, ()),
    ("model", "slots", ..., 0x7F80_0000_7F80_0000, ()),  # infinite numbers
    ("index", "source", 1, 2**31 - 1, (2147483647, 1)),
    ("index", "source", 1, 0, ()),
    ("index", "room", 2, 200, 2),
    ("index", "suffix", 2, -1, (-1, 2)),
    ("index", "position", (3, 4), 10**6, ()),
    ("index", "position", (3, 2), 0, 3),
    ("index", "position", (3, 0), 1 << 9, ()),
    ("index", "position", (3, 1), 1 << 9, ()),
    ("index", "link", 0, 10**6, (1000000, 0)),
    ("index", "pair_key", ..., 1, ()),
    # the sums would exceed the bounds of a grammar; the error must name the index, not the file of grammars
    ("index", "pair_cost", ..., 1e11, ()),
    ("index", "word_begin", 1, 10**9, 1),
]


@pytest.mark.parametrize(("file", "name", "place", "value", "facts"), VALUES)
def test_values(files, refused, file, name, place, value, facts):
    if file.endswith(".h5"):
        put(name, place, value)(files / file)
    else:
        reseal_array(files / file, name, lambda array: array.__setitem__(place, value))
    refused(reading(files, file), (f"{files / file}:", f"'{name}'", facts))


def dense_names(*names):
    return set_attributes(dense_names=json.dumps(names))


def format_name(value):
    """Return a function that changes the name of the format, or removes it."""

    def change(path):
        with h5py.File(path, "r+") as stream:
            del stream.attrs["format"]
            if value is not None:
                write_attribute(stream.attrs, "format", value)

    return change


def without_rules(path):
    replaced("grammar_rule", lambda array: array[:0])(path)
    replaced("grammar_dense", lambda array: array[:0])(path)
    put("grammar_offset", ..., 0)(path)


CHANGES = [
    (replaced("rule_feature_offset", lambda array: array[:0]), "'rule_feature_offset'"),
    (replaced("feature_name_offset", lambda array: array[::-1]), "'feature_name_offset'"),
    (replaced("source", lambda array: array.astype(">i4")), "'source'"),
    (replaced("source", lambda array: array.astype("<f4")), "'source'"),
    (replaced("source", lambda array: array[:, None]), ("'source'", 2, 1)),
    (replaced("grammar_dense", lambda array: array[:, 0]), ("'grammar_dense'", 1, 2)),
    (replaced("grammar_rule", lambda array: array[1:]), ("'grammar_dense'", "6x7")),
    (replaced("source"), "'source'"),
    (dense_names("a"), ("'dense_names'", 7)),
    (dense_names(*[1] * 7), "'dense_names'"),
    (dense_names(*"abcdef", "Glue"), "'Glue'"),
    (dense_names(*"abcdef", "\ud800"), "\\ud800"),
    (dense_names(*"abcdef", ""), "''"),
    (set_attributes(dense_names="["), "JSON"),
    (set_attributes(computed="1"), "'computed'"),
    (set_attributes(computed='["Lex"]'), ("'computed'", "'templates'")),
    (set_attributes(attributes="[" * 100_000), "JSON"),
    # it must not be translated partially: "b" becomes "x", which is on no source side
    (put("source", 1, 2), "'a x a'"),
    (without_rules, "'a b a'"),
    (format_name(None), "'itersel grammar extract'"),
    (format_name("weights file/2"), ()),
    (format_name("file of sentences with grammars/5"), ()),
    (format_name("file of sentences with grammars/99"), ()),
]
CHANGES_OF_EXTRACTED = [
    (replaced("grammar_count", lambda array: array[1:]), "'grammar_count'"),
    (replaced("grammar_count", lambda array: array[:0]), ("'grammar_count'", 0)),
    (replaced("grammar_samples", lambda array: array[:0]), ("'grammar_samples'", 0)),
    (replaced("rule_cost", lambda array: array[:0]), ("'rule_cost'", 0)),
    (replaced("rule_cost"), ("'rule_cost'", 0)),
    (replaced("rule_bin"), "'rule_bin'"),
    (dense_names(*"abcdefg"), "'dense_names'"),
]
MANY = string_table(["X", "S", *(f"N{number}" for number in range(MAX_CATEGORIES - 1))])
CHANGES_OF_CATEGORIES = [
    (replaced("rule_category", lambda array: array[1:]), ("'rule_category'", "4x3", "5x3")),
    (replaced("rule_category", lambda array: array[:0]), "'rule_source'"),
    (replaced("rule_category", lambda array: array.astype("<u4")), "'rule_category'"),
    (put("category_offset", 3, 4), ("'category'", "''")),
    (
        lambda path: write_grammars(path, replace(read_grammars(path), category=MANY)),
        ("'category'", MAX_CATEGORIES),
    ),
]


@pytest.mark.parametrize(
    ("file", "change", "facts"),
    [
        *(("sentences.h5", *case) for case in CHANGES),
        *(("extracted.h5", *case) for case in CHANGES_OF_EXTRACTED),
        *(("categories.h5", *case) for case in CHANGES_OF_CATEGORIES),
        *(("weights.h5", put("v", 0, value), "'CountEF'") for value in (np.nan, np.inf)),
    ],
)
def test_grammars(files, refused, file, change, facts):
    change(files / file)
    refused(reading(files, file), files / file, facts)


COUNTS = ("rule_bin", "rule_cost", "grammar_samples", "grammar_count", "grammar_singleton")
FILES = dict.fromkeys(FORMAT.arrays, "sentences.h5") | dict.fromkeys(COUNTS, "extracted.h5")
FILES |= dict.fromkeys(("category", "rule_category"), "categories.h5")
del FILES["sentence_reference_offset"]  # only files with several references have it


@pytest.mark.parametrize(("name", "file"), FILES.items())
def test_a_flipped_bit(files, refused, name, file):
    with h5py.File(files / file, "r+") as stream:
        array = stream[name][:]
        array.reshape(-1).view(np.uint8)[array.nbytes // 2] ^= 4
        stream[name][...] = array
    refused(reading(files, file), (f"{file}:", f"'{name}'"))


@pytest.mark.parametrize("name", ["model", "index"])
@pytest.mark.parametrize("place", [20, 0.5, 0.8])
def test_a_flipped_bit_of_an_array_file(files, name, place):
    content = bytearray((files / name).read_bytes())
    content[place if isinstance(place, int) else int(place * len(content))] ^= 16
    (files / name).write_bytes(content)
    with input_error(f"{files / name}:"):
        (load_model if name == "model" else load_index)(files / name)


@pytest.mark.parametrize("step", ["train", "decode"])
@pytest.mark.parametrize("name", ["sentences.h5", "weights.h5", "model"])
@pytest.mark.parametrize("part", [None, 0.0, 0.3, 0.9, 0.999])
def test_truncated_and_missing(files, refused, name, part, step):
    content = (files / name).read_bytes()
    (files / name).unlink()
    if part is not None:
        (files / name).write_bytes(content[: int(part * len(content))])
    refused(reading(files, name, step), f"{files / name}:")


def test_undeclared_compression_is_rejected(files, refused):
    with resealed(files / "weights.h5") as stream:
        stream.create_dataset("v", data=stream.pop("v")[:], compression="gzip", chunks=True)
    refused(["weights", "show", files / "weights.h5"], f"{files / 'weights.h5'}:", "'v'")


def test_an_attribute_of_the_wrong_type(files, refused):
    with h5py.File(files / "weights.h5", "r+") as stream:
        stream.attrs["epoch"] = np.longdouble(1)
    refused(["weights", "show", files / "weights.h5"], f"{files / 'weights.h5'}:")


def test_inconsistent_features_are_reported_with_both_files(files, refused):
    """Line ends and control characters in their names are escaped."""
    put("features/name", slice(0, 4), np.array([*b"\n\x1b\x00x"], np.uint8))(files / "weights.h5")
    refused(
        reading(files, "weights.h5"),
        files / "sentences.h5",
        f"{files / 'weights.h5'}:",
        "'\\n\\x1b\\x00xtEF'",
    )


# values in the header, by their path; None if it is missing
HEADERS = {
    "kind": (None, "grammar-index"),
    "format": (None, 99),
    "size": (None, "x"),
    "arrays": (None,),
    "arrays.slots": (None,),
    "arrays.slots.position": (1 << 40, -64),
    "arrays.slots.shape": ([1 << 62, 2], [2.5, 2], [-1, -2], [], [4]),
    "arrays.unigram.dtype": ("<f8", None),
    "attributes": (3,),
    "attributes.order": (None, 0, 10, 10**9, True, "3"),
    # of an index
    "arrays.position.shape": ([3, 5],),
    "arrays.suffix": (None,),
}


@pytest.mark.parametrize(("place", "value"), [(place, one) for place in HEADERS for one in HEADERS[place]])
def test_headers_of_array_files(files, refused, place, value):
    def change(header):
        *outer, last = place.split(".")
        reduce(dict.__getitem__, outer, header)[last] = value
        if value is None:
            del reduce(dict.__getitem__, outer, header)[last]

    file = "index" if place in ("arrays.position.shape", "arrays.suffix") else "model"
    reseal_header(files / file, change)
    refused(reading(files, file), f"{files / file}:", "'position'" if file == "index" and value else "")


@pytest.mark.parametrize("length", [0, 1, 1 << 40, 1 << 62, (1 << 64) - 1])
def test_lengths_of_headers(files, refused, length):
    content = (files / "model").read_bytes()
    (files / "model").write_bytes(content[:8] + length.to_bytes(8, "little") + content[16:])
    refused(reading(files, "model"), f"{files / 'model'}:")


INDEX = [
    ("suffix", lambda array: array.fill(array.shape[0] - 1), "'suffix'"),
    # "a" becomes a second "."
    ("words_data", lambda array: np.place(array, array == ord("a"), ord(".")), "/index:"),
]


@pytest.mark.parametrize(("name", "change", "facts"), INDEX)
def test_index(files, refused, name, change, facts):
    reseal_array(files / "index", name, change)
    refused(reading(files, "index"), facts)


def test_valid_files_are_accepted(files):
    for file, step in (("sentences.h5", "train"), ("sentences.h5", "decode"), ("index", "extract")):
        assert main(reading(files, file, step)) == 0
    assert load_model(files / "model").order == 3


def test_a_declaration_names_sizes_once():
    """Sizes come from the first array that has them, whatever the order of names in a shape."""
    shapes = {"a": Array("<i4", ("N", 2)), "b": Array("<i8", ("N+1",), into="M"), "c": Array("|u1", ("M",))}
    declared = FileFormat("x", 1, ("x",), shapes)
    arrays = {"a": np.zeros((3, 2), np.int32), "b": np.array([0, 1, 1, 4]), "c": np.zeros(4, np.uint8)}
    assert check_arrays(declared, arrays, "file") == {"N": 3, "M": 4}
    for name, array, facts in (
        ("b", np.array([0, 1, 4]), ("'b'", 3, 4)),
        ("c", np.zeros(5, np.uint8), ("'b'", 0, 4, 5)),
        ("a", np.zeros((3, 3), np.int32), ("'a'", "3x3", "3x2")),
    ):
        with input_error("file:", facts):
            check_arrays(declared, {**arrays, name: array}, "file")
