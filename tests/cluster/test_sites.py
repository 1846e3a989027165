"""What sites and people do to a run: nothing runs twice, and nothing waits without a word."""

from __future__ import annotations

import re

import pytest
from tests.cluster.clusters import SHARDS, WAITS, submitted, wait_until
from tests.cluster.test_failures import EPOCH, FAILED, SHARD, TARGET, VICTIM
from tests.workflow.conftest import ended

from snakemake_executor_plugin_arrays.runs import LOCK, Owner

pytestmark = pytest.mark.cluster

# Answers without jobs to all questions, once there is a file `blind`; commands that cancel do nothing.
FORGETS = {
    "slurm": {
        "squeue": '[ -e blind ] || exec "$real" "$@"',
        "scontrol": '[ -e blind ] || exec "$real" "$@"; echo "Invalid job id specified" >&2; exit 1',
        "scancel": '[ -e blind ] || exec "$real" "$@"',
    },
    "sge": {
        "qstat": '[ -e blind ] || exec "$real" "$@"; [ "$1" != -xml ] || exec echo "<job_info/>";'
        ' echo "Following jobs do not exist" >&2; exit 1',
        "qdel": '[ -e blind ] || exec "$real" "$@"',
    },
}
NAME = re.compile(rf"array \d+ {FAILED}-")


def check_weights(prepared, local):
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


def test_run_of_another_user(prepared, local):
    """It is refused until its tasks have ended."""
    run = prepared.start(*prepared.sabotage(EPOCH, {SHARD: WAITS}), TARGET)
    arrays = prepared.folder / ".snakemake/arrays"
    wait_until(lambda: prepared.sabotage_happened() and list(arrays.glob(f"*/{FAILED}-*/identifier")))
    run.kill()
    run.wait()
    [lock] = arrays.glob(f"*/{LOCK}")
    owner = Owner.of(lock.parent)
    lock.write_text(f"{Owner(owner.scheduler, 'somebody', owner.host, owner.time)}\n")
    number = next(arrays.glob(f"*/{FAILED}-*/identifier")).read_text().strip()
    output = prepared.run(TARGET, status=1)
    assert f"a run that somebody started on {owner.host} at {owner.time} was killed and has left" in output
    assert f": {number}. Only somebody or an administrator can cancel its jobs" in output
    assert "Traceback" not in output
    assert submitted(output) == {}
    assert prepared.cluster.tasks() > 0
    (prepared.folder / "go").touch()
    wait_until(lambda: prepared.cluster.tasks() == 0)
    before = prepared.project.files()
    output = prepared.run(TARGET)
    assert FAILED not in submitted(output)
    after = prepared.project.files()
    assert {name: after[name] for name in before} == before
    check_weights(prepared, local)


def test_scheduler_forgets_a_running_task(prepared, local):
    """The task is ended before its job is submitted again: it writes nothing any more."""
    for program, script in FORGETS[prepared.cluster.key].items():
        prepared.replace(program, script)
    further = ["--retries", "1", "--arrays-lost-seconds", "8", "--keep-going", TARGET]
    run, job = prepared.hold_job(["train", VICTIM], *further)
    others = SHARDS - 1
    wait_until(
        lambda: (
            len(list(prepared.project.results.glob(f"experiments/selected/epoch-{EPOCH}/shard-*.h5")))
            == others
        )
    )
    (prepared.folder / "blind").touch()
    job.wait()
    assert len(list((prepared.folder / ".snakemake/arrays").glob(f"*/{FAILED}-*"))) == 1
    (prepared.folder / "blind").unlink()
    output = ended(run)
    assert "disappeared from the queue without an exit status" in output
    assert len(NAME.findall(output)) == 2
    check_weights(prepared, local)


def test_cancelled_by_the_user(prepared, local):
    """All tasks, running and waiting: said once, and nothing is submitted again in this run."""
    run = prepared.start_and_wait(EPOCH, {SHARD: WAITS}, "--retries", "1", TARGET)
    arrays = prepared.folder / ".snakemake/arrays"
    wait_until(lambda: list(arrays.glob(f"*/{FAILED}-*/identifier")))
    prepared.cluster.clear()
    output = ended(run, 1)
    assert output.count("cancelled by you or an administrator, not by Snakemake") == 1
    assert "disappeared" not in output
    assert len(NAME.findall(output)) == 1
    assert "Trying to restart job" not in output
    output = prepared.run(TARGET)
    assert 0 < int(submitted(output)[FAILED]) <= SHARDS
    check_weights(prepared, local)


@pytest.mark.parametrize("cluster", ["sge"], indirect=True)
def test_limit_on_submitted_arrays(prepared, local, cluster):
    """Another job of the user takes the only place; when it ends, the run goes on."""

    def limit(number):
        path = prepared.folder / "global"
        lines = cluster.ask("qconf", "-sconf").splitlines()
        others = [line for line in lines if not line.startswith(("#", "max_u_jobs"))]
        path.write_text("\n".join([*others, f"max_u_jobs {number}"]) + "\n")
        cluster.ask("qconf", "-Mconf", str(path))

    cluster.ask("qsub", "-terse", "-N", "other", "-b", "y", "-o", "/dev/null", "-j", "y", "sleep", "4000")
    limit(1)
    try:
        run = prepared.start(TARGET)
        wait_until(lambda: prepared.said("Grid Engine limits the number of submitted jobs"))
        cluster.ask("qdel", "other")
        output, _ = run.communicate()
    finally:
        limit(0)
    assert run.returncode == 0, output
    assert submitted(output)[FAILED] == str(SHARDS)
    check_weights(prepared, local)


@pytest.mark.parametrize("cluster", ["slurm"], indirect=True)
def test_retry_that_no_node_can_take(prepared, local):
    """The first cause is shown; with a limit, the retry requests what there is."""
    memory = ["--retries", "1", "--set-resources", "train_shard:mem_mb=5000"]
    output = prepared.run(TARGET, *prepared.sabotage(EPOCH, {SHARD: "exit 3"}), *memory, status=1)
    [message] = re.findall(
        r"could not be submitted: .*Requested node configuration is not available.*", output
    )
    assert re.search(rf"Before that: train_shard .*task \d+_{SHARD + 1} .*ended with exit status 3", message)
    again = prepared.sabotage(EPOCH, {0: "exit 3"})
    prepared.run(TARGET, *again, *memory, "--arrays-memory-limit", "8000")
    assert prepared.sabotage_happened()
    check_weights(prepared, local)
