"""The resources that jobs request, and the choice of the scheduler."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from snakemake_interface_common.exceptions import ApiError

from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.schedulers import Request, Scheduler
from snakemake_executor_plugin_arrays.slurm import Slurm

# Resources, named as in snakemake-executor-plugin-slurm, and their options of sbatch.
SLURM_OPTIONS = {"qos": "--qos", "constraint": "--constraint", "gres": "--gres"}
# Resources that request more than one process on one node of one cluster, which is all that a task can be.
BEYOND_A_TASK = ("mpi", "tasks_per_node", "tasks_per_gpu", "cpus_per_gpu", "cluster", "clusters")
AT_MOST_ONE = ("nodes", "tasks")
# The least value of each number among the settings.
LEAST = {
    **dict.fromkeys(("limit", "jobs_per_task"), 1),
    **dict.fromkeys(("concurrent", "runtime_limit", "memory_limit", "waiting_seconds"), 0),
    **dict.fromkeys(("poll_seconds", "lost_seconds", "patience_seconds"), 0),
}


class RequestError(Exception):
    """A job requests something that a task of an array cannot have; the message is for the user."""


def check_settings(settings: Any) -> None:
    """Raise an ApiError for the first setting that is too small."""
    for name, least in LEAST.items():
        if getattr(settings, name) < least:
            option = f"arrays-{name.replace('_', '-')}"
            raise ApiError(f"{option} is {getattr(settings, name)}; it must be at least {least}")


def choose_scheduler(settings: Any) -> Scheduler:
    """Return the scheduler named in the settings, or the one whose commands are found."""
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
    """Return the request of a job at its n-th attempt; its resources take precedence over the settings.

    Raises
    ------
    RequestError
        If it needs more than one process on one node, or a resource is invalid.
    """
    _refuse_beyond_a_task(resources)
    factor = attempt if settings.retries_grow else 1
    threads = _number(resources, "cpus_per_task") or max(1, threads)
    memory = (_number(resources, "mem_mb_per_cpu") or 0) * threads or _number(resources, "mem_mb")
    runtime = _number(resources, "runtime")
    slurm = scheduler.key == "slurm"
    try:
        extra = shlex.split(settings.extra), shlex.split(str(resources.get(scheduler.extra_resource) or ""))
    except ValueError as error:
        raise RequestError(f"arrays-extra or the resource {scheduler.extra_resource}: {error}") from None
    return Request(
        threads=threads,
        memory=memory * factor if memory else None,
        runtime=runtime * factor if runtime else None,
        queue=resources.get(scheduler.queue_resource) or (settings.partition if slurm else settings.queue),
        account=resources.get(scheduler.account_resource) or settings.account,
        extra=(*extra[0], *(_slurm_options(resources) if slurm else ()), *extra[1]),
    )


def _refuse_beyond_a_task(resources: Mapping[str, Any]) -> None:
    for name in (*BEYOND_A_TASK, *AT_MOST_ONE):
        value = resources.get(name)
        if value and not (name in AT_MOST_ONE and value == 1):
            raise RequestError(
                f"resource {name}={value}: the executor arrays starts each job as one process on one node;"
                " remove the resource, or pass options to the scheduler with slurm_extra or sge_extra"
            )


def _number(resources: Mapping[str, Any], name: str) -> int | None:
    value = resources.get(name)
    try:
        number = int(value) if value else None
    except (TypeError, ValueError):
        raise RequestError(f"resource {name}={value!r} is not a number") from None
    if number is not None and number < 0:
        raise RequestError(f"resource {name}={value!r} is negative")
    return number


def _slurm_options(resources: Mapping[str, Any]) -> list[str]:
    """Return the options of sbatch for resources that only Slurm has."""
    options = [f"{option}={resources[name]}" for name, option in SLURM_OPTIONS.items() if resources.get(name)]
    model, number = resources.get("gpu_model"), resources.get("gpu")
    if model or number:
        options.append(f"--gpus={f'{model}:' if model else ''}{number or 1}")
    return options


def task_request(request: Request, jobs: int, settings: Any) -> Request:
    """Return the request of a task: the time of all its jobs, but no more than the settings allow."""

    def limited(amount: int | None, limit: int) -> int | None:
        return min(amount, limit) if amount and limit > 0 else amount

    runtime = limited((request.runtime or 0) * jobs or None, settings.runtime_limit)
    return replace(request, runtime=runtime, memory=limited(request.memory, settings.memory_limit))


def jobs_per_task(resources: Mapping[str, Any], settings: Any) -> int:
    """Return the number of jobs that a task runs one after another.

    Raises
    ------
    RequestError
        If the resource is not a number, or negative.
    """
    return int(_number(resources, "jobs_per_task") or settings.jobs_per_task)


def array_name(rule: str, label: object) -> str:
    """Return a name that both schedulers accept and show in squeue and qstat."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{rule}.{label}" if label else rule)[:80]
    return name if name[0].isalpha() else f"j{name}"


def in_order(text: str) -> list[tuple[int, str]]:
    """Return a key that sorts shard-2 before shard-10."""
    # not \d+: int() rejects some Unicode digits, and numbers with thousands of digits
    parts = re.split("([0-9]{1,18})", text)
    return [(int(part), "") if number % 2 else (-1, part) for number, part in enumerate(parts)]
