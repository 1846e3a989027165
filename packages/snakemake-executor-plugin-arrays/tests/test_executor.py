"""What jobs ask for, and what becomes of them, with stand-ins for Snakemake and the scheduler."""

import asyncio
import errno
import logging
import os
import subprocess
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

from snakemake_executor_plugin_arrays import Executor, ExecutorSettings
from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.failures import Place
from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.schedulers import Request, Status
from snakemake_executor_plugin_arrays.slurm import Slurm
from snakemake_executor_plugin_arrays.waiting import Waiting


def test_snakemake_finds_the_plugin():
    plugin = ExecutorPluginRegistry().get_plugin("arrays")
    assert plugin.executor is Executor


class Job(SimpleNamespace):
    """What the executor needs of Snakemake's jobs."""

    __hash__ = object.__hash__


class Watched(Executor):
    """An executor with two submitted jobs, that notes what it reports."""

    def __init__(self, path, answers, scheduler=None, jobs_per_task=1):
        self.settings = ExecutorSettings(poll_seconds=0, lost_seconds=0)
        self.scheduler = scheduler or Slurm()
        self.logger = logging.getLogger("test")
        self.prepare()
        self.notice_seconds = 0
        self.unreported = 2
        self.complete, self.complete_before = {"7"}, {"7"}
        self.answers, self.reports, self.cancellations = list(answers), [], []
        self.silent = []
        # what the scheduler says of an array when it is asked for it
        self.known = {}
        self.client = SimpleNamespace(
            user="me",
            statuses=self.answer,
            known=lambda array, listed: self.known,
            reason=lambda array: None,
            cancel=lambda **what: self.cancellations.append(what),
        )
        self.workflow = SimpleNamespace(scheduler=SimpleNamespace(error_callback=self.silent.append))
        self.folder = Folder.make(path, ["true", "exit 4"], jobs_per_task)
        self.active, self.jobs = [], []
        for line, shard in ((1, "0"), (2, "1")):
            wildcards = {"epoch": "1", "shard": shard}
            attempts = {"attempt": 1, "restart_times": 1}
            job = Job(name="train", wildcards_dict=wildcards, log=[f"{shard}.log"], **attempts)
            place = {"place": Place(self.folder, line, "7")}
            identifier = f"7_{self.folder.task(line)}"
            self.active.append(SubmittedJobInfo(job, external_jobid=identifier, aux=place))
            self.jobs.append(job)

    def start(self, *lines):
        """Let these jobs begin."""
        for line in lines:
            self.put(line, "running.n1.17.0a0b0c")

    def end(self, line, status):
        """Let a job end."""
        self.put(line, f"ended.{status}.n1.17.0a0b0c")

    def put(self, line, state):
        """Give a job another state."""
        [token] = [path for path in self.folder.path.glob(f"{line}.*") if path.suffix != ".log"]
        token.rename(self.folder.path / f"{line}.{state}")

    def words(self):
        """Return the states of the jobs without what follows."""
        states = self.folder.states()
        return [states[line].word for line in sorted(states)]

    @staticmethod
    def in_background(function):
        future = Future()
        try:
            future.set_result(function())
        except SchedulerError as error:
            future.set_exception(error)
        return future

    def answer(self):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def report_job_success(self, job_info):
        self.reports.append((job_info.job.wildcards_dict["shard"], None))

    def report_job_error(self, job_info, msg=None, **kwargs):
        self.reports.append((job_info.job.wildcards_dict["shard"], msg))

    def look(self, *answers):
        """Return the jobs that are left after a check, perhaps with further answers of the scheduler."""
        self.answers += answers

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


def test_jobs_that_would_fail_again_are_one_failure_and_not_retried(tmp_path):
    """Also if one of them ends later."""
    watched = Watched(tmp_path / "a", [ALIVE, ALIVE])
    watched.folder.log(2).write_text("Building DAG of jobs...\nthe code has been edited\n\n")
    watched.end(2, 78)
    assert watched.look() == ["0"]
    [(shard, message)] = watched.reports
    assert shard == "1"
    assert "ended with exit status 78, so it is not repeated: the code has been edited. Logs" in message
    watched.end(1, 78)
    assert watched.look() == []
    assert watched.silent == watched.jobs[:1]
    assert [job.attempt for job in watched.jobs] == [2, 2]
    assert watched.unreported == 0
    # what waits for a place is not submitted
    assert "would fail, too" in watched.drops[0].why


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
    assert "OUT_OF_MEMORY" in message
    assert "before this job was started" in message
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
    assert "Eqw (can't chdir to /x)" in watched.reports[0][1]
    # of one job, without a word about others
    assert watched.reports[0][1].endswith("qacct -j 7 -t 2. ")


