"""Command lines and output formats of Slurm and Grid Engine; nothing here runs a command."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

# identifier of the array job, and number of the task, from 1
Task = tuple[str, int]
# The number of a job that is not an array, and of all tasks of an array that were cancelled before they ran.
REST = 0
# Slurm states in which processes of a task may be left, if its shell was killed or its node cut off.
SURVIVED = ("FAILED", "NODE_FAIL")
# How Slurm writes the number of a task that has none.
NO_NUMBER = "4294967294"


@dataclass(frozen=True)
class Request:
    """The resources that a task requests.

    Memory is for the whole task, in MB; run time is in minutes. The queue is a partition in Slurm, the
    account a project in Grid Engine.
    """

    threads: int = 1
    memory: int | None = None
    runtime: int | None = None
    queue: str | None = None
    account: str | None = None
    extra: tuple[str, ...] = ()


@dataclass(frozen=True)
class Array:
    """An array job to submit; its tasks are numbered from 1."""

    name: str
    tasks: int
    script: Path
    workdir: Path
    # folder for the scheduler's own logs of the tasks
    logs: Path
    concurrent: int = 0


@dataclass(frozen=True)
class Status:
    """The status of a task: the scheduler's own word, and what it means."""

    word: str
    # it may still run
    alive: bool
    # it is not running now
    waiting: bool = False
    # it waits until somebody intervenes
    held: bool = False
    # it will never run as submitted
    hopeless: bool = False
    # a person ended it, or is ending it
    cancelled: bool = False


class Scheduler(Protocol):
    """The commands of a scheduler and the interpretation of their output."""

    # the name in settings and resources
    key: str
    name: str
    # names of the resources that override settings
    queue_resource: str
    account_resource: str
    extra_resource: str
    # whether the memory of a request is passed to the scheduler
    requests_memory: bool
    # whether a task that will never run as submitted may run if it is submitted again
    stuck_may_pass: bool
    # whether each task of an array counts where the number of submitted jobs is limited
    counts_tasks: bool
    # whether a task that leaves the queue before it has started was removed by a person
    leaves_if_removed: bool

    def refusal(self, folder: str) -> str | None:
        """Return why no array can be submitted from a folder with this name; `None` if one can."""

    def submission(self, array: Array, request: Request) -> list[str]:
        """Return the command that submits an array; it must be run in `Array.workdir`."""

    def identifier(self, output: str) -> str | None:
        """Return the identifier in the output of a submission."""

    def find(self, user: str | None) -> list[str]:
        """Return the command that lists the arrays of a user, or of all, by identifier and name."""

    def named(self, output: str, names: Collection[str]) -> set[str]:
        """Return the identifiers of the arrays with these names in the output of `find`."""

    def query(self, user: str | None) -> list[str]:
        """Return the command that lists the tasks of a user, or of all."""

    def statuses(self, output: str) -> dict[Task, Status]:
        """Return the tasks in the output of `query`, without those that the scheduler has forgotten."""

    def inquiry(self, array: str) -> list[str]:
        """Return another command, which shows what the scheduler knows of an array; it fails for nothing."""

    def known(self, array: str, output: str) -> dict[int, Status] | None:
        """Return the tasks in the output of `inquiry`; `None` if some are left, but not which."""

    def accounting(self, array: str) -> list[str] | None:
        """Return the command that shows the ended tasks of an array, where the site records them."""

    def recorded(self, array: str, output: str) -> dict[int, Status]:
        """Return the ended tasks in the output of `accounting`."""

    def privacy(self) -> list[str] | None:
        """Return the command that shows whether users see the jobs of others; `None` if they always do."""

    def is_private(self, output: str) -> bool:
        """Tell from the output of `privacy` whether users see only their own jobs."""

    def reason(self, array: str) -> list[str] | None:
        """Return the command that shows why an array waits; `None` if its status says so."""

    def explanation(self, output: str) -> str | None:
        """Return the reason in the output of `reason`, if there is one."""

    def cancellation(self, tasks: Iterable[Task] = (), arrays: Iterable[str] = ()) -> list[list[str]]:
        """Return the commands that cancel single tasks and whole arrays."""

    def advice(self, task: Task) -> str:
        """Return the command that shows a user what happened to a task."""


