"""Failing shards, schedulers and head processes: nothing is lost, and results are identical."""

import contextlib
import re
import time

import psutil
import pytest
from tests.cluster.clusters import SHARDS, WAITS, mostly, python, submitted, wait_until
from tests.workflow.conftest import ended

pytestmark = pytest.mark.cluster

TARGET = "results/tiny/experiments/selected/epoch-2/weights.h5"
EPOCH, SHARD = 2, 3
WEIGHTS = f"experiments/selected/epoch-{EPOCH}/shard-{{}}.h5"
VICTIM = f"results/tiny/{WEIGHTS.format(SHARD)}"
FAILED = f"train_shard.selected.{EPOCH}"


def hog(gigabytes):
    """Return a command that uses memory: address space for Grid Engine, pages for Slurm."""
    return python(f"import time; taken = bytearray({gigabytes} << 30); time.sleep(8)")


def over_memory(cluster):
    """Return a command that exceeds the memory limit of a shard, and the arguments that set the limit."""
    if cluster.key == "slurm":
        # less than the command uses; twice as much is enough
        return f"{hog(2)} || exit 1", ["--set-resources", "train_shard:mem_mb=1500"]
    # h_vmem limits address space
    further = ["--arrays-memory-complex", "h_vmem"]
    return f"{hog(8)} || exit 1", [*further, "--set-resources", "train_shard:mem_mb=6000"]


def check_failures(prepared, output, shards):
    """Check the messages about the failed shards, and that the others exist."""
    messages = re.findall(r"message: (train_shard .*)", output)
    assert len(messages) == len(shards)
    for shard in shards:
        [message] = [found for found in messages if f"shard {shard})" in found]
        for part in ("experiment selected", f"epoch {EPOCH}"):
            assert part in message
        assert re.search(rf"task \d+_{shard + 1} ", message)
        assert f"results/tiny/logs/train/selected/epoch-{EPOCH}/{shard}.log" in message
        assert re.search(rf"\.snakemake/arrays/\S+/{FAILED}-\S+/{shard + 1}\.log", message)
    # weights are not mixed without them
    trained = prepared.project.files(f"experiments/selected/epoch-{EPOCH}/*.h5")
    assert set(trained) == {WEIGHTS.format(shard) for shard in set(range(SHARDS)) - set(shards)}
    return trained


def check_next_run(prepared, local, before, shards=1):
    """Check that the next run trains only the failed shards, with identical results."""
    output = prepared.run(TARGET)
    assert submitted(output)[FAILED] == str(shards)
    assert "train_shard.selected.1" not in submitted(output)
    assert prepared.project.keeps(before)
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


@mostly("sge")
def test_shard_killed(prepared, local):
    """SIGKILL to the command of a job."""
    run = prepared.kill_job("train", VICTIM, target=TARGET)
    output = ended(run, 1)
    assert "SIGKILL" in output
    check_next_run(prepared, local, check_failures(prepared, output, [SHARD]))


def test_shards_fail(prepared, local):
    """Four shards fail, each in a different way; the other one succeeds.

    For one of them, the shell of its task is killed with its children, so nothing writes an exit status.
    """
    hogging, memory = over_memory(prepared.cluster)
    killing = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID; exit 1"
    ways = {0: "exit 3", 1: killing, 3: hogging, 4: "sleep 400"}
    further = [*memory, "train_shard:runtime=2"]  # one more of --set-resources; enough for the others
    output = prepared.run(TARGET, *prepared.sabotage(EPOCH, ways), *further, status=1)
    assert prepared.sabotage_happened()
    check_next_run(prepared, local, check_failures(prepared, output, list(ways)), len(ways))


@mostly("slurm")
def test_retries(prepared, local):
    """A shard that needs more memory than it requests at first gets it in the retry."""
    hogging, memory = over_memory(prepared.cluster)
    armed = prepared.sabotage(EPOCH, {SHARD: f"touch armed-$task; {hogging}"})
    output = prepared.run(TARGET, *armed, "--retries", "2", *memory)
    assert "Trying to restart job" in output
    assert len(re.findall(rf"array \d+ {FAILED}-", output)) == 2
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


@mostly("slurm")
@pytest.mark.parametrize("wait", [False, True], ids=["running", "ended"])
def test_head_killed(prepared, local, wait):
    """Snakemake is killed while an array runs: the next run cancels its tasks or uses their results."""
    run = prepared.start_and_wait(EPOCH, {SHARD: WAITS}, TARGET)
    prepared.number_of(FAILED)
    run.kill()
    run.wait()
    assert prepared.cluster.tasks() > 0
    if wait:
        (prepared.folder / "go").touch()
        wait_until(lambda: prepared.cluster.tasks() == 0)
        assert (prepared.folder / VICTIM).exists()
    before = prepared.project.files()
    output = prepared.run(TARGET)
    assert ("Cancelling arrays that an earlier run left" in output) == (not wait)
    # shards that finish before the new head checks are also kept
    assert (0 if wait else 1) <= int(submitted(output).get(FAILED, 0)) <= SHARDS - trained(before)
    assert prepared.project.keeps(before)
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")
    assert prepared.cluster.tasks() == 0


