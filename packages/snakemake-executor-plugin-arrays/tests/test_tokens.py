"""The files that say in which state a job is."""

import os
from pathlib import Path

import pytest

from snakemake_executor_plugin_arrays import tokens
from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.tokens import State


@pytest.mark.parametrize(
    ("name", "line", "status", "node", "may_run"),
    [
        ("3.waiting", 3, None, None, False),
        ("3.taken.n1.17.0a", 3, None, None, False),
        ("3.awaiting.n1.17.0a", 3, None, "n1", True),
        ("12.running.n1.cluster.org.17.0a", 12, None, "n1.cluster.org", True),
        ("3.ended.0.n1.cluster.org.17.0a", 3, 0, "n1.cluster.org", False),
        ("3.ended.137.n1.17.0a", 3, 137, "n1", False),
        ("3.revoked", 3, None, None, False),
        ("3.revoked.n1.17.0a", 3, None, "n1", True),
        ("3.stopped.n1.17.0a", 3, None, "n1", False),
    ],
)
def test_names_of_tokens(name, line, status, node, may_run):
    found, state = State.of(name)
    assert found == line
    assert state.name(line) == name
    assert (state.status, state.node, state.may_run) == (status, node, may_run)


@pytest.mark.parametrize("name", ["3.log", "task-3.log", "jobs", ".look", "x.waiting", "3"])
def test_other_files_are_no_tokens(name):
    assert State.of(name) is None


def test_token_that_ends_while_it_is_revoked(tmp_path, monkeypatch):
    """Nothing is made anew."""
    folder = Folder.make(tmp_path / "array", ["true"], 1)
    (folder.path / "1.waiting").rename(folder.path / "1.running.n1.17.0a")
    rename = Path.rename

    def end_first(path, new):
        if path.exists():
            rename(path, folder.path / "1.ended.0.n1.17.0a")
        return rename(path, new)

    monkeypatch.setattr(Path, "rename", end_first)
    folder.revoke(1)
    assert tokens.states(folder.path) == {1: State("ended", "0.n1.17.0a")}


def test_token_that_a_list_of_the_folder_lacks_is_revoked(tmp_path, monkeypatch):
    """A file that is renamed while a folder is listed may be missing, or be there twice."""
    folder = Folder.make(tmp_path / "array", ["true", "true"], 2)
    (folder.path / "1.waiting").rename(folder.path / "1.running.n1.17.0a")
    listed, answers = os.listdir, [["2.waiting"], ["1.taken.n1.17.0a", "2.waiting"]]
    monkeypatch.setattr(os, "listdir", lambda path: answers.pop(0) if answers else listed(path))
    assert folder.revoke(1) == set()
    monkeypatch.undo()
    assert {line: state.word for line, state in folder.states().items()} == {1: "revoked", 2: "revoked"}


def test_token_that_is_renamed_each_time_is_not_called_revoked(tmp_path, monkeypatch):
    folder = Folder.make(tmp_path / "array", ["true"], 1)
    monkeypatch.setattr(os, "listdir", lambda path: ["1.taken.n1.17.0a"])
    assert folder.revoke(1) == {1}


def test_last_task_of_an_array_is_revoked_at_once(tmp_path, monkeypatch):
    """It may have fewer jobs than the others: nobody looks for those that do not exist."""
    folder = Folder.make(tmp_path / "array", ["true"] * 3, 2)
    listed, lists = os.listdir, []
    monkeypatch.setattr(os, "listdir", lambda path: lists.append(path) or listed(path))
    assert folder.revoke(2) == set()
    assert len(lists) <= 2
    monkeypatch.undo()
    assert folder.states()[3] == State("revoked")