def test_task_that_may_run_in_another_partition_is_no_failure(tmp_path, caplog):
    stuck = {**ALIVE, ("7", 2): Status("PENDING (PartitionTimeLimit)", True, True, hopeless=True)}
    watched = Watched(tmp_path / "a", [stuck, stuck])
    watched.active[1].aux["place"].request = Request(queue="one,two")
    assert watched.look() == ["0", "1"]
    assert "PartitionTimeLimit" in caplog.text
    watched.active[1].aux["place"].request = Request(queue="one")
    assert watched.look() == ["0"]
    assert "will never run" in watched.reports[0][1]


def test_held_task_is_explained_once(tmp_path, caplog):
    held = {**ALIVE, ("7", 2): Status("PENDING (JobHeldUser)", True, True, held=True)}
    watched = Watched(tmp_path / "a", [held, held])
    watched.look()
    watched.look()
    assert [record.message for record in caplog.records] == [
        "Slurm array 7 is on hold: PENDING (JobHeldUser). More: scontrol show job 7_2, or sacct -j 7_2"
    ]
    assert watched.unreported == 2


@pytest.mark.parametrize(
    ("states", "warnings"),
    [
        # one task waits, the other is transferred and runs
        ([("hqw", "t"), ("hqw", "hr"), ("hRwq", "hr")], 1),
        # both run already
        ([("hr", "hr"), ("hr", "hr")], 0),
        # two tasks that are held for different reasons
        ([("hqw", "hRwq")], 1),
        # released, and put on hold again
        ([("hqw", "r"), ("qw", "r"), ("hqw", "r")], 2),
        # a task that is not listed for once
        ([("hqw", "hqw"), (None, None), ("hqw", "hqw")], 1),
    ],
)
def test_array_on_hold_is_explained_once_whatever_its_states(tmp_path, caplog, states, warnings):
    def answer(words):
        return {("7", task): of_letters(word) for task, word in enumerate(words, start=1) if word}

    watched = Watched(tmp_path / "a", [answer(words) for words in states], GridEngine("smp", [], True))
    watched.settings.lost_seconds = 1000
    for _ in states:
        watched.look()
    assert len(caplog.records) == warnings


def of_letters(state):
    """Return the status that the letters of qstat stand for."""
    entry = f"<job_list><JB_job_number>7</JB_job_number><state>{state}</state><tasks>1</tasks></job_list>"
    answer = f"<?xml version='1.0'?><job_info>{entry}</job_info>"
    return GridEngine("smp", [], True).statuses(answer)["7", 1]


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
    assert caplog.text.count("cannot be read") == 1
    assert watched.look() == []
    missing = f"{tmp_path / 'a'} cannot be written to: {os.strerror(errno.ENOENT)}"
    assert [missing in message for _, message in watched.reports] == [True, True]


UNWRITTEN = "ended, but the exit status of the job is missing"


@pytest.mark.parametrize(
    ("word", "started", "text"),
    [
        ("COMPLETED", True, UNWRITTEN),
        ("FAILED", False, "failed before this job was started, without an exit status of the job"),
        ("REVOKED", True, "was ended by the scheduler (REVOKED): killed, out of memory or time"),
        ("REVOKED", False, "was ended by the scheduler (REVOKED) before this job was started: killed"),
        ("TIMEOUT", True, "was ended by the scheduler (TIMEOUT): it ran longer than it requests"),
        ("PREEMPTED", False, "was ended by the scheduler (PREEMPTED) before this job was started: a job"),
    ],
)
def test_what_is_said_of_a_lost_task(tmp_path, word, started, text):
    watched = Watched(tmp_path / "a", [{**ALIVE, ("7", 2): Status(word, False)}])
    if started:
        watched.start(2)
    assert watched.look() == ["0"]
    assert f" task 7_2{' on n1' if started else ''} {text}" in watched.reports[0][1]
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
    assert f"{tmp_path / 'a'} cannot be written to: {os.strerror(number)}. " in watched.reports[0][1]
    assert not (tmp_path / "a/.probe").exists()


def test_lost_task_of_several_jobs(tmp_path):
    """The job that ran is told from the one that was never started; what has ended is kept."""
    watched = Watched(tmp_path / "a", [{("7", 1): Status("TIMEOUT", False)}], jobs_per_task=2)
    watched.end(1, 0)
    assert watched.look() == []
    assert watched.reports[0] == ("0", None)
    assert "TIMEOUT" in watched.reports[1][1]


