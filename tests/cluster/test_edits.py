"""Edits during a run: its jobs use one config, and one version of the code."""

import shutil

import pytest
from tests.cluster.clusters import SHARDS, WAITS, mostly, wait_until
from tests.workflow.conftest import ended

pytestmark = pytest.mark.cluster

TARGET = "results/tiny/experiments/selected/epoch-2/weights.h5"
SHARD = 3


@mostly("slurm")
def test_config_edited_during_a_run(prepared, local):
    """The run goes on as it started, even if the file is broken, and the next one finds what has changed."""
    path = prepared.folder / "config.yaml"
    before = path.read_text()
    run = prepared.start_and_wait(2, {SHARD: WAITS}, TARGET)
    path.write_text("experiments: [")
    (prepared.folder / "go").touch()
    ended(run)
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")
    path.write_text(before)
    assert prepared.project.planned(TARGET) == {}
    content = prepared.project.config()
    content["decoder"]["k_best"] = 5
    prepared.project.configure(**content)
    assert prepared.project.planned(TARGET)["train_shard"] == 2 * SHARDS


@mostly("sge")
def test_code_edited_during_a_run(prepared, local, root, tmp_path):
    """Jobs that start later fail, each in one line, and are run again once the code is as it was."""
    ignored = shutil.ignore_patterns("__pycache__")
    source = prepared.project.source = shutil.copytree(root / "src", tmp_path / "src", ignore=ignored)
    edited = source / "itersel/select/selection.py"
    before = edited.read_text()
    run = prepared.start(
        *prepared.sabotage(2, {0: WAITS, SHARD: WAITS}), "--keep-going", "--retries", "1", TARGET
    )
    wait_until(prepared.sabotage_happened)
    edited.write_text(before + "# edited\n")
    (prepared.folder / "go").touch()
    output = ended(run, 1)
    assert output.count(f"{source}/itersel: has been edited since this run started") == 1
    assert "Trying to restart" not in output
    assert "Traceback" not in output
    assert not (prepared.folder / TARGET).exists()
    edited.write_text(before)
    prepared.run(TARGET)
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")
