"""Mixing: every kind of invalid input."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.damage import resealed
from tests.mixing import FIGURE_2, rows_of, run, write_shards

from itersel.cli.main import main
from itersel.storage.hdf5 import write_attribute
from itersel.vectors.weights import read_weights, write_weights


def break_nan(path: Path) -> None:
    with resealed(path) as stream:
        stream["v"][0] = math.nan


def break_end(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def break_order(path: Path) -> None:
    with resealed(path) as stream:
        stream["features/key"][...] = stream["features/key"][:][::-1]


def break_type(path: Path) -> None:
    with resealed(path) as stream:
        values = stream["v"][:].astype(np.float32)
        del stream["v"]
        stream["v"] = values


def break_length(path: Path) -> None:
    with resealed(path) as stream:
        values = stream["v"][1:]
        del stream["v"]
        stream["v"] = values


def break_names(path: Path) -> None:
    with resealed(path) as stream:
        stream["features/name_offset"][-1] = 10**6


def break_name(path: Path) -> None:
    with resealed(path) as stream:
        stream["features/name"][0] = ord("y")


def break_utf8(path: Path) -> None:
    with resealed(path) as stream:
        stream["features/name"][0] = 0xFF


def flip_bit(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        value = stream["v"][:]
        value.view(np.uint64)[0] ^= np.uint64(1)
        stream["v"][...] = value


def flip_last_bit_of_names(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        stream["features/name"][-1] ^= 1


def change_attribute(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        write_attribute(stream.attrs, "settings", "others")


def drop_checksums(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        del stream.attrs["digests"]


def break_settings(path: Path) -> None:
    with resealed(path) as stream:
        stream.attrs["settings"] = "others"


def set_attribute(name: str, value: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with resealed(path) as stream:
            stream.attrs[name] = value

    change.__name__ = f"{name} {value}"
    return change


def drop_attributes(path: Path) -> None:
    with resealed(path) as stream:
        for name in set(stream.attrs) - {"format", "digests"}:
            del stream.attrs[name]


def break_all(path: Path) -> None:
    path.write_text("feature\t1\n")


def link_out(path: Path) -> None:
    """Store an array in a pipe without a writer, which blocks whoever opens it."""
    os.mkfifo(path.with_name("pipe"))
    with h5py.File(path, "r+") as stream:
        del stream["v"]
        stream["v"] = h5py.ExternalLink(str(path.with_name("pipe")), "v")


def empty_name(path: Path) -> None:
    with resealed(path) as stream:
        stream["features/name_offset"][1] = 0


def enlarge(path: Path) -> None:
    with resealed(path) as stream:
        stream["v"][0] = 1e200


BROKEN = {
    link_out: "there is no 'v'",
    empty_name: "array 'features/name_offset' does not rise",
    enlarge: "is beyond 1e+12; train the shard again",
    set_attribute("epoch", math.inf): "is not a whole number",
    break_nan: "not finite; train the shard again",
    break_end: "recreate it",
    break_order: "recreate it",
    break_type: "recreate it",
    break_length: "recreate it",
    break_names: "recreate it",
    break_name: "has the same 64-bit key as",
    flip_bit: "damaged: array 'v' does not match its checksum",
    flip_last_bit_of_names: "damaged: array 'features/name' does not match its checksum",
    change_attribute: "the attributes do not match their checksum",
    break_utf8: "array 'features/name' is not UTF-8",
    drop_checksums: "has no checksums",
    break_settings: "was trained with different settings than",
    break_all: "recreate it",
    Path.unlink: "no such file",
    set_attribute("epoch", 2): "is from epoch 2, expected epoch 1",
    set_attribute("shard", 0): "contains shard 0, as does",
    set_attribute("shard", 3): "is from shard 3, but 3 shards are numbered 0 to 2",
    set_attribute("shard", -1): "is from shard -1",
    set_attribute("shard", "x"): "recreate it",
    set_attribute("kind", "mixed-weights"): "is of kind 'mixed-weights', expected 'shard-weights'",
    drop_attributes: "is of unknown kind, expected 'shard-weights'",
}


@pytest.mark.parametrize("damage", BROKEN, ids=lambda damage: damage.__name__)
def test_bad_shard(tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: object) -> None:
    paths = write_shards(tmp_path, rows_of([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
    (tmp_path / "list").write_text("".join(path + "\n" for path in paths))
    damage(Path(paths[1]))
    files = ["--inputs", str(tmp_path / "list"), "--output", str(tmp_path / "v.h5")]
    options = [
        "--shards",
        "3",
        "--mixing",
        "mean",
        "--epoch",
        "1",
        "--matrix",
        str(tmp_path / "W.h5"),
    ]
    before = sorted(tmp_path.iterdir())
    assert main(["mix", *files, *options]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert paths[1] in message
    assert BROKEN[damage] in message
    assert sorted(tmp_path.iterdir()) == before


def test_identically_damaged_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of the same length, far past the end of the file, are not compared."""
    for path in write_shards(tmp_path, rows_of([[1, 2, 3], [4, 5, 6]])):
        with resealed(path) as stream:
            stream["features/name_offset"][1] = 10**12
    assert run(tmp_path, "--mixing", "mean", "--epoch", "1") == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "damaged: array 'features/name_offset' does not rise" in message