@pytest.mark.parametrize("jobs_per_task", [1, 2])
def test_array_that_will_never_run_is_one_failure(tmp_path, jobs_per_task):
    """Cancelled at once, reported once, and not submitted again: it would ask for the same."""
    stuck = Status("PENDING (PartitionTimeLimit)", True, hopeless=True)
    watched = Watched(tmp_path / "a", [{("7", 1): stuck, ("7", 2): stuck}], jobs_per_task=jobs_per_task)
    assert watched.look() == []
    assert watched.cancellations == [{"arrays": ["7"]}]
    [(shard, message)] = watched.reports
    assert shard == "0"
    assert "will never run: its state is PENDING (PartitionTimeLimit)" in message
    assert "one other job of this array" in message
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
    watched.end(2, status)
    watched.look()
    assert text in watched.reports[0][1]


def test_task_that_a_node_could_not_start_is_retried(tmp_path):
    """It is revoked: it may start before it is cancelled."""
    stuck = {("7", task): Status("Eqw", True, waiting=True, hopeless=True) for task in (1, 2)}
    watched = Watched(tmp_path / "a", [stuck], GridEngine("smp", [], True))
    assert watched.look() == []
    assert len(watched.reports) == 1
    assert [job.attempt for job in watched.jobs] == [1, 1]
    assert watched.words() == ["revoked", "revoked"]


# ---- tasks that are not listed


def unanswered(array, listed):
    raise SchedulerError("away")


def test_task_that_another_command_shows_is_waited_for(tmp_path, caplog):
    """A site's squeue may answer late."""
    watched = Watched(tmp_path / "a", [])
    watched.known = {1: Status("RUNNING", True), 2: Status("PENDING", True)}
    assert [watched.look({}) for _ in range(3)][-1] == ["0", "1"]
    assert watched.cancellations == []
    assert caplog.text.count("squeue does not list tasks of the Slurm array 7, but scontrol") == 1


def test_what_another_command_says_of_the_end_of_a_task_is_reported(tmp_path):
    watched = Watched(tmp_path / "a", [])
    watched.known = {1: Status("RUNNING", True), 2: Status("OUT_OF_MEMORY", False)}
    assert watched.look({}) == ["0"]
    assert "was ended by the scheduler (OUT_OF_MEMORY)" in watched.reports[0][1]


def test_task_that_ends_while_another_command_is_asked(tmp_path):
    """The list, perhaps from a cache, has lacked it for long; its marker was not there a moment ago."""
    watched = Watched(tmp_path / "a", [{("7", 2): Status("RUNNING", True)}] * 2)
    watched.known = {1: Status("COMPLETED", False)}
    watched.start(1)
    assert sorted(watched.look()) == ["0", "1"]
    watched.end(1, 0)
    assert watched.look() == ["1"]
    assert watched.reports == [("0", None)]


def test_forgotten_task_is_cancelled_and_revoked_before_it_is_given_up(tmp_path):
    watched = Watched(tmp_path / "a", [])
    watched.start(1)
    assert watched.look({}) == ["0", "1"]
    assert watched.cancellations == [{"tasks": [("7", 1), ("7", 2)]}]
    assert watched.words() == ["revoked", "revoked"]
    watched.notice_seconds = 1000
    assert watched.look({}) == ["0", "1"]
    assert watched.reports == []
    watched.notice_seconds = 0
    assert watched.look({}) == []
    assert "disappeared from the queue without an exit status: killed" in watched.reports[0][1]
    assert "without an exit status before this job was started" in watched.reports[1][1]
    assert len(watched.cancellations) == 1


def test_task_that_ends_while_it_is_given_up(tmp_path, monkeypatch):
    """Either it ends, or it is revoked: an exit status in the last moment counts."""
    watched = Watched(tmp_path / "a", [])
    watched.start(1, 2)
    revoke = Folder.revoke

    def end_first(folder, *tasks):
        for task in tasks:
            watched.end(task, {1: 0, 2: 4}[task])
        return revoke(folder, *tasks)

    monkeypatch.setattr(Folder, "revoke", end_first)
    assert watched.look({}) == ["0", "1"]
    assert watched.look({}) == []
    assert watched.reports[0] == ("0", None)
    assert "exit status 4" in watched.reports[1][1]


@pytest.mark.parametrize("answer", [{}, ALIVE])
def test_revoked_task_that_has_stopped(tmp_path, answer):
    """Nobody waits any longer, even if it is still listed."""
    watched = Watched(tmp_path / "a", [])
    watched.notice_seconds = 1000
    watched.start(1, 2)
    watched.look({})
    assert watched.words() == ["revoked", "revoked"]
    watched.put(2, "stopped.n1.17.0a0b0c")
    assert watched.look(answer) == ["0"]
    [(shard, message)] = watched.reports
    assert shard == "1"
    assert " on n1 disappeared from the queue" in message


