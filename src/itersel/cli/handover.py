"""Hand a step over to the process of ``itersel preload``, which has loaded what the step needs.

This is the first that an `itersel` process does, so this module imports little.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

# Path of the socket of `itersel preload`.
SOCKET_VARIABLE = "ITERSEL_PRELOADED"
# File for what a process outside of a job's process tree used for it; see snakemake-executor-plugin-arrays.
USAGE_VARIABLE = "ARRAYS_USAGE"

# Steps that can be handed over, and the functions that they run, whose modules are loaded for them. None uses
# linear algebra, so the number of threads of its libraries, fixed when they are loaded, does not matter.
STEPS = {"decode": "run", "forest": "run", "grammar": "_extract", "kbest": "run", "train": "train"}

# Beginnings of the names of variables that are read when Python and its libraries are loaded.
LOADING = ("PYTHON", "NUMBA", "LD_", "LC_", "LANG", "TZ", "HDF5", "NPY_", "MALLOC_", "GLIBC_")

# Signals that end a process unless it handles them, and that other processes send.
SIGNALS = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGXCPU,
)

ACCEPTED = b"+"
# Number of bytes of a request.
LENGTH = struct.Struct("!Q")
# Standard input, output and error; the working directory is sent with them.
STREAMS = (0, 1, 2)
# Seconds until a process that waits for an answer gives up and runs its step itself.
PATIENCE = 120.0
# Seconds between two looks whether a signal has arrived.
SIGNAL_SECONDS = 0.1


def likeness() -> str:
    """Return what a process has from its start and cannot take over from another one."""
    umask = os.umask(0o077)
    os.umask(umask)
    limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    signals = [number for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN]
    return repr(
        [
            (sys.executable, sys.version, tuple(sys.flags), sys.warnoptions, __file__),
            sorted(item for item in os.environ.items() if item[0].startswith(LOADING)),
            [(name, resource.getrlimit(getattr(resource, name))) for name in limits],
            (umask, os.getpriority(os.PRIO_PROCESS, 0), sorted(os.sched_getaffinity(0))),
            # containers see other files under the same names
            (os.getresuid(), os.getresgid(), sorted(os.getgroups()), os.readlink("/proc/self/ns/mnt")),
            (sorted(map(int, signals)), sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ())))),
        ]
    )


def hand_over(arguments: Sequence[str]) -> None:
    """Let the preloaded process run a step, and end as it ends; return if this process has to run it."""
    path = os.environ.get(SOCKET_VARIABLE)
    if not path or not arguments or arguments[0] not in STEPS or not has_only_streams():
        return
    with socket.socket(socket.AF_UNIX) as connection:
        own = likeness()
        # Until it is known who runs the step, signals wait.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            if not _is_accepted(connection, path, _request(arguments, own)):
                return
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, lambda number, frame: _forward(connection, number, frame))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        answer = _answer(connection)
    if not answer:
        os.write(2, b"itersel: the process of `itersel preload` has been killed\n")
        os._exit(1)
    _report_usage(answer)
    end_like(answer["status"])


def _request(arguments: Sequence[str], own: str) -> bytes:
    content = {"likeness": own, "arguments": list(arguments), "environment": dict(os.environ)}
    return json.dumps(content).encode()


def _is_accepted(connection: socket.socket, path: str, request: bytes) -> bool:
    """Send a request; tell whether another process runs the step."""
    try:
        folder = os.open(".", os.O_PATH)
        try:
            connection.settimeout(PATIENCE)
            connection.connect(path)
            # a folder of this name may have been made by another user since
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            if struct.unpack("3i", peer)[1] != os.geteuid():
                return False
            socket.send_fds(connection, [LENGTH.pack(len(request))], [*STREAMS, folder])
        finally:
            os.close(folder)
        connection.sendall(request)
        is_accepted = _is_answered(connection) and connection.recv(1) == ACCEPTED
    except OSError:  # nobody is there
        return False
    connection.settimeout(None)
    return is_accepted


def _is_answered(connection: socket.socket) -> bool:
    """Wait for an answer; give up after `PATIENCE`, or at a signal, which this process then handles."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and not signal.sigpending() & set(SIGNALS):
        if select.select([connection], [], [], SIGNAL_SECONDS)[0]:
            return True
    return False


def has_streams() -> bool:
    """Tell whether all standard streams are open."""
    try:
        for number in STREAMS:
            os.fstat(number)
    except OSError:
        return False
    return True


def has_only_streams() -> bool:
    """Tell whether this process has inherited its standard streams and no other files."""
    try:
        return has_streams() and not inherited_files()
    except OSError:
        return False


def inherited_files() -> list[int]:
    """Return the inherited files other than the standard streams, such as those of ``<(...)`` in bash."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        # the listing itself is closed by now
        with contextlib.suppress(OSError):
            if int(name) not in STREAMS and os.get_inheritable(int(name)):
                found.append(int(name))
    return found


def _forward(connection: socket.socket, number: int, frame: FrameType | None) -> None:
    # the step may just have ended
    with contextlib.suppress(OSError):
        connection.send(bytes([number]))


def _answer(connection: socket.socket) -> dict[str, Any]:
    """Wait until the step has ended; the answer is empty if the preloaded process was killed."""
    content = b""
    with contextlib.suppress(OSError):
        while piece := connection.recv(4096):
            content += piece
    return json.loads(content) if content else {}


def _report_usage(answer: dict[str, Any]) -> None:
    """Tell the executor what the step used, which is not found in the process tree of the job."""
    if path := os.environ.get(USAGE_VARIABLE):
        # only measurements would be missing
        with contextlib.suppress(OSError), open(path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(answer["usage"]) + "\n")


def end_like(status: int) -> NoReturn:
    """End this process with the status of another one: its exit status, or the signal that killed it."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        # the other process may have left a core
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError):  # SIGKILL
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))
