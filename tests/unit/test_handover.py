"""What a process that hands a step over must have in common with the preloaded process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from itersel.cli.handover import SOCKET_VARIABLE, inherited_files, likeness


def test_likeness(monkeypatch: pytest.MonkeyPatch) -> None:
    before = likeness()
    monkeypatch.setenv("ANY_OTHER", "1")
    assert likeness() == before
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert likeness() != before


def test_likeness_of_owner_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step would write files of another group, or read those outside of a container."""
    before = likeness()
    for name, value in (("getresgid", lambda: (1, 2, 3)), ("readlink", lambda path: f"another {path}")):
        with monkeypatch.context() as changed:
            changed.setattr(os, name, value)
            assert likeness() != before
    assert likeness() == before


def test_inherited_files(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as own:
        before = inherited_files()
        os.set_inheritable(own.fileno(), True)
        assert set(inherited_files()) - set(before) == {own.fileno()}


def test_a_signal_ends_a_process_that_waits_for_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(path))
        listener.listen()
        command = [sys.executable, "-m", "itersel.cli.main", "train", "--help"]
        environment = {**os.environ, SOCKET_VARIABLE: str(path)}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        with listener.accept()[0] as connection:
            assert connection.recv(1)
            process.send_signal(signal.SIGTERM)
            # otherwise, it would wait for two minutes
            assert process.wait() == -signal.SIGTERM
