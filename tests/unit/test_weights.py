"""Weights: the two file formats, invalid files, and the command that shows and exports weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import check_facts, input_error

from itersel.cli.main import main
from itersel.storage.files import read_lines
from itersel.storage.hdf5 import SIGNATURE
from itersel.storage.strings import StringTable, string_table
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import (
    Weights,
    find_weights,
    make_weights,
    read_itersel_weights,
    write_itersel_weights,
)

VALUES = {"LanguageModel": 0.3, "R:X:NX_haus:N1_house": -0.25, "Glue": 0.25, "ß": 1e-300, "=": -4.0}
# Every character that text can contain; see test_names_that_text_cannot_contain.
NAME = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=" "), min_size=1).filter(
    lambda text: text[0] not in "#\ufeff"
)


@given(st.dictionaries(NAME, st.floats(-1e12, 1e12), max_size=6))
def test_both_formats_are_exact(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("weights")
    for name in ("w.h5", "w.txt", "w.txt.gz"):
        write_itersel_weights(folder / name, make_weights(values))
        weights = read_itersel_weights(folder / name)
        assert weights.to_dict() == values
        assert (weights.key[1:] > weights.key[:-1]).all()


@pytest.mark.parametrize(
    ("name", "is_hdf5"),
    [("w.h5", True), ("W.H5", True), (".h5", True), ("h5", False), ("w.h5.gz", False), ("w.h5.txt", False)],
)
def test_the_end_of_the_name_decides_the_format(tmp_path, name, is_hdf5):
    path = tmp_path / name
    write_itersel_weights(path, make_weights(VALUES))
    assert path.read_bytes().startswith(SIGNATURE) == is_hdf5
    assert read_itersel_weights(path).to_dict() == VALUES


@pytest.mark.parametrize("name", ["a\u00a0b", "\u3000", "a\u2028b", "b#"])
def test_white_space_of_unicode_in_names(tmp_path, name):
    write_itersel_weights(tmp_path / "w", make_weights({name: 0.5, "b": 1.0}))
    assert read_itersel_weights(tmp_path / "w").to_dict() == {name: 0.5, "b": 1.0}


@pytest.mark.parametrize(
    "name", ["", "a b", "a\tb", "a\nb", "#a", "\ufeffa", "a\x1cb", "a\x85b", "a\r", "\x0b", "\0"]
)
def test_names_that_text_cannot_contain(tmp_path, name):
    write_itersel_weights(tmp_path / "w.h5", make_weights({"b": 1.0}))
    with input_error(f"{tmp_path / 'w'}:", repr(name)):
        write_itersel_weights(tmp_path / "w", make_weights({name: 0.5, "b": 1.0}))
    assert [path.name for path in tmp_path.iterdir()] == ["w.h5"]


def test_find_weights():
    keys = feature_keys(string_table(["Glue", "no such", "="]))
    assert find_weights(make_weights(VALUES), keys).tolist() == [0.25, 0.0, -4.0]
    assert find_weights(make_weights({}), keys).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "line", "facts"),
    [
        ("a 1\nb\n", 2, ()),
        ("a 1\nb x\n", 2, "'x'"),
        ("a nan\n", 1, ("'a'", "nan")),
        ("a inf\n", 1, ("'a'", "inf")),
        ("a 1\n\n# remark\na 2\n", 4, "'a'"),
    ],
)
def test_bad_text(tmp_path, text, line, facts):
    (tmp_path / "w.txt").write_text(text)
    with input_error(f"{tmp_path / 'w.txt'}:{line}:", facts):
        read_itersel_weights(tmp_path / "w.txt")


def test_a_character_split_between_two_names(tmp_path):
    names = StringTable(np.frombuffer("aßb".encode(), np.uint8), np.array([0, 2, 4]))
    write_itersel_weights(tmp_path / "w.h5", Weights(np.array([1, 2], np.uint64), np.ones(2), names))
    with input_error(f"{tmp_path / 'w.h5'}:"):
        read_itersel_weights(tmp_path / "w.h5")


@pytest.mark.parametrize("ending", ["", ".h5"])
# root may read everything, so the second is a system error other than missing permission
@pytest.mark.parametrize("name", ["folder", "file/w"])
def test_system_errors_are_no_damage(tmp_path, refused, name, ending):
    (tmp_path / f"folder{ending}").mkdir()
    (tmp_path / "file").touch()
    path = tmp_path / f"{name}{ending}"
    assert "damaged" not in refused(["weights", "show", path], f"{path}:")


def shown(capsys, *options):
    assert main(["weights", "show", *options]) == 0
    return [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]


def test_show(tmp_path, capsys):
    path = str(tmp_path / "w.h5")
    write_itersel_weights(path, make_weights(VALUES), {"algorithm": "itersel", "epoch": 3})
    assert main(["weights", "show", path, "--number", "3"]) == 0
    # the largest magnitudes, ties by name
    assert capsys.readouterr().out == (
        "# algorithm: itersel\n# epoch: 3\n# weights: 5\n=\t-4.0\nLanguageModel\t0.3\nGlue\t0.25\n"
    )
    by_value = ["LanguageModel", "Glue", "ß", "R:X:NX_haus:N1_house", "="]
    assert [line.split("\t")[0] for line in shown(capsys, path, "--by", "value")] == by_value
    every = shown(capsys, path, "--by", "name", "--number", "0")
    assert every == [f"{name}\t{VALUES[name]!r}" for name in sorted(VALUES)]
    write_itersel_weights(path, make_weights({f"f{i}": float(i + 1) for i in range(30)}))
    assert [len(shown(capsys, path, *more)) for more in ((), ("--number", "50"))] == [20, 30]


@pytest.mark.parametrize("name", ["cdec.txt", "cdec.gz", None, "o.h5", "O.H5"])
def test_export(tmp_path, capsys, name):
    """To text, compressed text or standard output, not to the binary format."""
    write_itersel_weights(tmp_path / "w.h5", make_weights(VALUES))
    output = ["--output", str(tmp_path / name)] if name else []
    status = main(["weights", "export", str(tmp_path / "w.h5"), *output])
    printed = capsys.readouterr()
    if name in ("o.h5", "O.H5"):
        assert status == 1
        check_facts(printed.err, f"{name}:", ".h5")
        return
    assert status == 0
    text = "\n".join(read_lines(tmp_path / name)) + "\n" if name else printed.out
    assert text == "".join(f"{name}\t{VALUES[name]!r}\n" for name in sorted(VALUES))
