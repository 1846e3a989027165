"""Bundles: a system in one self-contained file, which is checked before anything is translated."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.damage import reseal_array, reseal_header
from tests.systems import raw_text, translate

from itersel.cli.main import main
from itersel.storage.arrayfile import MAGIC
from itersel.translate.system import read_bundle


@pytest.fixture(scope="module")
def run(system: Path) -> Path:
    return system.parents[2]


@pytest.fixture(scope="module")
def made(system: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundles") / "x.bundle"
    assert main(["bundle", str(system), str(path)]) == 0
    return path


@pytest.fixture
def bundle(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "x.bundle"))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "raw"
    path.write_text("".join(line + "\n" for line in raw_text(30)))
    return path


def test_a_bundle_translates_without_the_run(run, system, text, tmp_path):
    copy, other = tmp_path / "run", tmp_path / "another machine"
    shutil.copytree(run, copy)
    options = ("--k-best", "3", "--alignments")
    expected = translate(copy / system.relative_to(run), text, tmp_path / "expected", *options)
    assert main(["bundle", str(copy / system.relative_to(run)), str(tmp_path / "made")]) == 0
    shutil.rmtree(copy)
    other.mkdir()
    (tmp_path / "made").rename(other / "any name")
    assert translate(other / "any name", text, other / "out", *options) == expected
    assert len(expected) == 30


def test_equal_systems_give_equal_bytes(run, system, made, tmp_path):
    """Also when the bundle is read and written again, so nothing of the system is lost."""
    shutil.copytree(run, tmp_path / "elsewhere")
    again, of_bundle = tmp_path / "again", tmp_path / "of a bundle"
    assert main(["bundle", str(tmp_path / "elsewhere" / system.relative_to(run)), str(again)]) == 0
    assert main(["bundle", str(made), str(of_bundle)]) == 0
    assert again.read_bytes() == made.read_bytes() == of_bundle.read_bytes()
    assert str(run).encode() not in made.read_bytes()


def test_arrays_are_mapped(made):
    """Processes share them, and unused parts are not in memory."""
    found = read_bundle(made)
    for array in (found.index.arrays.source, found.model.arrays.slots, found.weights.value):
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert isinstance(base, np.memmap)
        assert not array.flags.writeable
        assert array.ctypes.data % 64 == 0


def refused(bundle: Path, text: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one-line error that rejects a bundle; check that nothing is written."""
    before = sorted(bundle.parent.iterdir())
    output = bundle.parent / "out"
    arguments = ["--system", str(bundle), "--input", str(text), "--output", str(output)]
    assert main(["translate", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sorted(bundle.parent.iterdir()) == before
    place = f"itersel translate: {bundle}: "
    assert captured.err.startswith(place)
    return captured.err.removeprefix(place)


@pytest.mark.parametrize("size", [0, 12, 40_000, -1])
def test_cut_anywhere(bundle, text, capsys, size):
    bundle.write_bytes(bundle.read_bytes()[:size])
    line = refused(bundle, text, capsys)
    assert "truncated" in line or "is not a file of kind 'bundle'" in line


def test_a_changed_byte(bundle, text, capsys):
    content = bytearray(bundle.read_bytes())
    content[-1] ^= 1
    bundle.write_bytes(content)
    message = "damaged: array 'recaser' does not match its checksum; recreate the file\n"
    assert refused(bundle, text, capsys) == message


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("attributes", "settings"), None, "damaged or truncated"),
        (("attributes", "model"), 3, "damaged or truncated"),
        (("attributes", "model", "order"), 10**9, "damaged or truncated"),
        (
            ("attributes", "settings", "pop_limit"),
            10**9,
            "pop_limit is 1000000000; it must be a whole number",
        ),
        (("attributes", "settings", "features"), "x", "features is 'x'"),
        (("attributes", "settings", "extraction", "templates"), ["x"], "templates is 'x'; choose one of"),
    ],
)
def test_wrong_headers(bundle, text, capsys, keys, value, message):
    def change(header):
        *path, last = keys
        for key in path:
            header = header[key]
        header[last] = value

    reseal_header(bundle, change)
    assert refused(bundle, text, capsys).startswith(message)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("index/suffix", 10**8, "damaged: array 'index/suffix' holds 100000000 in row 0"),
        ("index/room", 255, "damaged: array 'room' is not the rest of the sentence"),
        ("model/slots", 2**64 - 1, "damaged: array 'slots' is too full"),
        ("model/unigram", np.nan, "damaged: array 'model/unigram' holds"),
        ("weights/v", np.inf, "the weight of "),
        ("preparation", ord("["), "is not a preparation.json"),
        ("recaser", ord("["), "is not a recaser.json"),
    ],
)
def test_arrays_that_make_no_system(bundle, text, capsys, name, value, message):
    """Such a bundle can be made with correct checksums."""
    reseal_array(bundle, name, lambda array: array.fill(value))
    assert refused(bundle, text, capsys).startswith(message)


def test_other_files(run, bundle, text, capsys, tmp_path):
    for content, message in (
        ((run / "index").read_bytes(), "holds a 'grammar-index', a 'bundle' was expected"),
        (MAGIC[:7] + b"\xff" + bundle.read_bytes()[8:], "was made by another version of itersel"),
        (b"\x80\x04\x95cos\nsystem\n(S'touch out'\ntR.", "is not a file of kind 'bundle' made by itersel"),
    ):
        bundle.write_bytes(content)
        assert refused(bundle, text, capsys).startswith(message)
    bundle.unlink()
    assert refused(bundle, text, capsys) == "no such file or folder\n"
    bundle.mkdir()
    assert refused(bundle, text, capsys).startswith("has no resources.json; name a folder")


def test_no_partial_bundle_is_written(run, system, tmp_path, capsys):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    folder = copy / system.relative_to(run)
    (folder / "weights.h5").write_bytes(b"x")
    (tmp_path / "x.bundle").write_text("as before")
    assert main(["bundle", str(folder), str(tmp_path / "x.bundle")]) == 1
    assert capsys.readouterr().err.startswith(f"itersel bundle: {folder}/weights.h5: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "x.bundle"]
    assert (tmp_path / "x.bundle").read_text() == "as before"


def test_reading_needs_no_pickle(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "pickle", None)
    monkeypatch.setitem(sys.modules, "_pickle", None)
    assert read_bundle(made).settings.pop_limit == 30
