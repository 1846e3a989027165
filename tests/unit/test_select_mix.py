"""Selection and mixing: the figures of the paper, its four algorithms, and every way to be refused."""

from __future__ import annotations

import errno
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import oracle, selection
from tests.naive.selection import Vector, column_norm

from itersel.cli.main import main
from itersel.features import feature_key
from itersel.learn.train import TrainSettings, train_shard
from itersel.select.mix import MixSettings, average_epochs, mix
from itersel.select.selection import NORMS
from itersel.weights import make_weights, read_weights, write_weights

NAMES = [f"feature{i}" for i in range(12)]
# Simianer, Riezler & Dyer 2012, figure 2: three shards, five features
FIGURE_2 = {
    18: [[6, 4, 0, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 2, 3]],
    12: [[6, 4, 0, 0, 0], [3, 0, 0, 0, 0], [2, 3, 0, 0, 0]],
}


def write_shards(folder: Path, shards: list[Vector], epoch: int = 1) -> list[str]:
    paths = []
    for z, weights in enumerate(shards):
        path = folder / f"shard{z}.h5"
        nonzero = {name: value for name, value in weights.items() if value}
        write_weights(path, make_weights(nonzero), attributes_of(z, epoch))
        paths.append(str(path))
    return paths


def attributes_of(shard: int, epoch: int = 1) -> dict[str, str | int]:
    return {"kind": "shard-weights", "settings": "the same", "epoch": epoch, "shard": shard}


def rows_of(matrix: list[list[int]]) -> list[Vector]:
    return [{f"x{d}": float(value) for d, value in enumerate(row)} for row in matrix]


def run(folder: Path, *options: str) -> int:
    """Run the step on the shards of a folder."""
    paths = sorted(str(path) for path in folder.glob("shard*.h5"))
    (folder / "list").write_text("".join(path + "\n" for path in paths))
    files = ["--inputs", str(folder / "list"), "--output", str(folder / "v.h5")]
    return main(["mix", *files, "--shards", str(len(paths)), *options])


def read_matrix(path: Path) -> tuple[list[str], scipy.sparse.csc_matrix]:
    with h5py.File(path) as stream:
        parts = tuple(stream["W"][name][:] for name in ("data", "indices", "indptr"))
        shape = (stream.attrs["shards"], stream.attrs["features"])
        return read_weights(path).name.to_list(), scipy.sparse.csc_matrix(parts, shape=shape)


@pytest.mark.parametrize("total", FIGURE_2)
def test_figure_2(tmp_path: Path, total: int) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[total]))
    options = ["--algorithm", "itersel", "--epoch", "1", "--select", "2", "--matrix", str(tmp_path / "W.h5")]
    assert run(tmp_path, *options) == 0
    with h5py.File(tmp_path / "W.h5") as stream:
        assert stream["norm"][:].sum() == total
    names, matrix = read_matrix(tmp_path / "W.h5")
    dense = np.zeros((3, 5))
    dense[:, [int(name[1:]) for name in names]] = matrix.toarray()
    assert dense.tolist() == FIGURE_2[total]
    # the two features of largest norm are the first two in both matrices; means are over all three shards
    means = [sum(column) / 3 for column in zip(*FIGURE_2[total], strict=True)]
    assert read_weights(tmp_path / "v.h5").to_dict() == {"x0": means[0], "x1": means[1]}


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), st.integers(-3, 3).map(float)), min_size=1, max_size=5),
    st.sampled_from(sorted(NORMS)),
    st.one_of(st.integers(1, 14), st.floats(0, 6)),
)
def test_selection_equals_plain_python(
    tmp_path_factory: pytest.TempPathFactory, shards: list[Vector], norm: str, limit: float
) -> None:
    folder = tmp_path_factory.mktemp("mix")
    by_number = isinstance(limit, int)
    how = MixSettings(
        "itersel", 1, len(shards), limit if by_number else None, None if by_number else limit, norm
    )
    mix(write_shards(folder, shards), folder / "v.h5", how, matrix=folder / "W.h5")
    columns = {name: [shard.get(name, 0.0) for shard in shards] for name in NAMES}
    norms = {name: column_norm(column, norm) for name, column in columns.items() if any(column)}
    ranked = sorted(norms, key=lambda name: (-norms[name], feature_key(name)))
    chosen = ranked[:limit] if by_number else [name for name in ranked if norms[name] > limit]
    means = {name: sum(columns[name]) / len(shards) for name in chosen}
    assert read_weights(folder / "v.h5").to_dict() == {name: mean for name, mean in means.items() if mean}
    with h5py.File(folder / "W.h5") as stream:
        names = read_weights(folder / "W.h5").name.to_list()
        assert names == sorted(norms, key=feature_key)
        assert stream["norm"][:].tolist() == [norms[name] for name in names]
        assert stream["selected"][:].tolist() == [name in chosen for name in names]
        assert stream["v"][:].tolist() == [means.get(name, 0.0) for name in names]
        assert stream.attrs["selected"] == len(chosen)


