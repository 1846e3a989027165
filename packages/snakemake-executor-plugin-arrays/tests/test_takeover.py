"""Runs whose Snakemake was killed, of the same user and of others, with a stand-in for the scheduler."""

import errno
import fcntl
import os
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from facts import api_error, check_facts

from snakemake_executor_plugin_arrays import takeover
from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.commands import SchedulerError, process_owner
from snakemake_executor_plugin_arrays.runs import LOCK, Owner, Run, dead_runs
from snakemake_executor_plugin_arrays.schedulers import Status
from snakemake_executor_plugin_arrays.takeover import end_dead_runs

RUNNING = "running.n1.17.0a0b0c"


class Parent:
    """A folder of runs, and a scheduler that knows some of their arrays."""

    def __init__(self, path):
        self.path = path
        self.warnings, self.cleared = [], []
        self.known, self.living, self.sees_everybody = set(), set(), True
        self.everybody = set()
        self.statuses = {}
        self.client = SimpleNamespace(
            user=process_owner(),
            scheduler=SimpleNamespace(key="slurm", name="Slurm"),
            find_all=self.find_all,
            statuses=lambda everybody: self.statuses,
            living=lambda arrays, everybody: self.living & arrays,
            sees_everybody=lambda: self.sees_everybody,
            clear=self.cleared.append,
        )

    def find_all(self, names, everybody):
        self.everybody.add(everybody)
        return {"7"} if self.known & {name.rpartition("-")[0] for name in names} else set()

    def killed(self, user=None, *, jobs=2, started=0):
        """Return the folder of an array of a killed run."""
        run = Run(self.path, "slurm", pytest.fail)
        folder = Folder.make(run.new_array("train"), ["true"] * jobs, 1)
        for line in range(1, started + 1):
            (folder.path / f"{line}.waiting").rename(folder.path / f"{line}.{RUNNING}")
        run.close(tidy=False)
        if user:
            (run.path / LOCK).write_text(f"{Owner('slurm', user, 'login1', '2026-01-02 03:04:05')}\n")
        return folder

    def end(self, patience=0):
        end_dead_runs(self.path, self.client, patience, self.warnings.append)
        return list(dead_runs(self.path))


@pytest.fixture
def parent(tmp_path):
    return Parent(tmp_path)


@pytest.mark.parametrize("living", [{"7"}, set()], ids=["living", "ended"])
def test_own_arrays_are_cancelled_unless_they_have_ended(parent, living):
    parent.killed(started=1)
    parent.known, parent.living = {"train"}, living
    assert parent.end() == []
    assert parent.cleared == [living] * bool(living)
    assert parent.warnings == ["Cancelling arrays that an earlier run left in Slurm: 7"] * bool(living)
    assert parent.everybody == {False}


@pytest.mark.parametrize(("error", "facts"), [(SchedulerError("away"), ["away"]), (KeyboardInterrupt(), [])])
def test_own_arrays_that_cannot_be_cancelled(parent, error, facts):
    folder = parent.killed()
    parent.client.find_all = mock.Mock(side_effect=error)
    with api_error(*facts):
        parent.end()
    assert folder.script.exists()


def test_started_task_that_the_scheduler_does_not_know_is_revoked(parent, put, monkeypatch):
    """Until it has ended, or must have noticed."""
    folder = parent.killed(started=1)
    waited = []

    def sleep(seconds):
        waited.append(folder.states()[1].word)
        if len(waited) == 3:
            put(folder.path, 1, "stopped.n1.17.0a0b0c")

    monkeypatch.setattr(takeover.time, "sleep", sleep)
    monkeypatch.setattr(Folder, "revoked_for", lambda folder, *tasks: 0)
    assert parent.end(patience=1000) == []
    assert waited == ["revoked"] * 3
    check_facts(parent.warnings[0], "1010 s")


@pytest.mark.parametrize("user", [None, "somebody"])
def test_processes_that_may_have_outlived_their_task(parent, put, monkeypatch, user):
    """Their node was cut off: it is known, and yet they may run."""
    folder = parent.killed(user, started=2)
    parent.known = {"train"}
    parent.statuses = {("7", 1): Status("NODE_FAIL", False), ("7", 2): Status("TIMEOUT", False)}
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        put(folder.path, 1, "stopped.n1.17.0a0b0c")

    monkeypatch.setattr(takeover.time, "sleep", sleep)
    if user:
        with api_error(folder.path.parent, "somebody"):
            parent.end(patience=1000)
        assert waited == []
    else:
        assert parent.end(patience=1000) == []
        assert len(waited) == 1


