"""What users see of failures: whole messages, one of each kind. Other tests compare no words."""

import pytest
from stand_ins import ALIVE, CANCELLED, FULL, Limited, Submitting, Watched, failing, make_jobs

from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.schedulers import Status

JOB = "train (epoch 1, shard 1): Slurm task 7_2"
MORE = "Logs: 1.log. More: scontrol show job 7_2, or sacct -j 7_2. "
OTHERS = "The same is true of one other job of this array (not listed). "
NEVER = Status("PENDING (PartitionTimeLimit)", True, hopeless=True)
# What the scheduler says of the second of two tasks, whether that has begun, and what is said of its job.
LOST = [
    (
        Status("COMPLETED", False),
        True,
        "on n1 ended, but the exit status of the job is missing: perhaps its node cannot write to the "
        "folder.",
    ),
    (
        Status("FAILED", False),
        False,
        "failed before this job was started, without an exit status of the job: the log of the task may say "
        "why.",
    ),
    (
        Status("REVOKED", False),
        True,
        "on n1 was ended by the scheduler (REVOKED): killed, out of memory or time, or node failure.",
    ),
    (
        Status("TIMEOUT", False),
        True,
        "on n1 was ended by the scheduler (TIMEOUT): it ran longer than it requests (`runtime`).",
    ),
    (
        Status("OUT_OF_MEMORY", False),
        True,
        "on n1 was ended by the scheduler (OUT_OF_MEMORY): it used more memory than it requests (`mem_mb`).",
    ),
    (
        Status("PREEMPTED", False),
        False,
        "was ended by the scheduler (PREEMPTED) before this job was started: a job of higher priority took "
        "its place.",
    ),
    (
        CANCELLED,
        True,
        "on n1 was cancelled by you or an administrator, not by Snakemake. The cancelled jobs of this array "
        "are submitted again by the next run, not by this one. To stop a run, press Ctrl-C, or send SIGINT "
        "to Snakemake.",
    ),
    (NEVER, False, "will never run: its state is PENDING (PartitionTimeLimit)."),
]


def message_of(watched, tmp_path):
    """Return the last message, without the folders of the test."""
    watched.look()
    return watched.reports[-1][1].replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(("status", "has_begun", "message"), LOST)
def test_lost_tasks(tmp_path, status, has_begun, message):
    watched = Watched(tmp_path / "a", [{**ALIVE, ("7", 2): status}])
    if has_begun:
        watched.start(2)
    assert message_of(watched, tmp_path) == f"{JOB} {message} {MORE}"


def test_failed_job(tmp_path):
    watched = Watched(tmp_path / "a", [ALIVE])
    watched.end(2, 137)
    assert (
        message_of(watched, tmp_path) == f"{JOB} on n1 ended with exit status 137 (killed by SIGKILL). {MORE}"
    )


def test_job_that_would_fail_again(tmp_path):
    watched = Watched(tmp_path / "a", [ALIVE])
    watched.folder.log(2).write_text("the code has been edited\n")
    watched.end(2, 78)
    message = "on n1 ended with exit status 78, so it is not repeated: the code has been edited."
    assert message_of(watched, tmp_path) == f"{JOB} {message} {MORE.replace('1.log', '1.log, a/2.log')}"


def test_task_that_disappeared(tmp_path):
    watched = Watched(tmp_path / "a", [{("7", 1): Status("RUNNING", True)}] * 3)
    watched.start(2)
    for _ in range(2):
        watched.look()
    message = (
        "on n1 disappeared from the queue without an exit status: killed, deleted, out of memory or time, or "
        "node failure."
    )
    assert message_of(watched, tmp_path) == f"{JOB} {message} {MORE}"


def test_refused_submission(folder):
    executor = Submitting(folder, failing(SchedulerError("no such queue")))
    executor.run_jobs(make_jobs())
    assert executor.reports == [f"could not be submitted: no such queue. {OTHERS}"]


def test_limit_that_no_job_of_the_user_can_end(folder):
    executor = Submitting(folder, Limited(0))
    executor.run_jobs(make_jobs())
    executor._retry_backlog()
    executor.idle_since = -float("inf")
    executor._retry_backlog()
    message = f"train could not be submitted, although no job of yours is in the queue: {FULL}."
    assert executor.reports == [f"{message} {OTHERS}"]