def test_number_is_the_same_in_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Ties of norm within and between ranges, and more candidates than are kept at a time.
    random = np.random.default_rng(4)
    shards = [
        {f"f{i}": float(random.integers(1, 4)) for i in random.integers(200, size=80)} for _ in range(4)
    ]
    paths = write_shards(tmp_path, shards)
    how = MixSettings("itersel", 1, 4, select=9)
    mix(paths, tmp_path / "v.h5", how, matrix=tmp_path / "W.h5")
    monkeypatch.setattr("itersel.select.shard_files.ShardReader.__init__.__defaults__", (11,))
    mix(paths, tmp_path / "v2.h5", how, matrix=tmp_path / "W2.h5")
    assert (tmp_path / "v.h5").read_bytes() == (tmp_path / "v2.h5").read_bytes()
    with h5py.File(tmp_path / "W.h5") as one, h5py.File(tmp_path / "W2.h5") as other:
        names: list[str] = []
        one.visit(names.append)
        for name in names:
            if isinstance(one[name], h5py.Dataset):
                assert one[name][:].tolist() == other[name][:].tolist()


def chain(folder: Path, corpus: list[list[oracle.Sentence]], epochs: int, *algorithm: str) -> Vector:
    """Train and mix epoch by epoch, as the pipeline does; return the last v."""
    how = TrainSettings(learning_rate=2.0**-6)
    shards = [oracle.make_shard(sentences, NAMES) for sentences in corpus]
    own = algorithm[0] in ("sgd", "mixsgd")
    for epoch in range(1, epochs + 1):
        for z, (sentences, shard) in enumerate(zip(corpus, shards, strict=True)):
            begin = folder / (f"shard{z}.h5" if own else "v.h5")
            start = None if epoch == 1 else read_weights(begin)
            result = train_shard(shard, oracle.OracleDecoder(sentences, shard), start, how)
            write_weights(folder / f"shard{z}.h5", result.weights, attributes_of(z, epoch))
        previous = ["--previous", str(folder / "v.h5")] if own and epoch > 1 else []
        assert run(folder, "--epoch", str(epoch), "--algorithm", *algorithm, *previous) == 0
    return read_weights(folder / "v.h5").to_dict()


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_algorithms_of_the_paper(tmp_path: Path, seed: int, exact: bool) -> None:
    random = np.random.default_rng(seed)
    corpus = [[oracle.random_sentence(random, NAMES, exact=exact) for _ in range(6)] for _ in range(4)]
    epochs, number = 4, 5

    def train(sentences: list[oracle.Sentence], weights: Vector) -> Vector:
        return oracle.train(sentences, weights, TrainSettings(learning_rate=2.0**-6))

    expected = {
        "sgd": selection.sgd(corpus[0], epochs, train),
        "mixsgd": selection.mix_sgd(corpus, epochs, train),
        "itermixsgd": selection.iter_mix_sgd(corpus, epochs, train),
        "itersel": selection.iter_sel_sgd(corpus, epochs, train, number),
    }
    for algorithm, weights in expected.items():
        folder = tmp_path / algorithm
        folder.mkdir()
        options = ["--select", str(number)] if algorithm == "itersel" else []
        part = corpus[:1] if algorithm == "sgd" else corpus
        found = chain(folder, part, epochs, algorithm, *options)
        assert len(found) > 3
        for name in found.keys() | weights.keys():
            assert found.get(name, 0.0) == pytest.approx(weights.get(name, 0.0), abs=1e-12)
    assert len(expected["itersel"]) == number < len(expected["itermixsgd"])


def test_average_of_epochs() -> None:
    before, now = make_weights({"a": 1.0, "b": -2.0, "c": 3.0}), make_weights({"b": 4.0, "c": 1.0, "d": 6.0})
    assert average_epochs(before, now, 3).to_dict() == {"a": 2 / 3, "c": 7 / 3, "d": 2.0}


def test_same_input_same_bytes(tmp_path: Path) -> None:
    shards = rows_of(FIGURE_2[18])
    how = MixSettings("itersel", 1, 3, select=4)
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        mix(write_shards(folder, shards), folder / "v.h5", how, matrix=folder / "W.h5")
        time.sleep(1.1)  # HDF5 may store times, in seconds
    for name in ("shard0.h5", "v.h5", "W.h5"):
        assert (tmp_path / "0" / name).read_bytes() == (tmp_path / "1" / name).read_bytes()


