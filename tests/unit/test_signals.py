"""Two quick Ctrl-C: one line, status 130, and no partial file; commands of a run killed by a signal."""

import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from itersel.run.killed import killed_commands

# Prints "ready" at some point of the program, and waits there until it is interrupted or its input ends.
START = """
import sys
def here():
    print("ready", flush=True)
    sys.stdin.read()
"""
WRITING = """
from itersel.cli import weights
from itersel.run.atomic import atomic_path
def export(options):
    with atomic_path(options.output) as temporary:
        temporary.write_text("half")
        here()
weights._export = export
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
weights._export = export
""",
    # numpy turns an interrupt into a different error
    "numpy": """
from itersel.cli import weights
def export(options):
    try:
        here()
    except KeyboardInterrupt:
        raise ImportError("numpy._core.multiarray failed to import") from None
weights._export = export
""",
    "parsing": """
import importlib
importlib.import_module = lambda name: here()
""",
    "leaving": """
import atexit
from itersel.cli import weights
atexit.register(here)
weights._export = lambda options: here()
""",
}
RUN = """
from itersel.cli.main import program
sys.argv = ["itersel", "weights", "export", "w", "--output", "out"]
program()
"""


@contextmanager
def started(folder, code, interrupts=signal.SIG_DFL):
    """Start the program and wait for its end; as in the background of a shell, it may ignore Ctrl-C."""
    settings = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    settings |= {"text": True, "preexec_fn": lambda: signal.signal(signal.SIGINT, interrupts)}
    with subprocess.Popen([sys.executable, "-c", START + code + RUN], cwd=folder, **settings) as process:
        yield process


def wait(process):
    assert process.stdout.readline() == "ready\n"


@pytest.mark.parametrize("place", PLACES)
def test_two_interrupts(tmp_path, place):
    with started(tmp_path, PLACES[place]) as process:
        wait(process)
        process.send_signal(signal.SIGINT)
        if place in ("cleaning", "saying", "leaving"):
            wait(process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert errors == "itersel weights: interrupted\n"
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_background_process_still_ignores_them(tmp_path):
    with started(tmp_path, WRITING, signal.SIG_IGN) as process:
        wait(process)
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 0
    assert (tmp_path / "out").read_text() == "half"


def test_a_second_sigterm_does_not_disturb_the_first(tmp_path):
    """Clusters send it before SIGKILL."""
    with started(tmp_path, PLACES["cleaning"]) as process:
        for _ in range(2):
            wait(process)
            process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (143, "")
    assert list(tmp_path.iterdir()) == []


def test_killed_commands_of_a_log():
    log = """CalledProcessError in file "x.smk", line 3:
Command 'set -euo pipefail;  itersel train --sentences 'a b' &> l' returned non-zero exit status 137.
Command 'set -euo pipefail;  itersel step mix' died with <Signals.SIGSEGV: 11>.
Command 'set -euo pipefail;  itersel decode' returned non-zero exit status 1.
Command 'set -euo pipefail;  itersel step kbest' returned non-zero exit status 130.
"""
    train, mix = killed_commands(log)
    assert train == "killed by SIGKILL: itersel train --sentences 'a b' &> l"
    assert mix == "killed by SIGSEGV: itersel step mix"
