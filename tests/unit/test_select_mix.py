"""Selection and mixing: the paper's figures and output files; test_learn_algorithms.py has its algorithms."""

from __future__ import annotations

import errno
import itertools
import os
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from tests.mixing import FIGURE_2, rows_of, run, write_shards
from tests.naive.selection import Vector, column_norm

from itersel.select.mix import average_epochs, mix
from itersel.select.selection import NORMS
from itersel.select.settings import MixSettings
from itersel.storage.hdf5 import read_header
from itersel.vectors.features import feature_key
from itersel.vectors.weights import FORMAT, make_weights, read_weights

# features by group
GROUPS = {
    "dense": ["WordPenalty", "CountEF"],
    "R": ["R:X:a:b", "R:"],
    "RBT": ["RBT:a_b"],
    "Shape": ["Shape_S010_T010"],
    "other": ["Shape_", "RBTS", "R", "é", "feature0", "feature1", "feature2"],
}
MIXED = [*itertools.chain(*GROUPS.values())]


@pytest.mark.parametrize("total", FIGURE_2)
def test_figure_2(tmp_path: Path, total: int) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[total]))
    options = ["--mixing", "selection", "--epoch", "1", "--select", "2", "--matrix", str(tmp_path / "W.h5")]
    assert run(tmp_path, *options) == 0
    with h5py.File(tmp_path / "W.h5") as stream:
        assert stream["norm"][:].sum() == total
        parts = tuple(stream["W"][name][:] for name in ("data", "indices", "indptr"))
        matrix = scipy.sparse.csc_matrix(parts, shape=(stream.attrs["shards"], stream.attrs["features"]))
    names = read_weights(tmp_path / "W.h5").name.to_list()
    dense = np.zeros((3, 5))
    dense[:, [int(name[1:]) for name in names]] = matrix.toarray()
    assert dense.tolist() == FIGURE_2[total]
    # the first two features have the largest norm in both matrices; means are over all three shards
    means = [sum(column) / 3 for column in zip(*FIGURE_2[total], strict=True)]
    assert read_weights(tmp_path / "v.h5").to_dict() == {"x0": means[0], "x1": means[1]}


@given(
    st.lists(st.dictionaries(st.sampled_from(MIXED), st.integers(-3, 3).map(float)), min_size=1, max_size=5),
    st.sampled_from(sorted(NORMS)),
    st.one_of(
        st.tuples(st.just("select"), st.integers(1, 14)),
        st.tuples(st.just("threshold"), st.floats(0, 6)),
        st.tuples(st.just("relative_threshold"), st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0])),
    ),
    st.lists(st.sampled_from([*GROUPS, *MIXED]), max_size=3),
)
def test_selection_equals_plain_python(
    tmp_path_factory: pytest.TempPathFactory,
    shards: list[Vector],
    norm: str,
    limit: tuple[str, float],
    keep: list[str],
) -> None:
    folder = tmp_path_factory.mktemp("mix")
    how = MixSettings("selection", 1, len(shards), norm=norm, keep=tuple(keep), **dict([limit]))
    mix(write_shards(folder, shards), folder / "v.h5", how, matrix=folder / "W.h5")
    columns = {name: [shard.get(name, 0.0) for shard in shards] for name in MIXED}
    norms = {name: column_norm(column, norm) for name, column in columns.items() if any(column)}
    kept = {name for one in keep for name in GROUPS.get(one, [one])} & norms.keys()
    ranked = sorted(norms.keys() - kept, key=lambda name: (-norms[name], feature_key(name)))
    kind, value = limit
    largest = max((norms[name] for name in ranked), default=0.0)
    chosen = {
        "select": ranked[:value] if kind == "select" else [],
        "threshold": [name for name in ranked if norms[name] > value],
        "relative_threshold": [name for name in ranked if norms[name] >= value * largest],
    }[kind]
    chosen += kept
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
    # Equal norms within and across ranges, and more candidates than are kept at a time.
    random = np.random.default_rng(4)
    shards = [
        {f"f{i}": float(random.integers(1, 4)) for i in random.integers(200, size=80)} for _ in range(4)
    ]
    paths = write_shards(tmp_path, shards)
    how = MixSettings("selection", 1, 4, select=9)
    mix(paths, tmp_path / "v.h5", how, matrix=tmp_path / "W.h5")
    monkeypatch.setattr("itersel.select.shard_files.RANGE_ENTRIES", 11)
    mix(paths, tmp_path / "v2.h5", how, matrix=tmp_path / "W2.h5")
    assert (tmp_path / "v.h5").read_bytes() == (tmp_path / "v2.h5").read_bytes()
    with h5py.File(tmp_path / "W.h5") as one, h5py.File(tmp_path / "W2.h5") as other:
        names: list[str] = []
        one.visit(names.append)
        for name in names:
            if isinstance(one[name], h5py.Dataset):
                assert one[name][:].tolist() == other[name][:].tolist()


def test_average_of_epochs() -> None:
    before, now = make_weights({"a": 1.0, "b": -2.0, "c": 3.0}), make_weights({"b": 4.0, "c": 1.0, "d": 6.0})
    assert average_epochs(before, now, 3).to_dict() == {"a": 2 / 3, "c": 7 / 3, "d": 2.0}


def test_attributes_record_the_provenance(tmp_path: Path) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=3)
    options = ["--mixing", "selection", "--epoch", "3", "--threshold", "5.5", "--norm", "l1"]
    assert run(tmp_path, *options) == 0
    with h5py.File(tmp_path / "v.h5") as stream:
        found = read_header(stream, FORMAT, tmp_path / "v.h5").attributes
    expected = {"mixing": "selection", "epoch": 3, "shards": 3, "norm": "l1", "threshold": 5.5}
    expected |= {"features": 2, "selected": 2, "settings": "the same", "kind": "mixed-weights"}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("mixing", [["mean"], ["selection", "--select", "3"]], ids=str)
def test_shards_without_weights(tmp_path: Path, mixing: list[str]) -> None:
    write_shards(tmp_path, [{}, {}])
    assert run(tmp_path, "--epoch", "1", "--matrix", str(tmp_path / "W.h5"), "--mixing", *mixing) == 0
    assert read_weights(tmp_path / "v.h5").to_dict() == {}


def test_same_bytes_whatever_the_time_and_the_order_of_the_list(tmp_path: Path) -> None:
    how = MixSettings("mean", 1, 3)
    for name, order in (("1", (0, 1, 2)), ("2", (2, 0, 1))):
        # 1e12 + 0.00008 + 0.00009 depends on the order
        paths = write_shards(tmp_path, [{"a": 1e12}, {"a": 0.00008}, {"a": 0.00009}])
        mix([paths[z] for z in order], tmp_path / f"v{name}.h5", how, matrix=tmp_path / f"W{name}.h5")
        (tmp_path / "shard0.h5").rename(tmp_path / f"weights{name}.h5")
        time.sleep(1.1)  # HDF5 may store times, in seconds
    for name in ("v", "W", "weights"):
        assert (tmp_path / f"{name}1.h5").read_bytes() == (tmp_path / f"{name}2.h5").read_bytes()


def test_weights_come_after_the_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If v.h5 exists, W.h5 is complete; an error in writing the matrix leaves neither."""
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    options = ["--mixing", "mean", "--epoch", "1", "--matrix", str(tmp_path / "W.h5")]
    # The error when the matrix file is closed and renamed on a full disk.
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        if Path(target).name == "W.h5":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("itersel.storage.files.os.replace", failing)
    assert run(tmp_path, *options) == 1
    assert not (tmp_path / "v.h5").exists()
    assert not (tmp_path / "W.h5").exists()