def test_attributes_say_what_made_it(tmp_path: Path) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=3)
    options = ["--algorithm", "itersel", "--epoch", "3", "--threshold", "5.5", "--norm", "l1"]
    assert run(tmp_path, *options) == 0
    with h5py.File(tmp_path / "v.h5") as stream:
        found = dict(stream.attrs)
    expected = {"algorithm": "itersel", "epoch": 3, "shards": 3, "norm": "l1", "threshold": 5.5}
    expected |= {"features": 2, "selected": 2, "settings": "the same", "kind": "mixed-weights"}
    assert {name: found[name] for name in expected} == expected


def test_shards_without_weights(tmp_path: Path) -> None:
    write_shards(tmp_path, [{}, {}])
    options = ["--algorithm", "itersel", "--epoch", "1", "--select", "3", "--matrix", str(tmp_path / "W.h5")]
    assert run(tmp_path, *options) == 0
    assert read_weights(tmp_path / "v.h5").to_dict() == {}
    assert run(tmp_path, "--algorithm", "itermixsgd", "--epoch", "1") == 0


def break_nan(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        stream["v"][0] = math.nan


def break_end(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 100)


def break_order(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        stream["features/key"][...] = stream["features/key"][:][::-1]


def break_type(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        values = stream["v"][:].astype(np.float32)
        del stream["v"]
        stream["v"] = values


def break_length(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        values = stream["v"][1:]
        del stream["v"]
        stream["v"] = values


def break_names(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        stream["features/name_offset"][-1] = 10**6


def break_name(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        stream["features/name"][0] = ord("y")


def break_settings(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        stream.attrs["settings"] = "others"


def set_attribute(name: str, value: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with h5py.File(path, "r+") as stream:
            stream.attrs[name] = value

    change.__name__ = f"{name} {value}"
    return change


def drop_attributes(path: Path) -> None:
    with h5py.File(path, "r+") as stream:
        for name in list(stream.attrs):
            del stream.attrs[name]


def break_all(path: Path) -> None:
    path.write_text("feature\t1\n")


BROKEN = {
    break_nan: "not finite; train the shard anew",
    break_end: "make it anew",
    break_order: "make it anew",
    break_type: "make it anew",
    break_length: "make it anew",
    break_names: "make it anew",
    break_name: "has the same 64-bit key as",
    break_settings: "was trained with other settings than",
    break_all: "make it anew",
    Path.unlink: "no such file",
    set_attribute("epoch", 2): "is of epoch 2, epoch 1 was expected",
    set_attribute("shard", 0): "holds shard 0, as",
    set_attribute("shard", 3): "is of shard 3, of 3 shards they are numbered 0 to 2",
    set_attribute("shard", -1): "is of shard -1",
    set_attribute("shard", "x"): "make it anew",
    set_attribute("kind", "mixed-weights"): "holds 'mixed-weights', 'shard-weights' was expected",
    drop_attributes: "'shard-weights' was expected",
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
        "--algorithm",
        "itermixsgd",
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


def test_fewer_shards_are_never_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--algorithm", "itermixsgd", "--epoch", "1", "--shards", "4") == 1
    assert "3 weights files for 4 shards" in capsys.readouterr().err
    assert not (tmp_path / "v.h5").exists()
    (tmp_path / "list").write_text("\n".join([paths[0], paths[1], paths[0]]))
    command = ["mix", "--inputs", str(tmp_path / "list"), "--output", str(tmp_path / "v.h5")]
    command += ["--shards", "3", "--algorithm", "itermixsgd", "--epoch", "1"]
    assert main(command) == 1
    assert f"{paths[0]}: holds shard 0, as {paths[0]} does; name every shard once" in capsys.readouterr().err
    (tmp_path / "list").write_text("\n".join([paths[0], "", paths[1]]))
    assert main(command) == 1
    assert f"{tmp_path / 'list'}:2: empty line" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["itersel", "--epoch", "1"], "needs --select or --threshold"),
        (["itermixsgd", "--epoch", "1", "--select", "3"], "selects nothing"),
        (["sgd", "--epoch", "1"], "has one shard, not 3"),
        (["mixsgd", "--epoch", "2"], "--previous"),
        (["mixsgd", "--epoch", "1", "--previous", "v.h5"], "drop --previous"),
        (["itermixsgd", "--epoch", "2", "--previous", "v.h5"], "drop --previous"),
    ],
)
def test_options_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--algorithm", *options) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "v.h5").exists()


def mix_previous(folder: Path, epoch: int, previous: Path) -> int:
    return run(folder, "--algorithm", "mixsgd", "--epoch", str(epoch), "--previous", str(previous))


PREVIOUS = {
    set_attribute("epoch", 5): "holds algorithm mixsgd, epoch 5; mixsgd, epoch 1 was expected",
    set_attribute("algorithm", "sgd"): "holds algorithm sgd, epoch 1; mixsgd, epoch 1 was expected",
    set_attribute("settings", "others"): "was trained with other settings than the shards",
    set_attribute("shards", 4): "was mixed of 4 shards, not of 3",
    set_attribute("kind", "shard-weights"): "holds no 'mixed-weights'",
    drop_attributes: "holds no 'mixed-weights'",
    break_length: "make it anew",
    Path.unlink: "no such file",
}


@pytest.mark.parametrize("damage", PREVIOUS, ids=lambda damage: damage.__name__)
def test_bad_previous(tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: object) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--algorithm", "mixsgd", "--epoch", "1") == 0
    (tmp_path / "v.h5").rename(tmp_path / "previous.h5")
    write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=2)
    damage(tmp_path / "previous.h5")
    assert mix_previous(tmp_path, 2, tmp_path / "previous.h5") == 1
    message = capsys.readouterr().err
    assert message.startswith(f"itersel mix: {tmp_path / 'previous.h5'}: ")
    assert message.count("\n") == 1
    assert PREVIOUS[damage] in message
    assert not (tmp_path / "v.h5").exists()


def test_text_says_too_little(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [*paths, last] = write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=2)
    (tmp_path / "v.txt").write_text("a 1\n")
    assert mix_previous(tmp_path, 2, tmp_path / "v.txt") == 1
    assert "v.txt: is text, which does not say what made it; mix the epoch before with an --output" in (
        capsys.readouterr().err
    )
    write_weights(tmp_path / "w.txt", read_weights(last))
    (tmp_path / "list").write_text("\n".join([*paths, str(tmp_path / "w.txt")]))
    command = ["mix", "--inputs", str(tmp_path / "list"), "--output", str(tmp_path / "v.h5")]
    assert main([*command, "--shards", "3", "--algorithm", "itermixsgd", "--epoch", "2"]) == 1
    assert "w.txt: is text, which does not say what made it; train with an --output" in (
        capsys.readouterr().err
    )


def test_one_shard_under_two_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = write_shards(tmp_path, rows_of(FIGURE_2[12]))
    again = f"{tmp_path}/./shard0.h5"
    (tmp_path / "list").write_text("\n".join([paths[0], paths[1], again]))
    command = ["mix", "--inputs", str(tmp_path / "list"), "--output", str(tmp_path / "v.h5")]
    assert main([*command, "--shards", "3", "--algorithm", "itermixsgd", "--epoch", "1"]) == 1
    assert f"{again}: holds shard 0, as {paths[0]} does" in capsys.readouterr().err


def test_the_order_of_the_list_does_not_matter(tmp_path: Path) -> None:
    # 1e17 + 0.1 + 0.2 depends on the order
    paths = write_shards(tmp_path, [{"a": 1e17}, {"a": 8.0}, {"a": 9.0}])
    how = MixSettings("itermixsgd", 1, 3)
    for name, order in (("1", (0, 1, 2)), ("2", (2, 0, 1))):
        mix([paths[z] for z in order], tmp_path / f"v{name}.h5", how, matrix=tmp_path / f"W{name}.h5")
    for name in ("v", "W"):
        assert (tmp_path / f"{name}1.h5").read_bytes() == (tmp_path / f"{name}2.h5").read_bytes()


@pytest.mark.parametrize(
    ("matrix", "message"), [("W.txt", "ends in .h5"), ("v.h5", "is the name of both"), ("./v.h5", "of both")]
)
def test_names_of_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], matrix: str, message: str
) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    options = ["--algorithm", "itermixsgd", "--epoch", "1", "--matrix", f"{tmp_path}/{matrix}"]
    assert run(tmp_path, *options) == 1
    assert message in capsys.readouterr().err


def test_weights_come_after_the_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where v.h5 is, W.h5 is whole; an error of the matrix leaves neither."""
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    options = ["--algorithm", "itermixsgd", "--epoch", "1", "--matrix", str(tmp_path / "W.h5")]
    # What happens when the file of the matrix is closed and renamed: the folder has no room for the name.
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        if Path(target).name == "W.h5":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("itersel.files.os.replace", failing)
    assert run(tmp_path, *options) == 1
    assert not (tmp_path / "v.h5").exists()
    assert not (tmp_path / "W.h5").exists()
