"""What becomes of the tasks that a scheduler lists."""

import errno
import os
import subprocess
from pathlib import Path

import pytest
from facts import check_facts
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry
from stand_ins import ALIVE, Watched

from snakemake_executor_plugin_arrays import Executor
from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.schedulers import Status
from snakemake_executor_plugin_arrays.slurm import Slurm


def test_snakemake_finds_the_plugin():
    plugin = ExecutorPluginRegistry().get_plugin("arrays")
    assert plugin.executor is Executor


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
    check_facts(message, "train (epoch 1, shard 1): Slurm task 7_2", " 4", "1.log", "a/2.log")


def test_jobs_that_would_fail_again_are_one_failure_and_not_retried(tmp_path):
    """Also if one of them ends later."""
    watched = Watched(tmp_path / "a", [ALIVE, ALIVE])
    watched.folder.log(2).write_text("Building DAG of jobs...\nthe code has been edited\n\n")
    watched.end(2, 78)
    assert watched.look() == ["0"]
    [(shard, message)] = watched.reports
    assert shard == "1"
    # with what it wrote last
    check_facts(message, 78, "the code has been edited")
    watched.end(1, 78)
    assert watched.look() == []
    assert watched.silent == watched.jobs[:1]
    assert [job.attempt for job in watched.jobs] == [2, 2]
    assert watched.unreported == 0
    # what waits for a place is not submitted
    assert watched.drops


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_task_that_is_gone_is_lost_at_the_second_look(tmp_path, is_forgotten):
    """The marker may be on its way when a task has just ended; Slurm may forget the task meanwhile."""
    dead = {**ALIVE, ("7", 2): Status("OUT_OF_MEMORY", False)}
    watched = Watched(tmp_path / "a", [dead, {("7", 1): Status("RUNNING", True)} if is_forgotten else dead])
    watched.settings.lost_seconds = 1000
    assert watched.look() == ["0", "1"]
    watched.settings.lost_seconds = 0
    assert watched.look() == ["0"]
    [(shard, message)] = watched.reports
    assert shard == "1"
    check_facts(message, "OUT_OF_MEMORY")
    assert watched.cancellations == []


def test_task_that_is_started_again_is_not_lost(tmp_path):
    dead = {**ALIVE, ("7", 2): Status("NODE_FAIL", False)}
    watched = Watched(tmp_path / "a", [dead, ALIVE, dead])
    watched.settings.lost_seconds = 1000
    for _ in range(3):
        assert watched.look() == ["0", "1"]
    assert watched.active[1].aux["place"].state.missing_since is not None
    assert watched.reports == []


def test_scheduler_that_does_not_answer_loses_no_job(tmp_path, caplog):
    watched = Watched(tmp_path / "a", [SchedulerError("away")] * 3)
    for _ in range(3):
        assert watched.look() == ["0", "1"]
    assert watched.reports == []
    # not at every look
    assert len(caplog.records) == 1
    watched.answers += [ALIVE, SchedulerError("away")]
    for _ in range(2):
        assert watched.look() == ["0", "1"]
    assert len(caplog.records) == 2


def test_task_in_an_error_state_fails_and_is_cancelled(tmp_path):
    stuck = {**ALIVE, ("7", 2): Status("Eqw", True, hopeless=True)}
    watched = Watched(tmp_path / "a", [stuck], GridEngine("smp", [], True))
    watched.client.reason = lambda array: None if watched.cancellations else "can't chdir to /x"
    assert watched.look() == ["0"]
    assert watched.cancellations == [{"tasks": [("7", 2)]}]
    # of one job, without a word about others, which would come last
    check_facts(watched.reports[0][1], "Eqw (can't chdir to /x)")
    assert watched.reports[0][1].endswith("qacct -j 7 -t 2. ")


def test_file_system_out_of_reach_loses_no_job(tmp_path):
    watched = Watched(tmp_path / "a", [ALIVE] * 3)
    (tmp_path / "a").rename(tmp_path / "b")
    assert watched.look() == ["0", "1"]
    (tmp_path / "b").rename(tmp_path / "a")
    watched.end(2, 0)
    assert watched.look() == ["0"]
    assert watched.reports == [("1", None)]
    assert watched.unreported == 1


@pytest.mark.parametrize("scheduler", [Slurm(), GridEngine("smp", [], True)])
def test_folder_that_does_not_come_back(tmp_path, caplog, scheduler):
    """One warning, and in the end the tasks are lost: whether they had begun cannot be seen."""
    watched = Watched(tmp_path / "a", [ALIVE, ALIVE, {}, {}], scheduler)
    (tmp_path / "a").rename(tmp_path / "b")
    for _ in range(3):
        assert watched.look() == ["0", "1"]
    assert len([record for record in caplog.records if str(tmp_path / "a") in record.message]) == 1
    assert watched.look() == []
    for _, message in watched.reports:
        check_facts(message, tmp_path / "a", os.strerror(errno.ENOENT))


