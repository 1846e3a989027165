"""Tasks that wait or are on hold are explained, but not too often."""

import pytest
from facts import check_facts
from stand_ins import ALIVE, Watched

from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.schedulers import Request, Status
from snakemake_executor_plugin_arrays.slurm import Slurm
from snakemake_executor_plugin_arrays.waiting import Waiting


def test_task_that_may_run_in_another_partition_is_no_failure(tmp_path, caplog):
    stuck = {**ALIVE, ("7", 2): Status("PENDING (PartitionTimeLimit)", True, True, hopeless=True)}
    watched = Watched(tmp_path / "a", [stuck, stuck])
    watched.active[1].aux["place"].request = Request(queue="one,two")
    assert watched.look() == ["0", "1"]
    assert "PartitionTimeLimit" in caplog.text
    watched.active[1].aux["place"].request = Request(queue="one")
    assert watched.look() == ["0"]
    check_facts(watched.reports[0][1], "PartitionTimeLimit")


def test_held_task_is_explained_once(tmp_path, caplog):
    held = {**ALIVE, ("7", 2): Status("PENDING (JobHeldUser)", True, True, held=True)}
    watched = Watched(tmp_path / "a", [held, held])
    watched.look()
    watched.look()
    [record] = caplog.records
    check_facts(
        record.message, "Slurm array 7", "PENDING (JobHeldUser)", "scontrol show job 7_2", "sacct -j 7_2"
    )
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
    check_facts(record.message, "Slurm array 7", "5 min", why, more)


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


def test_what_waits_when_snakemake_is_told_to_end_is_not_waited_for(tmp_path):
    """SIGTERM, for example when the time of the job in which Snakemake runs is over."""
    waiting = {("7", 1): Status("RUNNING", True), ("7", 2): Status("PENDING (Priority)", True, waiting=True)}
    watched = Watched(tmp_path / "a", [waiting] * 2)
    assert watched.look() == ["0", "1"]
    watched.workflow.scheduler._user_kill = "graceful"
    assert watched.look() == ["0"]
    assert watched.cancellations == [{"tasks": [("7", 2)]}]
    assert [shard for shard, _ in watched.reports] == ["1"]
    assert watched.unreported == 1
