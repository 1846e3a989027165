"""Commands of a scheduler that fail, pass, or answer twice: shell scripts stand for the scheduler."""

import errno
import os
import pwd
from dataclasses import replace
from pathlib import Path

import pytest

from snakemake_executor_plugin_arrays import commands
from snakemake_executor_plugin_arrays.commands import Client, SchedulerError
from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.schedulers import Array, Request, Status
from snakemake_executor_plugin_arrays.slurm import Slurm

ARRAY = Array("x-123456", 2, Path("/s"), Path("/"), Path("/l"))


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Return a function that makes a program; the others of its name are not found any more."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(commands.time, "sleep", lambda seconds: None)

    def make(name, text):
        (tmp_path / name).write_text(f"#!/bin/bash\ncd '{tmp_path}'\necho \"$@\" >> {name}.calls\n{text}\n")
        (tmp_path / name).chmod(0o755)
        return lambda: (tmp_path / f"{name}.calls").read_text().splitlines()

    return make


def client(patience=100, said=None):
    return Client(Slurm(), patience, (said if said is not None else []).append)


def grid_engine():
    return Client(GridEngine("smp", [], True), 100, pytest.fail)


def test_submission(programs):
    programs("sbatch", "echo '17;here'")
    assert client().submit(ARRAY, Request()) == "17"


@pytest.mark.parametrize("answer", ["42\n17", "17\n42", "17;here\n42"])
def test_answer_among_other_numbers(programs, answer):
    """The scheduler says which of them has the name of the array."""
    programs("sbatch", f"echo '{answer}'")
    programs("squeue", "echo '42 other'; echo '17 x-123456'")
    assert client().submit(ARRAY, Request()) == "17"


def test_number_that_is_no_answer_cancels_nothing(programs):
    """A wrapper prints a number instead of the answer: it is that of somebody's array."""
    programs("sbatch", "echo 42")
    programs("squeue", "echo '42 other'; echo '17 x-123456'")
    calls = programs("scancel", "")
    said = []
    asking = client(said=said)
    assert asking.submit(ARRAY, Request()) == "42"
    asking.cancel(arrays=["17", "42"], tasks=[("42", 3)])
    assert calls() == ["17"]
    assert "42" in said[0]


@pytest.mark.parametrize("listed", ["echo '17 x-123456'", "", "exit 1"])
def test_array_that_is_not_listed_under_another_name_is_cancelled(programs, listed):
    """It may have ended, or the list be old."""
    programs("sbatch", "echo 17")
    programs("squeue", listed)
    calls = programs("scancel", "")
    asking = client()
    asking.cancel(arrays=[asking.submit(ARRAY, Request())])
    assert calls() == ["17"]


def test_what_a_slow_submission_says_is_told(programs, monkeypatch):
    """Slurm's sbatch tries again by itself for minutes, and says so only to its own terminal."""
    monkeypatch.setattr(commands, "TOLD_AFTER", 0.01)
    busy = "echo 'Slurm temporarily unable to accept job, sleeping and retrying' >&2"
    programs("sbatch", f"{busy}; until [ -e told ]; do /bin/sleep 0.02; done; echo 17")
    said = []

    def tell(message):
        said.append(message)
        if "temporarily unable" in message or len(said) == 1:
            Path(os.environ["PATH"].partition(":")[0], "told").touch()

    assert Client(Slurm(), 100, tell).submit(ARRAY, Request()) == "17"
    assert len(said) == 1
    assert "x-123456" in said[0]


def test_command_that_takes_too_long_is_killed_with_what_it_said(programs):
    programs("sbatch", "echo working >&2; echo 'and waiting'; exec /bin/sleep 1000")
    with pytest.raises(SchedulerError, match="sbatch") as error:
        commands.run(["sbatch"], timeout=1)
    assert error.value.passing
    assert error.value.answer == "working and waiting"


def test_refusal_is_told_at_once(programs):
    """The name of the array, which is in the message, is no reason to try again."""
    calls = programs("sbatch", "echo 'sbatch: error: invalid partition specified: long' >&2; exit 1")
    with pytest.raises(SchedulerError, match="invalid partition specified: long") as error:
        client().submit(replace(ARRAY, name="timeout"), Request())
    assert not error.value.uncertain
    assert len(calls()) == 1


def test_scheduler_out_of_reach_is_asked_again(programs):
    """First whether it has the array: nothing is submitted before it has said that it does not."""
    calls = programs("sbatch", "[ -e up ] && echo 17 && exit; touch up; echo 'Unable to contact' >&2; exit 1")
    questions = programs("squeue", "[ $(wc -l < squeue.calls) = 3 ] || exit 1")
    said = []
    assert client(said=said).submit(ARRAY, Request()) == "17"
    assert (len(calls()), len(questions())) == (2, 3)
    assert all("Unable to contact" in message or "squeue" in message for message in said)