@pytest.mark.parametrize(
    ("word", "started", "facts"),
    [
        ("COMPLETED", True, []),
        ("FAILED", False, []),
        ("REVOKED", True, ["REVOKED"]),
        ("REVOKED", False, ["REVOKED"]),
        ("TIMEOUT", True, ["TIMEOUT"]),
        ("PREEMPTED", False, ["PREEMPTED"]),
    ],
)
def test_what_is_said_of_a_lost_task(tmp_path, word, started, facts):
    """Its node is known only if it began."""
    watched = Watched(tmp_path / "a", [{**ALIVE, ("7", 2): Status(word, False)}])
    if started:
        watched.start(2)
    assert watched.look() == ["0"]
    [(_, message)] = watched.reports
    check_facts(message, " task 7_2 ", *facts)
    assert (" on n1 " in message) == started
    # if the scheduler starts it again, it does nothing
    assert watched.words() == ["waiting", "revoked"]


def fail_to_write(number, monkeypatch):
    """Fail to write bytes as a full disk does, which has room for the names of files."""

    def fail(path, data):
        path.touch()
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "write_bytes", fail)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("exit_status", [None, 1], ids=["lost", "failed"])
def test_full_disk_is_named_where_no_log_can_say_so(tmp_path, monkeypatch, number, exit_status):
    watched = Watched(tmp_path / "a", [{**ALIVE, ("7", 2): Status("FAILED", False)}])
    if exit_status is not None:
        watched.end(2, exit_status)
    with monkeypatch.context() as patch:
        fail_to_write(number, patch)
        assert watched.look() == ["0"]
    check_facts(watched.reports[0][1], tmp_path / "a", os.strerror(number))
    assert not (tmp_path / "a/.probe").exists()


def test_lost_task_of_several_jobs(tmp_path):
    """The job that ran is told from the one that was never started; what has ended is kept."""
    watched = Watched(tmp_path / "a", [{("7", 1): Status("TIMEOUT", False)}], jobs_per_task=2)
    watched.end(1, 0)
    assert watched.look() == []
    assert watched.reports[0] == ("0", None)
    check_facts(watched.reports[1][1], "TIMEOUT")


@pytest.mark.parametrize("jobs_per_task", [1, 2])
def test_array_that_will_never_run_is_one_failure(tmp_path, jobs_per_task):
    """Cancelled at once, reported once, and not submitted again: it would ask for the same."""
    stuck = Status("PENDING (PartitionTimeLimit)", True, hopeless=True)
    watched = Watched(tmp_path / "a", [{("7", 1): stuck, ("7", 2): stuck}], jobs_per_task=jobs_per_task)
    assert watched.look() == []
    assert watched.cancellations == [{"arrays": ["7"]}]
    [(shard, message)] = watched.reports
    assert shard == "0"
    check_facts(message, "PENDING (PartitionTimeLimit)", " one other job ")
    assert watched.silent == watched.jobs[1:]
    assert [job.attempt for job in watched.jobs] == [2, 2]
    assert watched.unreported == 0


def test_array_is_given_up_when_snakemake_knows_all_of_its_jobs(tmp_path):
    """What is added to the list of jobs later would be found cancelled, and reported job by job."""
    stuck = Status("PENDING (PartitionTimeLimit)", True, hopeless=True)
    watched = Watched(tmp_path / "a", [{("7", 1): stuck, ("7", 2): stuck}] * 4)
    watched.complete, watched.complete_before = set(), set()
    every = watched.active
    watched.active = every[:1]
    assert watched.look() == ["0"]
    # the list was made before the last job was added
    watched.complete.add("7")
    assert watched.look() == ["0"]
    watched.active = every
    assert watched.look() == []
    assert watched.cancellations == [{"arrays": ["7"]}]
    assert len(watched.reports) == 1


@pytest.mark.parametrize(
    ("status", "log", "facts"),
    [
        (137, "", ["137", "SIGKILL"]),
        (128 + 99, "", ["227", "99"]),
        (1, "CalledProcessError: Command 'x' died with <Signals.SIGSEGV: 11>.", ["SIGSEGV"]),
        (1, "CalledProcessError: Command 'x' returned non-zero exit status 137.", ["SIGKILL"]),
        (1, "CalledProcessError: Command 'x' returned non-zero exit status 1.", [" 1."]),
        (1, "no log", [" 1."]),
    ],
)
def test_signal_is_named(tmp_path, status, log, facts):
    watched = Watched(tmp_path / "a", [ALIVE])
    watched.folder.log(2).write_text("x" * 200_000 + log)
    watched.end(2, status)
    watched.look()
    check_facts(watched.reports[0][1], *facts)


def test_task_that_a_node_could_not_start_is_retried(tmp_path):
    """It is revoked: it may start before it is cancelled."""
    stuck = {("7", task): Status("Eqw", True, waiting=True, hopeless=True) for task in (1, 2)}
    watched = Watched(tmp_path / "a", [stuck], GridEngine("smp", [], True))
    assert watched.look() == []
    assert len(watched.reports) == 1
    assert [job.attempt for job in watched.jobs] == [1, 1]
    assert watched.words() == ["revoked", "revoked"]
