"""The executor while it submits: answers, refusals, and submissions without an answer."""

import base64
import errno
import logging
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake_interface_common.exceptions import ApiError

from snakemake_executor_plugin_arrays import Executor, ExecutorSettings
from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.runs import Run, dead_runs
from snakemake_executor_plugin_arrays.schedulers import Request, Status
from snakemake_executor_plugin_arrays.waiting import Drop, Reminders


@pytest.fixture(autouse=True)
def _ctrl_c():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Submitting(Executor):
    """An executor with a scheduler that answers what a test says."""

    def __init__(self, folder, submit=lambda array, request: "7", find_all=lambda names: set()):
        self.silent = []
        # what the scheduler lists at the end
        self.listed = {}
        self.workflow = SimpleNamespace(
            executor_settings=ExecutorSettings(),
            workdir_init=folder,
            scheduler=SimpleNamespace(error_callback=self.silent.append),
        )
        self.dag = SimpleNamespace(needrun_jobs=lambda: [])
        self.logger = logging.getLogger("test")
        self.reports, self.cleared, self.cancellations = [], [], []
        self.answers = SimpleNamespace(
            submit=submit,
            find_all=find_all,
            living=lambda arrays: arrays,
            clear=self.cleared.append,
            cancel=lambda arrays=(), tasks=(): self.cancellations.append([*arrays, *tasks]),
            statuses=lambda timeout: self.listed,
            is_interrupted=False,
        )
        self.__post_init__()
        self.client = self.answers

    def format_job_exec(self, job):
        return "true"

    def format_together(self, jobs, folder, per_task):
        return {1: f"{len(jobs)} of {folder.name}, {per_task} a task"} if per_task > 1 else {}

    def run_job_pre(self, job):
        pass

    def report_job_submission(self, job_info, register_job=True):
        self.reports.append("submitted")

    def report_job_error(self, job_info, msg=None, **kwargs):
        self.reports.append(msg)

    def runs(self):
        return [path for path in self.parent.iterdir() if path.is_dir()]


class Job(SimpleNamespace):
    """What the executor needs of Snakemake's jobs."""

    __hash__ = object.__hash__


def make_jobs(number=2, **changes):
    job = {"name": "train", "resources": {}, "threads": 1, "attempt": 1, "restart_times": 1, **changes}
    return [Job(**job, output=[f"{i}.h5"]) for i in range(number)]


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
    executor = Submitting(folder)
    executor.run_jobs(make_jobs())
    assert executor.reports == ["submitted"] * 2
    assert executor.unreported == 2
    assert executor.submitted == {"7"}
    executor.unreported = 0
    executor.shutdown()
    assert executor.runs() == []
    assert executor.cancellations == []


def test_task_that_waits_to_be_repeated_is_cancelled_at_the_end(folder, caplog):
    """Its job has ended, perhaps on a node that was believed lost. Other arrays are left alone."""
    executor = Submitting(folder)
    executor.run_jobs(make_jobs())
    executor.unreported = 0
    executor.listed = {
        ("7", 1): Status("RUNNING", True),
        ("7", 2): Status("PENDING (BeginTime)", True, waiting=True),
        ("7", 3): Status("CANCELLED", False, waiting=True),
        ("8", 1): Status("PENDING", True, waiting=True),
    }
    executor.shutdown()
    assert executor.cancellations == [[("7", 2)]]
    assert "7_2" in caplog.text


def test_scheduler_that_does_not_answer_at_the_end(folder):
    executor = Submitting(folder)
    executor.run_jobs(make_jobs())
    executor.unreported = 0
    fail = failing(SchedulerError("away"))
    executor.client.statuses = lambda timeout: fail()
    executor.shutdown()
    assert executor.runs() == []


def test_jobs_of_a_task_are_written_together(folder):
    executor = Submitting(folder)
    executor.settings.jobs_per_task = 2
    executor.run_jobs(make_jobs())
    [path] = executor.run.path.glob("train-*")
    first, second = [base64.b64decode(line) for line in (path / "together").read_text().splitlines()]
    assert (first.decode(), second) == (f"2 of {path.name}, 2 a task", b"")


def test_refused(folder):
    executor = Submitting(folder, failing(SchedulerError("no such queue")))
    jobs = make_jobs()
    executor.run_jobs(jobs)
    # not retried
    assert [job.attempt for job in jobs] == [2, 2]
    [message] = executor.reports
    assert "no such queue" in message
    assert message.endswith(" The same is true of one other job of this array (not listed). ")
    assert len(executor.silent) == 1
    executor.shutdown()
    assert executor.runs() == []


