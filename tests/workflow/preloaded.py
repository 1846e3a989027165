"""Run Snakemake, and the steps that it runs, in processes that have already imported what they need.

Imports take most of the time of a small run. Processes are forked from servers with a single thread, in which
nothing has run yet: Snakemake from multiprocessing's, steps from that of `itersel preload`.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from itersel.cli.handover import SOCKET_VARIABLE

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.workflow.preload"])


# Kept, because a process that is forgotten loses its input, and ends.
_PRELOADED: list[subprocess.Popen[str]] = []


@functools.cache
def preload() -> dict[str, str]:
    """Start `itersel preload`, which ends with this process; returns the variable by which steps find it."""
    command = ["sh", "-c", f'echo "${SOCKET_VARIABLE}"; exec cat']
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("itersel")), "preload", "--", *command],  # as steps are started
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    _PRELOADED.append(process)
    assert process.stdout is not None
    return {SOCKET_VARIABLE: process.stdout.readline().strip()}


def run_snakemake(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], output: Path | None = None
) -> tuple[int | None, str]:
    """Run Snakemake in a folder; returns its exit status, and what it wrote to both streams.

    With `output`, standard output is written to that file instead.
    """
    with tempfile.NamedTemporaryFile(suffix=".txt") as both:
        streams = (str(output or both.name), both.name)
        process = _CONTEXT.Process(
            target=_become_snakemake, args=(list(arguments), str(folder), dict(environment), streams)
        )
        process.start()
        process.join()
        return process.exitcode, Path(both.name).read_text(encoding="utf-8")


def _become_snakemake(
    arguments: list[str], folder: str, environment: dict[str, str], streams: tuple[str, str]
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(streams, 1):
        stream = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(stream, number)
        os.close(stream)
    sys.argv[:] = ["snakemake", *arguments]

    from snakemake.cli import main

    main(arguments)