def test_array_whose_answer_was_lost_is_not_submitted_twice(programs):
    calls = programs("sbatch", "echo 'Socket timed out' >&2; exit 1")
    programs("squeue", "echo '16 x-12345'; echo '17 x-123456'")
    assert client().submit(ARRAY, Request()) == "17"
    assert len(calls()) == 1


@pytest.mark.parametrize(("patience", "is_interrupted"), [(-1, False), (100, True)])
def test_asking_again_ends(programs, patience, is_interrupted):
    programs("sbatch", "echo 'Unable to contact' >&2; exit 1")
    programs("squeue", "exit 1")
    asking = client(patience)
    asking.is_interrupted = is_interrupted
    with pytest.raises(SchedulerError, match="Unable to contact") as error:
        asking.submit(ARRAY, Request())
    assert error.value.uncertain


def test_array_of_which_nothing_is_known(programs):
    for answer in ("slurm_load_jobs error: Invalid job id specified", "Job 7 not found"):
        programs("scontrol", f"echo '{answer}' >&2; exit 1")
        assert client().known("7", listed=False) == {}
    programs("sacct", "echo '7_1|TIMEOUT'")
    assert client().known("7", listed=False) == {1: Status("TIMEOUT", False)}
    # what fails for another reason says nothing
    programs("scontrol", "echo 'Protocol authentication error' >&2; exit 1")
    with pytest.raises(SchedulerError, match="Protocol"):
        client().known("7", listed=False)


def test_array_of_grid_engine_that_is_known(programs):
    programs("qstat", "echo 'job_number:   7'")
    assert grid_engine().known("7", listed=False) is None
    assert grid_engine().known("7", listed=True) == {}
    programs("qstat", "echo 'Following jobs do not exist: 7' >&2; exit 1")
    assert grid_engine().known("7", listed=False) == {}


def test_whether_the_jobs_of_others_are_shown(programs):
    programs("scontrol", "echo 'PrivateData = jobs'")
    assert not client().sees_everybody()
    programs("scontrol", "exit 1")
    assert not client().sees_everybody()
    programs("scontrol", "echo 'PrivateData = none'")
    assert client().sees_everybody()


def test_no_number(programs):
    programs("sbatch", "echo thanks")
    with pytest.raises(SchedulerError, match="'thanks'") as error:
        client().submit(ARRAY, Request())
    assert error.value.uncertain


def test_answer_that_cannot_be_read_is_none(programs):
    programs("qstat", "echo '<job_info><a & b></job_info>'")
    with pytest.raises(SchedulerError, match="qstat"):
        grid_engine().statuses()
    with pytest.raises(SchedulerError, match="qstat"):
        grid_engine().find_all({"x"})


def test_user_is_that_of_the_process(monkeypatch):
    monkeypatch.setenv("LOGNAME", "somebody")
    assert client().user == pwd.getpwuid(os.getuid()).pw_name


def test_missing_program(monkeypatch):
    monkeypatch.setenv("PATH", "/no/such/folder")
    with pytest.raises(SchedulerError, match=os.strerror(errno.ENOENT)):
        client().submit(ARRAY, Request())


def test_clearing_waits_for_the_end(programs):
    running = "echo '8 1 RUNNING None'; [ ! -e asked ] || touch gone"
    programs("squeue", f"[ -e gone ] || echo '7 1 RUNNING None'; {running}")
    cancelled = programs("scancel", "touch asked")
    client().clear({"7"})
    assert cancelled()[0] == "7"
    assert not [call for call in cancelled() if "8" in call]


def test_clearing_that_does_not_end(programs):
    programs("squeue", "echo '7 1 RUNNING None'")
    programs("scancel", "true")
    with pytest.raises(SchedulerError, match=r"\b7\b"):
        client(patience=-1).clear({"7"})


def test_environment_of_an_enclosing_job_is_not_handed_on(programs, monkeypatch):
    monkeypatch.setenv("SBATCH_PARTITION", "wrong")
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SQUEUE_PARTITION", "wrong")
    monkeypatch.setenv("SLURM_CONF", "/etc/x")
    programs("sbatch", 'echo "17 $SBATCH_PARTITION$SLURM_JOB_ID$SQUEUE_PARTITION$SLURM_CONF"')
    assert commands.run(["sbatch"]).strip() == "17 /etc/x"


@pytest.mark.parametrize(
    ("why", "has_remedy"), [("(-l h_rt=60) cannot run in queue q", True), ("full", False)]
)
def test_reason_and_remedy(programs, why, has_remedy):
    programs("qstat", f"echo 'scheduling info: {why}'")
    reason = grid_engine().reason("7")
    assert (reason.startswith(f"{why}; "), reason == why) == (has_remedy, not has_remedy)


def test_no_reason(programs):
    programs("qstat", "echo 'job_number: 7'")
    assert grid_engine().reason("7") is None
    assert client().reason("7") is None