def test_fewer_shards_are_never_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--mixing", "mean", "--epoch", "1", "--shards", "4") == 1
    assert "3 weights files for 4 shards" in capsys.readouterr().err
    assert not (tmp_path / "v.h5").exists()
    (tmp_path / "list").write_text("\n".join([paths[0], paths[1], paths[0]]))
    command = ["mix", "--inputs", str(tmp_path / "list"), "--output", str(tmp_path / "v.h5")]
    command += ["--shards", "3", "--mixing", "mean", "--epoch", "1"]
    assert main(command) == 1
    message = f"{paths[0]}: contains shard 0, as does {paths[0]}; give each shard once"
    assert message in capsys.readouterr().err
    (tmp_path / "list").write_text("\n".join([paths[0], "", paths[1]]))
    assert main(command) == 1
    assert f"{tmp_path / 'list'}:2: empty line" in capsys.readouterr().err


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
    ],
)
def test_conflicting_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--mixing", *options) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "v.h5").exists()


def mix_previous(folder: Path, epoch: int, previous: Path) -> int:
    return run(folder, "--mixing", "mean-of-epochs", "--epoch", str(epoch), "--previous", str(previous))


PREVIOUS = {
    set_attribute("epoch", 5): "is from mixing mean-of-epochs, epoch 5; expected mean-of-epochs, epoch 1",
    set_attribute("mixing", "mean"): "is from mixing mean, epoch 1; expected mean-of-epochs, epoch 1",
    set_attribute("settings", "others"): "was trained with different settings than the shards",
    set_attribute("shards", 4): "was mixed from 4 shards, not 3",
    set_attribute("kind", "shard-weights"): "is not of kind 'mixed-weights'",
    drop_attributes: "is not of kind 'mixed-weights'",
    break_length: "array 'v' has the shape 1, not 2",
    break_name: "have the same 64-bit key",
    Path.unlink: "no such file",
}


@pytest.mark.parametrize("damage", PREVIOUS, ids=lambda damage: damage.__name__)
def test_bad_previous(tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: object) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--mixing", "mean-of-epochs", "--epoch", "1") == 0
    (tmp_path / "v.h5").rename(tmp_path / "previous.h5")
    write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=2)
    damage(tmp_path / "previous.h5")
    assert mix_previous(tmp_path, 2, tmp_path / "previous.h5") == 1
    message = capsys.readouterr().err
    assert message.startswith(f"itersel mix: {tmp_path / 'previous.h5'}: ")
    assert message.count("\n") == 1
    assert PREVIOUS[damage] in message
    assert not (tmp_path / "v.h5").exists()


def test_text_weights_lack_provenance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [*paths, last] = write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=2)
    (tmp_path / "v.txt").write_text("a 1\n")
    assert mix_previous(tmp_path, 2, tmp_path / "v.txt") == 1
    assert "v.txt: is a text file, which does not record its settings; mix the previous epoch with" in (
        capsys.readouterr().err
    )
    write_weights(tmp_path / "w.txt", read_weights(last))
    (tmp_path / "list").write_text("\n".join([*paths, str(tmp_path / "w.txt")]))
    command = ["mix", "--inputs", str(tmp_path / "list"), "--output", str(tmp_path / "v.h5")]
    assert main([*command, "--shards", "3", "--mixing", "mean", "--epoch", "2"]) == 1
    assert "w.txt: is a text file, which does not record its settings; train with an --output" in (
        capsys.readouterr().err
    )


def test_one_shard_under_two_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_shards(tmp_path, rows_of(FIGURE_2[12]))
    again = f"{tmp_path}/./shard0.h5"
    (tmp_path / "list").write_text("\n".join([paths[0], paths[1], again]))
    command = ["mix", "--inputs", str(tmp_path / "list"), "--output", str(tmp_path / "v.h5")]
    assert main([*command, "--shards", "3", "--mixing", "mean", "--epoch", "1"]) == 1
    assert f"{again}: contains shard 0, as does {paths[0]}" in capsys.readouterr().err
