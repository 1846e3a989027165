"""What jobs ask for, and what becomes of them, with stand-ins for Snakemake and the scheduler."""

from __future__ import annotations

import asyncio
import logging
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

from snakemake_executor_plugin_arrays import Executor, ExecutorSettings
from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.executor import (
    Place,
    array_name,
    choose_scheduler,
    in_order,
    job_request,
)
from snakemake_executor_plugin_arrays.schedulers import GridEngine, Slurm, Status


def test_snakemake_finds_the_plugin():
    plugin = ExecutorPluginRegistry().get_plugin("arrays")
    assert plugin.executor is Executor


def test_resources_win_over_settings():
    settings = ExecutorSettings(partition="main", account="ours", extra="--nice=5")
    resources = {"slurm_partition": "long", "slurm_extra": "--exclude='a b'", "mem_mb": 500, "runtime": 30}
    found = job_request(resources, 2, 1, Slurm(), settings)
    assert (found.queue, found.account, found.threads) == ("long", "ours", 2)
    assert (found.memory, found.runtime, found.extra) == (500, 30, ("--nice=5", "--exclude=a b"))
    found = job_request(
        {"sge_project": "mine"}, 1, 1, GridEngine("smp", [], True), replace(settings, queue="q")
    )
    assert (found.queue, found.account, found.memory) == ("q", "mine", None)


def test_retries_grow():
    resources = {"mem_mb": 500, "runtime": 30}
    for grows, memory, runtime in ((True, 1500, 90), (False, 500, 30)):
        found = job_request(resources, 1, 3, Slurm(), ExecutorSettings(retries_grow=grows))
        assert (found.memory, found.runtime) == (memory, runtime)


def test_scheduler_is_chosen(monkeypatch):
    there = {"qsub"}
    monkeypatch.setattr("shutil.which", lambda name: name if name in there else None)
    found = choose_scheduler(ExecutorSettings(memory_complex="h_vmem, tmem", memory_per_job=True))
    assert isinstance(found, GridEngine)
    assert found.complexes == ("h_vmem", "tmem")
    assert not found.per_slot
    with pytest.raises(WorkflowError, match="sbatch is not found"):
        choose_scheduler(ExecutorSettings(scheduler="slurm"))
    with pytest.raises(WorkflowError, match="must be slurm or sge"):
        choose_scheduler(ExecutorSettings(scheduler="pbs"))
    there.clear()
    with pytest.raises(WorkflowError, match="neither sbatch nor qsub"):
        choose_scheduler(ExecutorSettings())


def test_names():
    assert array_name("train_shard", "my experiment.2") == "train_shard.my_experiment.2"
    assert array_name("mix", None) == "mix"
    assert array_name("1st", "x/y") == "j1st.x_y"
    assert len(array_name("x", "y" * 300)) == 80


def test_order():
    assert sorted(["s-10.h5", "s-9.h5", "s-100.h5"], key=in_order) == ["s-9.h5", "s-10.h5", "s-100.h5"]


class Watched(Executor):
    """An executor with two submitted jobs, that notes what it reports."""

    def __init__(self, path, answers, scheduler=None, jobs_per_task=1):
        self.settings = ExecutorSettings(poll_seconds=0, lost_seconds=0)
        self.scheduler = scheduler or Slurm()
        self.logger = logging.getLogger("test")
        self.asked, self.statuses, self.explained, self.unreported = -1.0, None, set(), 2
        self.answers, self.reports, self.cancelled = list(answers), [], []
        self.client = SimpleNamespace(statuses=self.answer, cancel=lambda tasks: self.cancelled.extend(tasks))
        self.folder = Folder.make(path, ["true", "exit 4"], jobs_per_task)
        self.active = []
        for line, shard in ((1, "0"), (2, "1")):
            job = SimpleNamespace(
                name="train", wildcards_dict={"epoch": "1", "shard": shard}, log=[f"{shard}.log"]
            )
            task = self.folder.task(line)
            place = {"place": Place(self.folder, line, "7")}
            self.active.append(SubmittedJobInfo(job, external_jobid=f"7_{task}", aux=place))

    def answer(self):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def report_job_success(self, job_info):
        self.reports.append((job_info.job.wildcards_dict["shard"], None))

    def report_job_error(self, job_info, msg=None, **kwargs):
        self.reports.append((job_info.job.wildcards_dict["shard"], msg))

    def look(self):
        async def collect():
            return [info async for info in self.check_active_jobs(self.active)]

        self.active = asyncio.run(collect())
        return [info.job.wildcards_dict["shard"] for info in self.active]


