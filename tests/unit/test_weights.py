"""Weights: their two forms on disk, what is refused, and the command that shows and exports them."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.cli.main import main
from itersel.errors import InputError
from itersel.features import feature_key
from itersel.weights import find_weights, make_weights, read_weights, write_weights

VALUES = {"LanguageModel": 0.3, "R:X:NX_haus:N1_house": -0.25, "Glue": 0.25, "ß": 1e-300, "=": -4.0}
NAME = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1).filter(lambda text: text[0] != "#")


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(NAME, st.floats(allow_nan=False, allow_infinity=False), max_size=6))
def test_both_forms_keep_every_bit(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, float]
) -> None:
    folder = tmp_path_factory.mktemp("weights")
    for name in ("w.h5", "w.txt", "w.txt.gz"):
        write_weights(folder / name, make_weights(values))
        weights = read_weights(folder / name)
        assert weights.to_dict() == values
        assert (weights.key[1:] > weights.key[:-1]).all()


def test_find_weights() -> None:
    keys = np.array([feature_key(name) for name in ("Glue", "no such", "=")], np.uint64)
    assert find_weights(make_weights(VALUES), keys).tolist() == [0.25, 0.0, -4.0]
    assert find_weights(make_weights({}), keys).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1\nb\n", ":2: expected 'name value'"),
        ("a 1\nb x\n", ":2: 'x' is not a number"),
        ("a nan\n", ":1: the weight of 'a' is nan, not finite"),
        ("a inf\n", ":1: the weight of 'a' is inf, not finite"),
        ("a 1\n\n# remark\na 2\n", ":4: feature 'a' is listed twice"),
    ],
)
def test_bad_text(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "w.txt").write_text(text)
    with pytest.raises(InputError) as error:
        read_weights(tmp_path / "w.txt")
    assert str(error.value) == f"{tmp_path / 'w.txt'}{message}"


def test_bad_hdf5(tmp_path: Path) -> None:
    path = tmp_path / "w.h5"
    with pytest.raises(InputError, match="no such file"):
        read_weights(path)
    write_weights(path, make_weights(VALUES))
    with h5py.File(path, "r+") as stream:
        stream["v"][2] = np.nan
    with pytest.raises(InputError, match=r"w\.h5: the weight of '.*' is not finite"):
        read_weights(path)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(InputError, match=r"w\.h5: damaged or truncated"):
        read_weights(path)


def shown(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert main(["weights", "show", *options]) == 0
    return [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "w.h5")
    write_weights(path, make_weights(VALUES), {"algorithm": "itersel", "epoch": 3})
    assert main(["weights", "show", path, "--number", "3"]) == 0
    # the largest magnitudes; equal ones by name
    assert capsys.readouterr().out == (
        "# algorithm: itersel\n# epoch: 3\n# weights: 5\n=\t-4.0\nLanguageModel\t0.3\nGlue\t0.25\n"
    )
    by_value = ["LanguageModel", "Glue", "ß", "R:X:NX_haus:N1_house", "="]
    assert [line.split("\t")[0] for line in shown(capsys, path, "--by", "value")] == by_value
    every = shown(capsys, path, "--by", "name", "--number", "0")
    assert every == [f"{name}\t{VALUES[name]!r}" for name in sorted(VALUES)]


def test_show_text_and_more_than_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "w.txt")
    write_weights(path, make_weights({f"f{i}": float(i + 1) for i in range(30)}))
    assert len(shown(capsys, path)) == 20
    assert len(shown(capsys, path, "--number", "50")) == 30


@pytest.mark.parametrize("name", ["cdec.txt", "cdec.gz"])
def test_export(tmp_path: Path, name: str) -> None:
    write_weights(tmp_path / "w.h5", make_weights(VALUES))
    assert main(["weights", "export", str(tmp_path / "w.h5"), "--output", str(tmp_path / name)]) == 0
    content = (tmp_path / name).read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
    assert text == "".join(f"{name}\t{VALUES[name]!r}\n" for name in sorted(VALUES))


def test_export_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_weights(tmp_path / "w.h5", make_weights({"b": -0.5, "a": 2.0}))
    assert main(["weights", "export", str(tmp_path / "w.h5")]) == 0
    assert capsys.readouterr().out == "a\t2.0\nb\t-0.5\n"


def test_export_refuses_the_binary_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_weights(tmp_path / "w.h5", make_weights(VALUES))
    assert main(["weights", "export", str(tmp_path / "w.h5"), "--output", str(tmp_path / "o.h5")]) == 1
    assert "choose one that does not end in .h5" in capsys.readouterr().err
