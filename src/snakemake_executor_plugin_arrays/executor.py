"""The part that Snakemake talks to: jobs become arrays, markers and states become successes and errors."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

from snakemake_executor_plugin_arrays.arrays import (
    IDENTIFIER,
    LOCK,
    Folder,
    Run,
    close_run,
    dead_runs,
    starting,
)
from snakemake_executor_plugin_arrays.commands import Client, SchedulerError
from snakemake_executor_plugin_arrays.schedulers import (
    Array,
    GridEngine,
    Request,
    Scheduler,
    Slurm,
    Status,
    Task,
)

# Markers are files of our own: looking at them every second asks nothing of the scheduler.
MARKER_SECONDS = 1


@dataclass
class Place:
    """Where a submitted job runs, and since when the scheduler does not run it any more."""

    folder: Folder
    line: int
    array: str
    # a choice of several: Slurm gives the reason of any one of them
    several_queues: bool = False
    gone_since: float | None = None

    @property
    def task(self) -> Task:
        """The task that runs the job."""
        return self.array, self.folder.task(self.line)


def choose_scheduler(settings: Any) -> Scheduler:
    """Return the scheduler that the settings name, or the one whose commands are there."""
    known = {"slurm": "sbatch", "sge": "qsub"}
    key = settings.scheduler or next((key for key, name in known.items() if shutil.which(name)), None)
    if key is None:
        raise WorkflowError("neither sbatch nor qsub is found: run Snakemake where jobs can be submitted")
    if key not in known:
        raise WorkflowError(f"arrays-scheduler is {key}; it must be slurm or sge")
    if not shutil.which(known[key]):
        raise WorkflowError(f"{known[key]} is not found: run Snakemake where jobs can be submitted")
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


def array_name(rule: str, label: object) -> str:
    """Return a name that both schedulers take; it shows in squeue and qstat."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{rule}.{label}" if label else rule)[:80]
    return name if name[0].isalpha() else f"j{name}"


