"""Run Snakemake in a process that has already imported it, which takes a second of processor time less.

The process is forked from a server with a single thread, in which nothing of Snakemake has run yet.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# What every run imports. Modules of itersel are not among them: tests edit some, and Snakemake's own imports
# take most of the time.
MODULES = ["numpy", "psutil", "snakemake.cli", "snakemake.report.html_reporter"]

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(MODULES)


def run_snakemake(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[int | None, str]:
    """Run Snakemake in a folder; returns its exit status, and what it wrote to both streams."""
    with tempfile.NamedTemporaryFile(suffix=".txt") as output:
        process = _CONTEXT.Process(
            target=_become_snakemake, args=(list(arguments), str(folder), dict(environment), output.name)
        )
        process.start()
        process.join()
        return process.exitcode, Path(output.name).read_text(encoding="utf-8")


def _become_snakemake(arguments: list[str], folder: str, environment: dict[str, str], output: str) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    stream = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(stream, 1)
    os.dup2(stream, 2)
    os.close(stream)
    sys.argv[:] = ["snakemake", *arguments]

    from snakemake.cli import main

    main(arguments)
