"""Stand-ins for Snakemake, the scheduler and a site."""

import asyncio
import logging
import os
import shlex
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import psutil
import snakemake.cli  # noqa: F401 (first, as in a run: Snakemake's modules import each other)
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from snakemake_executor_plugin_arrays import Executor, ExecutorSettings
from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.commands import SchedulerError
from snakemake_executor_plugin_arrays.failures import Place
from snakemake_executor_plugin_arrays.schedulers import Status
from snakemake_executor_plugin_arrays.slurm import Slurm


class Job(SimpleNamespace):
    """What the executor needs of Snakemake's jobs."""

    __hash__ = object.__hash__


class Watched(Executor):
    """An executor with two submitted jobs, that notes what it reports."""

    def __init__(self, path, answers, scheduler=None, jobs_per_task=1):
        self.settings = ExecutorSettings(poll_seconds=0, lost_seconds=0)
        self.scheduler = scheduler or Slurm()
        self.logger = logging.getLogger("test")
        self.prepare()
        self.notice_seconds = 0
        self.unreported = 2
        self.complete, self.complete_before = {"7"}, {"7"}
        self.answers, self.reports, self.cancellations = list(answers), [], []
        self.silent = []
        # what the scheduler says of an array when it is asked for it
        self.known = {}
        self.client = SimpleNamespace(
            user="me",
            statuses=self.answer,
            known=lambda array, listed: self.known,
            reason=lambda array: None,
            cancel=lambda **what: self.cancellations.append(what),
        )
        self.workflow = SimpleNamespace(scheduler=SimpleNamespace(error_callback=self.silent.append))
        self.folder = Folder.make(path, ["true", "exit 4"], jobs_per_task)
        self.active, self.jobs = [], []
        for line, shard in ((1, "0"), (2, "1")):
            wildcards = {"epoch": "1", "shard": shard}
            attempts = {"attempt": 1, "restart_times": 1}
            job = Job(name="train", wildcards_dict=wildcards, log=[f"{shard}.log"], **attempts)
            place = {"place": Place(self.folder, line, "7")}
            identifier = f"7_{self.folder.task(line)}"
            self.active.append(SubmittedJobInfo(job, external_jobid=identifier, aux=place))
            self.jobs.append(job)

    def start(self, *lines):
        """Let these jobs begin."""
        for line in lines:
            self.put(line, "running.n1.17.0a0b0c")

    def end(self, line, status):
        """Let a job end."""
        self.put(line, f"ended.{status}.n1.17.0a0b0c")

    def put(self, line, state):
        """Give a job another state."""
        [token] = [path for path in self.folder.path.glob(f"{line}.*") if path.suffix != ".log"]
        token.rename(self.folder.path / f"{line}.{state}")

    def words(self):
        """Return the states of the jobs without what follows."""
        states = self.folder.states()
        return [states[line].word for line in sorted(states)]

    @staticmethod
    def in_background(function):
        future = Future()
        try:
            future.set_result(function())
        except SchedulerError as error:
            future.set_exception(error)
        return future

    def answer(self):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def report_job_success(self, job_info):
        self.reports.append((job_info.job.wildcards_dict["shard"], None))

    def report_job_error(self, job_info, msg=None, **kwargs):
        self.reports.append((job_info.job.wildcards_dict["shard"], msg))

    def look(self, *answers):
        """Return the jobs that are left after a check, perhaps with further answers of the scheduler."""
        self.answers += answers

        async def collect():
            return [info async for info in self.check_active_jobs(self.active)]

        self.active = asyncio.run(collect())
        return [info.job.wildcards_dict["shard"] for info in self.active]


ALIVE = {("7", 1): Status("RUNNING", True), ("7", 2): Status("RUNNING", True)}
CANCELLED = Status("CANCELLED", False, cancelled=True)


class Submitting(Executor):
    """An executor with a scheduler that answers what a test says."""

    def __init__(self, folder, submit=lambda array, request: "7", find_all=lambda names: set()):
        self.silent = []
        # what the scheduler lists at the end
        self.listed = {}
        self.workflow = SimpleNamespace(
            executor_settings=ExecutorSettings(),
            workdir_init=folder,
            scheduler=SimpleNamespace(error_callback=self.silent.append),
        )
        self.dag = SimpleNamespace(needrun_jobs=lambda: [])
        self.logger = logging.getLogger("test")
        self.reports, self.cleared, self.cancellations = [], [], []
        self.answers = SimpleNamespace(
            submit=submit,
            find_all=find_all,
            living=lambda arrays: arrays,
            clear=self.cleared.append,
            cancel=lambda arrays=(), tasks=(): self.cancellations.append([*arrays, *tasks]),
            statuses=lambda timeout: self.listed,
            is_interrupted=False,
        )
        self.__post_init__()
        self.client = self.answers

    def format_job_exec(self, job):
        return "true"

    def format_together(self, jobs, folder, per_task):
        return {1: f"{len(jobs)} of {folder.name}, {per_task} a task"} if per_task > 1 else {}

    def run_job_pre(self, job):
        pass

    def report_job_submission(self, job_info, register_job=True):
        self.reports.append("submitted")

    def report_job_error(self, job_info, msg=None, **kwargs):
        self.reports.append(msg)

    def runs(self):
        return [path for path in self.parent.iterdir() if path.is_dir()]


def make_jobs(number=2, **changes):
    job = {"name": "train", "resources": {}, "threads": 1, "attempt": 1, "restart_times": 1, **changes}
    return [Job(**job, output=[f"{i}.h5"]) for i in range(number)]


def failing(error):
    def fail(*arguments):
        raise error

    return fail


FULL = SchedulerError("QOSMaxSubmitJobPerUserLimit", full=True)


class Limited:
    """A scheduler that has room for some tasks, and submits arrays of names that tell their sizes."""

    def __init__(self, room):
        self.room, self.sizes = room, []

    def __call__(self, array, request):
        if array.tasks > self.room:
            raise FULL
        self.room -= array.tasks
        self.sizes.append(array.tasks)
        return str(len(self.sizes))


def fail_to_write_text(name, monkeypatch, number):
    write = Path.write_text

    def fail(path, text, *arguments, **options):
        if path.name == name:
            raise OSError(number, os.strerror(number), path.name)
        return write(path, text, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", fail)


PYTHON = shlex.quote(sys.executable)


def statuses(folder):
    """Return the exit statuses of the jobs that have ended, by line."""
    found = {line: state.status for line, state in folder.states().items()}
    return {line: status for line, status in found.items() if status is not None}


class Site:
    """An array in a folder, whose tasks are started by hand; jobs tell what they do by files there."""

    def __init__(self, path):
        self.path = path
        self.started = []

    def array(self, *commands, jobs_per_task=1, **options):
        self.folder = Folder.make(self.path / "array", commands, jobs_per_task, **options)
        return self.folder

    def start(self, task=1):
        """Start an attempt at a task."""
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(task), "HERE": str(self.path)}
        command = ["bash", str(self.folder.script)]
        process = subprocess.Popen(command, env=environment, cwd=self.path, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def wait_for(self, name):
        while not (self.path / name).exists():
            threading.Event().wait(0.02)

    def touch(self, name):
        (self.path / name).touch()

    def end(self):
        for process in self.started:
            if process.poll() is None:
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
                process.kill()
            process.wait()


def waits(name, then="true"):
    """Return a command that waits for a file."""
    return f"until [ -e $HERE/{name} ]; do sleep 0.05; done; {then}"