class Executor(RemoteExecutor):
    """Runs ready jobs as array jobs."""

    def __post_init__(self) -> None:
        """Prepare the folder of this run, and end what a run has left whose Snakemake was killed."""
        self.settings = self.workflow.executor_settings
        self.scheduler = choose_scheduler(self.settings)
        self.client = Client(self.scheduler, self.settings.patience_seconds, self.logger.warning)
        self.workdir = Path(self.workflow.workdir_init).resolve()
        if self.scheduler.key == "sge" and set(",:") & set(str(self.workdir)):
            raise WorkflowError(f"{self.workdir}: Grid Engine takes no path with a comma or a colon")
        self.parent = self.workdir / ".snakemake" / "arrays"
        self.run: Run | None = None
        self.statuses: dict[Task, Status] | None = None
        self.asked = -float("inf")
        # arrays by name, and by identifier: those whose submission was not answered have no identifier
        self.names: set[str] = set()
        self.submitted: set[str] = set()
        # jobs that are or may be submitted and not reported; those of submissions without an answer, by array
        self.unreported = 0
        self.uncertain: dict[str, int] = {}
        self.explained: set[tuple[str, str]] = set()
        self.unreadable: set[Path] = set()
        with starting(self.parent, self.logger.warning):
            self._end_dead_runs()

    def _end_dead_runs(self) -> None:
        for folder in dead_runs(self.parent):
            key = (folder / LOCK).read_text().strip()
            if key not in ("", self.scheduler.key):
                raise WorkflowError(
                    f"{folder}: a run with {key} was killed, and may have left arrays there: start Snakemake"
                    f" once with --profile {key}, which ends them; or cancel them, and delete that folder"
                )
            # by name: a scheduler counts anew when it is set up anew, and a run may have died before its note
            names = {path.parent.name for path in folder.glob("*/jobs")}
            try:
                if left := self.client.living(self.client.find_all(names)):
                    arrays = ", ".join(sorted(left))
                    self.logger.warning(
                        f"Cancelling what an earlier run left in {self.scheduler.name}: {arrays}"
                    )
                    self.client.clear(left)
            except SchedulerError as error:
                raise WorkflowError(f"an earlier run may have left arrays: {error}") from None
            close_run(folder)

    @property
    def cores(self) -> str:
        """The cores of a job are those of its node, not of the host that submits it."""
        return "all"

    # ---- submission

    def run_jobs(self, jobs: Iterable[Any]) -> None:
        """Submit jobs: one array for those of a rule that want the same."""
        groups: dict[tuple[str, Request, int], list[Any]] = defaultdict(list)
        for job in jobs:
            self.run_job_pre(job)
            request = job_request(job.resources, job.threads, job.attempt, self.scheduler, self.settings)
            per_task = int(job.resources.get("jobs_per_task") or self.settings.jobs_per_task)
            name = array_name(job.name, job.resources.get("array"))
            groups[name, request, max(1, per_task)].append(job)
        for (name, request, per_task), members in groups.items():
            members.sort(key=lambda job: [in_order(str(path)) for path in job.output])
            most = max(1, self.settings.limit) * per_task
            for start in range(0, len(members), most):
                self._submit(name, request, members[start : start + most], per_task)

    def run_job(self, job: Any) -> None:
        """Submit one job."""
        self.run_jobs([job])

    def _submit(self, name: str, request: Request, jobs: list[Any], per_task: int) -> None:
        per_task = min(per_task, len(jobs))
        self.run = self.run or Run(self.parent, self.scheduler.key, self.logger.warning)
        path = self.run.new_array(name)
        commands = [self.format_job_exec(job) for job in jobs]
        folder = Folder.make(path, commands, per_task, self.settings.scratch)
        tasks = folder.task(len(jobs))
        if request.runtime:
            request = replace(request, runtime=request.runtime * per_task)
        array = Array(path.name, tasks, folder.script, self.workdir, path, self.settings.concurrent)
        # before it is asked for: Snakemake may be interrupted meanwhile
        self.names.add(array.name)
        self.unreported += len(jobs)
        try:
            self._clear_uncertain()
            identifier = self.client.submit(array, request)
        except SchedulerError as error:
            if error.uncertain:
                self.uncertain[array.name] = len(jobs)
            else:
                self.unreported -= len(jobs)
                folder.remove()
            for job in jobs:
                self.report_job_error(SubmittedJobInfo(job), msg=f"could not be submitted: {error} ")
            return
        self.submitted.add(identifier)
        (path / IDENTIFIER).write_text(identifier + "\n")
        what = f"{tasks} tasks" + (f" of {per_task} jobs" if per_task > 1 else "")
        self.logger.info(f"{self.scheduler.name} array {identifier} {path.name}: {what}, files in {path}")
        for line, job in enumerate(jobs, start=1):
            place = Place(folder, line, identifier, "," in (request.queue or ""))
            external = f"{identifier}_{folder.task(line)}"
            self.report_job_submission(SubmittedJobInfo(job, external_jobid=external, aux={"place": place}))

    def _clear_uncertain(self) -> None:
        """End arrays that may have been submitted after all: their jobs are about to be submitted anew."""
        if self.uncertain:
            self.client.clear(self.client.find_all(set(self.uncertain)))
            self.unreported -= sum(self.uncertain.values())
            self.uncertain.clear()

    # ---- what became of the jobs

    async def check_active_jobs(
        self, active_jobs: list[SubmittedJobInfo]
    ) -> AsyncGenerator[SubmittedJobInfo, None]:
        """Report the jobs that have ended; yield the others."""
        self.next_seconds_between_status_checks = MARKER_SECONDS
        if not active_jobs:
            return
        fresh = self._ask()
        finished: dict[Path, set[int]] = {}
        for info in active_jobs:
            place: Place = info.aux["place"]
            path = place.folder.path
            if path not in finished:
                finished[path] = self._finished(place.folder)
            status = None
            if place.line in finished[path]:
                # the next look may find what cannot be read now
                with contextlib.suppress(OSError, ValueError):
                    status = place.folder.status(place.line)
            if status is not None:
                self._report_status(info, place, status)
            elif fresh and self._is_lost(info, place):
                continue
            else:
                yield info

    def _finished(self, folder: Folder) -> set[int]:
        """Return the lines that have left a marker; none as long as the folder cannot be read."""
        try:
            found = folder.finished()
        except OSError as error:
            if folder.path not in self.unreadable:
                self.unreadable.add(folder.path)
                self.logger.warning(f"{folder.path} cannot be read, it is tried again: {error}")
            return set()
        self.unreadable.discard(folder.path)
        return found

    def _ask(self) -> bool:
        """Ask the scheduler when it is time; returns whether there is a new answer."""
        if time.monotonic() - self.asked < self.settings.poll_seconds:
            return False
        self.asked = time.monotonic()
        try:
            self.statuses = self.client.statuses()
        except SchedulerError as error:
            # no reason to give up a job
            self.logger.warning(f"{self.scheduler.name} does not answer, it is asked again: {error}")
            return False
        return True

    def _report_status(self, info: SubmittedJobInfo, place: Place, status: int) -> None:
        if status == 0:
            self.unreported -= 1
            if not self.settings.keep_logs:
                place.folder.remove_log(place.line)
            self.report_job_success(info)
        else:
            killed = f" (killed by signal {status - 128})" if status > 128 else ""
            self._report_failure(info, place, f"ended with exit status {status}{killed}")

    def _is_lost(self, info: SubmittedJobInfo, place: Place) -> bool:
        """Look for a job without a marker in the scheduler's last answer; report it if it cannot end now."""
        assert self.statuses is not None
        status = self.statuses.get(place.task)
        if status is not None and status.alive:
            place.gone_since = None
            if status.hopeless and not place.several_queues:
                self.client.cancel(tasks=[place.task])
                self._report_failure(info, place, f"will never run: its state is {status.word}")
                return True
            if status.held or status.hopeless:
                self._explain(place, status)
            return False
        if place.gone_since is None:
            place.gone_since = time.monotonic()
        if time.monotonic() - place.gone_since < self.settings.lost_seconds:
            return False
        started = "" if place.folder.node(place.line) else " before this job was started"
        why = "killed, over its memory or time, or its node went down"
        if status is None:
            how = f"has left the scheduler without an exit status{started}: {why}"
        elif status.word == "COMPLETED":
            how = "has ended, and could not write its exit status: is the disk full, or a quota used up?"
        elif status.word == "FAILED":
            how = f"has failed{started}, without an exit status of the job: the log of the task may tell why"
        else:
            how = f"was ended from outside ({status.word}){started}: {why}"
        self._report_failure(info, place, how)
        return True

    def _explain(self, place: Place, status: Status) -> None:
        """Say once for an array why it does not start."""
        if (place.array, status.word) not in self.explained:
            self.explained.add((place.array, status.word))
            self.logger.warning(
                f"{self.scheduler.name} array {place.array} waits for somebody: {status.word}."
                f" More: {self.scheduler.advice(place.task)}"
            )

    def _report_failure(self, info: SubmittedJobInfo, place: Place, what: str) -> None:
        self.unreported -= 1
        # groups of jobs have none
        found = getattr(info.job, "wildcards_dict", {})
        wildcards = ", ".join(f"{name} {value}" for name, value in found.items())
        node = place.folder.node(place.line)
        logs = [
            path
            for path in (place.folder.log(place.line), place.folder.task_log(place.line))
            if os.path.exists(path)
        ]
        message = (
            f"{info.job.name}{f' ({wildcards})' if wildcards else ''}: {self.scheduler.name} task"
            f" {info.external_jobid}{f' on {node}' if node else ''} {what}."
            f" Logs: {', '.join(map(str, [*info.job.log, *logs]))}."
            f" More: {self.scheduler.advice(place.task)}. "
        )
        self.report_job_error(info, msg=message, aux_logs=[str(path) for path in logs])

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Cancel all arrays of this run; `active_jobs` is empty while the jobs are being looked at."""
        try:
            # by name, too: Snakemake may be interrupted before a submission is answered
            left = self.client.living(self.submitted | self.client.find_all(self.names))
        except SchedulerError:
            left = self.submitted
        self.client.cancel(arrays=sorted(left))

    def shutdown(self) -> None:
        """End; called by Snakemake in the end, and after jobs were cancelled."""
        super().shutdown()
        if self.run is not None:
            # Tasks that are cancelled take a while to end: the next run finds the folder, and waits for them.
            self.run.close(tidy=self.unreported == 0)


def in_order(text: str) -> list[tuple[int, str]]:
    """Return a key that sorts shard-2 before shard-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]
