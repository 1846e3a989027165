"""On a node: a Snakemake whose attempt at a job has been replaced or given up stops, and its jobs with it.

A scheduler may start a task again that still runs: it has lost contact to a node, or a stopped process
resumes. It may also forget a task, or say nothing about it for so long that its jobs are submitted again. The
attempt that may go on has the token of the job (`tokens`). Without it, every Snakemake of a task stops before
it changes any file: before it removes outputs, records a job as incomplete, or starts a command.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]  # Snakemake requires it

from snakemake_executor_plugin_arrays.tokens import ENDED, RUNNING, TAKEN, State

# The token of the job that runs, in the environment of its processes, so that any program can look for it.
TOKEN_VARIABLE = "ARRAYS_TOKEN"
# The process of the task's shell, and the name of the attempt.
SHELL_VARIABLE = "ARRAYS_SHELL"
ATTEMPT_VARIABLE = "ARRAYS_ATTEMPT"

# Seconds between two looks; the file system is shared by all tasks.
INTERVAL = 5
# Seconds in which an attempt ends once its node sees that it has lost its token.
ENDS_WITHIN = 2 * INTERVAL
# Seconds for which a process need not look again before it changes another file; much less than the time for
# which a new attempt waits before it runs a job that was running.
RECENT = 1.0
# How often to look for processes to kill.
ROUNDS = 20
# The exit status of a process that is ended by SIGTERM.
STATUS = 128 + signal.SIGTERM

# What Python reports before it changes a file or starts a command (its audit events).
_CHANGES = frozenset(
    {
        "os.chmod",
        "os.link",
        "os.mkdir",
        "os.posix_spawn",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.symlink",
        "os.system",
        "os.truncate",
        "os.utime",
        "subprocess.Popen",
    }
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Guard:
    """Ends this process, and all others of its task but the shell, as soon as it looks without a token."""

    def __init__(self) -> None:
        self._looked = -float("inf")
        # a handler of a signal may interrupt the thread that ends this process
        self._ending = threading.RLock()
        sys.addaudithook(self._before)
        threading.Thread(target=self._watch, daemon=True).start()

    def _before(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            # the name, the mode and the flags
            flags = arguments[2]
            if not isinstance(flags, int) or not flags & _WRITING:
                return
        elif event not in _CHANGES:
            return
        # the clock goes on while a process is stopped
        if time.monotonic() - self._looked >= RECENT:
            self._look()

    def _watch(self) -> None:
        while True:
            self._look()
            time.sleep(INTERVAL)

    def _look(self) -> None:
        """Return if this attempt may go on; wait while the file system does not tell."""
        while True:
            now = time.monotonic()
            token = os.environ.get(TOKEN_VARIABLE, "")
            found = not token or is_there(token)
            if found:
                self._looked = now
                return
            # this process may have renamed its token between the two
            if found is not None and token == os.environ.get(TOKEN_VARIABLE):
                with self._ending:
                    # no other thread changes anything from here on
                    self._looked = -float("inf")
                    _end()
            time.sleep(RECENT)


def is_there(token: str) -> bool | None:
    """Return whether a token exists; None if the file system does not say."""
    try:
        os.stat(token)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return None
    return True


def guard() -> None:
    """Stop this process as soon as its attempt at a job has lost the token, if it is one of a task."""
    if SHELL_VARIABLE in os.environ:
        _Guard()


def _end() -> None:
    # No other thread runs from here on: Snakemake would see that its job has ended, and remove outputs that
    # are no longer its own.
    sys.setswitchinterval(1)
    os.write(2, b"This attempt no longer owns its job: another one has taken it, or Snakemake gave it up\n")
    # again, because a process may start another one before it is killed
    for _ in range(ROUNDS):
        try:
            others = processes_of_task(int(os.environ[SHELL_VARIABLE]))
        except (psutil.Error, ValueError):
            others = []
        for process in others:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        if not others:
            break
    os._exit(STATUS)


def processes_of_task(shell: int) -> list[int]:
    """Return the descendants of the shell of a task, or of this process if that has ended.

    Without this process and those from which it descends: they end with it, and the shell of the task has
    more to do.
    """
    this = psutil.Process()
    above = this.parents()
    root = next((process for process in above if process.pid == shell), this)
    spared = {this.pid, *(process.pid for process in above)}
    return [
        process.pid
        for process in root.children(recursive=True)
        if process.pid not in spared and _is_alive(process)
    ]


def _is_alive(process: psutil.Process) -> bool:
    """Return whether a process has not ended, even if nobody has taken notice of its end."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class ReplacedError(Exception):
    """Another attempt has taken the place of this one, or the job was given up."""


class Attempt:
    """The attempt of this process at jobs of a task, which it runs one after another."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder of the array; the name is in the environment."""
        self.folder = folder
        self.name = os.environ[ATTEMPT_VARIABLE]

    def _token(self, line: int, word: str) -> Path:
        return self.folder / f"{line}.{word}.{self.name}"

    def has_taken(self, line: int) -> bool:
        """Return whether this attempt is to run the job in a line."""
        return self._token(line, TAKEN).exists()

    def prepare(self, line: int) -> None:
        """Name the first job, whose token this process needs until it starts it."""
        os.environ[TOKEN_VARIABLE] = str(self._token(line, TAKEN))

    def start(self, line: int) -> Path:
        """Mark a job as running, and return its log; raises a ReplacedError if it must not run."""
        os.environ[TOKEN_VARIABLE] = ""
        running = self._token(line, RUNNING)
        self._rename(self._token(line, TAKEN), running)
        os.environ[TOKEN_VARIABLE] = str(running)
        return self.folder / f"{line}.log"

    def end(self, line: int, status: int) -> None:
        """Record the exit status of a job; raises a ReplacedError if it is no longer that of this attempt."""
        os.environ[TOKEN_VARIABLE] = ""
        ended = self.folder / State(ENDED, f"{status}.{self.name}").name(line)
        self._rename(self._token(line, RUNNING), ended)

    @staticmethod
    def _rename(token: Path, new: Path) -> None:
        try:
            token.rename(new)
        except FileNotFoundError:
            # NFS may repeat a request whose answer was lost
            if not new.exists():
                raise ReplacedError(token.name) from None
