"""A small synthetic project on which to run the workflow."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from tests.workflow.preloaded import run_snakemake

from itersel.kernel_cache import cache_folder

# Not reproducible: measured times, and the page that shows them.
MEASURED = ("logs/", "benchmarks/", "report/index.html", "report/progress.html")
VERBS = {f"geht{i}": f"goes{i}" for i in range(12)}
NOUNS = {f"haus{i}": f"house{i}" for i in range(25)}
ADJECTIVES = {f"schön{i}": f"nice{i}" for i in range(15)}
SIZES = {"train": 160, "dev": 20, "devtest": 16, "test": 16}

EXPERIMENTS = {
    "dev-dense": {"algorithm": "sgd", "tune_on": "dev", "features": "dense", "epochs": 1},
    "averaged": {"algorithm": "mixsgd", "tune_on": "dev", "tasks": {"shards": 2}, "epochs": 2},
    "selected": {
        "tasks": {"shards": 2, "language_model_folds": 1},
        "epochs": 2,
        "mixing": {"name": "selection", "select": 300},
    },
}


# The output of the run of `finished`.
CONSOLE = "console.txt"

# Tasks of the experiments 'averaged' and 'selected' in tests with natural tasks; labels alternate.
RESHARDED = {"name": "resharding", "shards": 2, "parts": 2}
NATURAL = {"name": "natural", "labels": {"even": 1}, "others": "join", "language_model_folds": 1}


def sentence(source: random.Random) -> tuple[str, str]:
    """Return a sentence pair: the verb is last in the source, and adjectives have two translations."""
    noun, other = source.choices(sorted(NOUNS), k=2)
    adjective, verb = source.choice(sorted(ADJECTIVES)), source.choice(sorted(VERBS))
    english = "fine" if source.random() < 0.2 else ADJECTIVES[adjective]
    left = f"das {adjective} {noun} zum {other} {verb} ."
    return left, f"the {english} {NOUNS[noun]} {VERBS[verb]} to {NOUNS[other]} ."


@dataclass
class Project:
    """A folder with text and a config in which Snakemake runs."""

    folder: Path
    snakefile: Path
    source: Path | None = None

    def __post_init__(self) -> None:
        self.results = self.folder / "results" / "tiny"

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of Snakemake."""
        return [sys.executable, "-m", "snakemake", *self.options(), *arguments]

    def options(self) -> list[str]:
        """Return the options of Snakemake that name the files of this project."""
        files = ["--snakefile", str(self.snakefile), "--directory", str(self.folder)]
        return [*files, "--configfile", "config.yaml"]

    def start(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start Snakemake, with the code of `source` if that is set."""
        environment = {**os.environ, **(environment or {})}
        if self.source is not None:
            environment["PYTHONPATH"] = str(self.source)
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # shells make background processes ignore Ctrl-C
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

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
        if is_forked and self.source is None:
            ended, output = run_snakemake(
                [*self.options(), *arguments], self.folder, {**os.environ, **(environment or {})}
            )
        else:
            process = self.start(*arguments, environment=environment)
            output, _ = process.communicate()
            ended = process.returncode
        assert ended == status, output[-3000:]
        return output

    def planned(self, *arguments: str) -> dict[str, int]:
        """Return the number of jobs of each rule according to a dry run."""
        output = self.run("--quiet", "rules", "--dry-run", *arguments)
        lines = output.partition("Job stats:")[2].partition("\n\n")[0].splitlines()[3:]
        counts = {name: int(number) for name, number in (line.split() for line in lines)}
        counts.pop("total", None)
        return counts

    def config(self) -> dict[str, Any]:
        """Return the config."""
        content: dict[str, Any] = yaml.safe_load((self.folder / "config.yaml").read_text())
        return content

    def configure(self, **changes: object) -> None:
        """Change top-level keys of the config."""
        content = {**self.config(), **changes}
        (self.folder / "config.yaml").write_text(yaml.safe_dump(content, sort_keys=False))

    def name_tasks(self) -> None:
        """Make the shards of 'selected' natural tasks, and let those of 'averaged' change between epochs."""
        content = self.config()
        content["data"]["train"]["task"] = "train.task"
        content["experiments"]["selected"]["tasks"] = NATURAL
        content["experiments"]["averaged"]["tasks"] = RESHARDED
        self.configure(**content)

    def files(self, pattern: str = "**/*") -> dict[str, tuple[float, bytes]]:
        """Return the times and contents of all reproducible result files by name."""
        found = {}
        for path in sorted(self.results.glob(pattern)):
            name = path.relative_to(self.results).as_posix()
            if path.is_file() and not name.startswith((*MEASURED, ".")):
                found[name] = (path.stat().st_mtime, path.read_bytes())
        return found

    def contents(self, pattern: str = "**/*") -> dict[str, bytes]:
        """Return the contents of result files by name."""
        return {name: content for name, (_, content) in self.files(pattern).items()}

    def copy(self, folder: Path) -> Project:
        """Return a copy in the same state."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder, self.snakefile)

    def without_experiments(self, *names: str) -> Project:
        """Remove the results of some or all experiments, but not their inputs."""
        for folder in (self.results / "experiments").iterdir():
            if not names or folder.name in names:
                shutil.rmtree(folder)
        for path in self.results.glob("report/table*"):
            path.unlink()
        return self

    def wait_for_job(self, *words: str, seconds: float = 240) -> psutil.Process:
        """Wait for a job of this project whose command line contains all `words`; returns its process."""
        wanted = set(map(os.fsencode, words))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # A job may run for a tenth of a second; on a busy machine, psutil takes as long for a list.
            for number in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError, psutil.Error):
                    if wanted <= set(Path("/proc", number, "cmdline").read_bytes().split(b"\0")):
                        process = psutil.Process(int(number))
                        if self.is_job(process):
                            return process
            time.sleep(0.002)
        raise AssertionError(f"no job {words} in {seconds} s")

    def is_job(self, process: psutil.Process) -> bool:
        """Tell whether it is the Python process of a job of this project."""
        with contextlib.suppress(psutil.Error):
            is_step = any(word.endswith("/itersel") for word in process.cmdline()[:2])
            return is_step and process.cwd() == str(self.folder)
        return False

    def jobs(self) -> Iterator[psutil.Process]:
        """Yield the Python processes of jobs of this project."""
        return filter(self.is_job, psutil.process_iter())

    def wait_for_the_end_of_jobs(self, seconds: float = 60) -> None:
        """Wait for the jobs that a killed Snakemake left running."""
        psutil.wait_procs(list(self.jobs()), timeout=seconds)
        assert not list(self.jobs())

    def kill_jobs(self) -> None:
        """Kill the jobs that a killed Snakemake left running."""
        for process in list(self.jobs()):
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def make_project(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Callable[[], Project]:
    """Return a function that creates a new project."""

    def make() -> Project:
        folder = tmp_path_factory.mktemp("a project")  # a space, to test that paths are quoted
        source = random.Random(5)
        data = {}
        for split, size in SIZES.items():
            pairs = [sentence(source) for _ in range(size)]
            for side, lines in zip(("source", "target"), zip(*pairs, strict=True), strict=True):
                (folder / f"{split}.{side}").write_text("".join(line + "\n" for line in lines))
            data[split] = {side: f"{split}.{side}" for side in ("source", "target")}
        for split, size in SIZES.items():
            labels = ["even" if line % 2 == 0 else "odd" for line in range(size)]
            (folder / f"{split}.task").write_text("".join(f"{label}\n" for label in labels))
        config = {
            "name": "tiny",
            "cache": str(cache_folder().parent),
            "data": {"kind": "files", "source_language": "de", "target_language": "en", **data},
            "decoder": {"k_best": 20, "pop_limit": 30},
            "evaluation": {"trials": 100},
            "experiments": EXPERIMENTS,
        }
        (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        return Project(folder.resolve(), root / "Snakefile")

    return make


@pytest.fixture(scope="session")
def finished(make_project: Callable[[], Project]) -> Project:
    """Return a project after a complete run on two cores; tests work on copies."""
    project = make_project()
    project.name_tasks()
    (project.folder / CONSOLE).write_text(project.run("--cores", "2"))
    return project


@pytest.fixture
def copy(finished: Project, tmp_path: Path) -> Project:
    """Return a copy of the finished project."""
    return finished.copy(tmp_path / "copy of it")
