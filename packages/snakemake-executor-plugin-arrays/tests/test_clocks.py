"""Hosts whose clocks differ: to a node that is behind, the files of others are from the future."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from snakemake_executor_plugin_arrays.arrays import Folder

pytestmark = pytest.mark.slow

PACKAGE = "snakemake_executor_plugin_arrays"
HOURS = 7200
SNAKEFILE = """
rule shell:
    input: "input.txt", "older.txt"
    output: "shell.txt"
    benchmark: "shell.tsv"
    shell: "cat {input} > {output}"

rule run:
    input: "input.txt"
    output: "run.txt", "other.txt"
    run:
        for name in output:
            shell("cp {input} {name}")

rule directory:
    input: "input.txt"
    output: directory("directory")
    shell: "mkdir {output} && cp {input} {output}"
"""
# What each rule makes; of a folder, the file that has its time.
MADE = {
    "shell": ["shell.txt", "shell.tsv"],
    "run": ["run.txt", "other.txt"],
    "directory": ["directory/.snakemake_timestamp"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    for name in ("input.txt", "older.txt"):
        (tmp_path / name).write_text("content\n")
    return tmp_path


def make_array(folder: Path, together: bool = False) -> Folder:
    """Return an array of one task with one Snakemake for each rule, or one for all."""
    path, rules = folder / "an array", list(MADE)
    if not together:
        commands = [command(f"{PACKAGE}.node", rules=[rule]) for rule in rules]
        return Folder.make(path, commands, len(rules))
    both = command(f"{PACKAGE}.together", str(path), "1", rules=rules)
    return Folder.make(path, ["false"] * len(rules), len(rules), together={1: both})


def command(*module: str, rules: Sequence[str]) -> str:
    targets = [f"{rule}:" for rule in rules]
    options = ["--cores", "1", "--force", "--nolock", "--ignore-incomplete", "--no-hooks", "--mode", "remote"]
    words = [*module, "--target-jobs", *targets, "--allowed-rules", *rules, *options]
    return shlex.join([sys.executable, "-m", *words])


def run(array: Folder) -> None:
    """Run the task, as a scheduler does in the folder of the workflow."""
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "1"}
    done = subprocess.run(["bash", str(array.script)], cwd=array.path.parent, env=environment, check=False)
    logs = "".join(path.read_text() for path in array.path.glob("*.log"))
    assert done.returncode == 0, logs


def set_ahead(path: Path) -> float:
    """Give a file the time of a host whose clock is ahead of this one's; returns that time."""
    there = time.time() + HOURS
    os.utime(path, (there, there))
    return path.stat().st_mtime


def times(folder: Path) -> list[float]:
    return [(folder / name).stat().st_mtime for names in MADE.values() for name in names]


@pytest.mark.parametrize("together", [False, True])
def test_outputs_are_not_older_than_inputs(folder: Path, together: bool) -> None:
    """Snakemake alone would remove them."""
    newest = set_ahead(folder / "input.txt")
    run(make_array(folder, together))
    assert min(times(folder)) >= newest


def test_outputs_are_not_older_than_the_submission(folder: Path) -> None:
    """Otherwise a killed run would take files made of an earlier output for up to date."""
    array = make_array(folder)
    submitted = set_ahead(array.path / "jobs")
    run(array)
    assert min(times(folder)) >= submitted


def test_clocks_that_agree(folder: Path) -> None:
    """Outputs keep the time at which their job ended."""
    array = make_array(folder)
    run(array)
    assert (array.path / "jobs").stat().st_mtime <= min(times(folder))
    assert max(times(folder)) <= time.time()


def test_submit_host(folder: Path) -> None:
    """It also checks the outputs of nodes' jobs; here those of local rules, without a scheduler."""
    newest = set_ahead(folder / "input.txt")
    (folder / "bin").mkdir()
    for program in ("sbatch", "squeue"):
        (folder / "bin" / program).write_text("#!/bin/sh\n")
        (folder / "bin" / program).chmod(0o755)
    (folder / "Snakefile").write_text(f"localrules: {', '.join(MADE)}\n{SNAKEFILE}")
    words = [sys.executable, "-m", "snakemake", "--executor", "arrays", "--arrays-scheduler", "slurm"]
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run([*words, "--jobs", "1", *MADE], cwd=folder, env=environment, check=False)
    assert done.returncode == 0
    assert min(times(folder)) >= newest