class Slurm:
    """Slurm: sbatch, squeue, scancel. Neither slurmdbd nor sacct is needed."""

    key = "slurm"
    name = "Slurm"
    queue_resource = "slurm_partition"
    account_resource = "slurm_account"
    extra_resource = "slurm_extra"
    requests_memory = True
    # it requests too much
    stuck_may_pass = False
    counts_tasks = True
    # a task without a status has been forgotten
    leaves_if_removed = False

    # the array, the number of the task or N/A, the state, and the reason
    ROW = re.compile(r"(\d+) +(\S+) +([A-Z_]+)(?: +(.*?))? *")
    # In all other states, including those of later versions, a task may still run.
    ENDED = frozenset(
        {
            "BOOT_FAIL",
            "CANCELLED",
            "COMPLETED",
            "DEADLINE",
            "FAILED",
            "NODE_FAIL",
            "OUT_OF_MEMORY",
            "PREEMPTED",
            "REVOKED",
            "TIMEOUT",
        }
    )
    # states that are neither: the task is not running now
    WAITING = frozenset(
        {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "SUSPENDED", "STOPPED"}
    )
    # reasons and states that last until somebody intervenes, and those of a task that requests too much
    HELD = re.compile(r"held|hold|NeverSatisfied|BadConstraints|SPECIAL_EXIT", re.I)
    HOPELESS = re.compile(
        r"PartitionTimeLimit|Max\w*Per(Job|Node|Limit)|Invalid(Account|QOS)|(Account|QOS)NotAllowed"
        r"|not.permitted.to.use",
        re.I,
    )

    def refusal(self, folder: str) -> str | None:
        """Return why not: after a backslash, Slurm does not replace the task number in the name of a log."""
        if "\n" in folder:
            return "a folder with a line break in its name cannot be used on a cluster"
        return "Slurm cannot write logs to a folder with a backslash in its name" if "\\" in folder else None

    def submission(self, array: Array, request: Request) -> list[str]:
        """Return the sbatch command."""
        span = f"1-{array.tasks}" + (f"%{array.concurrent}" if array.concurrent else "")
        command = ["sbatch", "--parsable", "--export=ALL", f"--job-name={array.name}", f"--array={span}"]
        command += [f"--output={str(array.logs).replace('%', '%%')}/task-%a.log"]
        command += ["--nodes=1", "--ntasks=1", f"--cpus-per-task={request.threads}"]
        command += [f"--mem={request.memory}M"] if request.memory else []
        command += [f"--time={request.runtime}"] if request.runtime else []
        command += [f"--partition={request.queue}"] if request.queue else []
        command += [f"--account={request.account}"] if request.account else []
        return [*command, *request.extra, str(array.script)]

    def identifier(self, output: str) -> str | None:
        """Return the number printed by `sbatch --parsable`, without the name of the cluster."""
        # a site's greeting may stand before it
        found = re.findall(r"^(\d+)(?:;\S*)?\s*$", output, re.M)
        return found[-1] if found else None

    def find(self, user: str | None) -> list[str]:
        """Return the squeue command."""
        return self._squeue(user, "--format=%F %j")

    @staticmethod
    def _squeue(user: str | None, *options: str) -> list[str]:
        users = [f"--user={user}"] if user else []
        return ["squeue", "--noheader", "--all", "--states=all", *users, *options]

    def named(self, output: str, names: Collection[str]) -> set[str]:
        """Return the arrays with these names."""
        pairs = (line.split(maxsplit=1) for line in output.splitlines())
        return {
            pair[0] for pair in pairs if len(pair) == 2 and pair[0].isdigit() and pair[1].strip() in names
        }

    def query(self, user: str | None) -> list[str]:
        """Return the squeue command, which shows ended tasks for MinJobAge seconds, by default 300."""
        return self._squeue(user, "--array", "--format=%F %K %T %r")

    def statuses(self, output: str) -> dict[Task, Status]:
        """Return the tasks in the lines of squeue; those that never started and have ended share a line."""
        found, waiting = dict[Task, Status](), defaultdict[str, dict[int, str]](dict)
        for line in output.splitlines():
            # others are a site's greeting, or the name of a cluster if there are several (SLURM_CLUSTERS)
            if not (row := self.ROW.fullmatch(line)):
                continue
            array, task, word, reason = row.groups()
            if task.isdigit() and word == "PENDING":
                waiting[array][int(task)] = reason or "None"
            else:
                found[array, int(task) if task.isdigit() else REST] = self._status(word)
        begun = {array for array, _ in found}
        for array, reasons in waiting.items():
            # All tasks of an array have the same request, but Slurm may not have examined all of them yet.
            excess = next(filter(self.HOPELESS.search, reasons.values()), "") if array not in begun else ""
            for number, own in reasons.items():
                why = own if self.HELD.search(own) else excess or own
                found[array, number] = self._pending(why)
        return found

    def _status(self, word: str) -> Status:
        """Return the status of a task that is not pending; accounting adds who cancelled it."""
        alive = word.split()[0] not in self.ENDED
        cancelled = word.startswith("CANCELLED")
        return Status(word, alive, word in self.WAITING, bool(self.HELD.search(word)), cancelled=cancelled)

    def _pending(self, why: str) -> Status:
        word = f"PENDING ({why})" if why not in ("", "None") else "PENDING"
        return Status(word, True, True, bool(self.HELD.search(why)), bool(self.HOPELESS.search(why)))

    def inquiry(self, array: str) -> list[str]:
        """Return the scontrol command: a site may replace squeue, for example by one that answers late."""
        return ["scontrol", "--oneliner", "--all", "show", "job", array]

    def known(self, array: str, output: str) -> dict[int, Status] | None:
        """Return the tasks; waiting ones share a line, with a range; `REST` as in `statuses`."""
        found = {}
        for line in output.splitlines():
            words = dict(part.partition("=")[::2] for part in line.split())
            if words.get("ArrayJobId") != array or "JobState" not in words:
                continue
            state, reason = words["JobState"], words.get("Reason", "")
            status = self._pending(reason) if state == "PENDING" else self._status(state)
            tasks = words.get("ArrayTaskId", "").partition("%")[0]
            numbers = [REST] if tasks == NO_NUMBER else _numbers(tasks)
            found.update(dict.fromkeys(numbers, status))
        return found

    def accounting(self, array: str) -> list[str] | None:
        """Return the sacct command, which fails where the site keeps no accounts."""
        options = ["--noheader", "--parsable2", "--allocations", "--duplicates", "--format=JobID,State"]
        return ["sacct", *options, f"--jobs={array}"]

    def recorded(self, array: str, output: str) -> dict[int, Status]:
        """Return the ended tasks; what is recorded as running may have been lost since."""
        found = {}
        for line in output.splitlines():
            name, _, word = line.partition("|")
            job, _, task = name.partition("_")
            if job == array and task.isdigit() and word:
                found[int(task)] = self._status(word)
        return {task: status for task, status in found.items() if not status.alive}

    def privacy(self) -> list[str] | None:
        """Return the command that shows the configuration."""
        return ["scontrol", "show", "config"]

    def is_private(self, output: str) -> bool:
        """Tell whether PrivateData has jobs; operators are told the same, which is only too careful."""
        return re.search(r"^PrivateData\s*=.*\b(jobs|all)\b", output, re.M) is not None

    def reason(self, array: str) -> list[str] | None:
        """Return none: squeue tells."""
        return None

    def explanation(self, output: str) -> str | None:
        """Return none."""
        return None

    def cancellation(self, tasks: Iterable[Task] = (), arrays: Iterable[str] = ()) -> list[list[str]]:
        """Return one scancel command for all."""
        names = [*arrays, *(f"{array}_{task}" for array, task in tasks)]
        return [["scancel", *names]] if names else []

    def advice(self, task: Task) -> str:
        """Return a command that works for MinJobAge seconds, and one for clusters with accounting."""
        return f"scontrol show job {task[0]}_{task[1]}, or sacct -j {task[0]}_{task[1]}"


