"""Command lines and output formats of Slurm; nothing here runs a command."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from snakemake_executor_plugin_arrays.schedulers import (
    REST,
    Array,
    Request,
    Scheduler,
    Status,
    Task,
    numbers_in,
)

# How Slurm writes the number of a task that has none.
NO_NUMBER = "4294967294"


class Slurm(Scheduler):
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
    remedies = (
        (
            re.compile("CPU count per node can not be satisfied"),
            "if the partition has MaxMemPerCPU (scontrol show partition), memory beyond it counts as CPUs:"
            " lower `mem_mb` or set arrays-memory-limit",
        ),
    )

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

    def identifiers(self, output: str) -> list[str]:
        """Return the number that `sbatch --parsable` prints, without the name of the cluster."""
        return re.findall(r"^(\d+)(?:;\S*)?[ \t\r]*$", output, re.M)

    def find(self, user: str | None) -> list[str]:
        """Return the squeue command."""
        return self._squeue(user, "--format=%F %j")

    @staticmethod
    def _squeue(user: str | None, *options: str) -> list[str]:
        users = [f"--user={user}"] if user else []
        return ["squeue", "--noheader", "--all", "--states=all", *users, *options]

    def names(self, output: str) -> dict[str, str]:
        """Return the names of the arrays."""
        pairs = (line.split(maxsplit=1) for line in output.splitlines())
        return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2 and pair[0].isdigit()}

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
            numbers = [REST] if tasks == NO_NUMBER else numbers_in(tasks)
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
        """Return whether PrivateData has jobs; operators are told the same, which is only too careful."""
        return re.search(r"^PrivateData\s*=.*\b(jobs|all)\b", output, re.M) is not None

    def cancellation(self, tasks: Iterable[Task] = (), arrays: Iterable[str] = ()) -> list[list[str]]:
        """Return one scancel command for all."""
        names = [*arrays, *(f"{array}_{task}" for array, task in tasks)]
        return [["scancel", *names]] if names else []

    def advice(self, task: Task) -> str:
        """Return a command that works for MinJobAge seconds, and one for clusters with accounting."""
        return f"scontrol show job {task[0]}_{task[1]}, or sacct -j {task[0]}_{task[1]}"
