"""Selection and mixing: the paper's figures, output files, every kind of invalid input.

test_learn_algorithms.py has the algorithms.
"""

import errno
import itertools
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import h5py
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from tests.damage import changed, put, replaced, set_attributes, unsealed
from tests.mixing import FIGURE_2, command, rows_of, run, write_shards
from tests.naive.selection import column_norm
from tests.refusals import input_error

from itersel.config.learning_steps import MixSettings
from itersel.config.mixing import MIXINGS, EpochsMean, Mean, Selection
from itersel.config.numbered import NORMS
from itersel.keys import key
from itersel.report.selection import describe_selection
from itersel.select.mix import mix
from itersel.storage.hdf5 import header_of, read_arrays, write_attribute
from itersel.storage.strings import string_table
from itersel.vectors.features import feature_keys
from itersel.vectors.weights import (
    FORMAT,
    make_weights,
    nonzero,
    read_itersel_weights,
    weighted_sum,
    write_itersel_weights,
)

# features by group
GROUPS = {
    "dense": ["WordPenalty", "CountEF"],
    "R": ["R:X:a:b", "R:"],
    "RBT": ["RBT:a_b"],
    "Shape": ["Shape_S010_T010"],
    "Ngram1": ["Ngram1:a"],
    "other": ["Shape_", "RBTS", "R", "é", "feature0", "feature1", "feature2"],
}
MIXED = [*itertools.chain(*GROUPS.values())]
change_attribute = changed(lambda stream: write_attribute(stream.attrs, "settings", "others"), unsealed)
PATH = {"name": "path-following", "first_threshold": 1}


@pytest.mark.parametrize("total", FIGURE_2)
def test_figure_2(tmp_path: Path, total: int) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[total]))
    assert run(tmp_path, "--matrix", str(tmp_path / "W.h5"), name="selection", select=2) == 0
    with h5py.File(tmp_path / "W.h5") as stream:
        assert stream["norm"][:].sum() == total
        parts = tuple(stream["W"][name][:] for name in ("data", "indices", "indptr"))
        matrix = scipy.sparse.csc_matrix(parts, shape=(stream.attrs["shards"], stream.attrs["features"]))
    names = read_itersel_weights(tmp_path / "W.h5").name.to_list()
    dense = np.zeros((3, 5))
    dense[:, [int(name[1:]) for name in names]] = matrix.toarray()
    assert dense.tolist() == FIGURE_2[total]
    # the first two features have the largest norm in both matrices; means are over all three shards
    means = [sum(column) / 3 for column in zip(*FIGURE_2[total], strict=True)]
    assert read_itersel_weights(tmp_path / "v.h5").to_dict() == {"x0": means[0], "x1": means[1]}


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
def test_selection_equals_plain_python(tmp_path_factory, shards, norm, limit, keep):
    folder = tmp_path_factory.mktemp("mix")
    how = MixSettings(Selection(norm=norm, keep=tuple(keep), **dict([limit])), len(shards))
    mix(write_shards(folder, shards), folder / "v.h5", how, matrix=folder / "W.h5")
    columns = {name: [shard.get(name, 0.0) for shard in shards] for name in MIXED}
    norms = {name: column_norm(column, norm) for name, column in columns.items() if any(column)}
    kept = {name for one in keep for name in GROUPS.get(one, [one])} & norms.keys()
    key = {name: feature_keys(string_table([name]))[0] for name in norms}
    ranked = sorted(norms.keys() - kept, key=lambda name: (-norms[name], key[name]))
    kind, value = limit
    largest = max((norms[name] for name in ranked), default=0.0)
    chosen = {
        "select": ranked[:value] if kind == "select" else [],
        "threshold": [name for name in ranked if norms[name] > value],
        "relative_threshold": [name for name in ranked if norms[name] >= value * largest],
    }[kind]
    chosen += kept
    means = {name: sum(columns[name]) / len(shards) for name in chosen}
    assert read_itersel_weights(folder / "v.h5").to_dict() == {
        name: mean for name, mean in means.items() if mean
    }
    with h5py.File(folder / "W.h5") as stream:
        names = read_itersel_weights(folder / "W.h5").name.to_list()
        assert names == sorted(norms, key=key.get)
        assert stream["norm"][:].tolist() == [norms[name] for name in names]
        assert stream["selected"][:].tolist() == [name in chosen for name in names]
        assert stream["v"][:].tolist() == [means.get(name, 0.0) for name in names]
        assert stream.attrs["selected"] == len(chosen)


