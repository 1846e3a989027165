"""Snakemake's executor ``arrays``: ready jobs become array jobs of Slurm or Grid Engine.

Jobs of a rule that become ready together and request the same resources are submitted as one array job. The
schedulers do the scheduling. Every job has a file whose name says its state and exit status, so one failed
job does not fail its array, and neither sacct nor qacct is needed: the scheduler is only asked which tasks it
still knows. README.md explains how to use it.

`slurm` and `grid_engine` have the command lines and output formats of the schedulers, `arrays` the files of
an array, `tokens` the states of its jobs, `runs` the folders and locks of runs; none of them depends on
Snakemake. `commands` runs the commands of a scheduler. `executor` is the interface to Snakemake, `submission`
its part that submits, and `reporting` the one that reports. `requests` collects the resources of a job,
`job_command` and `quoting` write its command, `options` corrects what Snakemake makes of its own command
line, and `failures` explains what went wrong. `takeover` ends runs whose Snakemake was killed, and `waiting`
knows what has to wait. On a node, `node` is the Snakemake of one job, `together` that of several, and
`attempt` stops them if another attempt has taken their place or their job was given up. `clocks` corrects the
times of outputs if the clock of a host is behind, and `plugins` leaves out what no job needs.
"""

# Snakemake calls the annotated types to parse the command line, so annotations must be real types here, not
# strings, and `Optional[str]` instead of `str | None`.
import os
import sys
from dataclasses import dataclass, field
from typing import Any, Optional

from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

from snakemake_executor_plugin_arrays import clocks
from snakemake_executor_plugin_arrays.attempt import SHELL_VARIABLE, guard
from snakemake_executor_plugin_arrays.executor import Executor
from snakemake_executor_plugin_arrays.options import join_options, shorten_errors

__all__ = ["Executor", "ExecutorSettings", "common_settings"]

# Snakemake imports the plugin before it parses the command line.
join_options(sys.argv, ("--arrays-extra",))
shorten_errors()
# also that of a rule with `run:`, which Snakemake starts in a process of its own
guard()
# not if another program of a task imports this package
if SHELL_VARIABLE in os.environ and "snakemake.dag" in sys.modules:
    clocks.install()

common_settings = CommonSettings(
    non_local_exec=True,
    implies_no_shared_fs=False,
    job_deploy_sources=False,
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=1,
)


def _setting(default: Any, explanation: str, **metadata: Any) -> Any:
    return field(default=default, metadata={"help": explanation, "required": False, **metadata})


@dataclass
class ExecutorSettings(ExecutorSettingsBase):
    """The settings; on the command line and in profiles each is called ``arrays-<name>``."""

    scheduler: Optional[str] = _setting(  # noqa: UP045
        None,
        "slurm, or sge for Grid Engine. Default: slurm if there is an sbatch command, otherwise sge if "
        "there is a qsub command.",
    )
    limit: int = _setting(
        1000,
        "Maximum number of tasks in one array job; more jobs are split into several arrays. At most "
        "MaxArraySize - 1 (Slurm: scontrol show config) or max_aj_tasks (Grid Engine: qconf -sconf).",
    )
    concurrent: int = _setting(
        0, "Maximum number of tasks of one array that run at the same time. 0: no limit."
    )
    jobs_per_task: int = _setting(
        1,
        "Number of jobs that one task runs one after another; the task requests the run time of all of them. "
        "A rule's resource jobs_per_task takes precedence.",
    )
    runtime_limit: int = _setting(
        0,
        "Maximum run time in minutes that a task requests, even if it runs several jobs or is a retry: the "
        "time limit of the partition or queue. 0: no limit.",
    )
    memory_limit: int = _setting(
        0,
        "Maximum memory in MB that a task requests, even if it is a retry: the memory of the largest node. "
        "0: no limit.",
    )
    partition: Optional[str] = _setting(  # noqa: UP045
        None, "Slurm: partition. A rule's resource slurm_partition takes precedence."
    )
    queue: Optional[str] = _setting(  # noqa: UP045
        None, "Grid Engine: queue. A rule's resource sge_queue takes precedence."
    )
    account: Optional[str] = _setting(  # noqa: UP045
        None,
        "Slurm: account; Grid Engine: project. A rule's resource slurm_account or sge_project takes "
        "precedence.",
    )
    parallel_environment: str = _setting(
        "smp", "Grid Engine: parallel environment for jobs with several threads (qconf -spl lists them)."
    )
    memory_complex: str = _setting(
        "",
        "Grid Engine: complexes that are set to mem_mb, separated by commas (qconf -sc lists them; often "
        "mem_free, h_rss or h_vmem). Empty: no memory is requested.",
    )
    memory_per_job: bool = _setting(
        False,
        "Grid Engine: the complex counts memory per job, not per slot (qconf -sc has JOB under consumable).",
    )
    retries_grow: bool = _setting(
        False, "A retried job requests mem_mb and runtime multiplied by the number of the attempt."
    )
    extra: str = _setting(
        "", "Further options for sbatch or qsub. A rule's resource slurm_extra or sge_extra is appended."
    )
    scratch: str = _setting(
        "${TMPDIR:-/tmp}",
        "Folder on the nodes for the temporary files of jobs; variables are expanded on the node. If it does "
        "not exist there, /tmp is used.",
    )
    poll_seconds: int = _setting(
        10,
        "Seconds between two queries to the scheduler (squeue or qstat). Exit statuses of jobs are files, "
        "looked for every second.",
    )
    lost_seconds: int = _setting(
        60,
        "Seconds after which a job counts as failed if its task has left the queue without an exit status. "
        "Must be longer than a file takes to become visible on another host.",
    )
    patience_seconds: int = _setting(
        900, "Seconds for which a submission is retried while the scheduler cannot be reached."
    )
    waiting_seconds: int = _setting(
        300,
        "Seconds after which a warning says why no task of an array runs; it is repeated after twice as "
        "long.",
    )
    keep_logs: bool = _setting(
        False, "Keep the logs of successful jobs, too. Logs are in .snakemake/arrays in the working folder."
    )
