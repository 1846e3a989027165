"""One Snakemake on a node for several jobs of a task, which it runs one after another.

A start of Snakemake takes longer than many a job. Its executor for the same machine runs the jobs here, one
at a time, and each leaves its marker and its log in the folder of the array, as if it had had a Snakemake of
its own. Jobs that are left without a marker, because this process failed or was killed, are up to the script
of the task.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from snakemake.cli import main
from snakemake.exceptions import print_exception
from snakemake.executors import local
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry
from snakemake_interface_executor_plugins.utils import encode_target_jobs_cli_args

from snakemake_executor_plugin_arrays import quoting
from snakemake_executor_plugin_arrays.arrays import PAUSE, Markers

PLUGIN = "arrays-together"
TARGETS = "--target-jobs"

common_settings = local.common_settings


class Executor(local.Executor):  # type: ignore[misc]  # Snakemake has no types
    """Snakemake's executor for the same machine, but one job at a time, and with markers."""

    markers: ClassVar[Markers]
    # of the jobs, by what the command line calls them
    lines: ClassVar[dict[str, int]]

    def __post_init__(self) -> None:
        """Start the thread that starts the jobs."""
        super().__post_init__()
        self.task = os.getppid()
        self.waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.ended = threading.Event()
        threading.Thread(target=self._run_waiting, daemon=True).start()

    def run_jobs(self, jobs: Iterable[Any]) -> None:
        """Let jobs wait for their turn, in the order of their lines."""
        for job in sorted(jobs, key=self._line):
            self.waiting.put(job)

    def _line(self, job: Any) -> int:
        [target] = encode_target_jobs_cli_args(job.get_target_spec())
        return self.lines[target]

    def _run_waiting(self) -> None:
        while (job := self.waiting.get()) is not None:
            self.ended.clear()
            if self._is_orphan():
                # the scheduler has ended the task, and this process is next
                self.workflow.scheduler.error_callback(job)
            else:
                self._start(job)
            self.ended.wait()

    def _start(self, job: Any) -> None:
        try:
            self._redirect(self.markers.start(self._line(job)))
            self.run_job_pre(job)
            self.run_job(job)
        except Exception as error:  # of this job alone; the others have their turn
            print_exception(error, self.workflow.linemaps)
            self.report_job_error(SubmittedJobInfo(job))

    @staticmethod
    def _redirect(log: Path) -> None:
        """Write to the log of a job what it prints, and what Snakemake says of it."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with log.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)

    def _is_orphan(self) -> bool:
        """Whether the shell of the task has ended: nobody waits for markers any more."""
        return os.getppid() != self.task

    def handle_job_success(self, job: Any) -> None:
        """Mark a job that went well and whose outputs Snakemake has checked."""
        super().handle_job_success(job)
        self._end(job, 0)

    def handle_job_error(self, job: Any) -> None:
        """Mark a job that failed and whose outputs Snakemake has removed; not if its task is being ended."""
        super().handle_job_error(job)
        if not self._is_orphan():
            time.sleep(PAUSE)
        self._end(job, 1)

    def _end(self, job: Any, status: int) -> None:
        try:
            if not self._is_orphan():
                self.markers.end(self._line(job), status)
        finally:
            self.ended.set()

    def shutdown(self) -> None:
        """End."""
        self.waiting.put(None)
        super().shutdown()


def targets_of(words: Sequence[str]) -> slice:
    """Return where the names of the jobs stand among the words of a command line."""
    start = words.index(TARGETS) + 1
    stop = next((i for i, word in enumerate(words) if i >= start and word.startswith("--")), len(words))
    return slice(start, stop)


def run(folder: Path, first: int, words: list[str]) -> None:
    """Run the jobs of a command line that have no marker yet; they are in this line and the next ones."""
    place = targets_of(words)
    markers = Markers(folder)
    lines = {target: line for line, target in enumerate(words[place], start=first) if not markers.ended(line)}
    if not lines:
        return
    words[place] = lines
    markers.reserve(lines.values())
    Executor.markers, Executor.lines = markers, lines
    ExecutorPluginRegistry().register_plugin(PLUGIN, sys.modules[__name__])
    quoting.install()
    try:
        main([*words, "--executor", PLUGIN, "--keep-going"])
    finally:
        markers.release()


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