def test_number_is_the_same_in_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Equal norms within and across ranges, and more candidates than are kept at a time.
    random = np.random.default_rng(4)
    shards = [{f"f{i}": float(random.integers(1, 4)) for i in random.choice(200, 80)} for _ in range(4)]
    paths = write_shards(tmp_path, shards)
    how = MixSettings(Selection(select=9), 4)
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


def test_weighted_sum() -> None:
    before, now = make_weights({"a": 1.0, "b": -2.0, "c": 3.0}), make_weights({"b": 4.0, "c": 1.0, "d": 6.0})
    assert nonzero(weighted_sum((before, now), (2, 1))).to_dict() == {"a": 2.0, "c": 7.0, "d": 6.0}


def test_attributes_record_the_provenance(tmp_path: Path) -> None:
    write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=3)
    assert run(tmp_path, "--epoch", "3", name="selection", threshold=5.5, norm="l1") == 0
    found = read_arrays(tmp_path / "v.h5", FORMAT)[1]
    limits = {"select": None, "threshold": 5.5, "relative_threshold": None}
    expected = {"name": "selection", **limits, "norm": "l1", "keep": []}
    assert json.loads(found["mixing"]) == expected
    expected = {
        "epoch": 3,
        "shards": 3,
        "features": 2,
        "selected": 2,
        "settings": "the same",
        "kind": "mixed-weights",
    }
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("mixing", [{"name": "mean"}, {"name": "selection", "select": 3}], ids=str)
def test_shards_without_weights(tmp_path: Path, mixing: dict[str, Any]) -> None:
    write_shards(tmp_path, [{}, {}])
    assert run(tmp_path, "--epoch", "1", "--matrix", str(tmp_path / "W.h5"), **mixing) == 0
    assert read_itersel_weights(tmp_path / "v.h5").to_dict() == {}


def fail_if_timed(name: str, item: h5py.Dataset | h5py.Group) -> None:
    """HDF5 can store when an array was made."""
    assert isinstance(item, h5py.Group) or not item.id.get_create_plist().get_obj_track_times(), name


def test_same_bytes_whatever_the_time_and_the_order_of_the_list(tmp_path: Path) -> None:
    how = MixSettings(Mean(), 3)
    for name, order in (("1", (0, 1, 2)), ("2", (2, 0, 1))):
        # 1e12 + 0.00008 + 0.00009 depends on the order
        paths = write_shards(tmp_path, [{"a": 1e12}, {"a": 0.00008}, {"a": 0.00009}])
        mix([paths[z] for z in order], tmp_path / f"v{name}.h5", how, matrix=tmp_path / f"W{name}.h5")
        (tmp_path / "shard0.h5").rename(tmp_path / f"weights{name}.h5")
    for name in ("v", "W", "weights"):
        assert (tmp_path / f"{name}1.h5").read_bytes() == (tmp_path / f"{name}2.h5").read_bytes()
        with h5py.File(tmp_path / f"{name}1.h5") as stream:
            stream.visititems(fail_if_timed)


def test_weights_come_after_the_matrix(tmp_path, refused, monkeypatch):
    """If v.h5 exists, W.h5 is complete; an error in writing the matrix leaves neither."""
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    # The error when the matrix file is closed and renamed on a full disk.
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        if Path(target).name == "W.h5":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("itersel.storage.files.os.replace", failing)
    matrix = ["--matrix", str(tmp_path / "W.h5")]
    refused(command(tmp_path, *matrix, name="mean"), "W.h5")


@changed
def drop_attributes(stream: h5py.File) -> None:
    for name in set(stream.attrs) - {"format", "digests"}:
        del stream.attrs[name]


def link_out(path: Path) -> None:
    """Store an array in a pipe without a writer, which blocks whoever opens it."""
    os.mkfifo(path.with_name("pipe"))
    with h5py.File(path, "r+") as stream:
        del stream["v"]
        stream["v"] = h5py.ExternalLink(str(path.with_name("pipe")), "v")


