"""Command lines and output formats of Grid Engine; nothing here runs a command."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Mapping

from snakemake_executor_plugin_arrays.schedulers import (
    REST,
    Array,
    Request,
    Scheduler,
    Status,
    Task,
    numbers_in,
)


class GridEngine(Scheduler):
    """Grid Engine (Son of, Univa, Altair, Open): qsub, qstat, qdel. qacct is not needed."""

    key = "sge"
    name = "Grid Engine"
    queue_resource = "sge_queue"
    account_resource = "sge_project"
    extra_resource = "sge_extra"
    # a node could not start it
    stuck_may_pass = True
    counts_tasks = False
    leaves_if_removed = True
    # of several queues, another one may allow it, and be full
    remedies = (
        (
            re.compile(r"\(-l h_rt=\d+\) cannot run in queue|offers only q\w:h_rt="),
            "if no queue allows that, lower `runtime` or set arrays-runtime-limit",
        ),
    )

    # where qstat has a reason, but none that its state does not tell
    NO_REASON = re.compile(r"is turned off|no messages available|Job is in error state")
    VARIABLE = re.compile(r"\$(HOME|HOSTNAME|JOB_ID|JOB_NAME|TASK_ID|USER)")

    def __init__(self, environment: str, complexes: Iterable[str], per_slot: bool) -> None:
        """Store what differs between sites.

        Parameters
        ----------
        environment
            The parallel environment of tasks with more than one thread.
        complexes
            The complexes that are set to the memory of a task.
        per_slot
            Whether they are counted per slot (`YES` in the column consumable of ``qconf -sc``) or per job.
        """
        self.environment = environment
        self.complexes = tuple(complexes)
        self.per_slot = per_slot
        self.requests_memory = bool(self.complexes)

    def refusal(self, folder: str) -> str | None:
        """Return why not: Grid Engine would expand a variable, and not find the folder."""
        if "\n" in folder:
            return "a folder with a line break in its name cannot be used on a cluster"
        found = self.VARIABLE.search(folder)
        return f"Grid Engine would expand {found.group()} in the name of the folder" if found else None

    def submission(self, array: Array, request: Request) -> list[str]:
        """Return the qsub command; paths are relative, as qsub accepts no colons or commas in them."""
        command = ["qsub", "-terse", "-V", "-S", "/bin/bash", "-N", array.name, "-t", f"1-{array.tasks}"]
        logs = os.path.relpath(array.logs, array.workdir)
        command += ["-cwd", "-j", "y", "-o", f"{logs}/task-$TASK_ID.log"]
        # a task that is restarted runs what is missing; without this, a lost node keeps its tasks for ever
        command += ["-r", "y"]
        command += ["-tc", str(array.concurrent)] if array.concurrent else []
        command += ["-pe", self.environment, str(request.threads)] if request.threads > 1 else []
        if request.memory:
            memory = -(-request.memory // request.threads) if self.per_slot else request.memory
            command += [word for name in self.complexes for word in ("-l", f"{name}={memory}M")]
        command += ["-l", f"h_rt={request.runtime * 60}"] if request.runtime else []
        command += ["-q", request.queue] if request.queue else []
        command += ["-P", request.account] if request.account else []
        return [*command, *request.extra, str(array.script)]

    def identifiers(self, output: str) -> list[str]:
        """Return the number that `qsub -terse` prints, as in ``17.1-8:1``."""
        return re.findall(r"^[ \t]*(\d+)\.\d+-\d+:\d+[ \t\r]*$", output, re.M)

    def find(self, user: str | None) -> list[str]:
        """Return the qstat command."""
        return ["qstat", "-xml", "-u", user or "*"]

    def names(self, output: str) -> dict[str, str]:
        """Return the names of the arrays."""
        return {entry["JB_job_number"]: entry.get("JB_name", "") for entry in self._entries(output)}

    def query(self, user: str | None) -> list[str]:
        """Return the qstat command; waiting tasks of one array are one entry with a range."""
        return self.find(user)

    def statuses(self, output: str) -> dict[Task, Status]:
        """Return the tasks.

        In a state, E is an error that lasts until somebody clears it, h means held, d is being deleted, r
        running, t being transferred to a node, and s, S and T are kinds of suspended.
        """
        found = {}
        for entry in self._entries(output):
            state = entry.get("state", "")
            waiting = not set(state) & set("rt") or bool(set(state) & set("sST"))
            status = Status(state, True, waiting, "h" in state, "E" in state, "d" in state)
            for task in numbers_in(entry.get("tasks", str(REST))):
                found[entry["JB_job_number"], task] = status
        return found

    def inquiry(self, array: str) -> list[str]:
        """Return the qstat command, which fails for an array without tasks that may still run."""
        return ["qstat", "-j", array]

    def known(self, array: str, output: str) -> dict[int, Status] | None:
        """Return `None`: tasks are left."""
        return None if re.search(rf"^job_number:\s*{array}\s*$", output, re.M) else {}

    def reason(self, array: str) -> list[str] | None:
        """Return the qstat command, which gives reasons where the site records them (schedd_job_info)."""
        return self.inquiry(array)

    def explanation(self, output: str) -> str | None:
        """Return the error of a task that could not be started, or the first reason why an array waits."""
        for pattern in (r"^error reason\s+\d+:\s*(?:.*\]: )?(\S.*)$", r"^scheduling info:[ \t]*(\S.*)$"):
            if (found := re.search(pattern, output, re.M)) and not self.NO_REASON.search(found.group(1)):
                return found.group(1).strip()
        return None

    def cancellation(self, tasks: Iterable[Task] = (), arrays: Iterable[str] = ()) -> list[list[str]]:
        """Return a qdel command for the arrays, and one for each range of consecutive tasks."""
        arrays, rows = list(arrays), list[tuple[str, int, int]]()
        for array, task in sorted(tasks):
            if rows and rows[-1][0] == array and rows[-1][2] == task - 1:
                rows[-1] = (array, rows[-1][1], task)
            else:
                rows.append((array, task, task))
        single = [["qdel", array, "-t", f"{first}-{last}"] for array, first, last in rows]
        return ([["qdel", *arrays]] if arrays else []) + single

    def advice(self, task: Task) -> str:
        """Return the command for a waiting task, and the one for an ended task."""
        return f"qstat -j {task[0]}, or qacct -j {task[0]} -t {task[1]}"

    @staticmethod
    def _entries(output: str) -> Iterator[Mapping[str, str]]:
        # a site's greeting may stand before and after it
        found = re.search(r"<\?xml.*</job_info>|<job_info\b[^>]*/>", output, re.S)
        for entry in ElementTree.fromstring(found.group() if found else output).iter("job_list"):
            yield {part.tag: (part.text or "").strip() for part in entry}
