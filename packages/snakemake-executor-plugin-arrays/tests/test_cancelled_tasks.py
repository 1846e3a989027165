"""What people cancel is not submitted again; what Snakemake cancels is not called cancelled by people."""

import pytest
from stand_ins import CANCELLED, Watched

from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.schedulers import Status
from snakemake_executor_plugin_arrays.slurm import Slurm


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
    assert len(watched.reports) == 1
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
    assert len(watched.reports) == 1
    # a cancelled job is not retried
    assert [job.attempt for job in watched.jobs] == [1, 2]
    assert watched.cancellations == []


def test_task_that_began_is_not_among_those_that_waited(tmp_path):
    watched = Watched(tmp_path / "a", [{("7", 0): CANCELLED, ("7", 2): Status("RUNNING", True)}])
    watched.start(1)
    assert sorted(watched.look()) == ["0", "1"]
    assert watched.cancellations == [{"tasks": [("7", 1)]}]


KILLED = {("7", 2): Status("OUT_OF_MEMORY", False)}


@pytest.mark.parametrize(("answer", "text"), [(KILLED, "OUT_OF_MEMORY"), ({}, " on n1 ")])
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
    assert len(watched.reports) == (1 if cancelled else 2)
    assert watched.words() == ["revoked", "revoked"]


@pytest.mark.parametrize("scheduler", [Slurm(), GridEngine("smp", [], True)])
def test_what_snakemake_cancels_is_not_called_cancelled_by_the_user(tmp_path, scheduler):
    being = Status("dr", True, cancelled=True) if scheduler.leaves_if_removed else CANCELLED
    listed = {("7", 1): being, ("7", 2): being}
    watched = Watched(tmp_path / "a", [{}, listed, {}, {}], scheduler)
    watched.start(1, 2)
    while watched.active:
        watched.look()
    # a job that the user cancelled would not be retried
    assert [job.attempt for job in watched.jobs] == [1, 1]
    assert len(watched.reports) == 2
