"""Two quick Ctrl-C: one line, status 130, and no partial file, whenever the second one arrives."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# Prints "ready" at some point of the program, and waits there until it is interrupted or its input ends.
START = """
import sys
def here():
    print("ready", flush=True)
    sys.stdin.read()
"""
WRITING = """
from itersel.cli import weights
from itersel.atomic import atomic_path
def export(options):
    with atomic_path(options.output) as temporary:
        temporary.write_text("half")
        here()
weights.export = export
"""
PLACES = {
    "writing": WRITING,
    # the second signal arrives while the first removes the temporary file
    "cleaning": WRITING
    + """
from pathlib import Path
unlink = Path.unlink
def slow_unlink(path):
    here()
    unlink(path)
Path.unlink = slow_unlink
""",
    # the second one arrives while the message is written, or later
    "saying": WRITING
    + """
from itersel.cli import main
fail = main._fail
def slow_fail(*arguments):
    fail(*arguments)
    here()
main._fail = slow_fail
""",
    "numba": """
import importlib.abc
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "numba.core.types":
            sys.meta_path.remove(self)
            here()
sys.meta_path.insert(0, Finder())
from itersel.cli import weights
def export(options):
    import numba
weights.export = export
""",
    # numpy turns an interrupt into a different error
    "numpy": """
from itersel.cli import weights
def export(options):
    try:
        here()
    except KeyboardInterrupt:
        raise ImportError("numpy._core.multiarray failed to import") from None
weights.export = export
""",
    "parsing": """
import importlib
importlib.import_module = lambda name: here()
""",
    "leaving": """
import atexit
from itersel.cli import weights
atexit.register(here)
weights.export = lambda options: here()
""",
}
RUN = """
from itersel.cli.main import program
sys.argv = ["itersel", "weights", "export", "w", "--output", "out"]
program()
"""


def listen() -> None:
    # background processes of a shell ignore Ctrl-C, and tests inherit this
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("pause", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("place", PLACES)
def test_two_interrupts(tmp_path: Path, place: str, pause: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START + PLACES[place] + RUN],
        cwd=tmp_path,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=listen,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        if place in ("cleaning", "saying", "leaving"):
            assert process.stdout.readline() == "ready\n"
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert errors == "itersel weights: interrupted\n"
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_background_process_still_ignores_them(tmp_path: Path) -> None:

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with subprocess.Popen(
        [sys.executable, "-c", START + WRITING + RUN],
        cwd=tmp_path,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=ignore,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 0
    assert (tmp_path / "out").read_text() == "half"


def test_a_second_sigterm_does_not_disturb_the_first(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START + PLACES["cleaning"] + RUN],
        cwd=tmp_path,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 143
    assert list(tmp_path.iterdir()) == []


def test_messages_are_one_line_for_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from itersel.cli.main import main

    name = str(tmp_path / "a\nb\x1b[31m\u2028c")
    assert main(["weights", "show", name]) == 1
    assert capsys.readouterr().err == (f"itersel weights: {tmp_path}/a\\nb\\x1b[31m\\u2028c: no such file\n")
