"""Runs functions and steps in separate processes, forked from one that has loaded everything.

Processes are limited in time, and in memory by RLIMIT_DATA (RLIMIT_AS would also count mapped files and
memory that HDF5 and numba only reserve). At the end, the peak resident memory is checked, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

MEMORY_LIMIT = 4 << 30
TIME_LIMIT = 60.0
TRACEBACK = 70  # exit status after an exception


class Ended(NamedTuple):
    """The end of a process: its status, or minus the signal number; seconds; bytes; output."""

    status: int
    seconds: float
    memory: int
    output: bytes
    errors: str
    timed_out: bool


def run_apart(work: Callable[[], int], folder: Path, streams: Path, seconds: float = TIME_LIMIT) -> Ended:
    """Run a function in a separate process with the working folder `folder`.

    streams
        A folder for its output.
    """
    output, errors = streams / "stdout", streams / "stderr"
    sys.stdout.flush()
    sys.stderr.flush()
    alive, end_of_child = os.pipe()
    start = time.monotonic()
    process = os.fork()
    if process == 0:
        os.close(alive)
        _child(work, folder, output, errors)
    os.close(end_of_child)
    timed_out = not select.select([alive], [], [], seconds)[0]
    if timed_out:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
    os.close(alive)
    _, status, usage = os.wait4(process, 0)
    return Ended(
        os.waitstatus_to_exitcode(status),
        time.monotonic() - start,
        usage.ru_maxrss * 1024,
        output.read_bytes(),
        errors.read_text(errors="replace"),
        timed_out,
    )


def _child(work: Callable[[], int], folder: Path, output: Path, errors: Path) -> None:
    status = TRACEBACK
    try:
        os.setpgid(0, 0)
        for number, path in ((1, output), (2, errors)):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, number)
            os.close(descriptor)
        # also Python's streams, which pytest may have replaced
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
        os.fsync = lambda descriptor: None  # these files need not survive a power failure
        os.chdir(folder)
        status = work()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def run_step(arguments: Sequence[str], folder: Path, streams: Path, seconds: float = TIME_LIMIT) -> Ended:
    """Run a step of the command line."""

    def work() -> int:
        from itersel.cli.main import main

        return main(list(arguments))

    return run_apart(work, folder, streams, seconds)


def call_apart(work: Callable[[], list[str]], folder: Path, streams: Path) -> list[str]:
    """Run a function in a separate process and return its result.

    Raises
    ------
    RuntimeError
        If it fails, which is a bug in the fuzzer.
    """

    def write() -> int:
        print(json.dumps(work()))
        return 0

    ended = run_apart(write, folder, streams)
    if ended.status:
        raise RuntimeError(f"the file could not be damaged (status {ended.status}): {ended.errors}")
    result: list[str] = json.loads(ended.output)
    return result
