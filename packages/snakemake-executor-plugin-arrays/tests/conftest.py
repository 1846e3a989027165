"""What several tests need."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stand_ins import Site

from snakemake_executor_plugin_arrays import Executor

# As a task on the node n1 names itself.
ATTEMPT = "n1.17.0a0b0c"

Put = Callable[[Path, int, str], None]


@pytest.fixture
def put() -> Put:
    """Return a function that gives a job of an array, in this folder and line, another state."""

    def renamed(folder: Path, line: int, state: str) -> None:
        [token] = [path for path in folder.glob(f"{line}.*") if path.suffix != ".log"]
        token.rename(folder / f"{line}.{state}")

    return renamed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder in which an executor submits; what it makes of Ctrl-C is undone."""
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(Executor.__mro__[1], "shutdown", lambda self: None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield tmp_path
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Return a site without arrays; what it has started is killed in the end."""
    found = Site(tmp_path)
    yield found
    found.end()
