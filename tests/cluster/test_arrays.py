"""The main job, arrays with many tasks, tasks with many jobs, and concurrent runs."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cluster.clusters import EPOCHS, FAST, SHARDS, Cluster, mostly, submitted
from tests.workflow.conftest import ended

pytestmark = pytest.mark.cluster

TARGET = "results/tiny/experiments/selected/epoch-2/weights.h5"
WEIGHTS = "experiments/*/epoch-*/*.h5"


def test_main_job(fresh, local):
    """Epochs are arrays, and results are identical."""
    output = fresh.run()
    for epoch in range(1, EPOCHS + 1):
        name = f"train_shard.selected.{epoch}"
        assert submitted(output)[name] == str(SHARDS)
        # according to the scheduler: one array with all shards
        [number] = re.findall(rf"array (\d+) {re.escape(name)}-", output)
        assert fresh.cluster.tasks_of(number) == SHARDS
    assert fresh.project.contents() == local.contents()
    assert not [path for path in (fresh.folder / ".snakemake/arrays").iterdir() if path.is_dir()]


NOTHING = """
rule all:
    localrule: True
    input: expand("out/{{i}}", i=range(1, {jobs} + 1))
rule nothing:
    output: "out/{{i}}"
    resources: mem_mb=100, runtime=5
    shell: "this is never run"
"""
# Replaces jobs: starting Snakemake two thousand times would take an hour. The command line names the job.
IN_PLACE = """
number=$(tr '\\0' ' ' < /proc/$PPID/cmdline | grep -o 'nothing:i=[0-9][0-9]*' | cut -d= -f2)
{before}
mkdir -p out
echo ${SLURM_ARRAY_TASK_ID:-$SGE_TASK_ID} > out/$number
"""
# Number of jobs of an array that have started and not ended.
COUNT = """
ls .snakemake/arrays/*/nothing-* | grep -c '[.]running[.]' >> beside
sleep 1
"""


def slots(cluster, number):
    """Let a cluster with four processors run `number` tasks at a time."""
    if cluster.key == "sge":
        cluster.ask("qconf", "-mattr", "queue", "slots", str(number), "all.q")
    else:
        share = f"force:{number // 4}" if number > 4 else "no"
        cluster.ask("scontrol", "update", "partitionname=main", f"oversubscribe={share}")


@dataclass
class Nothing:
    """A workflow of jobs that only record the number of their task."""

    cluster: Cluster
    folder: Path
    profile: Path

    def run(self, jobs, *arguments, before=""):
        """Run a number of jobs, which record the number of their task; returns the tasks of each array."""
        done = self.start(jobs, *arguments, before=before)
        assert done.returncode == 0, done.stdout[-3000:]
        return [int(tasks) for tasks in re.findall(r"array \d+ nothing-\S+ (\d+) tasks", done.stdout)]

    def start(self, jobs, *arguments, before=""):
        """Run a number of jobs, successfully or not; scheduler commands are first looked up in `bin`."""
        (self.folder / "Snakefile").write_text(NOTHING.format(jobs=jobs))
        (self.folder / "job.sh").write_text(IN_PLACE.replace("{before}", before))
        options = ["--quiet", "rules", "--profile", str(self.profile), *FAST]
        options += ["--precommand", "bash job.sh; exit; true", *arguments]
        path = self.cluster.environment.get("PATH", os.environ["PATH"])
        return self.cluster.snakemake(self.folder, *options, PATH=f"{self.folder / 'bin'}:{path}")

    def tasks(self):
        """Return the number of the task that ran each job."""
        return {int(path.name): int(path.read_text()) for path in (self.folder / "out").iterdir()}


@pytest.fixture
def nothing(cluster, root, tmp_path):
    yield Nothing(cluster, tmp_path, root / "profiles" / cluster.key)
    cluster.clear()


def test_hundreds_of_tasks(nothing, cluster):
    """One array with far fewer slots than tasks: task i runs job i, for all i."""
    slots(cluster, 20)
    try:
        arrays = nothing.run(300)
    finally:
        slots(cluster, 4)
    assert arrays == [300]
    assert nothing.tasks() == {number: number for number in range(1, 301)}


def test_limit_of_tasks(nothing):
    """More jobs than an array may have are split into several arrays."""
    assert nothing.run(8, "--arrays-limit", "5") == [5, 3]
    assert nothing.tasks() == dict(zip(range(1, 9), [1, 2, 3, 4, 5, 1, 2, 3], strict=True))


def test_concurrent_tasks(nothing):
    """Two tasks of an array at a time, although four would fit."""
    assert nothing.run(8, "--arrays-concurrent", "2", before=COUNT) == [8]
    counts = [int(line) for line in (nothing.folder / "beside").read_text().split()]
    assert len(counts) == 8
    assert max(counts) == 2


# The partition allows 24 hours; eight jobs request 32.
LONG = ["--set-resources", "nothing:runtime=240", "nothing:mem_mb=100", "nothing:jobs_per_task=8"]


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_time_of_a_task_stays_within_that_of_the_partition(nothing):
    assert nothing.run(16, *LONG) == [2]
    assert nothing.tasks() == {number: (number - 1) // 8 + 1 for number in range(1, 17)}


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_array_that_will_never_run_is_one_failure(nothing, cluster):
    """One message, one scancel, and no retry, which would request the same."""
    (nothing.folder / "bin").mkdir()
    (nothing.folder / "bin/scancel").write_text(
        '#!/bin/bash\necho "$@" >> scancel.calls\n/usr/bin/scancel "$@"\n'
    )
    (nothing.folder / "bin/scancel").chmod(0o755)
    done = nothing.start(400, *LONG, "--arrays-runtime-limit", "0", "--retries", "2", "--quiet", "progress")
    assert done.returncode == 1
    [message] = re.findall("message: (.*)", done.stdout)
    assert "PENDING (PartitionTimeLimit)" in message
    assert " 399 other jobs " in message
    assert done.stdout.count("Error in rule") == 1
    assert "Trying to restart" not in done.stdout
    [call] = (nothing.folder / "scancel.calls").read_text().splitlines()
    assert call.isdigit()
    assert cluster.tasks() == 0


@mostly("sge")
def test_shards_per_task(prepared, local):
    """Three shards per task, one Snakemake each: the first of the second task is killed, the rest succeed."""
    content = prepared.project.config()
    content["experiments"]["selected"]["tasks"]["shards_per_array_task"] = 3
    prepared.project.configure(**content)
    victim = "results/tiny/experiments/selected/epoch-2/shard-3.h5"
    run = prepared.kill_job("train", victim, target=TARGET)
    output = ended(run, 1)
    assert submitted(output)["train_shard.selected.2"] == "2"
    assert re.findall(r"message: train_shard \(experiment selected, epoch 2, shard (\d)\)", output) == ["3"]
    assert "SIGKILL" in output
    # those of jobs that went well are removed
    [log] = prepared.folder.glob(".snakemake/arrays/*/train_shard.selected.2-*/[0-9].log")
    assert log.name == "4.log"
    assert "snakemake_executor_plugin_arrays/together.py" in log.read_text()
    before = prepared.project.files("experiments/selected/epoch-2/shard-*.h5")
    assert len(before) == SHARDS - 1
    output = prepared.run(TARGET)
    assert submitted(output)["train_shard.selected.2"] == "1"
    assert prepared.project.keeps(before)
    assert prepared.weights() == local.contents(WEIGHTS)