def test_scheduler_that_cannot_be_asked_for_an_array_loses_no_job(tmp_path):
    watched = Watched(tmp_path / "a", [])
    watched.client.known = unanswered
    assert [watched.look({}) for _ in range(2)][-1] == ["0", "1"]
    assert watched.reports == []


# ---- what people cancel

CANCELLED = Status("CANCELLED", False, cancelled=True)


def test_cancelled_tasks_are_one_failure_and_not_retried(tmp_path):
    """Nor are those submitted that wait for a place, once the whole array has been cancelled."""
    running = {("7", 1): CANCELLED, ("7", 2): Status("RUNNING", True)}
    watched = Watched(tmp_path / "a", [running, {("7", 1): CANCELLED, ("7", 2): CANCELLED}])
    for info in watched.active:
        info.aux["place"].name = "train"
    assert watched.look() == ["1"]
    assert not watched.drops
    assert watched.look() == []
    [drop] = watched.drops
    assert (drop.name, drop.request) == ("train", None)
    [(_, message)] = watched.reports
    assert "was cancelled by you or an administrator" in message
    assert watched.silent == watched.jobs[1:]
    assert [job.attempt for job in watched.jobs] == [2, 2]
    assert watched.unreported == 0


@pytest.mark.parametrize("listed", [True, False])
def test_tasks_cancelled_while_they_waited(tmp_path, listed):
    """Slurm has one status for all of them."""
    rest = {("7", 0): CANCELLED} if listed else {}
    watched = Watched(tmp_path / "a", [{**rest, ("7", 1): Status("RUNNING", True)}])
    watched.known = {} if listed else {0: CANCELLED}
    watched.start(1)
    assert watched.look() == ["0"]
    assert "was cancelled by you or an administrator" in watched.reports[0][1]
    assert watched.cancellations == []


def test_task_that_began_is_not_among_those_that_waited(tmp_path):
    watched = Watched(tmp_path / "a", [{("7", 0): CANCELLED, ("7", 2): Status("RUNNING", True)}])
    watched.start(1)
    assert sorted(watched.look()) == ["0", "1"]
    assert watched.cancellations == [{"tasks": [("7", 1)]}]


KILLED = {("7", 2): Status("OUT_OF_MEMORY", False)}


@pytest.mark.parametrize(("answer", "text"), [(KILLED, "OUT_OF_MEMORY"), ({}, "disappeared")])
def test_task_of_slurm_beside_a_cancelled_one(tmp_path, answer, text):
    """Slurm says what was cancelled, so the other one was not."""
    watched = Watched(tmp_path / "a", [{("7", 1): CANCELLED, **answer}] * 3)
    watched.start(2)
    for _ in range(3):
        watched.look()
    assert watched.active == []
    assert [job.attempt for job in watched.jobs] == [2, 1]
    assert [text in message for shard, message in watched.reports if shard == "1"] == [True]


@pytest.mark.parametrize(
    ("states", "begun", "cancelled"), [(["dr", "r"], 2, True), (["r", "qw"], 1, True), (["r", "r"], 2, False)]
)
def test_grid_engine_forgets_deleted_tasks(tmp_path, states, begun, cancelled):
    """A waiting task can only have been deleted; the last state of a running one may say that it was."""
    listed = {("7", i): Status(state, True, cancelled="d" in state) for i, state in enumerate(states, 1)}
    watched = Watched(tmp_path / "a", [listed, {}, {}], GridEngine("smp", [], True))
    watched.start(*range(1, begun + 1))
    for _ in range(3):
        watched.look()
    assert watched.active == []
    assert [job.attempt for job in watched.jobs] == ([2, 2] if cancelled else [1, 1])
    text = "was cancelled by you or" if cancelled else "disappeared from the queue"
    assert text in watched.reports[0][1]
    assert len(watched.reports) == (1 if cancelled else 2)
    assert watched.words() == ["revoked", "revoked"]


# ---- waiting


def test_array_that_waits_is_reported_ever_more_rarely(tmp_path, caplog):
    down = {("7", task): Slurm().statuses(f"7 {task} PENDING PartitionDown\n")["7", task] for task in (1, 2)}
    watched = Watched(tmp_path / "a", [down] * 3)
    watched.waiting.seconds = 60
    watched.look()
    watched.waiting._since["7"] -= 300
    watched.look()
    watched.look()
    [record] = caplog.records
    why, more = "2 in state PENDING (PartitionDown)", "scontrol show job 7_1, or sacct -j 7_1"
    assert record.message == f"Slurm array 7 has been waiting for 5 min: {why}. More: {more}"


