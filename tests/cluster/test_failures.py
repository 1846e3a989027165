"""Shards that fail, and schedulers and heads that go away: nothing is lost, and the bytes stay the same."""

from __future__ import annotations

import re
import time

import pytest
from tests.cluster.clusters import SHARDS, python, submitted, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

TARGET = "results/tiny/experiments/selected/epoch-2/weights.h5"
EPOCH, SHARD = 2, 3
VICTIM = f"results/tiny/experiments/selected/epoch-{EPOCH}/shard-{SHARD}.h5"
FAILED = f"train_shard.selected.{EPOCH}"


def hog(gigabytes):
    """Return the command that takes memory: address space for Grid Engine, pages for Slurm."""
    return python(f"import time; taken = bytearray({gigabytes} << 30); time.sleep(8)")


def ways_to_fail(prepared):
    """Return by name what the shard does, and further arguments of Snakemake."""
    if prepared.cluster.key == "slurm":
        # less than the hog, of which twice is more
        memory = ["--set-resources", "train_shard:mem_mb=1500"]
        hogging = hog(2)
    else:
        # h_vmem counts address space
        memory = ["--arrays-memory-complex", "h_vmem", "--set-resources", "train_shard:mem_mb=6000"]
        hogging = hog(8)
    return {
        "at once": ("exit 3", []),
        "memory": (f"{hogging} || exit 1", memory),
        "time": ("sleep 400", ["--set-resources", "train_shard:runtime=1"]),
    }


def check_failure(prepared, output):
    """Check what is said of the failed shard, and that the others are there."""
    message = re.search(r"message: (train_shard .*)", output).group(1)
    for part in ("experiment selected", f"epoch {EPOCH}", f"shard {SHARD}"):
        assert part in message
    assert re.search(rf"task \d+_{SHARD + 1} ", message)
    log = f"results/tiny/logs/train/selected/epoch-{EPOCH}/{SHARD}.log"
    assert log in message
    assert re.search(rf"\.snakemake/arrays/\S+/{FAILED}-\S+/{SHARD + 1}\.log", message)
    trained = prepared.project.files(f"experiments/selected/epoch-{EPOCH}/*.h5")
    assert len(trained) == SHARDS - 1
    assert not (prepared.folder / VICTIM).exists()
    return trained


def check_next_run(prepared, local, before):
    """Check that the next run trains the failed shard alone, to the same bytes."""
    output = prepared.run(TARGET)
    assert submitted(output)[FAILED] == "1"
    assert "train_shard.selected.1" not in submitted(output)
    after = prepared.project.files()
    assert {name: after[name] for name in before} == before
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


@pytest.mark.parametrize("way", ["at once", "memory", "time"])
def test_shard_fails(prepared, local, way):
    action, further = ways_to_fail(prepared)[way]
    armed = prepared.sabotage(EPOCH, SHARD, action)
    output = prepared.run(TARGET, *armed, *further, status=1)
    assert prepared.sabotage_happened()
    check_next_run(prepared, local, check_failure(prepared, output))


def test_shard_killed(prepared, local):
    """SIGKILL in the middle of the training itself."""
    run = prepared.start(TARGET)
    prepared.project.wait_for_job("train", VICTIM).kill()
    output, _ = run.communicate()
    assert run.returncode == 1, output
    check_next_run(prepared, local, check_failure(prepared, output))


def test_task_killed(prepared, local):
    """SIGKILL of the shell of a task, and of what it runs: nobody is left to write an exit status."""
    kill = "task=$(cut -d' ' -f4 /proc/$PPID/stat); kill -9 $task $PPID; exit 1"
    output = prepared.run(TARGET, *prepared.sabotage(EPOCH, SHARD, kill), status=1)
    assert prepared.sabotage_happened()
    check_next_run(prepared, local, check_failure(prepared, output))


def test_retries(prepared, local):
    """A shard that needs more memory than it asks for the first time gets it the second time."""
    action, further = ways_to_fail(prepared)["memory"]
    armed = prepared.sabotage(EPOCH, SHARD, f"touch armed; {action}")
    output = prepared.run(TARGET, *armed, "--retries", "2", *further)
    assert "Trying to restart job" in output
    assert len(re.findall(rf"array \d+ {FAILED}-", output)) == 2
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