def test_task_that_does_not_notice_is_given_up(parent, monkeypatch):
    monkeypatch.setattr(takeover, "ENDS_WITHIN", 0)
    monkeypatch.setattr(Folder, "revoked_for", lambda folder, *tasks: 0)
    parent.killed(started=2)
    assert parent.end(patience=0.5) == []
    assert len(parent.warnings) == 1


def test_what_was_revoked_long_ago_is_not_waited_for(parent):
    """As after Ctrl-C, which revokes what it cancels."""
    folder = parent.killed(started=1)
    folder.revoke(1)
    [revoked] = folder.path.glob("1.revoked.*")
    os.utime(revoked, (0, 0))
    assert parent.end(patience=1000) == []
    assert parent.warnings == []


def test_run_of_another_user_is_refused(parent):
    folder = parent.killed("somebody", started=1)
    parent.known, parent.living = {"train"}, {"7"}
    with api_error(folder.path.parent, "somebody", "login1", "2026-01-02 03:04:05", "Slurm: 7."):
        parent.end()
    assert folder.script.exists()
    assert folder.states()[1].word == "running"
    assert parent.everybody == {True}


def test_run_of_another_user_that_has_ended_is_taken_over(parent):
    folder = parent.killed("somebody", started=1)
    parent.known = {"train"}
    assert parent.end() == []
    assert not folder.path.exists()


def test_run_of_another_user_with_jobs_that_are_forgotten_is_refused(parent, put):
    """They may run, and are not ours to end."""
    folder = parent.killed("somebody", started=1)
    with api_error(folder.path.parent, "somebody", "Slurm"):
        parent.end()
    assert folder.states()[1].word == "running"
    put(folder.path, 1, "ended.0.n1.17.0a0b0c")
    assert parent.end() == []


def test_run_whose_user_is_not_known_is_that_of_another(parent, monkeypatch):
    folder = parent.killed()
    parent.known, parent.living = {"train"}, {"7"}
    (folder.path.parent / LOCK).write_text("slurm\n")
    monkeypatch.setattr("pathlib.Path.owner", lambda path: {}[path])
    with api_error(folder.path.parent, "Slurm: 7."):
        parent.end()


def test_run_of_another_user_whose_jobs_are_not_shown_is_refused(parent):
    folder = parent.killed("somebody")
    parent.sees_everybody = False
    with api_error(folder.path.parent, "Slurm"):
        parent.end()
    parent.sees_everybody = True
    assert parent.end() == []


def test_run_of_another_user_that_submitted_nothing(parent):
    folder = parent.killed("somebody")
    folder.remove()
    parent.sees_everybody = False
    assert parent.end() == []


def test_lock_that_can_only_be_read(parent, monkeypatch):
    """Whether it is held can be seen all the same; the run of another user is not passed over."""
    folder = parent.killed("somebody")
    opened = Path.open

    def reading(path, mode="r", *arguments, **options):
        if path.name == LOCK and mode != "r":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", reading)
    assert list(dead_runs(parent.path)) == [folder.path.parent]
    with opened(folder.path.parent / LOCK, "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert list(dead_runs(parent.path)) == []


@pytest.mark.parametrize("part", ["", "{array}", "lock"])
def test_run_that_cannot_be_looked_into_is_refused(parent, monkeypatch, part):
    """Of another user, whose files are his own: nobody sees whether it has ended."""
    folder = parent.killed("somebody", started=1)
    closed = folder.path.parent / part.format(array=folder.path.name)

    def is_closed(path):
        return path == closed or (closed in path.parents)

    def refusing(function):
        def refuse(path, *arguments, **options):
            if is_closed(Path(path)) and not (function is stat and Path(path) == closed):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path, *arguments, **options)

        return refuse

    stat = Path.stat
    for name in ("stat", "open", "read_text"):
        monkeypatch.setattr(Path, name, refusing(getattr(Path, name)))
    monkeypatch.setattr(os, "listdir", refusing(os.listdir))
    with api_error(closed, os.strerror(errno.EACCES)):
        parent.end()
    monkeypatch.undo()
    assert folder.script.exists()
    assert folder.states()[1].word == "running"


def test_interrupted_while_arrays_end(parent):
    parent.killed(started=1)
    parent.known, parent.living = {"train"}, {"7"}
    parent.client.clear = mock.Mock(side_effect=KeyboardInterrupt)
    with api_error():
        parent.end()