def test_waiting():
    waiting = Waiting(300)

    def due(now, *words):
        tasks = [(("7", number), Status(word, True, word != "R")) for number, word in enumerate(words)]
        return [(seconds, why) for _, seconds, why in waiting.due(tasks, now)]

    assert due(0, "A", "B") == []
    assert due(299, "A", "B") == []
    assert due(301, "B", "B", "A") == [(301, "2 in state B, 1 in state A")]
    assert due(600, "B") == []
    assert due(602, "B") == [(602, "1 in state B")]
    # one that runs starts it anew
    assert due(700, "R", "B") == due(2000, "B") == []
    assert due(2300, "B") == [(300, "1 in state B")]
    # and so does an array that has ended
    assert due(2400) == due(9000, "B") == []


# ---- what was seen or done before


@pytest.mark.parametrize("scheduler", [Slurm(), GridEngine("smp", [], True)])
def test_what_snakemake_cancels_is_not_called_cancelled_by_the_user(tmp_path, scheduler):
    being = Status("dr", True, cancelled=True) if scheduler.leaves_if_removed else CANCELLED
    listed = {("7", 1): being, ("7", 2): being}
    watched = Watched(tmp_path / "a", [{}, listed, {}, {}], scheduler)
    watched.start(1, 2)
    while watched.active:
        watched.look()
    assert [job.attempt for job in watched.jobs] == [1, 1]
    assert all("disappeared from the queue" in message for _, message in watched.reports)


def test_folder_out_of_reach_while_a_task_is_given_up(tmp_path, monkeypatch):
    """No error of a file system ends the thread that reports results."""
    watched = Watched(tmp_path / "a", [])

    def stale(*arguments, **options):
        raise OSError(116, "Stale file handle")

    for name in ("exists", "read_text", "touch", "open", "unlink", "rename"):
        monkeypatch.setattr(f"pathlib.Path.{name}", stale)
    monkeypatch.setattr("os.listdir", stale)
    assert [watched.look({}) for _ in range(3)][-1] == ["0", "1"]
    # what cannot be revoked is not given up: it may be running
    monkeypatch.undo()
    assert [watched.look({}) for _ in range(2)][-1] == []
    assert len(watched.reports) == 2


def test_what_waits_when_snakemake_is_told_to_end_is_not_waited_for(tmp_path):
    """SIGTERM, for example when the time of the job in which Snakemake runs is over."""
    waiting = {("7", 1): Status("RUNNING", True), ("7", 2): Status("PENDING (Priority)", True, waiting=True)}
    watched = Watched(tmp_path / "a", [waiting] * 2)
    assert watched.look() == ["0", "1"]
    watched.workflow.scheduler._user_kill = "graceful"
    assert watched.look() == ["0"]
    assert watched.cancellations == [{"tasks": [("7", 2)]}]
    assert "was not running when Snakemake was told to end, so it was cancelled" in watched.reports[0][1]
    assert watched.unreported == 1


@pytest.mark.parametrize("word", ["FAILED", "NODE_FAIL"])
def test_processes_that_outlive_their_task_are_ended_first(tmp_path, word):
    """Slurm calls a task ended when its shell was killed, or its node is out of reach."""
    answer = {**ALIVE, ("7", 2): Status(word, False)}
    watched = Watched(tmp_path / "a", [answer] * 3)
    watched.start(2)
    watched.notice_seconds = 1000
    assert sorted(watched.look()) == ["0", "1"]
    assert watched.words()[1] == "revoked"
    assert sorted(watched.look()) == ["0", "1"]
    watched.notice_seconds = 0
    assert watched.look() == ["0"]
    assert "failed, without" in watched.reports[0][1] if word == "FAILED" else word in watched.reports[0][1]


def test_array_that_cannot_be_asked_for_in_the_end(tmp_path):
    """What has ended is reported at once; the rest is given up when patience ends, after it was revoked."""
    watched = Watched(tmp_path / "a", [])
    watched.client.known = unanswered
    assert watched.look({("7", 1): Status("TIMEOUT", False)}) == ["1"]
    assert "TIMEOUT" in watched.reports[0][1]
    assert [watched.look({}) for _ in range(2)][-1] == ["1"]
    assert watched.cancellations == []
    watched.settings.patience_seconds = 0
    assert watched.look({}) == ["1"]
    assert watched.words()[1] == "revoked"
    assert watched.look({}) == []