BROKEN = [
    (link_out, "'v'"),
    (put("features/name_offset", 1, 0), "'features/name_offset'"),
    (put("v", 0, 1e200), "1e+12"),
    (put("v", 0, math.nan), ()),
    (lambda path: os.truncate(path, path.stat().st_size - 100), ()),
    (replaced("features/key", lambda keys: keys[::-1]), ()),
    (replaced("v", lambda values: values.astype(np.float32)), ()),
    (replaced("v", lambda values: values[1:]), ()),
    (put("features/name_offset", -1, 10**6), ()),
    (put("features/name", 0, ord("y")), ()),
    (put("features/name", 0, 0xFF), ("'features/name'", "UTF-8")),
    (put("v", 0, 9.0, unsealed), "'v'"),
    (put("features/name", -1, 9, unsealed), "'features/name'"),
    (change_attribute, ()),
    (changed(lambda stream: stream.attrs.pop("digests"), unsealed), ()),
    (set_attributes(settings="others"), ()),
    (lambda path: path.write_text("feature\t1\n"), ()),
    (Path.unlink, ()),
    (set_attributes(epoch=math.inf), ()),
    (set_attributes(epoch=2), (2, 1)),
    (set_attributes(shard=0), 0),
    (set_attributes(shard=3), (3, 0, 2)),
    (set_attributes(shard=-1), -1),
    (set_attributes(shard="x"), ()),
    (set_attributes(kind="mixed-weights"), ("'mixed-weights'", "'shard-weights'")),
    (drop_attributes, "'shard-weights'"),
]


