"""Run Snakemake in processes forked from a server with a single thread that has imported what it needs."""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.workflow.preload"])


def run_snakemake(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], output: Path | None = None
) -> tuple[int | None, str]:
    """Run Snakemake in a folder; returns its status and output, without what goes to the file `output`."""
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
