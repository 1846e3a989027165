"""Several jobs of a task with one Snakemake, which is run here without a scheduler."""

import base64
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.together import targets_of

pytestmark = pytest.mark.slow

Put = Callable[[Path, int, str], None]
NAMES = ["one", "two", "it's $(touch pwned)", "four"]
TARGETS = [f"job:name={name}" for name in NAMES]
SNAKEFILE = """
rule job:
    output: "{name}.txt"
    log: "{name}.log"
    benchmark: "{name}.tsv"
    shell: "echo says {wildcards.name:q}; bash ./{wildcards.name:q}.sh > {output:q}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a workflow whose jobs run scripts of their own."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    for name in NAMES:
        (tmp_path / f"{name}.sh").write_text(f"echo x >> {shlex.quote(f'ran {name}')}\necho content\n")
    return tmp_path


def make_array(folder: Path, before: str = "", targets: Sequence[str] = TARGETS) -> Folder:
    """Return an array of one task; jobs that are run alone leave a file."""
    path = folder / "an array"
    options = ["--cores", "4", "--force", "--nolock", "--ignore-incomplete", "--no-hooks"]
    options += ["--mode", "remote"]
    words = [sys.executable, "-m", "snakemake_executor_plugin_arrays.together", str(path), "1"]
    words += ["--target-jobs", *targets, "--allowed-rules", "job", *options]
    alone = [f"echo {line} >> alone; exit {line}" for line in range(1, len(targets) + 1)]
    return Folder.make(path, alone, len(targets), together={1: before + shlex.join(words)})


def run(array: Folder) -> int:
    """Run the task, as a scheduler does in the folder of the workflow."""
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "1"}
    done = subprocess.run(["bash", str(array.script)], cwd=array.path.parent, env=environment, check=False)
    return done.returncode


def ran(folder: Path) -> list[int]:
    """Return how often each job has run."""
    paths = [folder / f"ran {name}" for name in NAMES]
    return [len(path.read_text().splitlines()) if path.exists() else 0 for path in paths]


def statuses(array: Folder) -> list[int]:
    ended = (state.status for _, state in sorted(array.states().items()))
    return [status for status in ended if status is not None]


def test_jobs_have_a_snakemake_in_common(folder: Path) -> None:
    array = make_array(folder)
    assert run(array) == 0
    assert statuses(array) == [0, 0, 0, 0]
    assert ran(folder) == [1, 1, 1, 1]
    assert not (folder / "alone").exists()
    assert not (folder / "pwned").exists()
    for line, name in enumerate(NAMES, start=1):
        assert (folder / f"{name}.txt").read_text() == "content\n"
        assert (folder / f"{name}.tsv").exists()
        assert array.states()[line].node
        # a log of its own; Snakemake writes a message and its newline separately: this need not start a line
        log = array.log(line).read_text()
        assert [other for other in NAMES if f"says {other}\n" in log] == [name]
    assert len(array.states()) == 4


def test_jobs_fail_alone(folder: Path) -> None:
    """One fails, one is killed by memory, one does not make its output; the last one goes well."""
    (folder / "one.sh").write_text("echo half; exit 3\n")
    (folder / "two.sh").write_text("echo half; kill -9 $$\n")
    (folder / f"{NAMES[2]}.sh").write_text('rm -- "$(dirname "$0")"/it*.txt\n')
    array = make_array(folder)
    assert run(array) == 1
    assert statuses(array) == [1, 1, 1, 0]
    assert not (folder / "alone").exists()
    assert sorted(path.name for path in folder.glob("*.txt")) == ["four.txt"]
    assert "exit status 137" in array.log(2).read_text()
    assert "MissingOutputException" in array.log(3).read_text()


def test_task_that_is_started_again_runs_what_is_missing(folder: Path, put: Put) -> None:
    array = make_array(folder)
    put(array.path, 2, "ended.0.n1.17.0a0b0c")
    # it was running when its node went down
    put(array.path, 3, "running.n1.17.0a0b0c")
    for _ in range(2):
        assert run(array) == 0
        assert statuses(array) == [0, 0, 0, 0]
        assert ran(folder) == [1, 0, 1, 1]


def test_snakemake_that_is_killed(folder: Path) -> None:
    """The job that it ran has failed, and is not started a second time; those after it are run alone."""
    (folder / "two.sh").write_text(
        "echo x >> 'ran two'\nkill -9 $(pgrep -f arrays.together -P $TASK)\nsleep 1\n"
    )
    array = make_array(folder, before="export TASK=$PPID; exec ")
    assert run(array) == 1
    assert statuses(array) == [0, 137, 3, 4]
    assert ran(folder) == [1, 1, 0, 0]
    assert (folder / "alone").read_text() == "3\n4\n"


def test_snakemake_that_cannot_start(folder: Path) -> None:
    """Jobs are run alone, with logs that say what is wrong."""
    array = make_array(folder, before="echo no such module; exit 9; ")
    assert run(array) == 1
    assert statuses(array) == [1, 2, 3, 4]
    assert (folder / "alone").read_text() == "1\n2\n3\n4\n"
    assert "no such module" in array.log(1).read_text()


def test_task_that_is_ended_leaves_no_exit_status(folder: Path) -> None:
    """A scheduler ends the shell of the task first, then the command of the job."""
    (folder / "two.sh").write_text("kill -9 $TASK\nsleep 1\nexit 1\n")
    array = make_array(folder, before="export TASK=$PPID; exec ")
    log = array.log(2)
    assert run(array) == -9
    while not log.exists() or "says two" not in log.read_text() or running(array):
        time.sleep(0.1)
    assert [line for line, state in array.states().items() if state.status is not None] == [1]
    assert ran(folder)[2:] == [0, 0]


def running(array: Folder) -> bool:
    """Whether the Snakemake of the task still runs."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(array.path).encode() in words:
            return True
    return False


