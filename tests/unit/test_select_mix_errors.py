"""Mixing: every kind of invalid input."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.damage import put, resealed, set_attributes
from tests.mixing import FIGURE_2, rows_of, run, write_shards

from itersel.storage.hdf5 import write_attribute
from itersel.vectors.weights import read_weights, write_weights

MEAN = ("--mixing", "mean", "--epoch", "1")
put_without_sealing = functools.partial(put, opened=functools.partial(h5py.File, mode="r+"))


def replace(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with resealed(path) as stream:
            values = change(stream[name][:])
            del stream[name]
            stream[name] = values

    return damage


def change_attribute(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        write_attribute(stream.attrs, "settings", "others")


def drop_checksums(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        del stream.attrs["digests"]


def drop_attributes(path: Path) -> None:
    with resealed(path) as stream:
        for name in set(stream.attrs) - {"format", "digests"}:
            del stream.attrs[name]


def link_out(path: Path) -> None:
    """Store an array in a pipe without a writer, which blocks whoever opens it."""
    os.mkfifo(path.with_name("pipe"))
    with h5py.File(path, "r+") as stream:
        del stream["v"]
        stream["v"] = h5py.ExternalLink(str(path.with_name("pipe")), "v")


BROKEN = [
    (link_out, "there is no 'v'"),
    (put("features/name_offset", 1, 0), "array 'features/name_offset' does not rise"),
    (put("v", 0, 1e200), "is beyond 1e+12; train the shard again"),
    (put("v", 0, math.nan), "not finite; train the shard again"),
    (lambda path: os.truncate(path, path.stat().st_size - 100), "recreate it"),
    (replace("features/key", lambda keys: keys[::-1]), "recreate it"),
    (replace("v", lambda values: values.astype(np.float32)), "recreate it"),
    (replace("v", lambda values: values[1:]), "recreate it"),
    (put("features/name_offset", -1, 10**6), "recreate it"),
    (put("features/name", 0, ord("y")), "has the same 64-bit key as"),
    (put("features/name", 0, 0xFF), "array 'features/name' is not UTF-8"),
    (put_without_sealing("v", 0, 9.0), "damaged: array 'v' does not match its checksum"),
    (put_without_sealing("features/name", -1, 9), "array 'features/name' does not match its checksum"),
    (change_attribute, "the attributes do not match their checksum"),
    (drop_checksums, "has no checksums"),
    (set_attributes(settings="others"), "was trained with different settings than"),
    (lambda path: path.write_text("feature\t1\n"), "recreate it"),
    (Path.unlink, "no such file"),
    (set_attributes(epoch=math.inf), "is not a whole number"),
    (set_attributes(epoch=2), "is from epoch 2, expected epoch 1"),
    (set_attributes(shard=0), "contains shard 0, as does"),
    (set_attributes(shard=3), "is from shard 3, but 3 shards are numbered 0 to 2"),
    (set_attributes(shard=-1), "is from shard -1"),
    (set_attributes(shard="x"), "recreate it"),
    (set_attributes(kind="mixed-weights"), "is of kind 'mixed-weights', expected 'shard-weights'"),
    (drop_attributes, "is of unknown kind, expected 'shard-weights'"),
]


@pytest.mark.parametrize(("damage", "said"), BROKEN)
def test_bad_shard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Path], None], said: str
) -> None:
    paths = write_shards(tmp_path, rows_of([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
    damage(Path(paths[1]))
    before = {*tmp_path.iterdir(), tmp_path / "list"}
    assert run(tmp_path, *MEAN, "--matrix", str(tmp_path / "W.h5"), paths=paths) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert paths[1] in message
    assert said in message
    assert {*tmp_path.iterdir()} == before


def test_identically_damaged_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of the same length, far past the end of the file, are not compared."""
    for path in write_shards(tmp_path, rows_of([[1, 2, 3], [4, 5, 6]])):
        put("features/name_offset", 1, 10**12)(Path(path))
    assert run(tmp_path, *MEAN) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "damaged: array 'features/name_offset' does not rise" in message