def test_jobs_that_no_task_can_run_are_not_submitted(folder):
    """One message for all of them, no retry; the others are submitted."""
    executor = Submitting(folder)
    jobs = [*make_jobs(1), *make_jobs(resources={"tasks": 8}), *make_jobs(1)]
    executor.run_jobs(jobs)
    [message, *others] = executor.reports
    assert message.startswith("train cannot be submitted: resource tasks=8: ")
    assert "one other job" in message
    assert executor.silent == jobs[2:3]
    assert [job.attempt for job in jobs] == [1, 2, 2, 1]
    assert others == ["submitted"] * 2
    assert executor.unreported == 2


@pytest.mark.parametrize(("complexes", "warnings"), [("", 1), ("h_vmem", 0)])
def test_memory_that_is_not_requested(folder, caplog, complexes, warnings):
    executor = Submitting(folder)
    executor.scheduler = GridEngine("smp", filter(None, [complexes]), True)
    for _ in range(2):
        executor.run_jobs(make_jobs(resources={"mem_mb": 500}))
    assert caplog.text.count("Memory (mem_mb) is not requested: set arrays-memory-complex") == warnings


def test_interrupted_while_it_is_submitted(folder):
    """It may be in the scheduler: the next run looks for it."""
    executor = Submitting(folder, failing(KeyboardInterrupt()), failing(SchedulerError("away")))
    with pytest.raises(KeyboardInterrupt):
        executor.run_jobs(make_jobs())
    executor.cancel_jobs([])
    executor.shutdown()
    [left] = executor.runs()
    assert list(dead_runs(executor.parent)) == [left]
    assert len(list(left.glob("*/jobs"))) == 1


def test_what_runs_is_cancelled_and_revoked(folder, put):
    """A second Ctrl-C would leave some of it."""
    executor = Submitting(folder)
    executor.run_jobs(make_jobs())
    [jobs] = executor.parent.glob("*/*/jobs")
    put(jobs.parent, 2, "running.n1.17.0a0b0c")
    executor.cancel_jobs([])
    assert executor.cancellations == [["7"]]
    assert [path.name for path in jobs.parent.glob("*.revoked*")] == ["2.revoked.n1.17.0a0b0c"]
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    executor.shutdown()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_folder_out_of_reach_when_what_runs_is_revoked(folder, put):
    """Other arrays are revoked nevertheless."""
    executor = Submitting(folder, lambda array, request: "7")
    for _ in range(2):
        executor.run_jobs(make_jobs())
    first, second = sorted(path.parent for path in executor.parent.glob("*/*/jobs"))
    put(second, 1, "running.n1.17.0a0b0c")
    (first / "task.sh").unlink()
    (first / "task.sh").mkdir()
    executor.cancel_jobs([])
    executor.shutdown()
    assert (second / "1.revoked.n1.17.0a0b0c").exists()


@pytest.mark.parametrize("grow", [True, False])
def test_retry_that_is_refused_names_the_limits(folder, grow):
    executor = Submitting(folder, failing(SchedulerError("Requested node configuration is not available")))
    executor.settings.retries_grow = grow
    jobs = make_jobs()
    executor.causes[jobs[1]] = "Out of memory. "
    executor.run_jobs(jobs)
    [message] = executor.reports
    assert message.startswith("could not be submitted: Requested node configuration is not available.")
    assert ("at most what arrays-memory-limit" in message) == grow
    assert message.endswith("Before that: Out of memory. ")


def test_refusal_of_memory_that_counts_as_cpus(folder):
    """Slurm does not say that the memory is the reason."""
    said = "sbatch: error: CPU count per node can not be satisfied"
    executor = Submitting(folder, failing(SchedulerError(f"{said} (sbatch --mem=1000M)", answer=said)))
    executor.run_jobs(make_jobs())
    [message] = executor.reports
    assert "MaxMemPerCPU" in message


def test_array_that_may_have_been_submitted_is_ended_before_its_jobs_are_submitted_anew(folder):
    executor = Submitting(
        folder, failing(SchedulerError("no number", uncertain=True)), find_all=lambda names: {"7"}
    )
    executor.run_jobs(make_jobs())
    assert executor.cleared == []
    executor.client.submit = lambda array, request: "8"
    executor.run_jobs(make_jobs())
    assert executor.cleared == [{"7"}]
    assert executor.submitted == {"8"}
    assert executor.unreported == 2


def test_array_that_may_have_been_submitted_and_cannot_be_ended(folder):
    executor = Submitting(folder, failing(SchedulerError("no number", uncertain=True)))
    for clear in (executor.client.clear, failing(SchedulerError("away"))):
        executor.client.clear = clear
        jobs = make_jobs()
        executor.run_jobs(jobs)
        # to be retried
        assert [job.attempt for job in jobs] == [1, 1]
    assert ["away" in report for report in executor.reports] == [False, True]
    assert len(executor.silent) == 2
    executor.shutdown()
    assert len(executor.runs()) == 1


