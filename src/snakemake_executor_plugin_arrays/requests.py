"""What jobs ask a scheduler for, and which scheduler that is."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from snakemake_interface_common.exceptions import ApiError

from snakemake_executor_plugin_arrays.schedulers import GridEngine, Request, Scheduler, Slurm


def choose_scheduler(settings: Any) -> Scheduler:
    """Return the scheduler that the settings name, or the one whose commands are there."""
    known = {"slurm": "sbatch", "sge": "qsub"}
    key = settings.scheduler or next((key for key, name in known.items() if shutil.which(name)), None)
    if key is None:
        raise ApiError("neither sbatch nor qsub is found: run Snakemake where jobs can be submitted")
    if key not in known:
        raise ApiError(f"arrays-scheduler is {key}; it must be slurm or sge")
    if not shutil.which(known[key]):
        raise ApiError(f"{known[key]} is not found: run Snakemake where jobs can be submitted")
    if key == "slurm":
        return Slurm()
    complexes = [name.strip() for name in settings.memory_complex.split(",") if name.strip()]
    return GridEngine(settings.parallel_environment, complexes, not settings.memory_per_job)


def job_request(
    resources: Mapping[str, Any], threads: int, attempt: int, scheduler: Scheduler, settings: Any
) -> Request:
    """Return what a job asks for at its first, second, ... attempt; its resources win over the settings."""
    factor = attempt if settings.retries_grow else 1

    def number(name: str) -> int | None:
        value = resources.get(name)
        return int(value) * factor if value else None

    queue = settings.partition if scheduler.key == "slurm" else settings.queue
    further = [settings.extra, str(resources.get(scheduler.extra_resource) or "")]
    return Request(
        threads=max(1, threads),
        memory=number("mem_mb"),
        runtime=number("runtime"),
        queue=resources.get(scheduler.queue_resource) or queue,
        account=resources.get(scheduler.account_resource) or settings.account,
        extra=tuple(word for text in further for word in shlex.split(text)),
    )


def task_request(request: Request, jobs: int, limit: int) -> Request:
    """Return what a task of several jobs asks for: the time of all of them, at most `limit` minutes."""
    if not request.runtime:
        return request
    minutes = request.runtime * jobs
    return replace(request, runtime=min(minutes, limit) if limit > 0 else minutes)


def array_name(rule: str, label: object) -> str:
    """Return a name that both schedulers take; it shows in squeue and qstat."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{rule}.{label}" if label else rule)[:80]
    return name if name[0].isalpha() else f"j{name}"


def in_order(text: str) -> list[tuple[int, str]]:
    """Return a key that sorts shard-2 before shard-10."""
    # not \d, and not without end: int() takes neither all that Unicode calls a digit nor thousands of them
    parts = re.split("([0-9]{1,18})", text)
    return [(int(part), "") if number % 2 else (-1, part) for number, part in enumerate(parts)]
