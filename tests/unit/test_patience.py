"""Training that stops: the decision, and what each step passes on. tests/workflow has a whole run."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mixing import FIGURE_2, rows_of, run, write_shards
from tests.naive.learning import last_trained
from tests.refusals import check_facts
from tests.steps import settings

from itersel.cli.main import main
from itersel.evaluate.epochs import next_decision
from itersel.storage.hdf5 import read_arrays
from itersel.vectors.weights import (
    FORMAT,
    has_stopped,
    make_weights,
    read_itersel_weights,
    write_itersel_weights,
)

PATH = {"first_threshold": 6, "epsilon": 2, "minimum_threshold": 1}
SELECTION = {"select": 2, "keep": ["x1"]}
MIXINGS = {"mean-of-epochs": {}, "mean": {}, "selection": SELECTION, "path-following": PATH}
NOTHING = ["--sentences", "none", "--language-model", "none"]


@given(st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12), st.integers(1, 4))
def test_training_stops_as_by_a_plain_count(scores, patience):
    higher, lower, found = None, None, []
    for score in scores:
        higher = next_decision(higher, score, patience, "bleu")
        lower = next_decision(lower, -score, patience, "ter")
        assert lower.stopped == higher.stopped
        found.append(higher.stopped)
    assert list(higher.scores) == scores
    stop = last_trained(scores, patience) or len(scores) + 1
    assert found == [epoch >= stop for epoch in range(1, len(scores) + 1)]


def decide(folder, epoch, line):
    """Run the command after an epoch in which devtest was translated by this line."""
    (folder / "reference").write_text("a b c d e f\n")
    (folder / "translation").write_text(f"{line}\n")
    previous = ["--previous", str(folder / f"{epoch - 1}.json")] if epoch > 1 else []
    files = ["--reference", str(folder / "reference"), "--translation", str(folder / "translation")]
    words = [
        *files,
        *settings(patience=1, scoring={"tokenizer": "13a"}),
        *previous,
        "--output",
        str(folder / f"{epoch}.json"),
    ]
    return main(["step", "patience", *words])


@pytest.fixture
def decision(tmp_path):
    for epoch, line in enumerate(["x b c d e f", "a b c d e f", "a b c d e f"], 1):
        assert decide(tmp_path, epoch, line) == 0
    found = [json.loads((tmp_path / f"{epoch}.json").read_text()) for epoch in (1, 2, 3)]
    assert [one["stopped"] for one in found] == [False, False, True]
    assert found[2]["scores"] == pytest.approx([100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25, 100, 100])
    return ["--decision", str(tmp_path / "3.json")]


def test_no_decision(tmp_path, capsys):
    (tmp_path / "1.json").write_text("{}")
    assert decide(tmp_path, 2, "a") == 1
    check_facts(capsys.readouterr().err, f"{tmp_path / '1.json'}:", "'itersel step patience'")
    assert not (tmp_path / "2.json").exists()


@pytest.mark.parametrize("mixing", MIXINGS)
def test_mixed_weights_are_passed_on(tmp_path, decision, capsys, mixing):
    def mix(*options):
        matrix = ["--matrix", str(tmp_path / "W.h5")]
        return run(tmp_path, *matrix, "--epoch", *options, name=mixing, **MIXINGS[mixing])

    write_shards(tmp_path, rows_of(FIGURE_2[12]), loss=1.0)
    assert mix("1") == 0
    (tmp_path / "v.h5").rename(tmp_path / "v1.h5")
    passed = ["2", "--passed-on", str(tmp_path / "v1.h5"), *decision]
    write_shards(tmp_path, rows_of(FIGURE_2[12]), 2, loss=1.0)
    assert mix(*passed) == 1
    check_facts(capsys.readouterr().err, f"{tmp_path / 'shard0.h5'}:")
    assert not (tmp_path / "v.h5").exists()
    # their weights are not read
    write_shards(tmp_path, [{"y": 5.0}] * 3, 2, stopped=1)
    assert mix("2", *decision) == 1
    check_facts(capsys.readouterr().err, "--passed-on")
    assert mix(*passed) == 0
    before, after = (read_itersel_weights(tmp_path / name).to_dict() for name in ("v1.h5", "v.h5"))
    assert after == before != {}
    assert (has_stopped(tmp_path / "v1.h5"), has_stopped(tmp_path / "v.h5")) == (False, True)
    # the same in the matrix, whose columns have the weight in every shard
    matrix = {
        name: value for name, value in read_itersel_weights(tmp_path / "W.h5").to_dict().items() if value
    }
    assert matrix == after
    assert mix("2") == 1


def test_a_shard_is_passed_on(tmp_path, decision):
    """Neither its sentences nor a model are read; nor are they to decode lists."""
    start, shard = tmp_path / "start.h5", tmp_path / "shard.h5"
    write_itersel_weights(start, make_weights({"x": 2.0}), {"kind": "mixed-weights"})
    where = ["--epoch", "4", "--shard-number", "3", "--start", str(start)]
    assert main(["train", *NOTHING, *where, *decision, "--output", str(shard)]) == 0
    assert read_itersel_weights(shard).to_dict() == {"x": 2.0}
    found = read_arrays(shard, FORMAT)[1]
    assert (found["kind"], found["epoch"], found["shard"], found["stopped"]) == ("shard-weights", 4, 3, 1)
    for command in ("kbest", "forest"):
        output = ["--output", str(tmp_path / f"{command}.h5")]
        assert main(["step", command, *NOTHING, *settings(features="dense"), *decision, *output]) == 0


def test_tuned_weights_and_translations_are_passed_on(tmp_path, decision, capsys):
    weights, text = tmp_path / "weights.h5", tmp_path / "text"
    write_itersel_weights(weights, make_weights({"x": 2.0}), {"kind": "mixed-weights", "quality": 3.0})
    text.write_text("a b\n\nc\n")
    (tmp_path / "list").write_text("none\n")
    tune = ["step", "tune", *settings(tuner={"name": "mert"}), "--inputs", str(tmp_path / "list")]
    tune += ["--iteration", "4"]
    decode = ["decode", *NOTHING, "--weights", "none"]
    for command, passed_on, name in ((tune, weights, "tuned.h5"), (decode, text, "decoded")):
        output = tmp_path / name
        assert main([*command, *decision, "--output", str(output)]) == 1
        check_facts(capsys.readouterr().err, "--passed-on")
        assert not output.exists()
        assert main([*command, *decision, "--passed-on", str(passed_on), "--output", str(output)]) == 0
    assert (tmp_path / "decoded").read_text() == text.read_text()
    assert read_itersel_weights(tmp_path / "tuned.h5").to_dict() == {"x": 2.0}
    assert has_stopped(tmp_path / "tuned.h5")
