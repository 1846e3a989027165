"""A small synthetic project on which to run the workflow."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psutil
import pytest
import yaml
from tests.workflow.preloaded import run_snakemake
from tests.workflow.tiny import write_project

from itersel.compile.cache_folder import cache_folder

# Not reproducible: measured times, and the page that shows them.
MEASURED = ("logs/", "benchmarks/", "report/index.html", "report/progress.html")
LEARNER = {"learner": {"name": "perceptron", "sentence_bleu": "liang"}}
NOT_RETUNED = {"retune": {"tuner": {"name": "none"}}}
SELECTION = {"mixing": {"name": "selection", "select": 300}}
ONE_MODEL = {"name": "random", "shards": 2, "language_model_folds": 1}
EXPERIMENTS = {
    "dev-dense": {"algorithm": "sgd", "tune_on": "dev", "features": "dense", "epochs": 1, **LEARNER},
    "averaged": {
        "algorithm": "mixsgd",
        "tune_on": "dev",
        "tasks": {"name": "random", "shards": 2},
        "epochs": 2,
        **LEARNER,
    },
    "selected": {**LEARNER, **NOT_RETUNED, **SELECTION, "tasks": ONE_MODEL, "epochs": 2},
}


# Run by each Python process when it starts: suspends it if the words of HELD_JOB are in its command line.
HOLD = """
import json, os, signal, sys
words = json.loads(os.environ.get("HELD_JOB", "null"))
if words and set(words) <= set(sys.orig_argv) and not os.path.exists(os.environ["HELD_PROCESS"]):
    with open(os.environ["HELD_PROCESS"] + ".new", "w") as stream:
        stream.write(str(os.getpid()))
    os.rename(os.environ["HELD_PROCESS"] + ".new", os.environ["HELD_PROCESS"])
    os.kill(os.getpid(), signal.SIGSTOP)
