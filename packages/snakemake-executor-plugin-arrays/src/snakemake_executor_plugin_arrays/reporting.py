"""How the executor reports what has become of jobs: their successes, failures, and warnings about arrays."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.failures import (
    CANCELLED,
    Place,
    how_ended,
    how_lost,
    how_refused,
    in_words,
    job_name,
    others,
)
from snakemake_executor_plugin_arrays.schedulers import Status, Task
from snakemake_executor_plugin_arrays.submission import SubmittingExecutor
from snakemake_executor_plugin_arrays.waiting import Drop, Reminders, Waiting


class ReportingExecutor(SubmittingExecutor):
    """The part of the executor that reports to Snakemake and to its user."""

    def prepare(self) -> None:
        """Set what has been reported: nothing yet."""
        super().prepare()
        # arrays of which a person cancelled tasks, and those with jobs that would fail again
        self.removed: set[str] = set()
        self.refused: set[str] = set()
        self.waiting = Waiting(self.settings.waiting_seconds)
        # of a scheduler that does not answer
        self.silence_reminders = Reminders(self.settings.waiting_seconds)
        self.explained: set[str] = set()
        # arrays whose user knows that tasks are on hold
        self.on_hold: set[str] = set()

    def _say_no_answer(self, array: str, error: SchedulerError) -> None:
        """Say now and then that the scheduler does not answer, at all or for an array."""
        if self.silence_reminders.due(array, time.monotonic()):
            self.logger.warning(f"{self.scheduler.name} does not answer, will retry: {error}")

    def _report_status(self, info: SubmittedJobInfo, place: Place) -> None:
        """Report a job with an exit status."""
        if status := place.token.status:
            self._report_failure(info, how_ended(status, place.folder.log(place.line)))
            return
        self.unreported -= 1
        if not self.settings.keep_logs:
            place.folder.remove_log(place.line)
        self.causes.pop(info.job, None)
        self.report_job_success(info)

    def _report_refused(self, array: str, infos: list[SubmittedJobInfo]) -> None:
        """Report jobs that would fail again: once for each array, although others may end later."""
        place: Place = infos[0].aux["place"]
        message = self._failures(infos, how_refused(place.folder.log(place.line)))
        self.unreported -= len(infos)
        self._report_together(infos, None if array in self.refused else message, again=False)
        self.refused.add(array)
        self.drops.append(Drop("is not submitted, because it would fail, too", place.name))

    def _report_lost(self, infos: list[SubmittedJobInfo]) -> None:
        """Report jobs whose tasks have ended without an exit status: cancelled ones as one failure."""
        # who deletes a task of Grid Engine, which does not tell, usually deletes its array
        deleted = {info.aux["place"].array for info in infos if info.aux["place"].state.was_cancelled}
        removed = []
        for info in infos:
            place: Place = info.aux["place"]
            status = place.state.status
            forgotten = status is None and place.array in self.removed | deleted
            forgotten = forgotten and self.scheduler.leaves_if_removed
            if forgotten or (status is not None and status.cancelled):
                place.state = place.state.removed()
                removed.append(info)
            else:
                self._report_failure(info, how_lost(status, started=place.token.node is not None))
        if removed:
            place = removed[0].aux["place"]
            message = self._failure(removed[0], CANCELLED)
            self.unreported -= len(removed)
            # some may take longer to end; once is enough
            self._report_together(removed, None if place.array in self.removed else message, again=False)
            self.removed.add(place.array)

    def _explain_doubts(self, array: str, doubtful: Iterable[Place]) -> None:
        """Say why tasks are cancelled that may be running."""
        of_word = defaultdict[str, set[Task]](set)
        for place in doubtful:
            of_word[place.state.status.word if place.state.status else ""].add(place.task)
        for word, tasks in sorted(of_word.items()):
            some = f"{len(tasks)} of the tasks of array {array}"
            known = f"lists {some} as {word}" if word else f"no longer knows {some}"
            self._explain(
                f"{self.scheduler.name} {known}, but they have no exit status; cancelling them in case they"
                " are still running"
            )

    def _report_held(self, unfinished: list[tuple[Task, Status]]) -> None:
        """Warn of arrays with tasks on hold: once until none is, although their states may differ."""
        held = dict[str, tuple[Task, Status]]()
        for task, status in unfinished:
            if status.waiting and (status.held or status.hopeless):
                held.setdefault(task[0], (task, status))
        for array, (task, status) in held.items():
            if array not in self.on_hold:
                self.logger.warning(
                    f"{self.scheduler.name} array {array} is on hold: {status.word}."
                    f" More: {self.scheduler.advice(task)}"
                )
        # what is not listed may be on hold all the same
        self.on_hold -= {array for (array, _), _ in unfinished}
        self.on_hold |= held.keys()

    def _report_waiting(self, unfinished: list[tuple[Task, Status]]) -> None:
        """Warn of arrays none of whose tasks has run for a while."""
        for array, seconds, why in self.waiting.due(unfinished, time.monotonic()):
            task = next(task for task, _ in unfinished if task[0] == array)
            reason = self.client.reason(array)
            self.logger.warning(
                f"{self.scheduler.name} array {array} has been waiting for {in_words(seconds)}:"
                f" {why}{f' ({reason})' if reason else ''}. More: {self.scheduler.advice(task)}"
            )

    def _explain(self, text: str) -> None:
        """Warn once; the text names the array."""
        if text not in self.explained:
            self.explained.add(text)
            self.logger.warning(text)

    def _failure(self, info: SubmittedJobInfo, what: str) -> str:
        place: Place = info.aux["place"]
        node = place.token.node
        # groups of jobs have no wildcards
        return (
            f"{job_name(info.job.name, getattr(info.job, 'wildcards_dict', {}))}: {self.scheduler.name} task"
            f" {info.external_jobid}{f' on {node}' if node else ''} {what}."
            f" Logs: {', '.join(map(str, [*info.job.log, *place.logs]))}."
            f" More: {self.scheduler.advice(place.task)}. "
        )

    def _failures(self, infos: list[SubmittedJobInfo], what: str) -> str:
        """Return the message about jobs of an array that failed like the first one."""
        message = self._failure(infos[0], what)
        return f"{message}{others(infos).strip()} " if len(infos) > 1 else message

    def _report_failure(self, info: SubmittedJobInfo, what: str) -> None:
        self.unreported -= 1
        place: Place = info.aux["place"]
        logs = [str(path) for path in place.logs]
        if why := place.folder.cannot_write():
            # then no log says so
            what += f". {place.folder.path} cannot be written to: {why}"
        message = self._failure(info, what)
        self.causes.setdefault(info.job, message)
        self.report_job_error(info, msg=message, aux_logs=logs)