def test_lists_of_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zero, one, _ = write_shards(tmp_path, rows_of(FIGURE_2[12]))
    again = f"{tmp_path}/./shard0.h5"
    write_weights(tmp_path / "w.txt", read_weights(zero))
    for paths, options, said in (
        ([zero, one, zero], ["--shards", "4"], "3 weights files for 4 shards"),
        ([zero, one, zero], [], f"{zero}: contains shard 0, as does {zero}; give each shard once"),
        ([zero, one, again], [], f"{again}: contains shard 0, as does {zero}"),
        ([zero, "", one], [], f"{tmp_path / 'list'}:2: empty line"),
        (
            [zero, one, str(tmp_path / "w.txt")],
            [],
            "w.txt: is a text file, which does not record its settings; train with an --output",
        ),
    ):
        assert run(tmp_path, *MEAN, *options, paths=paths) == 1
        assert said in capsys.readouterr().err
        assert not (tmp_path / "v.h5").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["selection", "--epoch", "1"], "needs one of --select, --threshold and --relative-threshold"),
        (["mean", "--epoch", "1", "--select", "3"], "selects nothing; drop --select"),
        (["mean", "--epoch", "1", "--keep", "dense"], "selects nothing; drop --keep"),
        (["none", "--epoch", "1"], "is for one shard, not 3"),
        (["mean-of-epochs", "--epoch", "2"], "--previous"),
        (["mean-of-epochs", "--epoch", "1", "--previous", "v.h5"], "drop --previous"),
        (["mean", "--epoch", "2", "--previous", "v.h5"], "drop --previous"),
        (
            ["path-following", "--epoch", "1", "--threshold", "1"],
            "needs --threshold, --epsilon and --minimum, and nothing else",
        ),
        (
            ["path-following", "--epoch", "1", "--select", "3", "--epsilon", "1", "--minimum", "0"],
            "needs --threshold, --epsilon and --minimum, and nothing else",
        ),
        (
            ["path-following", "--epoch", "1", "--threshold", "1", "--epsilon", "1", "--minimum", "2"],
            "--minimum is above --threshold",
        ),
        (["mean", "--epoch", "1", "--matrix", "W.txt"], "W.txt: is not a name for an HDF5 file; choose one"),
        (
            ["mean", "--epoch", "1", "--matrix", "v.h5"],
            "v.h5: is the name of both the weights and the",
        ),
        (["mean", "--epoch", "1", "--matrix", "./v.h5"], "is the name of both the weights and the matrix"),
    ],
)
def test_conflicting_options(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--mixing", *options) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "v.h5").exists()


PREVIOUS = [
    (set_attributes(epoch=5), "is from mixing mean-of-epochs, epoch 5; expected mean-of-epochs, epoch 1"),
    (set_attributes(mixing="mean"), "is from mixing mean, epoch 1; expected mean-of-epochs, epoch 1"),
    (set_attributes(settings="others"), "was trained with different settings than the shards"),
    (set_attributes(shards=4), "was mixed from 4 shards, not 3"),
    (set_attributes(kind="shard-weights"), "is not of kind 'mixed-weights'"),
    (drop_attributes, "is not of kind 'mixed-weights'"),
    (replace("v", lambda values: values[1:]), "array 'v' has the shape 1, not 2"),
    (put("features/name", 0, ord("y")), "have the same 64-bit key"),
    (Path.unlink, "no such file"),
    (
        lambda path: path.rename(path.with_name("v.txt")),
        "is a text file, which does not record its settings; mix the previous epoch with",
    ),
]


@pytest.mark.parametrize(("damage", "said"), PREVIOUS)
def test_bad_previous(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Path], None], said: str
) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--mixing", "mean-of-epochs", "--epoch", "1") == 0
    previous = (tmp_path / "v.h5").rename(tmp_path / "previous.h5")
    write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=2)
    damage(previous)
    if (tmp_path / "v.txt").exists():
        previous = tmp_path / "v.txt"
    assert run(tmp_path, "--mixing", "mean-of-epochs", "--epoch", "2", "--previous", str(previous)) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"itersel mix: {previous}: ")
    assert message.count("\n") == 1
    assert said in message
    assert not (tmp_path / "v.h5").exists()
