"""Snakemake's executor ``arrays``: ready jobs become array jobs of Slurm or Grid Engine.

Jobs that are ready together and want the same become one array job. The schedulers do the scheduling; this
package only speaks to them. Every job leaves its exit status in a marker file, so a failed job is one failed
job, and neither sacct nor qacct is needed; the scheduler is only asked which tasks it still knows.
docs/clusters.md explains how to use it.

`schedulers` holds the languages of the two, `arrays` the files of an array; neither runs anything nor knows
Snakemake. `commands` runs the schedulers' commands. `executor` is what Snakemake talks to; `requests` says
what a job asks for, `job_command` and `quoting` write its command, `failures` explains what went wrong.
"""

# Snakemake calls the types of settings to read them from a command line: here they are no text, and
# `Optional[str]` instead of `str | None`.
from dataclasses import dataclass, field
from typing import Any, Optional

from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

from snakemake_executor_plugin_arrays import quoting
from snakemake_executor_plugin_arrays.executor import Executor

quoting.install()

__all__ = ["Executor", "ExecutorSettings", "common_settings"]

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
        None, "slurm or sge (Grid Engine). Default: the one whose sbatch or qsub is found."
    )
    limit: int = _setting(
        1000,
        "Most tasks in one array job; more jobs become several. At most MaxArraySize - 1 (Slurm: "
        "scontrol show config) or max_aj_tasks (Grid Engine: qconf -sconf).",
    )
    concurrent: int = _setting(0, "Most tasks of one array that run at the same time; 0: as many as fit.")
    jobs_per_task: int = _setting(
        1, "Jobs that one task runs, one after another; the resource jobs_per_task of a rule takes its place."
    )
    runtime_limit: int = _setting(
        0,
        "Most minutes that a task asks for, also one of several jobs or of a job that is run again: the time "
        "limit of the partition or queue; 0: none.",
    )
    partition: Optional[str] = _setting(  # noqa: UP045
        None, "Slurm: partition. A rule's resource slurm_partition wins."
    )
    queue: Optional[str] = _setting(  # noqa: UP045
        None, "Grid Engine: queue. A rule's resource sge_queue wins."
    )
    account: Optional[str] = _setting(  # noqa: UP045
        None,
        "Slurm: account; Grid Engine: project. A rule's resource slurm_account or sge_project wins.",
    )
    parallel_environment: str = _setting(
        "smp", "Grid Engine: parallel environment of rules with more than one thread (qconf -spl lists them)."
    )
    memory_complex: str = _setting(
        "",
        "Grid Engine: complexes that are given mem_mb, separated by commas (qconf -sc lists them; often "
        "mem_free, h_rss or h_vmem); empty: memory is not asked for.",
    )
    memory_per_job: bool = _setting(
        False,
        "Grid Engine: the complex counts the memory of the whole job, not of a slot (consumable is JOB).",
    )
    retries_grow: bool = _setting(
        False,
        "A job that is run again is given more: mem_mb and runtime times the number of the attempt.",
    )
    extra: str = _setting(
        "",
        "Further options of sbatch or qsub; a rule's resource slurm_extra or sge_extra is added.",
    )
    scratch: str = _setting(
        "${TMPDIR:-/tmp}",
        "Folder on the nodes for temporary files; variables are filled in on the node. A folder that is not "
        "there is replaced by /tmp.",
    )
    poll_seconds: int = _setting(
        10, "Seconds between questions to the scheduler; markers are read each second."
    )
    lost_seconds: int = _setting(
        60,
        "A job whose task the scheduler no longer runs has failed after this long without a marker: the time "
        "that a file needs to be seen on another host.",
    )
    patience_seconds: int = _setting(
        900, "How long a scheduler that is out of reach is asked again when something is to be submitted."
    )
    keep_logs: bool = _setting(False, "Keep what jobs that went well have printed (.snakemake/arrays).")