@pytest.mark.parametrize("wait", [False, True], ids=["running", "ended"])
def test_head_killed(prepared, local, wait):
    """Snakemake killed while an array runs: the next one cancels its tasks, or finds what they made."""
    armed = prepared.sabotage(EPOCH, SHARD, "sleep 15" if wait else "sleep 400")
    run = prepared.start(*armed, TARGET)
    wait_until(prepared.sabotage_happened, 240, "the shard starts")
    time.sleep(1)
    run.kill()
    run.wait()
    assert prepared.cluster.tasks() > 0
    if wait:
        wait_until(lambda: prepared.cluster.tasks() == 0, 240, "the tasks end")
        assert (prepared.folder / VICTIM).exists()
    before = prepared.project.files()
    output = prepared.run(TARGET)
    assert ("Cancelling what an earlier run left" in output) == (not wait)
    # shards that end before the new head looks are kept as well
    assert (0 if wait else 1) <= int(submitted(output).get(FAILED, 0)) <= SHARDS - trained(before)
    after = prepared.project.files()
    assert {name: after[name] for name in before} == before
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")
    assert prepared.cluster.tasks() == 0


def trained(files):
    """Return the number of shards of the epoch among files."""
    return sum(name.startswith(f"experiments/selected/epoch-{EPOCH}/shard-") for name in files)


def test_interrupted(prepared, local):
    """After Ctrl-C nothing runs on."""
    armed = prepared.sabotage(EPOCH, SHARD, "sleep 400")
    run = prepared.start(*armed, TARGET)
    wait_until(prepared.sabotage_happened, 240, "the shard starts")
    run.send_signal(2)
    run.communicate(timeout=120)
    assert run.returncode != 0
    wait_until(lambda: prepared.cluster.tasks() == 0, 60, "the tasks are cancelled")
    prepared.run(TARGET)
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


def test_scheduler_down(prepared, local):
    """The controller is away for 30 s while an epoch ends, and the next job is submitted into its absence."""
    daemon = {"slurm": "slurmctld", "sge": "sge_qmaster"}[prepared.cluster.key]
    armed = prepared.sabotage(EPOCH, SHARD, "sleep 10")
    run = prepared.start(*armed, TARGET)
    wait_until(prepared.sabotage_happened, 240, "the shard starts")
    prepared.cluster.control("stop", daemon)
    time.sleep(30)
    prepared.cluster.control("start", daemon)
    output, _ = run.communicate()
    assert run.returncode == 0, output
    assert re.search("does not answer|cannot take the array", output)
    assert len(re.findall(r"array \d+ mix\.", output)) == 1
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


@pytest.mark.parametrize(
    "cluster", [pytest.param("slurm", marks=pytest.mark.xdist_group("slurm"))], indirect=True
)
def test_node_down(prepared, local, cluster):
    """A node is set down in the middle of an epoch; Slurm runs its shards again elsewhere.

    The Grid Engine of the tests has one node.
    """
    armed = prepared.sabotage(EPOCH, SHARD, "sleep 400")
    run = prepared.start(*armed, TARGET)
    wait_until(prepared.sabotage_happened, 240, "the shard starts")
    rows = cluster.ask(
        "squeue", "--noheader", "--array", "--states=running", "--format=%F %K %N"
    ).splitlines()
    array, node = next((row.split()[0], row.split()[2]) for row in rows if row.split()[1] == str(SHARD + 1))
    task = ["squeue", "--noheader", f"--job={array}_{SHARD + 1}"]
    try:
        cluster.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        # Slurm holds back for two minutes what it starts again; a test need not wait
        wait_until(lambda: "PENDING" in cluster.ask(*task, "--format=%T"), 60, "the shard is to run again")
        cluster.ask("scontrol", "update", f"jobid={array}_{SHARD + 1}", "starttime=now")
        # the shard would sleep for longer
        output, _ = run.communicate(timeout=300)
    finally:
        cluster.ask("scontrol", "update", f"nodename={node}", "state=resume")
    assert run.returncode == 0, output
    assert "Restarts=1" in cluster.ask("scontrol", "show", "job", f"{array}_{SHARD + 1}")
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")