class GridEngine:
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

    # where qstat has a reason
    NO_REASON = re.compile(r"is turned off|no messages available")
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

    def identifier(self, output: str) -> str | None:
        """Return the number printed by `qsub -terse`, as in ``17.1-8:1``; warnings may precede it."""
        found = re.search(r"^(\d+)(\.|\s|$)", output.strip(), re.M)
        return found.group(1) if found else None

    def find(self, user: str | None) -> list[str]:
        """Return the qstat command."""
        return ["qstat", "-xml", "-u", user or "*"]

    def named(self, output: str, names: Collection[str]) -> set[str]:
        """Return the arrays with these names."""
        return {entry["JB_job_number"] for entry in self._entries(output) if entry.get("JB_name") in names}

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
            for task in _numbers(entry.get("tasks", str(REST))):
                found[entry["JB_job_number"], task] = status
        return found

    def inquiry(self, array: str) -> list[str]:
        """Return the qstat command, which fails for an array without tasks that may still run."""
        return ["qstat", "-j", array]

    def known(self, array: str, output: str) -> dict[int, Status] | None:
        """Return `None`: tasks are left."""
        return None if re.search(rf"^job_number:\s*{array}\s*$", output, re.M) else {}

    def accounting(self, array: str) -> list[str] | None:
        """Return none: qacct does not tell a job that was deleted from one that was killed."""
        return None

    def recorded(self, array: str, output: str) -> dict[int, Status]:
        """Return nothing."""
        return {}

    def privacy(self) -> list[str] | None:
        """Return none: qstat shows all jobs."""
        return None

    def is_private(self, output: str) -> bool:
        """Return false."""
        return False

    def reason(self, array: str) -> list[str] | None:
        """Return the qstat command, which gives reasons where the site records them (schedd_job_info)."""
        return self.inquiry(array)

    def explanation(self, output: str) -> str | None:
        """Return the first reason."""
        found = re.search(r"^scheduling info:[ \t]*(\S.*)$", output, re.M)
        reason = found.group(1).strip() if found else ""
        return None if not reason or self.NO_REASON.search(reason) else reason

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


def _numbers(ranges: str) -> Iterator[int]:
    """Yield the numbers of ``3``, ``1-8:1`` or ``1,4,7-9:2``; of nothing else."""
    for part in ranges.split(","):
        if found := re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part):
            first, last, step = (int(word) if word else None for word in found.groups())
            yield from range(first or 0, (last or first or 0) + 1, step or 1)


# Errors of schedulers that are unreachable or full for a while, the only ones where waiting helps.
PASSING = re.compile(
    r"unable to contact|unable to send message|unable to receive|timed? ?out|temporarily|try again"
    r"|unexpected message|connection (refused|reset)|communication (connection )?failure|commlib"
    r"|got no (valid )?response"
    r"|zero bytes were transmitted|can't connect|cannot connect|could not connect|got select error",
    re.I,
)

# Errors of a scheduler that limits how many jobs a user, account or everybody has at a time.
# Slurm's reason, because its text "(job submit limit, user's size and/or time limits)" is that of all limits.
FULL = re.compile(r"(QOS|Assoc)\w*Submit\w*|jobs are allowed per (user|cluster)", re.I)
# Limits that the jobs of others may fill.
SHARED = re.compile(r"(QOS|Assoc)Grp|PerAccount|per cluster", re.I)
