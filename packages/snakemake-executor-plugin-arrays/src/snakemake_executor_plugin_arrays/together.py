"""A single Snakemake on a node that runs several jobs of a task, one after another.

Snakemake often takes longer to start than a job takes to run. Its local executor runs the jobs here, one at
a time, and each job gets its own exit status and log in the folder of the array, as if Snakemake had been
started for it alone. If this process fails or is killed, the script of the task handles the jobs that have
not ended.
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

from snakemake_executor_plugin_arrays import clocks, plugins, quoting
from snakemake_executor_plugin_arrays.arrays import PAUSE
from snakemake_executor_plugin_arrays.attempt import STATUS, Attempt, ReplacedError

PLUGIN = "arrays-together"
TARGETS = "--target-jobs"

common_settings = local.common_settings


class Executor(local.Executor):  # type: ignore[misc]  # Snakemake has no types
    """Snakemake's local executor, but with one job at a time, and with exit statuses."""

    attempt: ClassVar[Attempt]
    # the line of each job, by its name on the command line
    lines: ClassVar[dict[str, int]]

    def __post_init__(self) -> None:
        """Start the thread that runs the jobs."""
        super().__post_init__()
        self.task = os.getppid()
        self.waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.ended = threading.Event()
        threading.Thread(target=self._run_waiting, daemon=True).start()

    def run_jobs(self, jobs: Iterable[Any]) -> None:
        """Queue jobs in the order of their lines."""
        for job in sorted(jobs, key=self._line):
            self.waiting.put(job)

    def _line(self, job: Any) -> int:
        [target] = encode_target_jobs_cli_args(job.get_target_spec())
        return self.lines[target]

    def _run_waiting(self) -> None:
        while (job := self.waiting.get()) is not None:
            self.ended.clear()
            if self._is_orphan():
                # the scheduler is ending the task and will end this process next
                self.workflow.scheduler.error_callback(job)
            else:
                self._start(job)
            self.ended.wait()

    def _start(self, job: Any) -> None:
        try:
            self._redirect(self.attempt.start(self._line(job)))
            self.run_job_pre(job)
            self.run_job(job)
        except ReplacedError:
            os._exit(STATUS)
        except Exception as error:  # concerns only this job; the others still run
            print_exception(error, self.workflow.linemaps)
            self.report_job_error(SubmittedJobInfo(job))

    @staticmethod
    def _redirect(log: Path) -> None:
        """Send the output of a job, and Snakemake's messages about it, to the log of the job."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with log.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)

    def _is_orphan(self) -> bool:
        """Return whether the shell of the task has ended, so that nobody waits for exit statuses."""
        return os.getppid() != self.task

    def handle_job_success(self, job: Any) -> None:
        """Record the success of a job, after Snakemake has checked its outputs."""
        super().handle_job_success(job)
        self._end(job, 0)

    def handle_job_error(self, job: Any) -> None:
        """Record the failure of a job, after Snakemake has removed its outputs, unless the task is ending."""
        super().handle_job_error(job)
        if not self._is_orphan():
            time.sleep(PAUSE)
        self._end(job, 1)

    def _end(self, job: Any, status: int) -> None:
        try:
            if not self._is_orphan():
                self.attempt.end(self._line(job), status)
        except ReplacedError:
            os._exit(STATUS)
        finally:
            self.ended.set()

    def shutdown(self) -> None:
        """Stop the thread."""
        self.waiting.put(None)
        super().shutdown()


def targets_of(words: Sequence[str]) -> slice:
    """Return the position of the names of jobs in the words of a command line."""
    start = words.index(TARGETS) + 1
    stop = next((i for i, word in enumerate(words) if i >= start and word.startswith("--")), len(words))
    return slice(start, stop)


def run(folder: Path, first: int, words: list[str]) -> None:
    """Run the jobs of a command line that this attempt has taken; `first` is the line of its first job."""
    place = targets_of(words)
    attempt = Attempt(folder)
    lines = {target: line for line, target in enumerate(words[place], start=first) if attempt.has_taken(line)}
    if not lines:
        return
    words[place] = lines
    attempt.prepare(min(lines.values()))
    Executor.attempt, Executor.lines = attempt, lines
    quoting.install()
    clocks.install()
    plugins.install()
    ExecutorPluginRegistry().register_plugin(PLUGIN, sys.modules[__name__])
    main([*words, "--executor", PLUGIN, "--keep-going"])


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