ALIVE = {("7", 1): Status("RUNNING", True), ("7", 2): Status("RUNNING", True)}


def test_markers_decide(tmp_path):
    watched = Watched(tmp_path / "a", [ALIVE, {}])
    assert watched.look() == ["0", "1"]
    for task in "12":
        subprocess.run(
            ["bash", str(watched.folder.script)], env={"SGE_TASK_ID": task, "PATH": "/bin"}, check=False
        )
    assert watched.look() == []
    assert watched.reports[0] == ("0", None)
    shard, message = watched.reports[1]
    assert shard == "1"
    for part in ("train (epoch 1, shard 1): Slurm task 7_2", "exit status 4", "1.log", "a/2.log", "7_2"):
        assert part in message


def test_task_that_is_gone_is_lost_at_the_second_look(tmp_path):
    """The marker may be on its way when a task has just ended."""
    dead = {**ALIVE, ("7", 2): Status("OUT_OF_MEMORY", False)}
    watched = Watched(tmp_path / "a", [dead, dead])
    watched.settings.lost_seconds = 1000
    assert watched.look() == ["0", "1"]
    watched.settings.lost_seconds = 0
    assert watched.look() == ["0"]
    [(shard, message)] = watched.reports
    assert shard == "1"
    assert "OUT_OF_MEMORY" in message
    assert "before this job was started" in message


def test_task_that_is_started_again_is_not_lost(tmp_path):
    dead = {**ALIVE, ("7", 2): Status("NODE_FAIL", False)}
    watched = Watched(tmp_path / "a", [dead, ALIVE, dead])
    watched.settings.lost_seconds = 1000
    for _ in range(3):
        assert watched.look() == ["0", "1"]
    assert watched.active[1].aux["place"].gone_since is not None
    assert watched.reports == []


def test_scheduler_that_does_not_answer_loses_no_job(tmp_path):
    watched = Watched(tmp_path / "a", [SchedulerError("away")] * 3)
    for _ in range(3):
        assert watched.look() == ["0", "1"]
    assert watched.reports == []


def test_task_in_an_error_state_fails_and_is_cancelled(tmp_path):
    stuck = {**ALIVE, ("7", 2): Status("Eqw", True, hopeless=True)}
    watched = Watched(tmp_path / "a", [stuck], GridEngine("smp", [], True))
    assert watched.look() == ["0"]
    assert watched.cancelled == [("7", 2)]
    assert "Eqw" in watched.reports[0][1]


def test_held_task_is_explained_once(tmp_path, caplog):
    held = {**ALIVE, ("7", 2): Status("PENDING (JobHeldUser)", True, held=True)}
    watched = Watched(tmp_path / "a", [held, held])
    with caplog.at_level(logging.WARNING):
        watched.look()
        watched.look()
    assert [record.message for record in caplog.records] == [
        "Slurm array 7 waits for somebody: PENDING (JobHeldUser)."
        " More: scontrol show job 7_2, or sacct -j 7_2"
    ]
    assert watched.unreported == 2


def test_file_system_out_of_reach_loses_no_job(tmp_path):
    watched = Watched(tmp_path / "a", [ALIVE] * 3)
    (tmp_path / "a").rename(tmp_path / "b")
    assert watched.look() == ["0", "1"]
    (tmp_path / "b").rename(tmp_path / "a")
    (watched.folder.path / "2.status").write_text("")
    assert watched.look() == ["0", "1"]
    (watched.folder.path / "2.status").write_text("0\n")
    assert watched.look() == ["0"]
    assert watched.reports == [("1", None)]
    assert watched.unreported == 1


def test_task_that_could_not_write_its_marker(tmp_path):
    watched = Watched(tmp_path / "a", [{**ALIVE, ("7", 2): Status("COMPLETED", False)}])
    assert watched.look() == ["0"]
    assert "could not write its exit status" in watched.reports[0][1]


def test_lost_task_of_several_jobs(tmp_path):
    """The job that ran is told from the one that was never started; what has ended is kept."""
    watched = Watched(tmp_path / "a", [{("7", 1): Status("TIMEOUT", False)}], jobs_per_task=2)
    (watched.folder.path / "1.status").write_text("0\n")
    assert watched.look() == []
    assert watched.reports[0] == ("0", None)
    assert "TIMEOUT" in watched.reports[1][1]
