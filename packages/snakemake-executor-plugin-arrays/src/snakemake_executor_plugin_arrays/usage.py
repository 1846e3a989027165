"""Benchmarks of jobs that leave work to a process outside of their process tree, such as a server.

Snakemake measures the processes that the command of a job starts. A command that knows what another process
used for it appends a line to the file named by the variable ARRAYS_USAGE: a JSON object with the numbers
``cpu_time`` (seconds of processor time), ``max_rss``, ``io_in`` and ``io_out`` (MB), named as in Snakemake's
benchmark files. They are added to Snakemake's own measurements; of two sizes of memory, the larger counts.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from snakemake import benchmark

VARIABLE = "ARRAYS_USAGE"


class Timer(benchmark.BenchmarkTimer):  # type: ignore[misc]  # Snakemake has no types
    """Snakemake's measurement of a job; at its end, what other processes used is added."""

    path: ClassVar[Path]

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # a thread may still be measuring when the job has ended
        self._measuring = threading.Lock()
        self._ended = False

    def work(self) -> None:
        """Measure the processes of the job."""
        with self._measuring:
            if not self._ended:
                super().work()

    def cancel(self) -> None:
        """End the measurement."""
        super().cancel()
        with self._measuring:
            self._ended = True
            if self.path.exists():
                for line in self.path.read_text(encoding="utf-8").splitlines():
                    # a full disk cuts lines; the job must not fail because of that
                    with suppress(json.JSONDecodeError):
                        add_usage(self.bench_record, json.loads(line))
                # a benchmark with `repeat` runs the command of the job again
                self.path.unlink()


def install(path: Path) -> None:
    """Complete the benchmarks of all jobs that this process runs, one after another, from a file."""
    Timer.path = path
    benchmark.BenchmarkTimer = Timer
    os.environ[VARIABLE] = str(path)


def forget() -> None:
    """Remove what the last job reported if it failed or had no benchmark.

    This must precede the start of a job: its measurement may begin after it has reported something.
    """
    Timer.path.unlink(missing_ok=True)


def add_usage(record: Any, usage: Mapping[str, float]) -> None:
    """Add what another process used for a job to its benchmark."""
    record.data_collected = True
    record.cpu_time += usage["cpu_time"]
    record.cpu_usage += 100 * usage["cpu_time"]  # in percent of a processor, times seconds
    record.max_rss = max(record.max_rss or 0, usage["max_rss"])
    record.io_in = (record.io_in or 0) + usage["io_in"]
    record.io_out = (record.io_out or 0) + usage["io_out"]
    # unknown for the other process
    record.max_vms = record.max_uss = record.max_pss = None
