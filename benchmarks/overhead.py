"""The processor time of a task that trains eight shards, against the same trainings without any start.

The task runs as on a cluster, with the shipped profile for Slurm. Its scheduler is this module: as a command
named ``sbatch``, it runs each task on this machine and adds up the processor time of all its processes.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from benchmarks.data import Data
from benchmarks.measure import PROJECT, SNAKEMAKE, task
from itersel.kernel_cache import cache_folder
from itersel.storage.files import read_lines

SHARDS, SENTENCES = 8, 20
# Sentence pairs of dev, devtest and test, which the config needs.
HELD_OUT = 10
MOST_WORDS = 40
RECORD = "ITERSEL_OVERHEAD_RECORD"
PR_SET_CHILD_SUBREAPER = 36


def measure(data: Data, runs: int) -> list[float]:
    """Return the overhead of a shard in processor seconds, for each run."""
    with tempfile.TemporaryDirectory(dir=data.work) as name:
        folder = Path(name)
        make_project(data, folder)
        shards = [f"results/overhead/experiments/train/epoch-1/shard-{i}.h5" for i in range(SHARDS)]
        printed = snakemake(folder, *shards, "--cores", "2", "--printshellcmds")
        trainings = [shlex.split(words) for words in re.findall(r"(itersel train .*) &>", printed)]
        assert len(trainings) == SHARDS, printed
        found = []
        for _ in range(runs):
            for shard in shards:
                (folder / shard).unlink()
            spent = as_task(folder, shards)
            needed, _ = task("trainings", folder=folder, commands=trainings)
            found.append((spent - needed["processor"]) / SHARDS)
        return found


def make_project(data: Data, folder: Path) -> None:
    """Write a project whose training corpus is the first pairs of the measurements' text."""
    pairs = zip(read_lines(data.corpus.source), read_lines(data.corpus.target), strict=True)
    usable = (pair for pair in pairs if all(0 < len(side.split()) <= MOST_WORDS for side in pair))
    files = {}
    for split in ("train", "dev", "devtest", "test"):
        some = list(islice(usable, SHARDS * SENTENCES if split == "train" else HELD_OUT))
        files[split] = {side: f"{split}.{side}" for side in ("source", "target")}
        for side, lines in zip(("source", "target"), zip(*some, strict=True), strict=True):
            (folder / f"{split}.{side}").write_text("".join(f"{line}\n" for line in lines))
    config = {
        "name": "overhead",
        "cache": str(cache_folder().parent),
        "data": {"kind": "files", "source_language": "de", "target_language": "en", **files},
        "experiments": {
            "train": {"tasks": {"shards": SHARDS, "language_model_folds": 1, "shards_per_job": SHARDS}}
        },
    }
    (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML


def snakemake(folder: Path, *options: str, environment: dict[str, str] | None = None) -> str:
    """Run Snakemake in the project; returns what it prints."""
    places = ("--snakefile", str(PROJECT / "Snakefile"), "--directory", str(folder))
    command = [SNAKEMAKE, *options, *places, "--configfile", str(folder / "config.yaml")]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)} failed:\n{done.stdout}")
    return str(done.stdout)


def as_task(folder: Path, shards: Sequence[str]) -> float:
    """Train the shards as a task of an array; returns the processor seconds of the task."""
    commands, record = folder / "commands", folder / "record"
    shutil.rmtree(commands, ignore_errors=True)
    commands.mkdir()
    record.unlink(missing_ok=True)
    for name, what in (("sbatch", "-m benchmarks.overhead"), ("squeue", "-c ''"), ("scancel", "-c ''")):
        path = commands / name
        start = f"PYTHONPATH={shlex.quote(str(PROJECT))} exec {shlex.quote(sys.executable)} {what}"
        path.write_text(f'#!/bin/sh\n{start} "$@"\n')
        path.chmod(0o755)
    places = os.pathsep.join((str(commands), str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {"PATH": places, RECORD: str(record)}
    snakemake(folder, *shards, "--profile", str(PROJECT / "profiles/slurm"), environment=environment)
    tasks = [float(line) for line in record.read_text().splitlines()]
    assert len(tasks) == 1, "the shards are not in one task"
    return tasks[0]


def submit(arguments: Sequence[str]) -> None:
    """Do what ``sbatch`` does, except that all tasks have run when it ends; records their processor time."""
    options = dict(re.findall(r"^--([a-z]+)=(.*)$", "\n".join(arguments), flags=re.M))
    # what a task leaves running becomes a child of this process
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in range(1, int(options["array"].partition("%")[0].partition("-")[2]) + 1):
        before = children()
        with open(options["output"].replace("%a", str(number)), "wb") as log:
            environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(number)}
            subprocess.run(
                ["bash", arguments[-1]],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=False,
            )
        with suppress(ChildProcessError):
            while True:
                os.wait()
        with open(os.environ[RECORD], "a") as record:
            record.write(f"{children() - before}\n")
    print(1)


def children() -> float:
    """Return the processor seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    submit(sys.argv[1:])