def test_lines_without_a_common_snakemake(tmp_path: Path) -> None:
    """A task of several groups of jobs: each line is run once, by its own command or by that of its group."""
    path = tmp_path / "array"
    token = f"'{path}'/$i"
    mark = (
        f"for i in {{}}; do mv {token}.taken.* {token}.ended.0.n1.1.a; echo $i >> '{tmp_path}'/together; done"
    )
    together = {1: mark.format("1 2"), 4: mark.format("4 5")}
    alone = [f"echo {line} >> '{tmp_path}'/alone" for line in range(1, 7)]
    array = Folder.make(path, alone, 6, together=together)
    lines = [base64.b64decode(line).decode() for line in (path / "together").read_text().splitlines()]
    assert lines == [together[1], "", "", together[4], "", ""]
    assert run(array) == 0
    assert (tmp_path / "together").read_text() == "1\n2\n4\n5\n"
    assert (tmp_path / "alone").read_text() == "3\n6\n"


@pytest.mark.parametrize("after", [[], ["--cores", "1"]])
def test_where_the_targets_stand(after: list[str]) -> None:
    words = ["--snakefile", "x", "--target-jobs", "a:i=1", "a:i=--2", *after]
    assert words[targets_of(words)] == ["a:i=1", "a:i=--2"]


def test_first_snakemake_that_has_lost_its_jobs_to_a_second(folder: Path) -> None:
    """It was stopped while it ran the second job; that fails when it goes on, and it removes no output."""
    waits = "touch begun; while [ ! -e go ]; do sleep 0.05; done; exit 1"
    (folder / "two.sh").write_text(f"echo x >> 'ran two'\nif mkdir first; then {waits}; fi\necho content\n")
    array = make_array(folder)
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "1"}
    first = subprocess.Popen(["bash", str(array.script)], cwd=folder, env=environment)
    while not (folder / "begun").exists():
        time.sleep(0.05)
    below = psutil.Process(first.pid).children(recursive=True)
    [snakemake] = [one for one in below if "python" in one.name()]
    snakemake.suspend()
    assert run(array) == 0
    outputs = {path: path.stat().st_mtime_ns for path in folder.glob("*.txt")}
    (folder / "go").touch()
    snakemake.resume()
    first.wait()
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*.txt")} == outputs
    assert len(outputs) == 4
    assert statuses(array) == [0, 0, 0, 0]
    assert ran(folder) == [1, 2, 1, 1]
