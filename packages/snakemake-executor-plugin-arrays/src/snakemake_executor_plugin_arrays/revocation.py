"""On a node: end the jobs of a task that was given up, before they write what another attempt writes.

The scheduler may forget a task that is still running, or say nothing about it for so long that its jobs are
submitted again. The task is revoked first: it has a file that says so (`arrays`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time

import psutil  # type: ignore[import-untyped]  # Snakemake requires it

# Seconds between two looks; the file system is shared by all tasks.
INTERVAL = 5
# Seconds in which a task ends once its node sees that it is revoked.
ENDS_WITHIN = 2 * INTERVAL
# The exit status of a process that is ended by SIGTERM.
STATUS = 128 + signal.SIGTERM


def watch() -> None:
    """Start a thread that ends this process, and all others of its task but the shell, if it is revoked."""
    if task := os.environ.get("ARRAYS_TASK"):
        shell = int(os.environ.get("ARRAYS_SHELL", "0"))
        threading.Thread(target=_wait, args=(f"{task}.revoked", shell), daemon=True).start()


def _wait(revoked: str, shell: int) -> None:
    while not os.path.exists(revoked):
        time.sleep(INTERVAL)
    try:
        others = processes_of_task(shell)
    except psutil.Error:
        others = []
    # No other thread runs from here on: Snakemake would see that its job has ended, and remove outputs that
    # are no longer its own.
    sys.setswitchinterval(1)
    for process in others:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    os._exit(STATUS)


def processes_of_task(shell: int) -> list[int]:
    """Return the descendants of the shell of a task, or of this process if that has ended.

    Without this process and those from which it descends: they end with it, and the shell writes the exit
    status.
    """
    this = psutil.Process()
    above = this.parents()
    root = next((process for process in above if process.pid == shell), this)
    spared = {this.pid, *(process.pid for process in above)}
    return [process.pid for process in root.children(recursive=True) if process.pid not in spared]