def test_dead_run_of_another_scheduler(folder):
    Run(folder / ".snakemake/arrays", "sge", pytest.fail).close(tidy=False)
    with pytest.raises(ApiError, match="--arrays-scheduler sge"):
        Submitting(folder, None)
    assert len(list((folder / ".snakemake/arrays").glob("*/"))) == 1


def test_time_and_memory_of_a_submitted_task(folder):
    asked = []
    executor = Submitting(folder, submit=lambda array, request: asked.append(request) or "7")
    executor.settings.retries_grow = True
    for time, memory in ((0, 0), (1440, 1500), (9000, 4000)):
        executor.settings.runtime_limit, executor.settings.memory_limit = time, memory
        asking = {"runtime": 500, "mem_mb": 1000, "jobs_per_task": 2}
        executor.run_jobs(make_jobs(resources=asking, attempt=2))
    assert [request.runtime for request in asked] == [2000, 1440, 2000]
    assert [request.memory for request in asked] == [2000, 1500, 2000]


# ---- limits on submitted jobs


FULL = SchedulerError("QOSMaxSubmitJobPerUserLimit", full=True)


class Limited:
    """A scheduler that has room for some tasks, and submits arrays of names that tell their sizes."""

    def __init__(self, room):
        self.room, self.sizes = room, []

    def __call__(self, array, request):
        if array.tasks > self.room:
            raise FULL
        self.room -= array.tasks
        self.sizes.append(array.tasks)
        return str(len(self.sizes))


@pytest.mark.parametrize(("room", "sizes"), [(100, [20]), (11, [10, 1]), (3, [2, 1])])
def test_array_is_split_to_what_fits(folder, caplog, room, sizes):
    limited = Limited(room)
    executor = Submitting(folder, limited)
    executor.run_jobs(make_jobs(20))
    assert limited.sizes == sizes
    assert executor.reports == ["submitted"] * sum(sizes)
    assert executor.unreported == sum(sizes)
    # folders of what was refused are gone
    assert len(list(executor.run.path.glob("*/jobs"))) == len(sizes)
    executor.statuses = {("1", 1): Status("RUNNING", True)}
    executor._retry_backlog()
    assert limited.sizes == sizes
    limited.room = 100
    executor._retry_backlog()
    assert sum(limited.sizes) == 20
    assert len(executor.reports) == 20
    assert caplog.text.count("limits the number of submitted jobs") == (room < 20)


def test_grid_engine_counts_arrays(folder):
    """Half of an array is not accepted either, so it is not tried."""
    limited = Limited(3)
    executor = Submitting(folder, limited)
    executor.scheduler = GridEngine("smp", [], True)
    executor.run_jobs(make_jobs(20))
    assert limited.sizes == []
    limited.room = 20
    executor._retry_backlog()
    assert limited.sizes == [20]


def test_limit_that_no_job_of_the_user_can_end(folder):
    """After a moment in which the scheduler may release the last ones."""
    executor = Submitting(folder, Limited(0))
    executor.run_jobs(make_jobs(3))
    executor._retry_backlog()
    assert executor.reports == []
    executor.idle_since -= 2 * executor.settings.lost_seconds
    executor._retry_backlog()
    [message] = executor.reports
    assert "although no job of yours is in the queue" in message
    assert "QOSMaxSubmitJobPerUserLimit" in message
    assert len(executor.silent) == 2
    assert not executor.backlog


def test_interrupted_run_submits_no_more(folder):
    limited = Limited(1)
    executor = Submitting(folder, limited)
    executor.run_jobs(make_jobs(3))
    executor.cancel_jobs([])
    limited.room = 100
    executor._retry_backlog()
    assert limited.sizes == [1]


def test_submission_that_is_answered_after_an_interrupt_is_cancelled(folder):
    """Another thread cancelled the arrays that it knew."""

    def submit(array, request):
        executor.cancel_jobs([])
        return "9"

    executor = Submitting(folder, submit)
    executor.run_jobs(make_jobs())
    assert executor.cancellations == [[], ["9"]]
    assert executor.client.is_interrupted


def test_time_without_jobs_before_a_limit_does_not_count(folder):
    executor = Submitting(folder, Limited(0))
    executor._retry_backlog()
    assert executor.idle_since is None
    executor.idle_since = -float("inf")
    executor.run_jobs(make_jobs())
    assert executor.reports == []


