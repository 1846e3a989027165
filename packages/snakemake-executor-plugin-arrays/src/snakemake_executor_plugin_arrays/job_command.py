"""The command that runs a job on a node: a list of arguments, quoted for the shell."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import ApiError
from snakemake_interface_executor_plugins.executors.real import RealExecutor
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.settings import SharedFSUsage

# More files than this are listed in a file, as in Snakemake, because the length of a command line is limited.
MAX_NAMED_FILES = 20
# A command is a single argument of the task's shell; systems may limit an argument to 128 KB.
MAX_JOBS_TOGETHER = 64


class Together:
    """Several jobs of a rule, with the interface of a single job that `RealExecutor.get_job_args` needs."""

    # jobs with temporary outputs run alone
    output: tuple[str, ...] = ()

    def __init__(self, jobs: Sequence[Any]) -> None:
        """Wrap jobs with the same number of attempts."""
        self.jobs = jobs
        self.jobid = f"{jobs[0].jobid}-together"
        self.rules, self.attempt = jobs[0].rules, jobs[0].attempt
        self.is_updated = any(job.is_updated for job in jobs)

    def is_group(self) -> bool:
        """Return whether the jobs have to run side by side."""
        return False

    def get_target_spec(self) -> list[Any]:
        """Return the names of the jobs on the command line."""
        return [spec for job in self.jobs for spec in job.get_target_spec()]

    def get_wait_for_files(self) -> list[Any]:
        """Return the files that the jobs wait for, without duplicates."""
        return list(dict.fromkeys(file for job in self.jobs for file in job.get_wait_for_files()))


class CommandExecutor(RemoteExecutor):
    """The part of the executor that builds the commands of jobs."""

    def format_job_exec(self, job: Any) -> str:
        """Return the command of a job."""
        # without a shared file system, the node may lack this package
        shared = SharedFSUsage.SOFTWARE_DEPLOYMENT in self.workflow.storage_settings.shared_fs_usage
        return self._command(["snakemake_executor_plugin_arrays.node" if shared else "snakemake"], job)

    def format_together(self, jobs: Sequence[Any], folder: Path, per_task: int) -> dict[int, str]:
        """Return the commands that run several jobs of a task with one Snakemake.

        Parameters
        ----------
        jobs
            The jobs of an array, in the order of its lines.
        folder
            The folder of the array.
        per_task
            Number of jobs of a task.

        Returns
        -------
        dict
            Commands by the line of their first job, counted from 1; none for jobs that have to run alone.
        """
        found = {}
        for start in range(0, len(jobs), per_task):
            members = jobs[start : start + per_task]
            for first in range(0, len(members), MAX_JOBS_TOGETHER):
                some, line = members[first : first + MAX_JOBS_TOGETHER], start + first + 1
                if self._may_be_together(some):
                    module = ["snakemake_executor_plugin_arrays.together", str(folder), str(line)]
                    found[line] = self._command(module, Together(some))
        return found

    def _may_be_together(self, jobs: Sequence[Any]) -> bool:
        """Return whether one Snakemake can run several jobs with the same results as one Snakemake each."""
        if len(jobs) == 1:
            return False
        usage = set(self.workflow.storage_settings.shared_fs_usage)
        return (
            {SharedFSUsage.SOFTWARE_DEPLOYMENT, SharedFSUsage.INPUT_OUTPUT} <= usage
            and len({job.attempt for job in jobs}) == 1
            # ``run:`` directives would share a process
            and not any(job.is_group() or job.is_run or job.is_template_engine for job in jobs)
            and not any(True for job in jobs for _ in self.workflow.dag.get_unneeded_temp_files(job))
        )

    def _command(self, module: list[str], job: Any) -> str:
        factory = self.workflow.spawned_job_args_factory
        general = factory.general_args(executor_common_settings=self.common_settings)
        # -P: not a user's file of the name of a module, such as types.py, in the working directory
        words = [self.get_python_executable(), "-P", "-m", *module]
        words += ["--snakefile", str(self.get_snakefile())]
        words += [*self._job_words(job), *split(general), "--mode", self.get_exec_mode().item_to_choice()]
        # a shell command of the user
        before = factory.precommand(executor_common_settings=self.common_settings)
        command = f"{before} && {shlex.join(words)}" if before else shlex.join(words)
        return f"{self.get_envvar_declarations()} {command}".lstrip()

    def _job_words(self, job: Any) -> list[str]:
        """Return the arguments that identify the job, and the files that it waits for.

        The files are not listed as by Snakemake, because a name that begins with a dash would be taken for an
        option, and names read from a file are stripped of spaces.
        """
        words = list(split(RealExecutor.get_job_args(self, job)))
        if SharedFSUsage.INPUT_OUTPUT not in self.workflow.storage_settings.shared_fs_usage:
            return words
        files = [self.tmpdir, *map(str, job.get_wait_for_files())]
        odd = [file for file in files if file != file.strip() or "\r" in file]
        plain = [file for file in files if file not in odd]
        if len(plain) > MAX_NAMED_FILES:
            path = os.path.join(self.tmpdir, f"{job.jobid}.files")
            with open(path, "w", encoding="utf-8") as stream:
                stream.writelines(f"{file}\n" for file in plain)
            words += ["--wait-for-files-file", path]
            plain = []
        named = [f"./{file}" if file.startswith("-") else file for file in (*plain, *odd)]
        return [*words, *(["--wait-for-files", *named] if named else [])]


@functools.lru_cache(maxsize=64)
def split(text: str) -> tuple[str, ...]:
    """Return the words of a text written by `quoting`.

    The words are quoted again for the shell, so even text that a later Snakemake writes differently is never
    run as a command. Most texts are the same for all jobs, so they are cached.
    """
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ApiError(f"the arguments of a job cannot be read: {error}: {text}") from None


def refusal(job: Any) -> str | None:
    """Return why this job cannot be passed to the Snakemake on a node; `None` if it can."""
    outputs = [str(file) for file in job.output]
    for file in (*map(str, job.input), *outputs, *map(str, job.log), str(job.benchmark or "")):
        # surrogates stand for bytes that are not UTF-8
        if "\n" in file or file.encode(errors="ignore").decode() != file:
            return f"{job.name}: {file!r}: on a cluster a file name must be UTF-8 without line breaks"
    for name, value in job.wildcards_dict.items():
        if "," in value or value != value.strip("'\""):
            return (
                f"{job.name}: {value!r} ({name}): on a cluster a wildcard cannot contain a comma, or begin or"
                " end with a quotation mark"
            )
    for file in job.output:
        if str(file).startswith("-") and getattr(file, "flags", {}).get("temp"):
            return f"{job.name}: {str(file)!r}: on a cluster a temporary file cannot begin with a dash"
    return None


def refuse(jobs: Iterable[Any]) -> None:
    """Stop before anything is submitted if a job cannot be submitted.

    Raises
    ------
    ApiError
        For the first such job.
    """
    for job in jobs:
        if not job.is_local and (why := refusal(job)):
            raise ApiError(why)