"""
# The output of the run of `finished`.
CONSOLE = "console.txt"

# Both streams of a process together.
TOGETHER: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}

# Tasks of the experiments 'averaged' and 'selected' in tests with natural tasks; labels alternate.
RESHARDED = {"name": "resharding", "shards": 2, "parts": 2}
NATURAL = {"name": "natural", "labels": {"even": 1}, "others": "join", "language_model_folds": 1}


def ended(run: subprocess.Popen[str], status: int = 0) -> str:
    output, _ = run.communicate()
    assert run.returncode == status, output
    return output


@dataclass
class Project:
    """A folder with text and a config in which Snakemake runs."""

    folder: Path
    snakefile: Path
    source: Path | None = None
    # the words of a command that runs Snakemake with other rights
    prefix: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.results = self.folder / "results" / "tiny"

    def command(self, *arguments: str) -> list[str]:
        return [*self.prefix, sys.executable, "-m", "snakemake", *self.options(), *arguments]

    def options(self) -> list[str]:
        files = ["--snakefile", str(self.snakefile), "--directory", str(self.folder)]
        return [*files, "--configfile", "config.yaml"]

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start Snakemake, with the code of `source` if that is set."""
        environment = {**os.environ, **(environment or {})}
        if self.source is not None:
            environment["PYTHONPATH"] = str(self.source)

        def listen() -> None:
            # shells make background processes ignore Ctrl-C
            signal.signal(signal.SIGINT, signal.default_int_handler)

        words = self.command(*arguments)
        return subprocess.Popen(words, cwd=self.folder, env=environment, preexec_fn=listen, **TOGETHER)

    def run(
        self,
        *arguments: str,
        status: int = 0,
        environment: Mapping[str, str] | None = None,
        is_forked: bool = True,
    ) -> str:
        """Run Snakemake and return its output.

        A forked process starts faster, but inherits nothing from this one except the environment.
        """
        if not is_forked or self.source is not None or self.prefix:
            return ended(self.start(*arguments, environment=environment), status)
        variables = {**os.environ, **(environment or {})}
        found, output = run_snakemake([*self.options(), *arguments], self.folder, variables)
        assert found == status, output[-3000:]
        return output

    def planned(self, *arguments: str) -> dict[str, int]:
        output = self.run("--quiet", "rules", "--dry-run", *arguments)
        lines = output.partition("Job stats:")[2].partition("\n\n")[0].splitlines()[3:]
        counts = {name: int(number) for name, number in (line.split() for line in lines)}
        counts.pop("total", None)
        return counts

    def config(self) -> dict[str, Any]:
        content: dict[str, Any] = yaml.safe_load((self.folder / "config.yaml").read_text())
        return content

    def configure(self, **changes: object) -> None:
        content = {**self.config(), **changes}
        (self.folder / "config.yaml").write_text(yaml.safe_dump(content, sort_keys=False))

    def name_tasks(self, *splits: str) -> None:
        """Make the shards of 'selected' natural tasks, and let those of 'averaged' change between epochs.

        Train has labels, and so have the `splits`.
        """
        content = self.config()
        for split in ("train", *splits):
            content["data"][split]["labels"] = f"{split}.labels"
        content["experiments"]["selected"]["tasks"] = NATURAL
        content["experiments"]["averaged"]["tasks"] = RESHARDED
        self.configure(**content)

    def files(self, pattern: str = "**/*") -> dict[str, tuple[float, bytes]]:
        """Return the times and contents of all reproducible result files by name."""
        paths = {path.relative_to(self.results).as_posix(): path for path in self.results.glob(pattern)}
        return {
            name: (path.stat().st_mtime, path.read_bytes())
            for name, path in sorted(paths.items())
            if path.is_file() and not name.startswith((*MEASURED, "."))
        }

    def keeps(self, before: Mapping[str, tuple[float, bytes]]) -> bool:
        """Whether files still have these times and contents."""
        return before.items() <= self.files().items()

    def contents(self, pattern: str = "**/*") -> dict[str, bytes]:
        return {name: content for name, (_, content) in self.files(pattern).items()}

    def copy(self, folder: Path) -> Self:
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder, self.snakefile)

    def without(self, pattern: str) -> Self:
        """Remove results of experiments, and the table, but not their inputs."""
        for path in self.results.glob(f"experiments/{pattern}"):
            shutil.rmtree(path)
        for path in self.results.glob("report/table*"):
            path.unlink()
        return self

    def start_and_hold(
        self, words: Sequence[str], *arguments: str, environment: Mapping[str, str] | None = None
    ) -> tuple[subprocess.Popen[str], psutil.Process]:
        """Start Snakemake, and suspend the job whose command line contains all `words` as soon as it starts.

        Returns Snakemake's process and that of the job.
        """
        folder = self.source or self.folder.with_name(f"{self.folder.name} holds")
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(HOLD)
        held = folder / "process"
        settings = {"HELD_JOB": json.dumps(words), "HELD_PROCESS": str(held)}
        settings["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        run = self.start(*arguments, environment={**(environment or {}), **settings})
        while not held.exists():
            assert run.poll() is None, run.communicate()[0]
            time.sleep(0.05)
        return run, psutil.Process(int(held.read_text()))

    def is_job(self, process: psutil.Process) -> bool:
        """Tell whether it is the Python process of a job of this project."""
        with contextlib.suppress(psutil.Error):
            is_step = any(word.endswith("/itersel") for word in process.cmdline()[:2])
            return is_step and process.cwd() == str(self.folder)
        return False

    def jobs(self) -> Iterator[psutil.Process]:
        return filter(self.is_job, psutil.process_iter())

    def wait_for_the_end_of_jobs(self, seconds: float = 60) -> None:
        """Wait for the jobs that a killed Snakemake left running."""
        psutil.wait_procs(list(self.jobs()), timeout=seconds)
        assert not list(self.jobs())

    def kill_jobs(self) -> None:
        for process in list(self.jobs()):
            with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                process.kill()
            process.wait()


@pytest.fixture(scope="session")
def make_project(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Callable[..., Project]:

    def make(folder: Path | None = None) -> Project:
        # a space, to test that paths are quoted
        folder = folder or tmp_path_factory.mktemp("a project")
        folder.mkdir(parents=True, exist_ok=True)
        write_project(folder, EXPERIMENTS, cache=str(cache_folder().parent))
        return Project(folder.resolve(), root / "Snakefile")

    return make


@pytest.fixture(scope="session")
def finished(
    make_project: Callable[..., Project], tmp_path_factory: pytest.TempPathFactory, root: Path
) -> Project:
    """Return a project after a complete run on two cores, one for all processes; tests work on copies."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "a finished project"
        if not (folder / CONSOLE).exists():
            project = make_project(folder)
            project.name_tasks("devtest", "test")
            console = project.run("--cores", "2")
            (folder / CONSOLE).write_text(console)
    return Project(folder.resolve(), root / "Snakefile")


@pytest.fixture
def copy(finished: Project, tmp_path: Path) -> Project:
    return finished.copy(tmp_path / "copy of it")
