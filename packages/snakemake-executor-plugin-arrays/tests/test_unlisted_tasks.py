"""Tasks that a scheduler does not list, or forgets: they are given up, but only after they were revoked."""

import pytest
from facts import check_facts
from stand_ins import ALIVE, Watched

from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.schedulers import Status


def unanswered(array, listed):
    raise SchedulerError("away")


def test_task_that_another_command_shows_is_waited_for(tmp_path, caplog):
    """A site's squeue may answer late."""
    watched = Watched(tmp_path / "a", [])
    watched.known = {1: Status("RUNNING", True), 2: Status("PENDING", True)}
    assert [watched.look({}) for _ in range(3)][-1] == ["0", "1"]
    assert watched.cancellations == []
    [record] = caplog.records
    check_facts(record.message, "squeue", "Slurm array 7", "scontrol")


def test_what_another_command_says_of_the_end_of_a_task_is_reported(tmp_path):
    watched = Watched(tmp_path / "a", [])
    watched.known = {1: Status("RUNNING", True), 2: Status("OUT_OF_MEMORY", False)}
    assert watched.look({}) == ["0"]
    check_facts(watched.reports[0][1], "OUT_OF_MEMORY")


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
    # only the first one had begun
    assert [" on n1 " in message for _, message in watched.reports] == [True, False]
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
    check_facts(watched.reports[1][1], " 4.")


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
    check_facts(message, " on n1 ")


def test_scheduler_that_cannot_be_asked_for_an_array_loses_no_job(tmp_path):
    watched = Watched(tmp_path / "a", [])
    watched.client.known = unanswered
    assert [watched.look({}) for _ in range(2)][-1] == ["0", "1"]
    assert watched.reports == []


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
    check_facts(watched.reports[0][1], "7_2", *([word] if word != "FAILED" else []))


def test_array_that_cannot_be_asked_for_in_the_end(tmp_path):
    """What has ended is reported at once; the rest is given up when patience ends, after it was revoked."""
    watched = Watched(tmp_path / "a", [])
    watched.client.known = unanswered
    assert watched.look({("7", 1): Status("TIMEOUT", False)}) == ["1"]
    check_facts(watched.reports[0][1], "TIMEOUT")
    assert [watched.look({}) for _ in range(2)][-1] == ["1"]
    assert watched.cancellations == []
    watched.settings.patience_seconds = 0
    assert watched.look({}) == ["1"]
    assert watched.words()[1] == "revoked"
    assert watched.look({}) == []
