"""The table of selected features, compared with counts from the weights of the shards as dictionaries."""

import csv
import json
import statistics
from pathlib import Path

import pytest
from tests.mixing import write_shards
from tests.naive.selection import Vector, column_norm

from itersel.cli.main import main
from itersel.config.learning_steps import MixSettings
from itersel.config.mixing import PathFollowing, Selection
from itersel.select.mix import mix
from itersel.vectors.weights import make_weights, write_itersel_weights

GROUP = {"WordPenalty": "dense", "R:X:a:b": "R", "R:X:c:d": "R", "RBT:a_b": "RBT", "RBS:a_X": "RBS"}
GROUP |= {"Shape_S010_T010": "Shape", "own": "other"}
EPOCHS = [
    # the weights of three shards after each epoch
    [
        {"WordPenalty": -3.0, "R:X:a:b": 1.0, "own": 0.5},
        {"WordPenalty": -2.0, "R:X:c:d": 2.0, "Shape_S010_T010": 0.25, "RBS:a_X": 0.125},
        {"WordPenalty": -1.0, "RBT:a_b": -4.0, "R:X:a:b": -1.0},
    ],
    [{"WordPenalty": -3.0, "own": 5.0}, {"WordPenalty": -2.0, "RBT:a_b": 1.0}, {"R:X:c:d": 2.0}],
]
SELECT = 3


def write_epochs(folder: Path, epochs: list[list[Vector]]) -> list[str]:
    paths = []
    for epoch, shards in enumerate(epochs, 1):
        own = folder / f"epoch-{epoch}"
        own.mkdir(parents=True)
        settings = MixSettings(Selection(select=SELECT), len(shards), epoch)
        mix(write_shards(own, shards, epoch), own / "v.h5", settings, matrix=own / "matrix.h5")
        paths.append(str(own / "matrix.h5"))
    return paths


def expected_rows(epochs: list[list[Vector]]) -> list[dict]:
    rows, before = [], set()
    for epoch, shards in enumerate(epochs, 1):
        columns = {name: [shard.get(name, 0.0) for shard in shards] for name in GROUP}
        norms = {name: column_norm(column, "l2") for name, column in columns.items() if any(column)}
        chosen = set(sorted(norms, key=norms.get)[-SELECT:])
        for group in ("all", "dense", "R", "RBS", "RBT", "Shape", "other"):
            members = [name for name in norms if group in ("all", GROUP[name])]
            if not members:
                continue
            own = [name for name in members if name in chosen]
            active = [sum(map(bool, columns[name])) for name in own]
            found = [norms[name] for name in own] or [None]
            median = statistics.median(found) if own else None
            row = {"epoch": epoch, "group": group, "features": len(members), "selected": len(own)}
            row["selected_before"] = len(before.intersection(own))
            row["selected_by_number_of_shards"] = [active.count(number) for number in (1, 2, 3)]
            row["norm"] = {"smallest": min(found), "median": median, "largest": max(found)}
            rows.append(row)
        before = chosen
    return rows


@pytest.fixture
def report(tmp_path, capsys):
    """Return a function that makes the table of some files: as JSON, rows of TSV, and text, or an error."""

    def run(*paths):
        outputs = {suffix: tmp_path / f"selection.{suffix}" for suffix in ("txt", "tsv", "json")}
        status = main(["step", "selection", "--matrix", *paths, "--output", *map(str, outputs.values())])
        assert {path.exists() for path in outputs.values()} == {status == 0}
        if status:
            return capsys.readouterr().err
        with outputs["tsv"].open() as stream:
            table = list(csv.DictReader(stream, delimiter="\t"))
        return json.loads(outputs["json"].read_text()), table, outputs["txt"].read_text()

    return run


def test_all_epochs_and_groups(tmp_path, report):
    rows, table, text = report(*write_epochs(tmp_path, EPOCHS))
    expected = expected_rows(EPOCHS)
    assert len(expected) == 7 + 5
    for found, wanted in zip(rows, expected, strict=True):
        assert found.pop("norm") == pytest.approx(wanted.pop("norm"))
        assert found == wanted
    assert [(row["epoch"], row["group"]) for row in table[:2]] == [("1", "all"), ("1", "dense")]
    # WordPenalty is in three shards, RBT and R:X:c:d in one
    assert table[0]["shards_per_feature"] == "1.7"
    shape = next(row for row in table if row["group"] == "Shape")
    assert (shape["selected"], shape["shards_per_feature"], shape["median_norm"]) == ("0", "-", "-")
    assert "selected before" in text


def test_path(tmp_path, report):
    """The second epoch has the same loss, which ends the path."""
    path, previous, matrices = (
        PathFollowing(first_threshold=2.5, epsilon=1.0, minimum_threshold=0.1),
        None,
        [],
    )
    for epoch in (1, 2):
        paths = write_shards(tmp_path, EPOCHS[0], epoch, loss=1.5)
        output, matrix = (tmp_path / f"{name}{epoch}.h5" for name in ("v", "selection"))
        mix(paths, output, MixSettings(path, 3, epoch), previous, matrix)
        previous, matrices = output, [*matrices, str(matrix)]
    rows, [row, *_], text = report(*matrices)
    names = ("selected", "threshold", "loss_before", "ended")
    states = [tuple(found[name] for name in names) for found in rows if found["group"] == "all"]
    assert states == [(2, 2.5, 4.5, False), (2, 2.5, 4.5, True)]
    assert (row["threshold"], row["loss_before"]) == ("2.5", "4.5")
    assert "loss before" in text.splitlines()[0]


def test_files_that_are_not_epochs_of_one_run(tmp_path, report):
    first, second = write_epochs(tmp_path, EPOCHS)
    assert f"{second}: is from epoch 2, expected epoch 1; name" in report(second, first)
    other = tmp_path / "other.h5"
    shards = write_shards(tmp_path, EPOCHS[1], 2)
    mix(shards, tmp_path / "v.h5", MixSettings(Selection(threshold=0.5), 3, 2), matrix=other)
    fewer = write_epochs(tmp_path / "fewer", [EPOCHS[0], EPOCHS[1][:2]])[1]
    for path, key in ((other, "select"), (fewer, "shards")):
        assert f"{path}: differs in '{key}' from {first}; name the epochs of one" in report(first, str(path))
    weights = tmp_path / "v.h5"
    write_itersel_weights(weights, make_weights({"a": 1.0}), {"kind": "mixed-weights", "epoch": 1})
    assert f"{weights}: is not the matrix.h5 of an epoch" in report(str(weights))
    assert "nowhere.h5: no such file" in report("nowhere.h5")


def test_damage_is_found(tmp_path, report):
    [path] = write_epochs(tmp_path, EPOCHS[:1])
    content = bytearray(Path(path).read_bytes())
    content[content.index(b"WordPenalty")] ^= 1
    Path(path).write_bytes(content)
    assert "features/name' does not match its checksum" in report(path)
