"""Fixtures shared by unit tests."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.refusals import Fact, check_facts
from tests.systems import make_system

from itersel.cli.main import main


@pytest.fixture(autouse=True)
def silent_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that run in the test's process print only their own messages, however long they take."""
    for name in ("cli.warm_up.SILENT_SECONDS", "run.progress.SILENT_SECONDS", "run.progress.LOG_SECONDS"):
        monkeypatch.setattr(f"itersel.{name}", 1e6)


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small trained system, in a run; tests must not change it."""
    return make_system(tmp_path_factory.mktemp("a run"))


@pytest.fixture
def text_file(tmp_path: Path) -> Callable[[str, Sequence[str]], str]:
    """Return a function that writes lines to a file in the test's folder and returns its path."""

    def write(name: str, lines: Sequence[str]) -> str:
        path = tmp_path / name
        path.write_text("".join(line + "\n" for line in lines))
        return str(path)

    return write


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs a command, which must fail with one line that contains all facts.

    No file in the test's folder may appear or vanish. The function returns the line.
    """

    def check(arguments: Sequence[str | Path], *facts: Fact) -> str:
        before = sorted(tmp_path.rglob("*"))
        capsys.readouterr()
        assert main([*map(str, arguments)]) == 1
        error = capsys.readouterr().err
        name = " ".join(map(str, arguments[: 2 if arguments[0] == "step" else 1]))
        assert error.startswith(f"itersel {name}: ")
        assert error.count("\n") == 1
        check_facts(error, *facts)
        assert sorted(tmp_path.rglob("*")) == before
        return error

    return check


@pytest.fixture
def misused(capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Return a function that runs a command with wrong arguments; the last line must contain all facts."""

    def check(arguments: Sequence[str | Path], *facts: Fact) -> None:
        capsys.readouterr()
        assert main([*map(str, arguments)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("usage: itersel")
        check_facts(error.splitlines()[-1], *facts)

    return check
