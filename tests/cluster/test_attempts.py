"""A node is cut off while its task runs, and the task starts again: the first attempt writes nothing more."""

import contextlib
import re
import shutil

import psutil
import pytest
from tests.cluster.clusters import SHARDS, wait_until
from tests.cluster.test_failures import EPOCH, FAILED, SHARD, TARGET, VICTIM, change_configuration
from tests.workflow.conftest import ended

from snakemake_executor_plugin_arrays.tokens import states

pytestmark = pytest.mark.cluster

LINE = SHARD + 1


class CutOff:
    """The processes of an attempt and of its node, stopped as if nobody could reach them."""

    def __init__(self, cluster, job):
        self.job = job
        above = job.parents()
        # what the scheduler starts for each task: all below it belongs to the attempt
        name = {"slurm": "slurmstepd", "sge": "sge_shepherd"}[cluster.key]
        self.keeper = next(process for process in above if process.name().startswith(name))
        self.attempt = self.keeper.children(recursive=True)
        self._each((self.keeper, *self.attempt), psutil.Process.suspend)

    @staticmethod
    def _each(processes, do):
        """Do something with processes; a scheduler that is back may have killed some."""
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                do(process)

    def end_job(self):
        """Kill the command of the job, and let the others go on."""
        self._each([self.job], psutil.Process.kill)
        self._each((self.keeper, *self.attempt), psutil.Process.resume)
        psutil.wait_procs(self.attempt)


@contextlib.contextmanager
def slurm_node_down(cluster, job, array):
    """Cut off the node of a job, and let Slurm start its task on the other one."""
    task = f"{array}_{LINE}"
    node = cluster.ask("squeue", "--noheader", f"--job={task}", "--format=%N").strip()
    daemon = psutil.Process(int((cluster.folder / f"slurmd.{node}.pid").read_text()))
    daemon.suspend()
    cut_off = CutOff(cluster, job)
    try:
        cluster.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        wait_until(lambda: "PENDING" in cluster.ask("squeue", "--noheader", f"--job={task}", "--format=%T"))
        # Slurm delays requeued jobs for two minutes
        cluster.ask("scontrol", "update", f"jobid={task}", "starttime=now")
        yield cut_off
    finally:
        daemon.resume()
        cluster.ask("scontrol", "update", f"nodename={node}", "state=resume")


@contextlib.contextmanager
def grid_engine_host_lost(cluster, job, array):
    """Lose the daemon of the execution host, which forgets the task when it is back."""
    asked = cluster.ask("qconf", "-sconf")
    change_configuration(cluster, asked, {"reschedule_unknown": "00:00:01", "max_unheard": "00:00:10"})
    daemon = psutil.Process(int((cluster.folder / "run/execd.pid").read_text()))
    daemon.suspend()
    cut_off = CutOff(cluster, job)
    # When its daemon ends, the system continues a stopped shepherd, which would continue the job. On one
    # host, two shepherds of a task would also write the same files.
    cut_off.keeper.kill()
    try:
        daemon.kill()
        wait_until(lambda: cluster.ask("qstat", "-s", "r") == "")
        for path in cluster.folder.glob(f"execd/*/active_jobs/{array}.{LINE}"):
            shutil.rmtree(path)
        for path in cluster.folder.glob("execd/*/jobs/*/*/*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    finally:
        change_configuration(cluster, asked, {})
        cluster.control("start", "sge_execd")
    try:
        yield cut_off
    finally:
        # what the lost host has left may have put the queue into an error state
        cluster.ask("qmod", "-cq", "all.q")


LOSE = {"slurm": slurm_node_down, "sge": grid_engine_host_lost}
ORDERS = [pytest.param(name, marks=pytest.mark.slow) for name in ("before", "while")] + ["after"]


@pytest.mark.parametrize("order", ORDERS)
def test_first_attempt_ends(prepared, local, order):
    """Its command is killed before, while or after the second attempt runs the job."""
    run, job = prepared.hold_job(["train", VICTIM], TARGET)
    folder = prepared.project.results / f"experiments/selected/epoch-{EPOCH}"
    wait_until(lambda: len(list(folder.glob("shard-*.h5"))) == SHARDS - 1)
    array = prepared.number_of(FAILED)
    [identifier] = prepared.folder.glob(f".snakemake/arrays/*/{FAILED}-*/identifier")
    first = states(identifier.parent)[LINE].rest

    def second_attempt_is(word):
        # the end of a run removes the folder, and a list may lack what is being renamed
        with contextlib.suppress(FileNotFoundError, KeyError):
            state = states(identifier.parent)[LINE]
            return state.word == word and not state.rest.endswith(first)
        return run.poll() is not None

    with LOSE[prepared.cluster.key](prepared.cluster, job, array) as cut_off:
        wait_until(
            lambda: second_attempt_is({"before": "awaiting", "while": "running", "after": "ended"}[order])
        )
        cut_off.end_job()
        output = ended(run)
    assert "Missing files" not in output
    assert len(re.findall(rf"array \d+ {FAILED}-", output)) == 1
    assert prepared.weights() == local.contents("experiments/*/epoch-*/*.h5")
