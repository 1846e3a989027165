"""What jobs ask for, and what becomes of them, with stand-ins for Snakemake and the scheduler."""

from __future__ import annotations

import asyncio
import logging
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest
from snakemake_interface_common.exceptions import ApiError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

from snakemake_executor_plugin_arrays import Executor, ExecutorSettings
from snakemake_executor_plugin_arrays.arrays import Folder, Run, dead_runs
from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.failures import Place, killed_commands
from snakemake_executor_plugin_arrays.requests import (
    array_name,
    choose_scheduler,
    in_order,
    job_request,
    task_request,
)
from snakemake_executor_plugin_arrays.schedulers import GridEngine, Request, Slurm, Status


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
    with pytest.raises(ApiError, match="sbatch is not found"):
        choose_scheduler(ExecutorSettings(scheduler="slurm"))
    with pytest.raises(ApiError, match="must be slurm or sge"):
        choose_scheduler(ExecutorSettings(scheduler="pbs"))
    there.clear()
    with pytest.raises(ApiError, match="neither sbatch nor qsub"):
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
        self.unreadable = set()
        self.answers, self.reports, self.cancelled = list(answers), [], []
        self.silent = []
        self.client = SimpleNamespace(statuses=self.answer, cancel=lambda **what: self.cancelled.append(what))
        self.workflow = SimpleNamespace(scheduler=SimpleNamespace(error_callback=self.silent.append))
        self.folder = Folder.make(path, ["true", "exit 4"], jobs_per_task)
        self.active = []
        for line, shard in ((1, "0"), (2, "1")):
            job = SimpleNamespace(
                name="train",
                wildcards_dict={"epoch": "1", "shard": shard},
                log=[f"{shard}.log"],
                attempt=1,
                restart_times=1,
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
    assert watched.cancelled == [{"tasks": [("7", 2)]}]
    assert "Eqw" in watched.reports[0][1]


def test_task_that_may_run_in_another_partition_is_no_failure(tmp_path, caplog):
    stuck = {**ALIVE, ("7", 2): Status("PENDING (PartitionTimeLimit)", True, hopeless=True)}
    watched = Watched(tmp_path / "a", [stuck, stuck])
    watched.active[1].aux["place"].several_queues = True
    assert watched.look() == ["0", "1"]
    assert "PartitionTimeLimit" in caplog.text
    watched.active[1].aux["place"].several_queues = False
    assert watched.look() == ["0"]
    assert "will never run" in watched.reports[0][1]


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


def test_folder_that_does_not_come_back(tmp_path, caplog):
    """One warning, and in the end the tasks are lost."""
    watched = Watched(tmp_path / "a", [ALIVE, ALIVE, {}])
    (tmp_path / "a").rename(tmp_path / "b")
    assert watched.look() == ["0", "1"]
    assert watched.look() == ["0", "1"]
    assert caplog.text.count("cannot be read") == 1
    assert watched.look() == []
    assert len(watched.reports) == 2


class Submitting(Executor):
    """An executor with a scheduler that answers what a test says."""

    def __init__(self, folder, submit, find_all=lambda names: set()):
        self.silent = []
        self.workflow = SimpleNamespace(
            executor_settings=ExecutorSettings(),
            workdir_init=folder,
            scheduler=SimpleNamespace(error_callback=self.silent.append),
        )
        self.dag = SimpleNamespace(needrun_jobs=lambda: [])
        self.logger = logging.getLogger("test")
        self.reports, self.cleared, self.cancelled = [], [], []
        self.answers = SimpleNamespace(
            submit=submit,
            find_all=find_all,
            living=lambda arrays: arrays,
            clear=self.cleared.append,
            cancel=lambda arrays: self.cancelled.extend(arrays),
        )
        self.__post_init__()
        self.client = self.answers

    def format_job_exec(self, job):
        return "true"

    def run_job_pre(self, job):
        pass

    def report_job_submission(self, job_info, register_job=True):
        self.reports.append("submitted")

    def report_job_error(self, job_info, msg=None, **kwargs):
        self.reports.append(msg)

    def runs(self):
        return [path for path in self.parent.iterdir() if path.is_dir()]


def two_jobs():
    return [
        SimpleNamespace(name="train", output=[f"{i}.h5"], resources={}, threads=1, attempt=1, restart_times=1)
        for i in range(2)
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(Executor.__mro__[1], "shutdown", lambda self: None)
    return tmp_path


def failing(error):
    def fail(*arguments):
        raise error

    return fail


def test_submitted_and_reported(folder):
    executor = Submitting(folder, lambda array, request: "7")
    executor.run_jobs(two_jobs())
    assert executor.reports == ["submitted"] * 2
    assert executor.unreported == 2
    assert executor.submitted == {"7"}
    executor.unreported = 0
    executor.shutdown()
    assert executor.runs() == []


def test_refused(folder):
    executor = Submitting(folder, failing(SchedulerError("no such queue")))
    executor.run_jobs(two_jobs())
    [message] = executor.reports
    assert "no such queue" in message
    assert message.endswith(" The same is true of one other job of this array, not listed here. ")
    assert len(executor.silent) == 1
    executor.shutdown()
    assert executor.runs() == []


def test_interrupted_while_it_is_submitted(folder):
    """It may be in the scheduler: the next run looks for it."""
    executor = Submitting(folder, failing(KeyboardInterrupt()), failing(SchedulerError("away")))
    with pytest.raises(KeyboardInterrupt):
        executor.run_jobs(two_jobs())
    executor.cancel_jobs([])
    executor.shutdown()
    [left] = executor.runs()
    assert list(dead_runs(executor.parent)) == [left]
    assert len(list(left.glob("*/jobs"))) == 1


def test_array_that_may_have_been_submitted_is_ended_before_its_jobs_are_submitted_anew(folder):
    answers = [SchedulerError("no number", uncertain=True), "8"]

    def submit(array, request):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    executor = Submitting(folder, submit, lambda names: {"7"})
    executor.run_jobs(two_jobs())
    assert executor.cleared == []
    executor.run_jobs(two_jobs())
    assert executor.cleared == [{"7"}]
    assert executor.submitted == {"8"}
    assert executor.unreported == 2


def test_array_that_may_have_been_submitted_and_cannot_be_ended(folder):
    executor = Submitting(folder, failing(SchedulerError("no number", uncertain=True)))
    executor.run_jobs(two_jobs())
    executor.client.clear = failing(SchedulerError("away"))
    executor.run_jobs(two_jobs())
    assert ["away" in report for report in executor.reports] == [False, True]
    assert len(executor.silent) == 2
    executor.shutdown()
    assert len(executor.runs()) == 1


def test_dead_run_of_another_scheduler(folder):
    Run(folder / ".snakemake/arrays", "sge", pytest.fail).close(tidy=False)
    with pytest.raises(ApiError, match="--profile sge"):
        Submitting(folder, None)
    assert len(list((folder / ".snakemake/arrays").glob("*/"))) == 1


def test_task_that_could_not_write_its_marker(tmp_path):
    watched = Watched(tmp_path / "a", [{**ALIVE, ("7", 2): Status("COMPLETED", False)}])
    assert watched.look() == ["0"]
    assert (
        " task 7_2 has ended, and could not write its exit status: is the disk full, or a quota used up?"
        in watched.reports[0][1]
    )


@pytest.mark.parametrize(
    ("word", "started", "text"),
    [
        ("FAILED", False, "has failed before this job was started, without an exit status of the job"),
        ("TIMEOUT", True, "was ended from outside (TIMEOUT): killed, over its memory or time"),
        ("TIMEOUT", False, "was ended from outside (TIMEOUT) before this job was started: killed"),
        (None, True, "has left the scheduler without an exit status: killed"),
    ],
)
def test_what_is_said_of_a_lost_task(tmp_path, word, started, text):
    status = {("7", 2): Status(word, False)} if word else {}
    watched = Watched(tmp_path / "a", [{("7", 1): Status("RUNNING", True), **status}])
    if started:
        (watched.folder.path / "2.running").write_text("n1\n")
    assert watched.look() == ["0"]
    assert f" task 7_2{' on n1' if started else ''} {text}" in watched.reports[0][1]


def test_lost_task_of_several_jobs(tmp_path):
    """The job that ran is told from the one that was never started; what has ended is kept."""
    watched = Watched(tmp_path / "a", [{("7", 1): Status("TIMEOUT", False)}], jobs_per_task=2)
    (watched.folder.path / "1.status").write_text("0\n")
    assert watched.look() == []
    assert watched.reports[0] == ("0", None)
    assert "TIMEOUT" in watched.reports[1][1]


@pytest.mark.parametrize("jobs_per_task", [1, 2])
def test_array_that_will_never_run_is_one_failure(tmp_path, jobs_per_task):
    """Cancelled at once, reported once, and not submitted again: it would ask for the same."""
    stuck = Status("PENDING (PartitionTimeLimit)", True, hopeless=True)
    watched = Watched(tmp_path / "a", [{("7", 1): stuck, ("7", 2): stuck}], jobs_per_task=jobs_per_task)
    jobs = [info.job for info in watched.active]
    assert watched.look() == []
    assert watched.cancelled == [{"arrays": ["7"]}]
    [(shard, message)] = watched.reports
    assert shard == "0"
    assert "will never run: its state is PENDING (PartitionTimeLimit)" in message
    assert "one other job of this array" in message
    assert watched.silent == jobs[1:]
    assert [job.attempt for job in jobs] == [2, 2]
    assert watched.unreported == 0


def test_time_of_a_task():
    request = Request(runtime=240)
    assert task_request(request, 8, 0).runtime == 1920
    assert task_request(request, 8, 1440).runtime == 1440
    assert task_request(request, 2, 1440).runtime == 480
    assert task_request(Request(), 8, 1440).runtime is None


def test_time_of_a_submitted_task(folder):
    asked = []
    executor = Submitting(folder, lambda array, request: asked.append(request.runtime) or "7")
    jobs = two_jobs()
    for job in jobs:
        job.resources = {"runtime": 1000, "jobs_per_task": 2}
    executor.run_jobs(jobs)
    executor.settings.runtime_limit = 1440
    executor.run_jobs(jobs)
    assert asked == [2000, 1440]


@pytest.mark.parametrize(
    ("status", "log", "text"),
    [
        (137, "", "exit status 137 (killed by SIGKILL)"),
        (128 + 99, "", "exit status 227 (killed by signal 99)"),
        (1, "CalledProcessError: Command 'x' died with <Signals.SIGSEGV: 11>.", "was killed by SIGSEGV"),
        (1, "CalledProcessError: Command 'x' returned non-zero exit status 137.", "was killed by SIGKILL"),
        (1, "CalledProcessError: Command 'x' returned non-zero exit status 1.", "exit status 1."),
        (1, "no log", "exit status 1."),
    ],
)
def test_signal_is_named(tmp_path, status, log, text):
    watched = Watched(tmp_path / "a", [ALIVE])
    watched.folder.log(2).write_text("x" * 200_000 + log)
    (watched.folder.path / "2.status").write_text(f"{status}\n")
    watched.look()
    assert text in watched.reports[0][1]


def test_killed_commands_of_a_log():
    log = """CalledProcessError in file "x.smk", line 3:
Command 'set -euo pipefail;  itersel train --shard 'a b' &> l' returned non-zero exit status 137.
Command 'set -euo pipefail;  itersel mix' died with <Signals.SIGSEGV: 11>.
Command 'set -euo pipefail;  itersel decode' returned non-zero exit status 1.
"""
    assert killed_commands(log) == [
        "killed by SIGKILL: itersel train --shard 'a b' &> l",
        "killed by SIGSEGV: itersel mix",
    ]


def test_task_that_a_node_could_not_start_is_retried(tmp_path):
    stuck = {("7", task): Status("Eqw", True, hopeless=True) for task in (1, 2)}
    watched = Watched(tmp_path / "a", [stuck], GridEngine("smp", [], True))
    jobs = [info.job for info in watched.active]
    assert watched.look() == []
    assert len(watched.reports) == 1
    assert [job.attempt for job in jobs] == [1, 1]


def test_submission_after_one_that_is_uncertain_is_retried(folder):
    executor = Submitting(folder, failing(SchedulerError("no number", uncertain=True)))
    for clear in (executor.client.clear, failing(SchedulerError("away"))):
        executor.client.clear = clear
        jobs = two_jobs()
        executor.run_jobs(jobs)
        assert [job.attempt for job in jobs] == [1, 1]


def test_refused_submission_is_not_retried(folder):
    executor = Submitting(folder, failing(SchedulerError("no such queue")))
    jobs = two_jobs()
    executor.run_jobs(jobs)
    assert [job.attempt for job in jobs] == [2, 2]
