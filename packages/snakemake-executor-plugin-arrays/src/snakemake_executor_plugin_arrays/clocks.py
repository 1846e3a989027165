"""Outputs are never older than their inputs, even if the clock of their host is behind.

On some file systems a file gets the time of the host that writes it. When a job has ended, Snakemake gives
its outputs the time of the node, and fails if an input has a later one: it removes the outputs, after hours
of work, and a retry does the same. A job cannot be refused for that before it starts, because nobody knows
then how long it will run: if for longer than the clock is behind, Snakemake accepts its outputs. Only their
times are wrong, so these are corrected. Snakemake on the submit host then sets them by its own clock.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from snakemake_executor_plugin_arrays.attempt import TOKEN_VARIABLE


def install() -> None:
    """Make Snakemake correct the times of outputs instead of failing."""
    # not at the top, because Snakemake imports this package before it is complete itself
    from snakemake.dag import DAG

    DAG.check_output_mtime = correct_times


async def correct_times(_: Any, job: Any, outputs: Iterable[Any]) -> None:
    """Give outputs that are older than an input, or than the submission of their job, a later time.

    Parameters
    ----------
    job
        A job that has ended, to whose outputs Snakemake has given the time of this host.
    outputs
        Its outputs, and the file of its benchmark.
    """
    inputs = [await _time(file) for file in job.input if await file.exists_local()]
    newest = max([_submitted(), *inputs])
    # file systems may cut fractions of a second
    later = math.floor(newest) + 1
    for file in outputs:
        if await file.exists_local() and await _time(file) < newest:
            file.touch((later, later))


def _submitted() -> float:
    """Return when the array of this job was submitted, by the clock of the submit host; 0 on that host.

    Files that were made of earlier outputs of this job are older. If the new outputs seemed even older, and
    this run were killed, the next one would take those files for up to date.
    """
    token = os.environ.get(TOKEN_VARIABLE)
    try:
        return os.stat(Path(token).with_name("jobs")).st_mtime if token else 0
    except OSError:
        return 0


async def _time(file: Any) -> float:
    """Return the time that Snakemake compares."""
    return float((await file.mtime_uncached(skip_storage=True)).local())
