"""Run commands and measure the time, processor time and peak memory of each."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

SNAKEMAKE = str(Path(sys.executable).parent / "snakemake")
PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = ("numpy", "numba", "scipy", "h5py", "snakemake")


class Run(NamedTuple):
    """One run of a command: wall-clock seconds, processor seconds, peak memory (bytes), output."""

    wall: float
    processor: float
    memory: int
    output: str


def run(*command: str | Path) -> Run:
    """Run a command; its standard error is shown if it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=errors, cwd=PROJECT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed:\n{errors.read()}")
        # kilobytes on Linux, bytes on macOS
        memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        return Run(wall, usage.ru_utime + usage.ru_stime, memory, output.read())


def itersel(step: str, *arguments: str | Path, **options: object) -> list[str]:
    """Return a command of itersel; settings are a dictionary."""
    words = [str(Path(sys.executable).parent / "itersel"), *step.split(), *map(str, arguments)]
    for name, value in options.items():
        text = json.dumps(value) if isinstance(value, dict) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return words


def task(name: str, **options: Any) -> tuple[dict[str, Any], Run]:
    """Run a function of `benchmarks.tasks` in a separate process; returns its result."""
    done = run(sys.executable, "-m", "benchmarks.tasks", name, json.dumps(options, default=str))
    return json.loads(done.output), done


class Figure(NamedTuple):
    """Median, smallest and largest value of several runs."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{number(self.median)} ({number(self.low)} to {number(self.high)})"


def figure(values: list[float]) -> Figure:
    """Return the median and range."""
    return Figure(statistics.median(values), min(values), max(values))


def number(value: float) -> str:
    """Return a number with three digits and thousands separators."""
    if value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.3g}"


def machine() -> dict[str, str]:
    """Return processor, cores, memory and versions."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": models[0] if models else platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "memory": f"{pages / 2**30:.0f} GB",
        "python": platform.python_version(),
        "itersel": version("itersel"),
        **{name: version(name) for name in PACKAGES},
    }
