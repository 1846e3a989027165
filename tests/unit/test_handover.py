"""What a process that hands a step over must have in common with the preloaded process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from itersel.cli.handover import inherited_files, likeness


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
