"""Single-machine Slurm and Grid Engine clusters, and a small project to run on them."""

import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from tests.workflow.conftest import TOGETHER, Project

HERE = Path(__file__).resolve().parent
# One shard more than there are slots: a task waits.
SHARDS, EPOCHS = 5, 2
# The profiles' waiting times are for real clusters; tests have no other hosts to wait for.
FAST = ["--arrays-poll-seconds", "2", "--arrays-lost-seconds", "4", "--latency-wait", "10", "--retries", "0"]

# A sabotage that lasts until there is a file.
WAITS = "until [ -e go ]; do sleep 0.2; done"
# Run before every job: in tasks of one array, runs the command given for the task, once.
SABOTAGE = """
name=${{SLURM_JOB_NAME:-$JOB_NAME}}
task=${{SLURM_ARRAY_TASK_ID:-$SGE_TASK_ID}}
case $name in {array}*) ;; *) exit 0 ;; esac
mv {folder}/armed-$task {folder}/fired-$task 2> /dev/null || exit 0
case $task in
{actions}
esac
"""


def mostly(key: str) -> pytest.MarkDecorator:
    """Test on one scheduler, and on the other only if slow tests run, too.

    For behaviour that depends little on the scheduler.
    """
    [other] = {"slurm", "sge"} - {key}
    return pytest.mark.parametrize(
        "cluster", [key, pytest.param(other, marks=pytest.mark.slow)], indirect=True
    )


@dataclass
class Cluster:
    key: str
    folder: Path
    script: Path
    environment: dict[str, str] = field(default_factory=dict)

    def control(self, action: str, part: str = "all") -> None:
        """Start or stop all daemons, or one."""
        command = [str(self.script), action, str(self.folder), *([] if part == "all" else [part])]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        self.control("start")
        path = self.folder / "environment"
        # as a user does
        command = ["bash", "-c", '. "$1" && env --null', "bash", str(path)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = dict(word.split("=", 1) for word in done.stdout.split("\0") if word)
        self.environment = {name: found[name] for name in re.findall(r"(\w+)=", path.read_text())}

    def ask(self, *command: str) -> str:
        environment = {**os.environ, **self.environment}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout

    def snakemake(self, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Snakemake in a folder; `stdout` of the result has both streams."""
        command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
        environment = {**os.environ, **self.environment, **variables}
        return subprocess.run(command, cwd=folder, env=environment, check=False, **TOGETHER)

    def tasks_of(self, array: str) -> int:
        """Return how many tasks of an array the scheduler remembers."""
        if self.key == "slurm":
            command = ["squeue", "--noheader", "--array", "--states=all", f"--job={array}", "--format=%K"]
            return len(set(self.ask(*command).split()))
        return len(set(re.findall(r"^taskid +(\d+)", self.ask("qacct", "-j", array), re.MULTILINE)))

    def tasks(self) -> int:
        """Return the number of waiting and running tasks."""
        if self.key == "slurm":
            return len(self.ask("squeue", "--noheader", "--array").splitlines())
        return len(self.ask("qstat", "-g", "d").splitlines()[2:])

    def clear(self) -> None:
        """Cancel all jobs before the next test."""
        user = pwd.getpwuid(os.getuid()).pw_name  # $USER may differ
        self.ask(*(["scancel", f"--user={user}"] if self.key == "slurm" else ["qdel", "-u", user]))
        wait_until(lambda: self.tasks() == 0)


@dataclass
class ClusterProject:
    cluster: Cluster
    project: Project

    @property
    def folder(self) -> Path:
        return self.project.folder

    @property
    def environment(self) -> dict[str, str]:
        """The environment for Snakemake: programs in the folder `bin` of the project come first."""
        found = dict(self.cluster.environment)
        found["PATH"] = f"{self.folder / 'bin'}:{found.get('PATH', os.environ['PATH'])}"
        return found

    def replace(self, program: str, script: str) -> None:
        """Replace a program of the scheduler by a shell script, which is $real in it."""
        path = self.cluster.environment.get("PATH", os.environ["PATH"])
        new = self.folder / "bin" / program
        new.parent.mkdir(exist_ok=True)
        folder = f"cd {shlex.quote(str(self.folder))}"
        new.write_text(f"#!/bin/bash\nreal={shutil.which(program, path=path)}\n{folder}\n{script}\n")
        new.chmod(0o755)

    def said(self, text: str) -> bool:
        """Whether Snakemake has said something in a run that has not ended."""
        logs = self.folder / ".snakemake/log"
        return any(text in path.read_text() for path in logs.glob("*.log"))

    def arguments(self, *further: str) -> list[str]:
        profile = self.project.snakefile.parent / "profiles" / self.cluster.key
        return ["--profile", str(profile), *FAST, *further]

    def start(self, *further: str) -> subprocess.Popen[str]:
        return self.project.start(*self.arguments(*further), environment=self.environment)

    def hold_job(self, words: Sequence[str], *further: str) -> tuple[subprocess.Popen[str], psutil.Process]:
        """Start Snakemake, and suspend a job as soon as it starts (see `Project.start_and_hold`)."""
        return self.project.start_and_hold(words, *self.arguments(*further), environment=self.environment)

    def start_and_wait(self, epoch: int, actions: Mapping[int, str], *further: str) -> subprocess.Popen[str]:
        """Start Snakemake, and wait until jobs of `train_shard` have been sabotaged."""
        run = self.start(*self.sabotage(epoch, actions), *further)
        wait_until(self.sabotage_happened)
        return run

    def number_of(self, array: str) -> str:
        """Wait until an array is submitted, and return its number."""
        pattern, arrays = f"*/{array}-*/identifier", self.folder / ".snakemake/arrays"
        wait_until(lambda: list(arrays.glob(pattern)))
        return next(arrays.glob(pattern)).read_text().strip()

    def kill_job(self, *words: str, target: str) -> subprocess.Popen[str]:
        run, job = self.hold_job(words, target)
        job.kill()
        return run

    def run(self, *further: str, status: int = 0) -> str:
        settings = {"environment": self.environment, "is_forked": False}
        return self.project.run(*self.arguments(*further), status=status, **settings)

    def sabotage(
        self, epoch: int | None, actions: Mapping[int, str], array: str = "train_shard.selected"
    ) -> list[str]:
        """Make jobs of given tasks (from 0) of an array fail once; returns arguments for Snakemake.

        Without an epoch, `array` is all that is known of its name.
        """
        name = array if epoch is None else f"{array}.{epoch}-"
        script, folder = self.folder / "sabotage.sh", shlex.quote(str(self.folder))
        cases = "\n".join(f"{task + 1}) {action} ;;" for task, action in actions.items())
        script.write_text(SABOTAGE.format(array=name, folder=folder, actions=cases))
        for task in actions:
            (self.folder / f"armed-{task + 1}").touch()
        return ["--precommand", f"bash {shlex.quote(str(script))}"]

    def sabotage_happened(self) -> bool:
        return not list(self.folder.glob("armed-*"))

    def weights(self) -> dict[str, bytes]:
        return self.project.contents("experiments/**/*.h5")


def submitted(output: str) -> dict[str, str]:
    """Return the number of tasks of each array that Snakemake reports as submitted, by name."""
    return dict(re.findall(r"array \d+ (\S+)-[0-9a-f]{6}: (\d+) tasks", output))


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for a condition; a test that waits too long is stopped, and shows where."""
    while not condition():
        time.sleep(0.1)


def python(code: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"
