"""How ready jobs become arrays, at once or when a limit on submitted jobs allows it."""

from __future__ import annotations

import contextlib
import errno
import shutil
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from snakemake_executor_plugin_arrays.arrays import IDENTIFIER, Folder
from snakemake_executor_plugin_arrays.attempt import ENDS_WITHIN
from snakemake_executor_plugin_arrays.commands import Client, SchedulerError
from snakemake_executor_plugin_arrays.failures import Place, first_cause, others
from snakemake_executor_plugin_arrays.job_command import CommandExecutor
from snakemake_executor_plugin_arrays.requests import (
    RequestError,
    array_name,
    in_order,
    job_request,
    jobs_per_task,
    task_request,
)
from snakemake_executor_plugin_arrays.runs import Run
from snakemake_executor_plugin_arrays.schedulers import SHARED, Array, Request, Scheduler, Status, Task
from snakemake_executor_plugin_arrays.waiting import Batch, Drop, Reminders

# Errors of the file system that may pass while a run waits.
PASSING = {errno.ENOSPC, errno.EDQUOT, errno.ESTALE, errno.EIO}
# What to do about a retry that no node can take.
GROWN = (
    " A retry requests more memory and time, at most what arrays-memory-limit and arrays-runtime-limit allow."
)


class SubmittingExecutor(CommandExecutor):
    """The part of the executor that submits arrays.

    Snakemake's main thread submits what is ready, the thread that looks for results what had to wait.
    """

    settings: Any
    scheduler: Scheduler
    client: Client
    workdir: Path
    # the folder of all runs
    parent: Path

    def prepare(self) -> None:
        """Set what is known of the arrays of this run: nothing yet."""
        self.run: Run | None = None
        # the scheduler's last answer
        self.statuses: dict[Task, Status] = {}
        # arrays by name and by identifier; an array whose submission was not answered has no identifier
        self.names: set[str] = set()
        self.submitted: set[str] = set()
        # arrays whose jobs Snakemake knows completely
        self.complete: set[str] = set()
        # number of unreported jobs that are or may be submitted; of unanswered submissions, by array
        self.unreported = 0
        self.uncertain: dict[str, int] = {}
        # what is submitted when other jobs have ended, and since when nothing of the user's is in the queue
        self.backlog: deque[Batch] = deque()
        self.submitting = threading.Lock()
        # why some of it must not be submitted any more; other threads only add to it
        self.drops: deque[Drop] = deque()
        self.idle_since: float | None = None
        # of jobs that are not submitted yet
        self.limit_reminders = Reminders(self.settings.waiting_seconds)
        # why earlier attempts failed, by job
        self.causes: dict[Any, str] = {}
        # seconds until an attempt has noticed that another one has taken its place, or that it is revoked
        self.notice_seconds = self.settings.lost_seconds + ENDS_WITHIN
        self.warned_of_memory = False

    def run_jobs(self, jobs: Iterable[Any]) -> None:
        """Submit jobs: one array for the jobs of a rule with equal requests."""
        groups: dict[tuple[str, Request, int], list[Any]] = defaultdict(list)
        refused: dict[tuple[str, str], list[SubmittedJobInfo]] = defaultdict(list)
        for job in jobs:
            self.run_job_pre(job)
            try:
                request = job_request(job.resources, job.threads, job.attempt, self.scheduler, self.settings)
                per_task = jobs_per_task(job.resources, self.settings)
            except RequestError as error:
                refused[job.name, str(error)].append(SubmittedJobInfo(job))
                continue
            name = array_name(job.name, job.resources.get("array"))
            groups[name, request, per_task].append(job)
        for (rule, why), infos in refused.items():
            message = f"{rule} cannot be submitted: {why}.{others(infos)} "
            self._report_together(infos, message, again=False)
        with self.submitting:
            # concerns only what was ready before
            self._drop_backlog()
            if not self.backlog:
                self.idle_since = None
                self.limit_reminders = Reminders(self.settings.waiting_seconds)
            for (name, request, per_task), members in groups.items():
                members.sort(key=lambda job: [in_order(str(path)) for path in job.output])
                self._warn_of_memory(request)
                most = self.settings.limit * per_task
                for start in range(0, len(members), most):
                    some = members[start : start + most]
                    self.backlog.append(Batch(name, request, some, per_task, len(some)))
            self._submit_backlog()

    def _warn_of_memory(self, request: Request) -> None:
        """Warn once if jobs specify memory that is not requested."""
        if request.memory and not self.scheduler.requests_memory and not self.warned_of_memory:
            self.warned_of_memory = True
            self.logger.warning(
                "Memory (mem_mb) is not requested: set arrays-memory-complex to the name of memory on this"
                " Grid Engine, often mem_free or h_vmem (qconf -sc lists complexes)"
            )

    def run_job(self, job: Any) -> None:
        """Submit one job."""
        self.run_jobs([job])

    def _submit_backlog(self) -> None:
        """Submit what waits, in the order in which it became ready, until a limit of the site is reached."""
        while not self.client.is_interrupted:
            self._drop_backlog()
            if not self.backlog:
                return
            batch = self.backlog[0]
            try:
                self._submit(batch.name, batch.request, batch.next(), batch.per_task)
            except SchedulerError as error:
                if self.scheduler.counts_tasks and batch.shrink():
                    continue
                self._hold_back(error)
                return
            except OSError as error:
                why = f"{error.filename or self.parent}: {error.strerror}"
                if error.errno in PASSING:
                    self._say_what_waits(why, "will be submitted when that has passed")
                    return
                self.drops.append(Drop(f"could not be submitted: {why}"))
                continue
            batch.submitted()
            if not batch.jobs:
                self.backlog.remove(batch)

    def _hold_back(self, error: SchedulerError) -> None:
        """Say now and then that jobs wait for a place; give up if no other job can make one."""
        now = time.monotonic()
        idle = self.idle_since is not None and now - self.idle_since > self.settings.lost_seconds
        if idle and not SHARED.search(error.answer):
            why = f"could not be submitted, although no job of yours is in the queue: {error}"
            self.drops.append(Drop(why))
            self._drop_backlog()
        else:
            why = f"{self.scheduler.name} limits the number of submitted jobs"
            self._say_what_waits(why, f"will be submitted as others end ({error.answer})")

    def _say_what_waits(self, why: str, when: str) -> None:
        """Say now and then how many jobs will be submitted later."""
        if self.limit_reminders.due(why, time.monotonic()):
            number = sum(len(batch.jobs) for batch in self.backlog)
            self.logger.warning(f"{why}: {number} job{'s' if number > 1 else ''} {when}")

    def _drop_backlog(self) -> None:
        """Report jobs that wait for a place as failed, if there is a reason; needs the lock `submitting`."""
        if self._is_ending():
            self.drops.append(Drop("is not submitted, because Snakemake was told to end"))
        while self.drops:
            drop = self.drops.popleft()
            left = [batch for batch in self.backlog if drop.concerns(batch)]
            for batch in left:
                self.backlog.remove(batch)
            if infos := [SubmittedJobInfo(job) for batch in left for job in batch.jobs]:
                cause = next((self.causes[info.job] for info in infos if info.job in self.causes), "")
                message = f"{left[0].name} {drop.why}.{others(infos)} {first_cause(cause)}"
                self._report_together(infos, message, again=False)

    def _retry_backlog(self) -> None:
        """Try again to submit what waits, after a new answer of the scheduler."""
        if not self.backlog or any(status.alive for status in self.statuses.values()):
            self.idle_since = None
        elif self.idle_since is None:
            self.idle_since = time.monotonic()
        # not while Snakemake's main thread submits
        if self.backlog and self.submitting.acquire(blocking=False):
            try:
                self._submit_backlog()
            finally:
                self.submitting.release()

    def _submit(self, name: str, request: Request, jobs: list[Any], per_task: int) -> None:
        """Submit an array; raises a SchedulerError if the number of submitted jobs is at a limit."""
        per_task = min(per_task, len(jobs))
        self.run = self.run or Run(self.parent, self.scheduler.key, self.logger.warning)
        path = self.run.new_array(name)
        commands = [self.format_job_exec(job) for job in jobs]
        together = self.format_together(jobs, path, per_task)
        try:
            folder = Folder.make(
                path, commands, per_task, self.settings.scratch, together, self.notice_seconds
            )
        except OSError:
            shutil.rmtree(path, ignore_errors=True)
            raise
        tasks = folder.task(len(jobs))
        limited = task_request(request, per_task, self.settings)
        array = Array(path.name, tasks, folder.script, self.workdir, path, self.settings.concurrent)
        # before the submission, during which Snakemake may be interrupted
        self.names.add(array.name)
        self.unreported += len(jobs)
        try:
            self._clear_uncertain()
            identifier = self.client.submit(array, limited)
        except SchedulerError as error:
            if error.uncertain:
                self.uncertain[array.name] = len(jobs)
            else:
                self.unreported -= len(jobs)
                self.names.discard(array.name)
                folder.remove()
                if error.full:
                    raise
            infos = [SubmittedJobInfo(job) for job in jobs]
            cause = next((self.causes[job] for job in jobs if job in self.causes), "")
            advice = GROWN if cause and self.settings.retries_grow else ""
            why = f"{error}{self.scheduler.remedy(error.answer)}"
            message = f"could not be submitted: {why}.{others(infos)}{advice} {first_cause(cause)}"
            # a definite refusal would be repeated
            self._report_together(infos, message, again=bool(self.uncertain))
            return
        self.submitted.add(identifier)
        if self.client.is_interrupted:
            # interrupted meanwhile by another thread, which did not know it
            self.client.cancel(arrays=[identifier])
        # a run that is killed is found by the names of its arrays
        with contextlib.suppress(OSError):
            (path / IDENTIFIER).write_text(identifier + "\n")
        what = f"{tasks} tasks" + (f" of {per_task} jobs" if per_task > 1 else "")
        self.logger.info(f"{self.scheduler.name} array {identifier} {path.name}: {what}, files in {path}")
        for line, job in enumerate(jobs, start=1):
            place = Place(folder, line, identifier, name, request)
            external = f"{identifier}_{folder.task(line)}"
            self.report_job_submission(SubmittedJobInfo(job, external_jobid=external, aux={"place": place}))
        self.complete.add(identifier)

    def _clear_uncertain(self) -> None:
        """Cancel arrays that may have been submitted after all, as their jobs will be submitted again."""
        if self.uncertain:
            self.client.clear(self.client.find_all(set(self.uncertain)))
            self.unreported -= sum(self.uncertain.values())
            self.uncertain.clear()

    def _is_ending(self) -> bool:
        """Return whether Snakemake has received SIGTERM: it starts nothing, and waits for what runs."""
        return getattr(self.workflow.scheduler, "_user_kill", None) is not None

    def _report_together(self, infos: list[SubmittedJobInfo], message: str | None, again: bool) -> None:
        """Report jobs that failed for one reason with one message, or none; `again`: `retries` may help."""
        for number, info in enumerate(infos):
            if not again and info.job.attempt <= info.job.restart_times:
                # makes Snakemake treat this as the last attempt
                info.job.attempt = info.job.restart_times + 1
            if number == 0 and message is not None:
                self.report_job_error(info, msg=message)
            else:
                self.workflow.scheduler.error_callback(info.job)