@pytest.mark.parametrize(("damage", "facts"), BROKEN)
def test_bad_shard(tmp_path, refused, damage, facts):
    paths = write_shards(tmp_path, rows_of([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
    damage(Path(paths[1]))
    matrix = ["--matrix", str(tmp_path / "W.h5")]
    refused(command(tmp_path, *matrix, paths=paths, name="mean"), paths[1], facts)


def test_identically_damaged_shards(tmp_path, refused):
    """Names of the same length, far past the end of the file, are not compared."""
    for path in write_shards(tmp_path, rows_of([[1, 2, 3], [4, 5, 6]])):
        put("features/name_offset", 1, 10**12)(Path(path))
    refused(command(tmp_path, name="mean"), "'features/name_offset'")


def test_lists_of_shards(tmp_path, refused):
    zero, one, _ = write_shards(tmp_path, rows_of(FIGURE_2[12]))
    again, text = f"{tmp_path}/./shard0.h5", str(tmp_path / "w.txt")
    write_itersel_weights(text, read_itersel_weights(zero))
    for paths, shards, facts in (
        ([zero, one, zero], 4, (3, 4)),
        ([zero, one, zero], 3, (f"{zero}:", 0, zero)),
        ([zero, one, again], 3, (f"{again}:", 0, zero)),
        ([zero, "", one], 3, f"{tmp_path / 'list'}:2:"),
        ([zero, one, text], 3, (f"{text}:", "--output")),
    ):
        refused(command(tmp_path, paths=paths, shards=shards, name="mean"), facts)


@pytest.mark.parametrize(
    ("mixing", "options", "facts"),
    [
        ({"name": "selection", "epsilon": 1}, "", "mixing.epsilon"),
        ({"select": 3, "threshold": 1}, "", ("mixing.threshold", "'select'")),
        ({"name": "mean", "select": 3}, "", "mixing.select"),
        ({"name": "mean", "keep": ["dense"]}, "", "mixing.keep"),
        ({"name": "none"}, "", ("'shards'", 3)),
        ({"name": "mean-of-epochs"}, "--epoch 2", "--previous"),
        ({"name": "mean-of-epochs"}, "--epoch 1 --previous v.h5", "--previous"),
        ({"name": "mean"}, "--epoch 2 --previous v.h5", "--previous"),
        (PATH, "", "mixing.epsilon"),
        ({**PATH, "epsilon": 1, "select": 3}, "", "mixing.select"),
        ({**PATH, "epsilon": 1, "minimum_threshold": 2}, "", ("mixing.minimum_threshold", "2.0")),
        ({"name": "mean"}, "--matrix W.txt", ("W.txt", "HDF5")),
        ({"name": "mean"}, "--matrix ./v.h5", "v.h5"),
    ],
)
def test_conflicting_settings(tmp_path, refused, monkeypatch, mixing, options, facts):
    monkeypatch.chdir(tmp_path)
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    refused(command(tmp_path, *options.split(), **mixing), facts)


PREVIOUS = [
    (set_attributes(epoch=5), ("mean-of-epochs", 5, 1)),
    (set_attributes(mixing='{"name": "mean"}'), "mean-of-epochs"),
    (set_attributes(mixing="mean"), ()),
    (set_attributes(settings="others"), ()),
    (set_attributes(shards=4), (4, 3)),
    (set_attributes(kind="shard-weights"), "'mixed-weights'"),
    (set_attributes(kind="tuned-weights"), "'mixed-weights'"),
    (set_attributes(epoch=1.0), "epoch"),
    (drop_attributes, "'mixed-weights'"),
    (replaced("v", lambda values: values[1:]), ("'v'", 1, 2)),
    (put("features/name", 0, ord("y")), ()),
    (Path.unlink, ()),
    (lambda path: path.rename(path.with_name("v.txt")), ()),
]


@pytest.mark.parametrize(("damage", "facts"), PREVIOUS)
def test_bad_previous(tmp_path, refused, damage, facts):
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--epoch", "1", name="mean-of-epochs") == 0
    previous = (tmp_path / "v.h5").rename(tmp_path / "previous.h5")
    write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=2)
    damage(previous)
    if (tmp_path / "v.txt").exists():
        previous = tmp_path / "v.txt"
    options = ["--epoch", "2", "--previous", str(previous)]
    refused(command(tmp_path, *options, name="mean-of-epochs"), f"{previous}:", facts)


def test_previous_weights_are_opened_once(tmp_path, monkeypatch):
    write_shards(tmp_path, rows_of(FIGURE_2[12]))
    assert run(tmp_path, "--epoch", "1", name="mean-of-epochs") == 0
    previous = (tmp_path / "v.h5").rename(tmp_path / "previous.h5")
    write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch=2)
    opening = mock.Mock(side_effect=h5py.File)
    monkeypatch.setattr(h5py, "File", opening)
    assert run(tmp_path, "--epoch", "2", "--previous", str(previous), name="mean-of-epochs") == 0
    assert sum(call.args[0] == str(previous) for call in opening.mock_calls) == 1


@dataclass(frozen=True)
class _Another(EpochsMean):
    """A mixing with keys that no built-in mixing has."""

    strength: float = key("Strength.", 1.5)
    names: tuple[str, ...] = key("Names.", ())
    level: int = key("Level.", 1, changes_no_result=True)


def test_new_keys_are_recorded_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MIXINGS, "another", _Another)

    def mixed(epoch: int, given: EpochsMean) -> Path:
        shards = write_shards(tmp_path, rows_of(FIGURE_2[12]), epoch)
        output, matrix = (tmp_path / f"{name}{epoch}.h5" for name in "vW")
        previous = tmp_path / f"v{epoch - 1}.h5" if epoch > 1 else None
        mix(shards, output, MixSettings(given, 3, epoch), previous, matrix)
        return matrix

    first = mixed(1, _Another(names=("a", "b"), level=2))
    for name in ("v1.h5", "W1.h5"):
        found = header_of(tmp_path / name, FORMAT).attributes
        assert json.loads(found["mixing"]) == {"name": "another", "strength": 1.5, "names": ["a", "b"]}
    for other, differing in ((_Another(2.5, ("a", "b")), "strength"), (_Another(), "names")):
        with input_error(str(tmp_path / "v1.h5"), differing):
            mixed(2, other)
    second = mixed(2, _Another(names=("a", "b")))
    recorded = json.loads(header_of(second, FORMAT).attributes["mixing"])
    rows = describe_selection([first, second])
    # as if the package with the mixing were not installed
    monkeypatch.delitem(MIXINGS, "another")
    assert describe_selection([first, second]) == rows
    set_attributes(mixing=json.dumps(recorded | {"strength": 2.5}))(second)
    with input_error(str(second), "strength"):
        describe_selection([first, second])


# the last is of an earlier version
@pytest.mark.parametrize("mixing", [None, 3, "[]", "{}", '{"name": 1}', '"mean"', "mean"])
def test_files_that_do_not_record_their_mixing(tmp_path: Path, mixing: object) -> None:
    paths = write_shards(tmp_path, rows_of(FIGURE_2[12]), 1)
    previous, matrix = tmp_path / "v1.h5", tmp_path / "W1.h5"
    mix(paths, previous, MixSettings(EpochsMean(), 3, 1), matrix=matrix)
    drop = changed(lambda stream: stream.attrs.pop("mixing"))
    for path in (previous, matrix):
        (drop if mixing is None else set_attributes(mixing=mixing))(path)

    with input_error(str(matrix)):
        describe_selection([matrix])
    paths = write_shards(tmp_path, rows_of(FIGURE_2[12]), 2)
    with input_error(str(previous)):
        mix(paths, tmp_path / "v2.h5", MixSettings(EpochsMean(), 3, 2), previous)
