"""What sites and people do to a run: nothing runs twice, and nothing waits without a word."""

import re

import pytest
from tests.cluster.clusters import SHARDS, WAITS, mostly, submitted, wait_until
from tests.cluster.test_failures import EPOCH, FAILED, SHARD, TARGET, VICTIM, change_configuration
from tests.workflow.conftest import ended

from snakemake_executor_plugin_arrays.runs import LOCK, Owner

pytestmark = pytest.mark.cluster

# Answers without jobs to all questions, once there is a file `blind`; commands that cancel do nothing.
SEE = '[ -e blind ] || exec "$real" "$@"'
INVALID = f'{SEE}; echo "Invalid job id specified" >&2; exit 1'
NO_JOBS = (
    f'{SEE}; [ "$1" != -xml ] || exec echo "<job_info/>"; echo "Following jobs do not exist" >&2; exit 1'
)
FORGETS = {
    "slurm": {"squeue": SEE, "scontrol": INVALID, "scancel": SEE},
    "sge": {"qstat": NO_JOBS, "qdel": SEE},
}
NAME = re.compile(rf"array \d+ {FAILED}-")


def check_weights(prepared, local):
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")


@mostly("slurm")
def test_run_of_another_user(prepared, local):
    """It is refused until its tasks have ended."""
    run = prepared.start_and_wait(EPOCH, {SHARD: WAITS}, TARGET)
    number = prepared.number_of(FAILED)
    run.kill()
    run.wait()
    [lock] = prepared.folder.glob(f".snakemake/arrays/*/{LOCK}")
    owner = Owner.of(lock.parent)
    lock.write_text(f"{Owner(owner.scheduler, 'somebody', owner.host, owner.time)}\n")
    output = prepared.run(TARGET, status=1)
    refusal = next(line for line in output.splitlines() if f": {number}." in line)
    for fact in ("somebody", owner.host, owner.time):
        assert str(fact) in refusal
    assert "Traceback" not in output
    assert submitted(output) == {}
    assert prepared.cluster.tasks() > 0
    (prepared.folder / "go").touch()
    wait_until(lambda: prepared.cluster.tasks() == 0)
    before = prepared.project.files()
    output = prepared.run(TARGET)
    assert FAILED not in submitted(output)
    assert prepared.project.keeps(before)
    check_weights(prepared, local)


def test_scheduler_forgets_a_running_task(prepared, local):
    """The task is ended before its job is submitted again: it writes nothing any more."""
    for program, script in FORGETS[prepared.cluster.key].items():
        prepared.replace(program, script)
    further = ["--retries", "1", "--arrays-lost-seconds", "8", "--keep-going", TARGET]
    run, job = prepared.hold_job(["train", VICTIM], *further)
    folder = prepared.project.results / f"experiments/selected/epoch-{EPOCH}"
    wait_until(lambda: len(list(folder.glob("shard-*.h5"))) == SHARDS - 1)
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
    prepared.number_of(FAILED)
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
    asked = cluster.ask("qconf", "-sconf")
    cluster.ask("qsub", "-terse", "-N", "other", "-b", "y", "-o", "/dev/null", "-j", "y", "sleep", "4000")
    change_configuration(cluster, asked, {"max_u_jobs": 1})
    try:
        run = prepared.start(TARGET)
        wait_until(lambda: prepared.said("Grid Engine limits the number of submitted jobs"))
        cluster.ask("qdel", "other")
        output = ended(run)
    finally:
        change_configuration(cluster, asked, {})
    assert submitted(output)[FAILED] == str(SHARDS)
    check_weights(prepared, local)
