"""``itersel preload``: run a command in which steps start at once."""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from itersel.cli.handover import SOCKET_VARIABLE, STEPS, STREAMS, has_streams, inherited_files, likeness
from itersel.cli.signals import exit_process
from itersel.errors import InputError
from itersel.sources import used_modules

# What all steps import; numba imports numpy.ma when it sees the first array.
MODULES = ("itersel.cli.completion", "itersel.cli.warm_up", "itersel.progress", "numpy.ma")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the step."""
    parser.description = (
        f"Run a command in which the steps {', '.join(sorted(STEPS))} start at once: a process that has "
        "loaded libraries and compiled kernels forks a process for each. The profiles for clusters use it."
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="[--] COMMAND", help="command and its arguments"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Become the command, after forking the process that serves it."""
    command = options.command[options.command[:1] == ["--"] :]
    if not command:
        raise InputError("name a command: itersel preload -- COMMAND")
    # new files would take the numbers of closed streams, so that steps start alone then
    if has_streams():
        own, parent = likeness(), os.getpid()
        listener, path = _listen()
        if not os.fork():
            _serve(listener, path, own, parent, options.main)
        os.environ[SOCKET_VARIABLE] = str(path)
    # Python ignores them, and the command would, too
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise InputError(f"{command[0]}: {error.strerror}") from None


def _serve(
    listener: socket.socket, path: Path, own: str, parent: int, main: Callable[[Sequence[str]], int]
) -> NoReturn:
    """Serve until the parent has ended; in a forked process, run a step."""
    from itersel.cli.fork_server import Server

    # a pipe might wait for its end; processes with further files are not served
    null = os.open(os.devnull, os.O_RDWR)
    for number in STREAMS:
        os.dup2(null, number)
    for file in (null, *inherited_files()):
        os.close(file)
    arguments = Server(listener, own, Loader()).serve(parent)
    if arguments is None:
        shutil.rmtree(path.parent, ignore_errors=True)
        os._exit(0)
    end_process(main(arguments))


def end_process(status: int) -> NoReturn:
    """End a forked process; freeing its memory object by object would take a tenth of a second."""
    try:
        sys.stdout.flush()
    except OSError:
        exit_process(status)  # Python reports it
    if threading.active_count() == 1:
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(status)
    exit_process(status)


def _listen() -> tuple[socket.socket, Path]:
    """Return a listening socket in a private folder, and its path."""
    # the length of a path is limited to about 100 bytes
    for parent in (tempfile.gettempdir(), "/tmp"):
        path = Path(tempfile.mkdtemp(prefix="itersel-", dir=parent), "socket")
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(os.fspath(path))
        except OSError as error:
            shutil.rmtree(path.parent)
            problem = error
        else:
            listener.listen()
            return listener, path
    raise InputError(f"no socket can be made: {problem}")


class Loader:
    """Loads what steps need, unless it has been loaded."""

    def __init__(self) -> None:
        self._steps: set[str] = set()
        self._files: set[str] = set()

    def __call__(self, arguments: Sequence[str]) -> None:
        """Load the modules of a step, and what the cache has of their kernels."""
        gc.disable()  # a tenth of the time
        try:
            self._load(arguments[0])
        finally:
            gc.enable()

    def _load(self, step: str) -> None:
        from itersel.cli.linear_algebra import leave_out_linear_algebra
        from itersel.jit import load_kernels
        from itersel.kernel_cache import cache_folder

        if step not in self._steps:
            leave_out_linear_algebra()
            for module in (*MODULES, *used_modules(step, STEPS[step])):
                importlib.import_module(module)
        try:
            files = set(os.listdir(cache_folder()))
        except FileNotFoundError:
            return  # the first step compiles them
        if step not in self._steps or not files <= self._files:
            load_kernels()
        self._steps.add(step)
        self._files |= files