@mostly("slurm")
def test_two_runs_side_by_side(prepared, local, tmp_path):
    """Two runs in two folders, at the same time, on one scheduler; one has smaller arrays."""
    other = type(prepared)(prepared.cluster, prepared.project.copy(tmp_path / "another project"))
    limits = ["--arrays-limit", "3", "--arrays-concurrent", "2"]
    runs = {(SHARDS,): prepared.start(TARGET), (3, 2): other.start(TARGET, *limits)}
    for arrays, run in runs.items():
        output = ended(run)
        assert "Cancelling" not in output
        found = re.findall(r"array \d+ train_shard\.selected\.2-\S+ (\d+) tasks", output)
        assert tuple(map(int, found)) == arrays
    assert prepared.weights() == other.weights() == local.contents(WEIGHTS)


def test_refusal(prepared):
    """The scheduler's message is shown, and nothing is left behind."""
    wrong = {"slurm": "--arrays-partition", "sge": "--arrays-queue"}[prepared.cluster.key]
    output = prepared.run(TARGET, wrong, "nowhere", status=1)
    assert re.search(r"could not be submitted: .*\((sbatch|qsub) .*nowhere", output)
    assert re.search("invalid|does not exist|unknown", output)
    assert len(re.findall("message: ", output)) == 1
    assert f" {SHARDS - 1} other jobs " in output
    assert prepared.cluster.tasks() == 0
