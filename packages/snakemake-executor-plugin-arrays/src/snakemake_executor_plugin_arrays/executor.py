"""The interface to Snakemake: finds out what has become of tasks and jobs."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import ApiError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from snakemake_executor_plugin_arrays import clocks, quoting
from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.commands import QUICK, Client, SchedulerError
from snakemake_executor_plugin_arrays.failures import FINAL, Place
from snakemake_executor_plugin_arrays.job_command import refuse
from snakemake_executor_plugin_arrays.reporting import ReportingExecutor
from snakemake_executor_plugin_arrays.requests import check_settings, choose_scheduler
from snakemake_executor_plugin_arrays.runs import runs_folder, starting
from snakemake_executor_plugin_arrays.schedulers import REST, Status, Task
from snakemake_executor_plugin_arrays.takeover import end_dead_runs, may_run
from snakemake_executor_plugin_arrays.task_states import (
    FINISHED,
    GIVEN_UP,
    LOST,
    REFUSED,
    REPORTED,
    REVOKED,
    TaskState,
)
from snakemake_executor_plugin_arrays.tokens import ENDED, STOPPED, State
from snakemake_executor_plugin_arrays.waiting import Drop

# Tokens are our own files, so looking for them every second does not load the scheduler.
TOKEN_SECONDS = 1


def by_array(infos: Iterable[SubmittedJobInfo]) -> dict[str, list[SubmittedJobInfo]]:
    """Return jobs by the identifiers of their arrays."""
    found: dict[str, list[SubmittedJobInfo]] = defaultdict(list)
    for info in infos:
        found[info.aux["place"].array].append(info)
    return found


class Executor(ReportingExecutor):
    """Runs ready jobs as array jobs."""

    def __post_init__(self) -> None:
        """Check the settings, and cancel the arrays of runs whose Snakemake was killed."""
        quoting.install()
        # for local rules, and because Snakemake checks the outputs of a node's jobs here again
        clocks.install()
        self.settings = self.workflow.executor_settings
        check_settings(self.settings)
        self.scheduler = choose_scheduler(self.settings)
        self.client = Client(self.scheduler, self.settings.patience_seconds, self.logger.warning)
        self.workdir = Path(self.workflow.workdir_init).resolve()
        if why := self.scheduler.refusal(str(self.workdir)):
            raise ApiError(f"{str(self.workdir)!r}: {why}; rename the folder")
        refuse(self.dag.needrun_jobs())
        self.parent = runs_folder(self.workdir)
        self.prepare()
        try:
            with starting(self.parent, self.logger.warning):
                end_dead_runs(self.parent, self.client, self.settings.lost_seconds, self.logger.warning)
        except OSError as error:
            hint = ": another user may run Snakemake here" if isinstance(error, PermissionError) else ""
            raise ApiError(f"{error.filename or self.parent}: {error.strerror}{hint}") from None

    def prepare(self) -> None:
        """Set what is known of the arrays of this run: nothing yet."""
        super().prepare()
        # when the scheduler was asked, and a question without an answer yet
        self.asked = -float("inf")
        self.question: Future[dict[Task, Status]] | None = None
        # arrays whose jobs Snakemake knew completely at the last check
        self.complete_before: set[str] = set()
        # since when the scheduler does not answer questions about an array
        self.unanswered: dict[str, float] = {}
        self.unreadable: set[Path] = set()
        # what Ctrl-C did before it was ignored
        self.handler: Any = None

    @property
    def cores(self) -> str:
        """The cores of a job are those of its node, not of the submit host."""
        return "all"

    async def check_active_jobs(
        self, active_jobs: list[SubmittedJobInfo]
    ) -> AsyncGenerator[SubmittedJobInfo, None]:
        """Report the jobs that have ended; yield the others."""
        self.next_seconds_between_status_checks = TOKEN_SECONDS
        # `active_jobs` may have been listed while another thread was adding the jobs of an array
        listed, self.complete_before = self.complete_before, set(self.complete)
        if not active_jobs and not self.backlog:
            return
        fresh = self._ask()
        tokens: dict[Path, dict[int, State]] = {}
        # what is reported together, by its new state, and what has been missing for long
        reported: dict[str, list[SubmittedJobInfo]] = defaultdict(list)
        missing: list[SubmittedJobInfo] = []
        living: set[str] = set()
        unfinished: list[tuple[Task, Status]] = []
        for info in active_jobs:
            place: Place = info.aux["place"]
            path = place.folder.path
            if path not in tokens:
                tokens[path] = self._tokens(place.folder)
            place.token = tokens[path].get(place.line, place.token)
            said: Status | None = None
            if place.token.word in (ENDED, STOPPED):
                place.state = self._without_scheduler(place)
            elif fresh:
                task = place.task
                said = self.statuses.get(task)
                place.state = self._with_answer(place, said, place.array in listed)
            state = place.state
            if state.word == FINISHED:
                self._report_status(info, place)
            elif state.word in REPORTED:
                reported[state.word].append(info)
            elif fresh and state.is_missing_for(self.settings.lost_seconds, time.monotonic()):
                missing.append(info)
            else:
                if said is not None and said.alive:
                    unfinished.append((task, said))
                living.add(place.array)
                yield info
        gone = by_array(missing)
        for array, infos in by_array(reported[REFUSED]).items():
            self._report_refused(array, infos)
        self._report_lost(reported[LOST])
        for array, infos in by_array(reported[GIVEN_UP]).items():
            self._give_up(array, infos, whole=array not in living and array not in gone)
        listed_now = {array for array, _ in self.statuses} if gone else set()
        for array, infos in gone.items():
            for info in self._judge(array, infos, array in listed_now):
                living.add(array)
                yield info
            if array in self.removed and array not in living:
                place = infos[0].aux["place"]
                self.drops.append(Drop("is not submitted, because its array was cancelled", place.name))
        if fresh:
            self._report_held(unfinished)
            self._report_waiting(unfinished)
            self._retry_backlog()

    @staticmethod
    def _without_scheduler(place: Place) -> TaskState:
        """Return the new state of a task whose job has ended or stopped according to its token."""
        if place.token.word == STOPPED:
            return place.state.stopped()
        return place.state.refused() if place.token.status == FINAL else place.state.finished()

    def _with_answer(self, place: Place, said: Status | None, is_known_completely: bool) -> TaskState:
        """Return the new state of a task, from what a new answer of the scheduler says of it."""
        if said is None or not said.alive:
            return place.state.unlisted(said, time.monotonic())
        state = place.state.listed(said)
        return state.given_up() if is_known_completely and self._will_not_run(place, said) else state

    def _tokens(self, folder: Folder) -> dict[int, State]:
        """Return the tokens of the jobs of an array; none while the folder cannot be read."""
        try:
            found = folder.states()
        except OSError as error:
            if folder.path not in self.unreadable:
                self.unreadable.add(folder.path)
                self.logger.warning(f"{folder.path} cannot be read, will retry: {error}")
            return {}
        self.unreadable.discard(folder.path)
        return found

    def _ask(self) -> bool:
        """Query the scheduler if it is time; returns whether there is a new answer.

        In a thread, so that a slow answer does not delay the results of jobs.
        """
        if self.question is None and time.monotonic() - self.asked >= self.settings.poll_seconds:
            self.asked = time.monotonic()
            self.question = self.in_background(self.client.statuses)
        if self.question is None or not self.question.done():
            return False
        question, self.question = self.question, None
        try:
            self.statuses = question.result()
        except SchedulerError as error:
            # no reason to give up jobs
            self._say_no_answer("", error)
            return False
        self.silence_reminders.forget("")
        return True

    @staticmethod
    def in_background(function: Callable[[], dict[Task, Status]]) -> Future[dict[Task, Status]]:
        """Call a function in a thread that Snakemake does not wait for when it ends."""
        future: Future[dict[Task, Status]] = Future()

        def work() -> None:
            try:
                future.set_result(function())
            except BaseException as error:  # for the thread that wants the result
                future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return future

    def _will_not_run(self, place: Place, said: Status) -> bool:
        """Return whether a task will never run, or still waits although Snakemake starts nothing any more."""
        # with several partitions, Slurm gives the reason of an arbitrary one
        hopeless = said.hopeless and "," not in (place.request.queue or "")
        return hopeless or (self._is_ending() and said.waiting)

    def _give_up(self, array: str, infos: list[SubmittedJobInfo], whole: bool) -> None:
        """Cancel the tasks of an array that will not run, and report them as one failure."""
        tasks = sorted({info.aux["place"].task for info in infos})
        # the scheduler forgets what is cancelled
        reason = self.client.reason(array)
        self._revoke(info.aux["place"] for info in infos)
        if whole:
            self.client.cancel(arrays=[array])
        else:
            self.client.cancel(tasks=tasks)
        status = self.statuses[tasks[0]]
        self.unreported -= len(infos)
        why = f"will never run: its state is {status.word}{f' ({reason})' if reason else ''}"
        if not status.hopeless:
            why = "was not running when Snakemake was told to end, so it was cancelled"
        again = self.scheduler.stuck_may_pass and not self._is_ending()
        self._report_together(infos, self._failures(infos, why), again)
        if not again:
            place = infos[0].aux["place"]
            self.drops.append(Drop("is not submitted, because it would never run", place.name, place.request))

    def _judge(self, array: str, infos: list[SubmittedJobInfo], listed: bool) -> list[SubmittedJobInfo]:
        """Report jobs without an exit status whose tasks have ended; return the others.

        A task that is not listed may be running: only what another command of the scheduler confirms has
        ended. Otherwise it is cancelled and revoked, and reported when it must have noticed that.
        """
        known: dict[int, Status] | None = {}
        kept, now = list[SubmittedJobInfo](), time.monotonic()
        if any(info.aux["place"].state.status is None for info in infos):
            try:
                known = self.client.known(array, listed)
                self.unanswered.pop(array, None)
            except SchedulerError as error:
                since = self.unanswered.setdefault(array, now)
                # it is as safe to give up what cannot be asked for, but it ends what may be running
                if now - since < self.settings.patience_seconds:
                    self._say_no_answer(array, error)
                    kept = [info for info in infos if info.aux["place"].state.status is None]
                    infos = [info for info in infos if info.aux["place"].state.status is not None]
        lost, doubtful = list[tuple[SubmittedJobInfo, TaskState]](), list[Place]()
        for info in infos:
            place: Place = info.aux["place"]
            status = self._ending(place, known or {})
            if known is None or (status is not None and status.alive):
                place.state = place.state.found_alive(now)
                self._explain(
                    f"{self.scheduler.query(self.client.user)[0]} does not list tasks of the"
                    f" {self.scheduler.name} array {array}, but {' '.join(self.scheduler.inquiry(array))}"
                    " shows them: waiting for them"
                )
                kept.append(info)
                continue
            # nobody else removes what waits; without the folder, it is unknown whether it did
            removable = self.scheduler.leaves_if_removed and place.folder.path not in self.unreadable
            state = place.state.judged(status, now, self.notice_seconds, place.has_begun, removable)
            if state.word == LOST:
                lost.append((info, state))
                continue
            if state.word == REVOKED and place.state.word != REVOKED:
                doubtful.append(place)
            place.state = state
            kept.append(info)
        self._explain_doubts(array, doubtful)
        # Before they are cancelled, so that this is not taken for the end of a job. What has ended, too: the
        # scheduler may start it again.
        unrevoked = self._revoke([*doubtful, *(info.aux["place"] for info, _ in lost)])
        for place in doubtful:
            if id(place) in unrevoked:
                place.state = place.state.not_revoked()
        if doubtful:
            self.client.cancel(tasks=sorted({place.task for place in doubtful}))
        ended = list[SubmittedJobInfo]()
        for info, state in lost:
            place = info.aux["place"]
            if id(place) in unrevoked:
                kept.append(info)
            else:
                place.state = state
                ended.append(info)
        self._report_lost(ended)
        return kept

    def _ending(self, place: Place, known: Mapping[int, Status]) -> Status | None:
        """Return how a task ended, or what another command shows of it; `None` if nothing is known."""
        status = place.state.status or known.get(place.task[1])
        if status is None and not place.has_begun():
            # that of all tasks of the array that never started, if it has ended
            rest = self.statuses.get((place.array, REST)) or known.get(REST)
            status = rest if rest is not None and not rest.alive else None
        return status

    @staticmethod
    def _revoke(places: Iterable[Place]) -> set[int]:
        """Forbid the tasks of jobs to go on; returns the `id` of those for which it could not be done."""
        of_folder = defaultdict[Path, list[Place]](list)
        for place in places:
            of_folder[place.folder.path].append(place)
        left = set()
        for members in of_folder.values():
            tasks = {place.task[1] for place in members}
            try:
                tasks = members[0].folder.revoke(*sorted(tasks))
            except FileNotFoundError:
                # without its folder, no task runs
                tasks = set()
            except OSError:
                pass
            left |= {id(place) for place in members if place.task[1] in tasks}
        return left

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Cancel all arrays of this run; `active_jobs` is not used, as it is empty during a check."""
        self.client.is_interrupted = True
        # until `shutdown`: a second Ctrl-C would leave arrays behind
        if threading.current_thread() is threading.main_thread() and self.handler is None:
            self.handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        left = set(self.submitted)
        # by name, too, as Snakemake may be interrupted before a submission is answered
        with contextlib.suppress(SchedulerError):
            left |= self.client.find_all(self.names)
        # also those that are not listed: it is no error to cancel what has ended
        self.client.cancel(arrays=sorted(left))
        # so that the next run knows since when they are ending
        # another thread may change the names
        for path in [self.run.path / name for name in tuple(self.names)] if self.run is not None else []:
            with contextlib.suppress(OSError):
                for folder, tasks in may_run([path]).items():
                    folder.revoke(*tasks)

    def _cancel_what_is_left(self) -> None:
        """Cancel tasks that the scheduler is about to start again, although their jobs have ended."""
        try:
            left = self.client.statuses(timeout=QUICK)
        except SchedulerError:
            # without its files, a task does nothing
            return
        tasks = [
            task
            for task, status in left.items()
            if task[0] in self.submitted and status.alive and status.waiting
        ]
        if tasks:
            names = ", ".join(f"{array}_{number}" for array, number in sorted(tasks))
            self.logger.warning(
                f"{self.scheduler.name} was about to repeat tasks whose jobs have ended; cancelled: {names}"
            )
            self.client.cancel(tasks=tasks)

    def shutdown(self) -> None:
        """Close the run; called by Snakemake at the end, and after jobs were cancelled."""
        super().shutdown()
        if self.submitted and not self.client.is_interrupted:
            self._cancel_what_is_left()
        if self.run is not None:
            # Cancelled tasks take a while to end; the next run finds the folder and waits for them.
            self.run.close(tidy=self.unreported == 0)
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)
            self.handler = None