def trained(files):
    """Return the number of trained shards of the epoch among files."""
    return sum(name.startswith(f"experiments/selected/epoch-{EPOCH}/shard-") for name in files)


@mostly("sge")
def test_interrupted(prepared, local):
    """Nothing keeps running after Ctrl-C."""
    run = prepared.start_and_wait(EPOCH, {SHARD: "sleep 4000"}, TARGET)
    run.send_signal(2)
    run.communicate()
    assert run.returncode != 0
    wait_until(lambda: prepared.cluster.tasks() == 0)
    prepared.run(TARGET)
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


def test_scheduler_down(prepared, local):
    """The controller is down while an epoch ends and the next job is submitted."""
    daemon = {"slurm": "slurmctld", "sge": "sge_qmaster"}[prepared.cluster.key]
    # one of the last, after all others have started
    run = prepared.start_and_wait(EPOCH, {SHARDS - 1: WAITS}, TARGET)
    prepared.cluster.control("stop", daemon)
    (prepared.folder / "go").touch()
    wait_until(lambda: prepared.said("cannot take the array mix."))
    # it is asked again, more than once
    time.sleep(10)
    prepared.cluster.control("start", daemon)
    output = ended(run)
    assert "cannot take the array mix." in output
    assert len(re.findall(r"array \d+ mix\.", output)) == 1
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


@pytest.mark.parametrize("cluster", ["sge"], indirect=True)
def test_rescheduled(prepared, local, cluster):
    """A task that hangs is restarted with qmod, as after the loss of its node."""
    run = prepared.start_and_wait(EPOCH, {SHARD: WAITS}, TARGET)
    # a task that the master still counts as being transferred could be lost
    running = re.compile(rf"^ *\d+ .* r +\d\d/\d\d/.* {SHARD + 1} *$", re.M)
    wait_until(lambda: running.search(cluster.ask("qstat")) is not None)
    cluster.ask("qmod", "-rj", f"{prepared.number_of(FAILED)}.{SHARD + 1}")
    output = ended(run)
    assert len(re.findall(rf"array \d+ {FAILED}-", output)) == 1
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


@pytest.mark.parametrize("cluster", ["sge"], indirect=True)
def test_exec_host_lost(prepared, local, cluster):
    """A host loses power: as the site has set `reschedule_unknown`, its tasks are started again."""
    asked = cluster.ask("qconf", "-sconf")
    settings = {"reschedule_unknown": "00:00:01", "max_unheard": "00:00:10"}
    change_configuration(cluster, asked, settings)
    try:
        run = prepared.start_and_wait(EPOCH, {SHARD: "sleep 4000"}, TARGET)
        daemon = psutil.Process(int((cluster.folder / "run/execd.pid").read_text()))
        lost = [daemon, *daemon.children(recursive=True)]
        for process in lost:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(lost)
        wait_until(lambda: cluster.ask("qstat", "-s", "r") == "")
        assert cluster.tasks() > 0
    finally:
        change_configuration(cluster, asked, {})
        cluster.control("start", "sge_execd")
    output = ended(run)
    assert len(re.findall(rf"array \d+ {FAILED}-", output)) == 1
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


def change_configuration(cluster, text, settings):
    """Set parameters of Grid Engine's configuration, whose text is given."""
    for name, value in settings.items():
        text = re.sub(rf"(?m)^{name} .*", f"{name} {value}", text)
    path = cluster.folder / "global"
    path.write_text("".join(line + "\n" for line in text.splitlines() if not line.startswith("#")))
    cluster.ask("qconf", "-Mconf", str(path))


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_node_down(prepared, local, cluster):
    """A node is set to DOWN in the middle of an epoch; Slurm reruns its shards elsewhere.

    Not for Grid Engine, which has only one node in the tests.
    """
    run = prepared.start_and_wait(EPOCH, {SHARD: "sleep 4000"}, TARGET)
    rows = cluster.ask("squeue", "--noheader", "--array", "--states=running", "--format=%F %K %N")
    running = [row.split() for row in rows.splitlines()]
    [(array, node)] = [(array, node) for array, task, node in running if task == str(SHARD + 1)]
    lost = [f"{array}_{task}" for array, task, where in running if where == node]
    try:
        cluster.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        # the node, which is well, returns at once, but does not start what it has just been told to end
        cluster.ask("scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
        # Slurm delays requeued jobs for two minutes; tests need not wait
        for task in lost:

            def waits_or_ended(task=task):
                state = cluster.ask("squeue", "--noheader", f"--job={task}", "--format=%T")
                return state.strip() in ("PENDING", "")

            wait_until(waits_or_ended)
            cluster.ask("scontrol", "update", f"jobid={task}", "starttime=now")
        # the shard would sleep longer
        output, _ = run.communicate()
    finally:
        cluster.ask("scontrol", "update", f"nodename={node}", "state=resume")
    assert run.returncode == 0, output
    assert "Restarts=1" in cluster.ask("scontrol", "show", "job", f"{array}_{SHARD + 1}")
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")
