"""The interface to Snakemake: jobs become arrays; markers and states become successes and errors."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import ApiError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from snakemake_executor_plugin_arrays import quoting
from snakemake_executor_plugin_arrays.arrays import (
    IDENTIFIER,
    LOCK,
    Folder,
    Run,
    close_run,
    dead_runs,
    runs_folder,
    starting,
)
from snakemake_executor_plugin_arrays.commands import Client, SchedulerError
from snakemake_executor_plugin_arrays.failures import Place, how_ended, how_lost, job_name, others
from snakemake_executor_plugin_arrays.job_command import CommandExecutor, refuse
from snakemake_executor_plugin_arrays.requests import (
    RequestError,
    array_name,
    check_settings,
    choose_scheduler,
    in_order,
    job_request,
    jobs_per_task,
    task_request,
    words_of,
)
from snakemake_executor_plugin_arrays.schedulers import Array, Request, Status, Task

# Markers are our own files, so looking for them every second does not load the scheduler.
MARKER_SECONDS = 1


class Executor(CommandExecutor):
    """Runs ready jobs as array jobs."""

    def __post_init__(self) -> None:
        """Check the settings, and cancel the arrays of runs whose Snakemake was killed."""
        quoting.install()
        self.settings = self.workflow.executor_settings
        check_settings(self.settings)
        self.scheduler = choose_scheduler(self.settings)
        self.task_prefix = words_of(self.settings.task_prefix)
        self.client = Client(self.scheduler, self.settings.patience_seconds, self.logger.warning)
        self.workdir = Path(self.workflow.workdir_init).resolve()
        if why := self.scheduler.refusal(str(self.workdir)):
            raise ApiError(f"{str(self.workdir)!r}: {why}; rename the folder")
        refuse(self.dag.needrun_jobs())
        self.parent = runs_folder(self.workdir)
        self.run: Run | None = None
        self.statuses: dict[Task, Status] | None = None
        self.asked = -float("inf")
        # arrays by name and by identifier; an array whose submission was not answered has no identifier
        self.names: set[str] = set()
        self.submitted: set[str] = set()
        # arrays whose jobs Snakemake knows completely, now and at the last check
        self.complete: set[str] = set()
        self.complete_before: set[str] = set()
        # number of unreported jobs that are or may be submitted; of unanswered submissions, by array
        self.unreported = 0
        self.uncertain: dict[str, int] = {}
        self.explained: set[tuple[str, str]] = set()
        self.unreadable: set[Path] = set()
        self.warned_of_memory = False
        with starting(self.parent, self.logger.warning):
            self._end_dead_runs()

    def _end_dead_runs(self) -> None:
        for folder in dead_runs(self.parent):
            key = (folder / LOCK).read_text().strip()
            if key not in ("", self.scheduler.key):
                raise ApiError(
                    f"{folder}: a killed run with {key} may have left arrays there: run Snakemake once with"
                    f" its profile, or with --executor arrays --arrays-scheduler {key}, to cancel them; or"
                    " cancel them yourself and delete that folder"
                )
            # by name: a reinstalled scheduler repeats numbers, and a run may be killed before it notes one
            names = {path.parent.name for path in folder.glob("*/jobs")}
            try:
                if left := self.client.living(self.client.find_all(names)):
                    arrays = ", ".join(sorted(left))
                    self.logger.warning(
                        f"Cancelling arrays that an earlier run left in {self.scheduler.name}: {arrays}"
                    )
                    self.client.clear(left)
            except SchedulerError as error:
                raise ApiError(f"an earlier run may have left arrays: {error}") from None
            close_run(folder)

    @property
    def cores(self) -> str:
        """The cores of a job are those of its node, not of the submit host."""
        return "all"

    # ---- submission

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
        for (name, request, per_task), members in groups.items():
            members.sort(key=lambda job: [in_order(str(path)) for path in job.output])
            self._warn_of_memory(request)
            most = self.settings.limit * per_task
            for start in range(0, len(members), most):
                self._submit(name, request, members[start : start + most], per_task)

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

    def _submit(self, name: str, request: Request, jobs: list[Any], per_task: int) -> None:
        per_task = min(per_task, len(jobs))
        self.run = self.run or Run(self.parent, self.scheduler.key, self.logger.warning)
        path = self.run.new_array(name)
        commands = [self.format_job_exec(job) for job in jobs]
        together = self.format_together(jobs, path, per_task)
        folder = Folder.make(path, commands, per_task, self.settings.scratch, together)
        tasks = folder.task(len(jobs))
        request = task_request(request, per_task, self.settings.runtime_limit)
        array = Array(path.name, tasks, folder.script, self.workdir, path, self.settings.concurrent)
        # before the submission, during which Snakemake may be interrupted
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
            infos = [SubmittedJobInfo(job) for job in jobs]
            message = f"could not be submitted: {error}.{others(infos)} "
            # a definite refusal would be repeated
            self._report_together(infos, message, again=bool(self.uncertain))
            return
        self.submitted.add(identifier)
        (path / IDENTIFIER).write_text(identifier + "\n")
        what = f"{tasks} tasks" + (f" of {per_task} jobs" if per_task > 1 else "")
        self.logger.info(f"{self.scheduler.name} array {identifier} {path.name}: {what}, files in {path}")
        for line, job in enumerate(jobs, start=1):
            place = Place(folder, line, identifier, "," in (request.queue or ""))
            external = f"{identifier}_{folder.task(line)}"
            self.report_job_submission(SubmittedJobInfo(job, external_jobid=external, aux={"place": place}))
        self.complete.add(identifier)

    def _clear_uncertain(self) -> None:
        """Cancel arrays that may have been submitted after all, as their jobs will be submitted again."""
        if self.uncertain:
            self.client.clear(self.client.find_all(set(self.uncertain)))
            self.unreported -= sum(self.uncertain.values())
            self.uncertain.clear()

    # ---- results of jobs

    async def check_active_jobs(
        self, active_jobs: list[SubmittedJobInfo]
    ) -> AsyncGenerator[SubmittedJobInfo, None]:
        """Report the jobs that have ended; yield the others."""
        self.next_seconds_between_status_checks = MARKER_SECONDS
        # `active_jobs` may have been listed while another thread was adding the jobs of an array
        listed, self.complete_before = self.complete_before, set(self.complete)
        if not active_jobs:
            return
        fresh = self._ask()
        finished: dict[Path, set[int]] = {}
        hopeless: dict[str, list[SubmittedJobInfo]] = defaultdict(list)
        living: set[str] = set()
        for info in active_jobs:
            place: Place = info.aux["place"]
            path = place.folder.path
            if path not in finished:
                finished[path] = self._finished(place.folder)
            status = None
            if place.line in finished[path]:
                # if it cannot be read now, try at the next check
                with contextlib.suppress(OSError, ValueError):
                    status = place.folder.status(place.line)
            if status is not None:
                self._report_status(info, place, status)
            elif fresh and self._is_hopeless(place):
                if place.array in listed:
                    hopeless[place.array].append(info)
                else:
                    living.add(place.array)
                    yield info
            elif not (fresh and self._is_lost(info, place)):
                living.add(place.array)
                yield info
        for array, infos in hopeless.items():
            self._give_up(array, infos, whole=array not in living)

    def _finished(self, folder: Folder) -> set[int]:
        """Return the lines that have markers; none while the folder cannot be read."""
        try:
            found = folder.finished()
        except OSError as error:
            if folder.path not in self.unreadable:
                self.unreadable.add(folder.path)
                self.logger.warning(f"{folder.path} cannot be read, will retry: {error}")
            return set()
        self.unreadable.discard(folder.path)
        return found

    def _ask(self) -> bool:
        """Query the scheduler if it is time; returns whether there is a new answer."""
        if time.monotonic() - self.asked < self.settings.poll_seconds:
            return False
        self.asked = time.monotonic()
        try:
            self.statuses = self.client.statuses()
        except SchedulerError as error:
            # no reason to give up jobs
            self.logger.warning(f"{self.scheduler.name} does not answer, will retry: {error}")
            return False
        return True

    def _report_status(self, info: SubmittedJobInfo, place: Place, status: int) -> None:
        if status == 0:
            self.unreported -= 1
            if not self.settings.keep_logs:
                place.folder.remove_log(place.line)
            self.report_job_success(info)
        else:
            self._report_failure(info, how_ended(status, place.folder.log(place.line)))

    def _is_hopeless(self, place: Place) -> bool:
        """Return whether the scheduler's last answer says that a task will never run."""
        status = (self.statuses or {}).get(place.task)
        return status is not None and status.alive and status.hopeless and not place.several_queues

    def _give_up(self, array: str, infos: list[SubmittedJobInfo], whole: bool) -> None:
        """Cancel the tasks of an array that will never run, and report them as one failure."""
        tasks = sorted({info.aux["place"].task for info in infos})
        if whole:
            self.client.cancel(arrays=[array])
        else:
            self.client.cancel(tasks=tasks)
        word = (self.statuses or {})[tasks[0]].word
        self.unreported -= len(infos)
        message = (
            self._failure(infos[0], f"will never run: its state is {word}") + f"{others(infos).strip()} "
        )
        self._report_together(infos, message, again=self.scheduler.stuck_may_pass)

    def _is_lost(self, info: SubmittedJobInfo, place: Place) -> bool:
        """Return whether a job without a marker is lost according to the last answer; if so, report it."""
        status = (self.statuses or {}).get(place.task)
        if status is not None and status.alive:
            place.gone_since = None
            if status.held or status.hopeless:
                self._explain(place, status)
            return False
        if place.gone_since is None:
            place.gone_since = time.monotonic()
        if time.monotonic() - place.gone_since < self.settings.lost_seconds:
            return False
        self._report_failure(info, how_lost(status, started=place.folder.node(place.line) is not None))
        return True

    def _explain(self, place: Place, status: Status) -> None:
        """Warn once per array and reason that it does not start."""
        if (place.array, status.word) not in self.explained:
            self.explained.add((place.array, status.word))
            self.logger.warning(
                f"{self.scheduler.name} array {place.array} is on hold: {status.word}."
                f" More: {self.scheduler.advice(place.task)}"
            )

    def _failure(self, info: SubmittedJobInfo, what: str) -> str:
        place: Place = info.aux["place"]
        node = place.folder.node(place.line)
        # groups of jobs have no wildcards
        return (
            f"{job_name(info.job.name, getattr(info.job, 'wildcards_dict', {}))}: {self.scheduler.name} task"
            f" {info.external_jobid}{f' on {node}' if node else ''} {what}."
            f" Logs: {', '.join(map(str, [*info.job.log, *place.logs]))}."
            f" More: {self.scheduler.advice(place.task)}. "
        )

    def _report_failure(self, info: SubmittedJobInfo, what: str) -> None:
        self.unreported -= 1
        logs = [str(path) for path in info.aux["place"].logs]
        self.report_job_error(info, msg=self._failure(info, what), aux_logs=logs)

    def _report_together(self, infos: list[SubmittedJobInfo], message: str, again: bool) -> None:
        """Report jobs that failed for one reason with one message; `again`: `retries` may help."""
        for number, info in enumerate(infos):
            if not again and info.job.attempt <= info.job.restart_times:
                # makes Snakemake treat this as the last attempt
                info.job.attempt = info.job.restart_times + 1
            if number == 0:
                self.report_job_error(info, msg=message)
            else:
                self.workflow.scheduler.error_callback(info.job)

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Cancel all arrays of this run; `active_jobs` is not used, as it is empty during a check."""
        try:
            # by name, too, as Snakemake may be interrupted before a submission is answered
            left = self.client.living(self.submitted | self.client.find_all(self.names))
        except SchedulerError:
            left = self.submitted
        self.client.cancel(arrays=sorted(left))

    def shutdown(self) -> None:
        """Close the run; called by Snakemake at the end, and after jobs were cancelled."""
        super().shutdown()
        if self.run is not None:
            # Cancelled tasks take a while to end; the next run finds the folder and waits for them.
            self.run.close(tidy=self.unreported == 0)
