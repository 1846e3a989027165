"""Arrays of many tasks, tasks of many jobs, and runs side by side."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from tests.cluster.clusters import FAST, SHARDS, submitted

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

# Run before a job: how many shards of its array have started and not ended.
COUNT = """
name=${SLURM_JOB_NAME:-$JOB_NAME}
case $name in train_shard*) ;; *) exit 0 ;; esac
cd .snakemake/arrays/*/"$name"
echo $(($(ls | grep -c running$) - $(ls | grep -c status$))) >> "$OLDPWD/beside"
"""

TARGET = "results/tiny/experiments/selected/epoch-2/weights.h5"
WEIGHTS = "experiments/*/epoch-*/*.h5"

NOTHING = """
rule all:
    localrule: True
    input: expand("out/{i}", i=range(1, 2001))
rule nothing:
    output: "out/{i}"
    resources: mem_mb=100, runtime=5
    shell: "this is never run"
"""
# In place of a job: two thousand starts of Snakemake would take an hour. The command line tells which job.
IN_PLACE = (
    "number=$(tr '\\0' ' ' < /proc/$$/cmdline | grep -o 'nothing:i=[0-9][0-9]*' | cut -d= -f2);"
    " mkdir -p out; echo ${SLURM_ARRAY_TASK_ID:-$SGE_TASK_ID} > out/$number; exit 0; true"
)


def slots(cluster, number):
    """Let a cluster of four processors run so many tasks at a time."""
    if cluster.key == "sge":
        cluster.ask("qconf", "-mattr", "queue", "slots", str(number), "all.q")
    else:
        share = f"force:{number // 4}" if number > 4 else "no"
        cluster.ask("scontrol", "update", "partitionname=main", f"oversubscribe={share}")


def test_two_thousand_tasks(cluster, root, tmp_path):
    """In one array, with far fewer slots: task i runs job i, for all i."""
    (tmp_path / "Snakefile").write_text(NOTHING)
    slots(cluster, 40)
    profile = ["--profile", str(root / "profiles" / cluster.key), *FAST, "--arrays-limit", "2000"]
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *profile, "--quiet", "rules"]
    try:
        done = subprocess.run(
            [*command, "--precommand", IN_PLACE, "--set-resources", "nothing:mem_mb=100"],
            cwd=tmp_path,
            env={**os.environ, **cluster.environment},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        slots(cluster, 4)
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.findall(r"array \d+ nothing-\S+ (\d+) tasks", done.stderr) == ["2000"]
    found = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert found == {str(number): f"{number}\n" for number in range(1, 2001)}


def test_shards_per_job(prepared, local):
    """Three shards a task: the first of the second task fails, those after it are trained."""
    content = prepared.project.config()
    content["experiments"]["selected"]["shards_per_job"] = 3
    prepared.project.configure(**content)
    armed = prepared.sabotage(2, 1, "exit 3")
    output = prepared.run(TARGET, *armed, status=1)
    assert submitted(output)["train_shard.selected.2"] == "3"
    assert re.findall(r"message: train_shard \(experiment selected, epoch 2, shard (\d)\)", output) == ["3"]
    before = prepared.project.files("experiments/selected/epoch-2/shard-*.h5")
    assert len(before) == SHARDS - 1
    output = prepared.run(TARGET)
    assert submitted(output)["train_shard.selected.2"] == "1"
    after = prepared.project.files("experiments/selected/epoch-2/shard-*.h5")
    assert {name: after[name] for name in before} == before
    assert prepared.weights() == local.contents(WEIGHTS)


def test_two_runs_side_by_side(prepared, local, tmp_path):
    """In two folders, at the same time, on one scheduler."""
    other = type(prepared)(prepared.cluster, prepared.project.copy(tmp_path / "another project"))
    runs = [project.start(TARGET) for project in (prepared, other)]
    for run in runs:
        output, _ = run.communicate()
        assert run.returncode == 0, output
        assert "Cancelling" not in output
    assert prepared.weights() == other.weights() == local.contents(WEIGHTS)


def test_concurrent_tasks(prepared, local):
    """Two tasks of an array at a time, where four would fit."""
    (prepared.folder / "count.sh").write_text(COUNT)
    output = prepared.run(TARGET, "--arrays-concurrent", "2", "--precommand", "bash count.sh")
    assert submitted(output)["train_shard.selected.2"] == str(SHARDS)
    counts = [int(line) for line in (prepared.folder / "beside").read_text().split()]
    assert len(counts) == SHARDS
    assert max(counts) == 2
    assert prepared.weights() == local.contents(WEIGHTS)


def test_limit_of_tasks(prepared, local):
    """More shards than an array may have become several arrays."""
    output = prepared.run(TARGET, "--arrays-limit", "5")
    found = re.findall(r"array \d+ train_shard\.selected\.2-\S+ (\d+) tasks", output)
    assert found == ["5", "3"]
    assert prepared.weights() == local.contents(WEIGHTS)


def test_refusal(prepared):
    """What the scheduler says is told, and nothing is left."""
    wrong = {"slurm": "--arrays-partition", "sge": "--arrays-queue"}[prepared.cluster.key]
    output = prepared.run(TARGET, wrong, "nowhere", status=1)
    assert re.search(r"could not be submitted: (sbatch|qsub) .*nowhere", output)
    assert re.search("invalid|does not exist|unknown", output)
    assert prepared.cluster.tasks() == 0
