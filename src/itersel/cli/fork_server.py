"""The preloaded process: it forks a process for each step that is handed over to it.

It has one thread, so a forked process can do whatever a new one can. It ends after the command for which it
was started, and after the steps that it was asked for.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from itersel.cli.handover import ACCEPTED, LENGTH, SIGNALS, STREAMS

# Seconds between two looks whether the command has ended.
LOOK_SECONDS = 1.0
# Seconds that a process may take to send its request.
REQUEST_SECONDS = 10.0
# A block of `ru_inblock`, in bytes; see getrusage(2).
BLOCK = 512
MEGABYTE = 1024 * 1024
PR_SET_PDEATHSIG = 1
# When numpy is loaded, these libraries may start threads, which do not survive a fork.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Request(NamedTuple):
    """A step that another process wants to be run, with its standard streams and working directory."""

    content: dict[str, Any]
    files: Sequence[int]

    def close(self) -> None:
        """Close the files."""
        for file in self.files:
            os.close(file)


class Server:
    """Forks processes that run steps.

    Parameters
    ----------
    listener
        The socket on which other processes ask.
    likeness
        What a process must have in common with this one; see `itersel.cli.handover.likeness`.
    load
        Loads what a step needs, given its arguments, in the environment of the process that asks.
    """

    def __init__(self, listener: socket.socket, likeness: str, load: Callable[[Sequence[str]], None]) -> None:
        self._listener, self._likeness, self._load = listener, likeness, load
        # the process of each step, and the connection to the one that asked for it; `None` if that was killed
        self._running: dict[int, socket.socket | None] = {}
        # processor time that has been counted as that of a step
        self._counted = time.process_time()

    def serve(self, parent: int) -> list[str] | None:
        """Serve until `parent` has ended.

        Returns
        -------
        list of str, optional
            In a forked process, the arguments of the step that it has to run; `None` in the server.
        """
        # they are for the command and the steps; one that comes in early waits until the step handles it
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self._wake, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno())
        # a handler of any kind makes the signal wake this process
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        while self._running or os.getppid() == parent:
            sockets = [self._listener, self._wake, *filter(None, self._running.values())]
            ready, _, _ = select.select(sockets, [], [], LOOK_SECONDS)
            if self._wake in ready:
                self._wake.recv(4096)
            for process, connection in list(self._running.items()):
                if connection in ready:
                    self._pass_signals(process)
                self._report_end(process)
            if self._listener in ready and (arguments := self._accept()) is not None:
                return arguments
        return None

    def _pass_signals(self, process: int) -> None:
        """Send a step the signals that were sent to the process that asked for it."""
        connection = self._running[process]
        assert connection is not None
        try:
            signals = connection.recv(64)
        except OSError:
            signals = b""
        for number in signals:
            os.kill(process, number)
        if not signals:
            connection.close()
            self._running[process] = None
            os.kill(process, signal.SIGKILL)

    def _report_end(self, process: int) -> None:
        """Send the status of a step that has ended."""
        ended, status, usage = os.wait4(process, os.WNOHANG)
        if not ended:
            return
        answer = {"status": status, "usage": self._usage(usage)}
        if connection := self._running.pop(process):
            with contextlib.suppress(OSError), connection:
                connection.sendall(json.dumps(answer).encode())

    def _usage(self, usage: resource.struct_rusage) -> dict[str, float]:
        """Return the usage of a step in seconds and MB; what was loaded counts as part of the next step."""
        before, self._counted = self._counted, time.process_time()
        return {
            "cpu_time": usage.ru_utime + usage.ru_stime + self._counted - before,
            "max_rss": usage.ru_maxrss / 1024,
            "io_in": usage.ru_inblock * BLOCK / MEGABYTE,
            "io_out": usage.ru_oublock * BLOCK / MEGABYTE,
        }

    def _accept(self) -> list[str] | None:
        """Fork for a request, or refuse it by closing the connection; returns arguments as `serve`."""
        try:
            connection, _ = self._listener.accept()
        except OSError:
            time.sleep(LOOK_SECONDS)  # too many files are open
            return None
        server, request = os.getpid(), Request({}, ())
        try:
            request = _receive(connection)
            if not self._can_run(request.content):
                raise ValueError("another process would run it differently")
            process = os.fork()
        except (OSError, ValueError):
            request.close()
            connection.close()
            return None
        if process == 0:
            connection.close()
            self._become(request, server)
            arguments: list[str] = request.content["arguments"]
            return arguments
        request.close()
        self._running[process] = connection
        with contextlib.suppress(OSError):  # noticed when it is read
            connection.sendall(ACCEPTED)
        return None

    def _can_run(self, content: dict[str, Any]) -> bool:
        """Load what a step needs; tell whether a forked process would run it like the one that asks."""
        if content.get("likeness") != self._likeness:
            return False
        _set_environment({**content["environment"], **ONE_THREAD})
        try:
            self._load(content["arguments"])
        except Exception:
            return False  # the process that asks meets the same error, and reports it
        _set_environment(content["environment"])
        # leave the pages of these objects shared by all processes
        gc.freeze()
        return True

    def _become(self, request: Request, server: int) -> None:
        """Make the forked process like the one that asked."""
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != server:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (self._listener, self._wake, self._waker, *filter(None, self._running.values())):
            one.close()
        *streams, folder = request.files
        os.fchdir(folder)
        for number, file in zip(STREAMS, streams, strict=True):
            os.dup2(file, number)
        request.close()
        tempfile.tempdir = None  # depends on the environment
        sys.argv[1:] = request.content["arguments"]
        _open_streams()
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


def _set_environment(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)


def _receive(connection: socket.socket) -> Request:
    """Read a request.

    Raises
    ------
    OSError, ValueError
        If it is incomplete.
    """
    connection.settimeout(REQUEST_SECONDS)
    head, files, _, _ = socket.recv_fds(connection, LENGTH.size, len(STREAMS) + 1)
    request = Request({}, files)
    try:
        # a process that is killed may have sent nothing at all
        length = LENGTH.unpack(head)[0] if len(head) == LENGTH.size else 0
        content = bytearray()
        while len(content) < length and (piece := connection.recv(length - len(content))):
            content += piece
        if len(files) != len(STREAMS) + 1 or not len(content) == length > 0:
            raise ValueError("the request is incomplete")
        return Request(json.loads(content), files)
    except BaseException:
        request.close()
        raise


def _open_streams() -> None:
    """Open the standard streams as Python does when it starts."""
    modes = {"stdin": ("r", -1), "stdout": ("w", -1), "stderr": ("w", 1)}
    for number, (name, (mode, buffering)) in enumerate(modes.items()):
        old = getattr(sys, name)
        stream = open(number, mode, buffering, old.encoding, old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
