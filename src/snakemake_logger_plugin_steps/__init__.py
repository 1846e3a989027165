"""The Snakemake logger ``steps``: shows which steps are done and running instead of ten lines per job.

Snakemake's own log in ``.snakemake/log`` has everything. If the command line asks for more than a plain run
(dry run, ``--printshellcmds``, ``--verbose``, ``--debug-dag``) or for less (``--quiet``), the output is
Snakemake's own.

The docstring of a rule is the title of its step, see `steps.make_job`. `steps` does not depend on Snakemake.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from types import FrameType

from snakemake.logging import ColorizingTextHandler, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from itersel.config.yaml_loader import read_yaml
from itersel.errors import InputError
from snakemake_logger_plugin_steps.steps import Steps, last_lines, make_job

__all__ = ["LogHandler"]

# Beginnings of Snakemake's messages that are the same in every run.
ROUTINE = (
    "Assuming unrestricted shared filesystem",
    "Using shell",
    "Conda environments: ignored",
    "Select jobs to execute",
    "Removing temporary output",
    "Job rate limit reached",
    "Elapsed time",
    "Shutting down, this might take some time",
)
# After SIGTERM: said for each job that was running. At the end: jobs that failed have been shown.
ENDING = "Will exit after finishing currently running jobs"
UNFINISHED = "WorkflowError:\nAt least one job did not complete successfully"
# What Snakemake says of each job that it has stopped, and of itself.
STOPPED = re.compile(
    "RuleException:|WorkflowError:\nAt least one job|CalledProcessError|Cancelling snakemake"
)
# Events that the display of steps replaces.
HIDDEN = frozenset(
    {
        LogEvent.WORKFLOW_STARTED,
        LogEvent.RESOURCES_INFO,
        LogEvent.JOB_INFO,
        LogEvent.JOB_STARTED,
        LogEvent.JOB_FINISHED,
        LogEvent.GROUP_INFO,
        LogEvent.PROGRESS,
        LogEvent.SHELLCMD,
        LogEvent.RULEGRAPH,
    }
)
# Number of lines shown from the log of a failed job.
TAIL = 20


class LogHandler(LogHandlerBase, ColorizingTextHandler):
    """Snakemake's handler for the console, which shows steps instead of jobs."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        check_config_files(sys.argv[1:])
        settings = self.common_settings
        stream = sys.stdout if settings.stdout else sys.stderr
        ColorizingTextHandler.__init__(self, nocolor=settings.nocolor, stream=stream)
        self._plain = bool(
            settings.dryrun
            or settings.printshellcmds
            or settings.verbose
            or settings.debug_dag
            or settings.quiet
        )
        # Snakemake would show whole logs
        self._ends_of_logs = settings.show_failed_logs and not self._plain
        self.setFormatter(DefaultFormatter(settings.quiet, settings.show_failed_logs and self._plain))
        self._steps: Steps | None = None
        self._titles: dict[str, str | None] = {}
        self._is_ending = False
        self._ended = threading.Event()
        # after Ctrl-C
        self._is_interrupted = False
        if not self._plain:
            self._listen()

    def _listen(self) -> None:
        """Notice Ctrl-C before the jobs that it ends, too, are reported as failed."""
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return

        def notice(number: int, frame: FrameType | None) -> None:
            self._is_interrupted = True
            signal.default_int_handler(number, frame)

        signal.signal(signal.SIGINT, notice)

    def emit(self, record: logging.LogRecord) -> None:
        """Show or record a message; called by Snakemake's logging thread."""
        try:
            if not self._plain:
                self._follow(record)
            if self._plain or self._is_shown(record):
                self._write_line()
                ColorizingTextHandler.emit(self, record)
        except BrokenPipeError:
            self._read_no_more()
        except Exception:
            # an exception would end the thread, and with it all output
            self.handleError(record)

    def close(self) -> None:
        """Stop; called by Snakemake when everything has been logged, perhaps several times."""
        if self._is_interrupted and self._steps is not None and not self._ended.is_set():
            self.stream.write(self._steps.stopped() + "\n")
            self.stream.flush()
        self._ended.set()
        super().close()

    def _follow(self, record: logging.LogRecord) -> None:
        """Record jobs that are planned, start or end."""
        values = record.__dict__
        if "planned" in values:
            with self._output_lock:
                self._steps = Steps(time.monotonic)
                self._steps.plan(make_job(*job) for job in values["planned"])
                self._titles = {rule: docstring for rule, _, docstring in values["planned"]}
            threading.Thread(target=self._write_lines, daemon=True).start()
        if self._steps is None:
            return
        event = values.get("event")
        with self._output_lock:
            if event == LogEvent.JOB_INFO:
                rule = values["rule_name"]
                job = make_job(rule, values["wildcards"], self._titles.get(rule))
                self._steps.begin(values["jobid"], job, values["log"])
            elif event == LogEvent.JOB_FINISHED:
                self._steps.end(values["job_id"])
            elif event == LogEvent.JOB_ERROR and not self._is_interrupted:
                self._steps.fail(values["jobid"])

    def _is_shown(self, record: logging.LogRecord) -> bool:
        if self._is_interrupted and self._steps is not None:
            # Jobs have not failed: they were stopped. Other warnings and errors are shown.
            is_of_job = getattr(record, "event", None) == LogEvent.JOB_ERROR
            return record.levelno > logging.INFO and not is_of_job and not STOPPED.match(record.getMessage())
        message = record.getMessage()
        if record.levelno > logging.INFO:
            return not message.startswith(UNFINISHED)
        if message.startswith(ENDING):
            is_first = not self._is_ending
            self._is_ending = True
            return is_first
        return getattr(record, "event", None) not in HIDDEN and not message.startswith(ROUTINE)

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a message."""
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO and not self._plain:
            return f"{record.__dict__['stats']['total']} jobs to run"
        text = super().format(record)
        if event == LogEvent.JOB_ERROR and self._ends_of_logs:
            text = "\n".join([text, *_ends(record.__dict__["log"])])
        return text

    def decorate(self, record: logging.LogRecord, message: str) -> str:
        """Colour a message; unless the output is Snakemake's, only errors and warnings."""
        coloured = self._plain or record.levelno > logging.INFO
        return super().decorate(record, message) if coloured else message

    def _write_lines(self) -> None:
        """Write a line whenever one is due, even while nothing is logged."""
        while not self._ended.wait(1):
            self._write_line(only_due=True)

    def _write_line(self, only_due: bool = False) -> None:
        # Take the handler's lock first, as for messages; in another order, the two threads could deadlock.
        self.acquire()
        try:
            with self._output_lock:
                if self._steps is None or (only_due and not self._steps.due()):
                    return
                if self._is_interrupted:
                    return
                if line := self._steps.line():
                    self.stream.write(line + "\n")
                    self.stream.flush()
        except BrokenPipeError:
            self._read_no_more()
        finally:
            self.release()

    def _read_no_more(self) -> None:
        """Discard further output: its reader is gone (`| head`), and Snakemake sees no errors of threads."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())


def check_config_files(arguments: Sequence[str]) -> None:
    """Exit with one line if a config file on Snakemake's command line cannot be read.

    Snakemake itself shows a traceback or does not name the line, and loggers are the only part of a workflow
    that is set up before configs are read. The Snakefile checks the content of a config later.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--configfile", "--configfiles", dest="files", nargs="+", default=[])
    try:
        files = parser.parse_known_args(arguments)[0].files
    except argparse.ArgumentError:  # Snakemake reports it
        return
    for file in files:
        try:
            read_yaml(file)
        except InputError as error:
            sys.exit(f"itersel: {error}")


def _ends(logs: list[str]) -> Iterator[str]:
    """Yield the last lines of logs, indented."""
    for log in logs:
        lines = last_lines(log, TAIL)
        yield f"    last lines of {log}:" if lines else f"    {log} is empty"
        yield from (f"        {line}" for line in lines)
