"""Jobs that wait for a place: limits on submitted jobs, and full disks."""

import errno
import os

import pytest
from facts import check_facts
from stand_ins import Limited, Submitting, fail_to_write_text, failing, make_jobs

from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.schedulers import Request, Status
from snakemake_executor_plugin_arrays.waiting import Drop, Reminders


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
    assert len(caplog.messages) == (room < 20)


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
    check_facts(message, "QOSMaxSubmitJobPerUserLimit")
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
    assert len(caplog.messages) == 1
    executor.limit_reminders = Reminders(0)
    executor._retry_backlog()
    assert len(caplog.messages) == 2


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
    submitted, message = executor.reports
    assert submitted == "submitted"
    check_facts(message, "train is not submitted", " one other job ")


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
    check_facts(message, "train ")
    assert executor.unreported == 2


def test_full_disk_after_a_submission(folder, monkeypatch):
    """What is in the queue is not submitted again."""
    limited = Limited(100)
    executor = Submitting(folder, limited)
    fail_to_write_text("identifier", monkeypatch, errno.ENOSPC)
    executor.run_jobs(make_jobs())
    executor._retry_backlog()
    assert limited.sizes == [2]
    assert executor.reports == ["submitted"] * 2


@pytest.mark.parametrize("ready", [True, False], ids=["ready", "waiting"])
def test_full_disk_while_jobs_are_submitted(folder, caplog, monkeypatch, ready):
    """They wait until there is room, which is said once, and leave nothing behind."""
    executor = Submitting(folder, Limited(100 if ready else 0))
    if not ready:
        executor.run_jobs(make_jobs())
        executor.client.submit = Limited(100)
    caplog.clear()
    with monkeypatch.context() as patch:
        fail_to_write_text("task.sh", patch, errno.ENOSPC)
        if ready:
            executor.run_jobs(make_jobs())
        executor._retry_backlog()
        executor._retry_backlog()
    [message] = caplog.messages
    check_facts(message, "task.sh", os.strerror(errno.ENOSPC), 2)
    [run] = executor.runs()
    assert not [path for path in run.iterdir() if path.is_dir()]
    executor._retry_backlog()
    assert executor.reports == ["submitted"] * 2
    assert not executor.backlog


def test_folder_that_cannot_be_written(folder, monkeypatch):
    """That does not pass: the jobs fail, with one message."""
    executor = Submitting(folder, Limited(100))
    fail_to_write_text("task.sh", monkeypatch, errno.EACCES)
    executor.run_jobs(make_jobs())
    [message] = executor.reports
    check_facts(message, "train ", "task.sh", os.strerror(errno.EACCES))
    assert not executor.backlog


def test_what_waits_for_a_place_when_snakemake_is_told_to_end(folder):
    executor = Submitting(folder, Limited(1))
    executor.run_jobs(make_jobs(3))
    executor.workflow.scheduler._user_kill = "graceful"
    executor._retry_backlog()
    submitted, message = executor.reports
    assert submitted == "submitted"
    check_facts(message, "train ", " one other job ")
    assert not executor.backlog
