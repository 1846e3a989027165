"""The executor while it submits: answers, refusals, and submissions without an answer."""

import base64
import signal

import pytest
from facts import api_error, check_facts
from stand_ins import Submitting, failing, make_jobs

from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.runs import Run, dead_runs
from snakemake_executor_plugin_arrays.schedulers import Status


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
    check_facts(message, "no such queue", " one other job ")
    assert len(executor.silent) == 1
    executor.shutdown()
    assert executor.runs() == []


def test_jobs_that_no_task_can_run_are_not_submitted(folder):
    """One message for all of them, no retry; the others are submitted."""
    executor = Submitting(folder)
    jobs = [*make_jobs(1), *make_jobs(resources={"tasks": 8}), *make_jobs(1)]
    executor.run_jobs(jobs)
    [message, *others] = executor.reports
    check_facts(message, "train ", " tasks=8", " one other job ")
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
    assert len(caplog.messages) == warnings
    for message in caplog.messages:
        check_facts(message, "mem_mb", "arrays-memory-complex")


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
    check_facts(message, "Requested node configuration is not available", "Out of memory. ")
    assert ("arrays-memory-limit" in message) == grow


def test_refusal_of_memory_that_counts_as_cpus(folder):
    """Slurm does not say that the memory is the reason."""
    said = "sbatch: error: CPU count per node can not be satisfied"
    executor = Submitting(folder, failing(SchedulerError(f"{said} (sbatch --mem=1000M)", answer=said)))
    executor.run_jobs(make_jobs())
    [message] = executor.reports
    check_facts(message, "MaxMemPerCPU")


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
    with api_error("--arrays-scheduler sge"):
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