def test_limit_that_others_fill_is_waited_out(folder, caplog):
    executor = Submitting(folder, failing(SchedulerError("AssocGrpSubmitJobsLimit", full=True)))
    executor.run_jobs(make_jobs())
    executor._retry_backlog()
    executor.idle_since = -float("inf")
    executor._retry_backlog()
    assert executor.reports == []
    assert caplog.text.count("limits the number") == 1
    executor.limit_reminders = Reminders(0)
    executor._retry_backlog()
    assert caplog.text.count("limits the number") == 2


def test_jobs_that_wait_for_a_place_are_dropped_with_their_array(folder):
    executor = Submitting(folder, Limited(1))
    executor.run_jobs(make_jobs(3))
    [batch] = executor.backlog
    executor.drops += [Drop("no", "mix"), Drop("no", "train", Request(memory=9))]
    executor._drop_backlog()
    assert executor.backlog
    executor.drops.append(Drop("is not submitted", "train", batch.request))
    executor._retry_backlog()
    assert not executor.backlog
    assert executor.silent == batch.jobs[1:]
    said = "train is not submitted. The same is true of one other job of this array (not listed). "
    assert executor.reports == ["submitted", said]


def test_jobs_that_are_ready_after_others_were_dropped(folder):
    """What was cancelled concerns the jobs of then, not those of the same rule that follow."""
    executor = Submitting(folder, Limited(100))
    executor.drops.append(Drop("is not submitted, because its array was cancelled", "train"))
    executor.run_jobs(make_jobs())
    assert executor.reports == ["submitted"] * 2


def test_jobs_that_are_dropped_while_one_of_them_is_submitted(folder):
    """By another thread: what is being submitted is not reported, and other rules are not affected."""

    def submit(array, request):
        executor.drops.append(Drop("is not submitted", "train"))
        submitted.append(array.name.rpartition("-")[0])
        return str(len(submitted))

    submitted = []
    executor = Submitting(folder, submit)
    executor.settings.limit = 1
    executor.run_jobs([*make_jobs(), *make_jobs(1, name="mix")])
    assert submitted == ["train", "mix"]
    first, message, last = executor.reports
    assert first == last == "submitted"
    assert message.startswith("train is not submitted.")
    assert executor.unreported == 2


def test_full_disk_after_a_submission(folder, monkeypatch):
    """What is in the queue is not submitted again."""
    limited = Limited(100)
    executor = Submitting(folder, limited)
    fail_to_write("identifier", monkeypatch, errno.ENOSPC)
    executor.run_jobs(make_jobs())
    executor._retry_backlog()
    assert limited.sizes == [2]
    assert executor.reports == ["submitted"] * 2


def fail_to_write(name, monkeypatch, number):
    write = Path.write_text

    def fail(path, text, *arguments, **options):
        if path.name == name:
            raise OSError(number, os.strerror(number), path.name)
        return write(path, text, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", fail)


@pytest.mark.parametrize("ready", [True, False], ids=["ready", "waiting"])
def test_full_disk_while_jobs_are_submitted(folder, caplog, monkeypatch, ready):
    """They wait until there is room, which is said once, and leave nothing behind."""
    executor = Submitting(folder, Limited(100 if ready else 0))
    if not ready:
        executor.run_jobs(make_jobs())
        executor.client.submit = Limited(100)
    caplog.clear()
    with monkeypatch.context() as patch:
        fail_to_write("task.sh", patch, errno.ENOSPC)
        if ready:
            executor.run_jobs(make_jobs())
        executor._retry_backlog()
        executor._retry_backlog()
    said = "task.sh: No space left on device: 2 jobs will be submitted when that has passed"
    assert caplog.messages == [said]
    [run] = executor.runs()
    assert not [path for path in run.iterdir() if path.is_dir()]
    executor._retry_backlog()
    assert executor.reports == ["submitted"] * 2
    assert not executor.backlog


def test_folder_that_cannot_be_written(folder, monkeypatch):
    """That does not pass: the jobs fail, with one message."""
    executor = Submitting(folder, Limited(100))
    fail_to_write("task.sh", monkeypatch, errno.EACCES)
    executor.run_jobs(make_jobs())
    [message] = executor.reports
    assert message.startswith("train could not be submitted: task.sh: Permission denied. ")
    assert not executor.backlog


def test_what_waits_for_a_place_when_snakemake_is_told_to_end(folder):
    executor = Submitting(folder, Limited(1))
    executor.run_jobs(make_jobs(3))
    executor.workflow.scheduler._user_kill = "graceful"
    executor._retry_backlog()
    assert executor.reports[1].startswith("train is not submitted, because Snakemake was told to end.")
    assert not executor.backlog
