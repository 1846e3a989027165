"""The files of an array: tasks are run here by hand, without a scheduler."""

import errno
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from snakemake_executor_plugin_arrays import runs
from snakemake_executor_plugin_arrays.arrays import IDENTIFIER, Folder
from snakemake_executor_plugin_arrays.commands import process_owner


def new_run(parent):
    """Return a run that nobody holds up."""
    return runs.Run(parent, "slurm", pytest.fail)


def statuses(folder):
    """Return the exit statuses of the jobs that have ended, by line."""
    found = {line: state.status for line, state in folder.states().items()}
    return {line: status for line, status in found.items() if status is not None}


def run_task(folder, task, variable="SLURM_ARRAY_TASK_ID", **environment):
    """Run a task as a scheduler does; returns its exit status."""
    variables = {**os.environ, **environment, variable: str(task)}
    return subprocess.run(["/bin/bash", str(folder.script)], env=variables, check=False).returncode


@pytest.mark.parametrize("variable", ["SLURM_ARRAY_TASK_ID", "SGE_TASK_ID"])
def test_exit_statuses(tmp_path, variable):
    folder = Folder.make(tmp_path / "it's a %folder", ["echo one", "echo two; exit 7", "kill -9 $$"], 1)
    assert statuses(folder) == {}
    assert [run_task(folder, task, variable) for task in (1, 2, 3)] == [0, 1, 1]
    assert statuses(folder) == {1: 0, 2: 7, 3: 128 + signal.SIGKILL}
    assert folder.log(1).read_text() == "one\n"
    assert folder.log(2).read_text() == "two\n"
    assert folder.states()[1].node == os.uname().nodename


@pytest.mark.parametrize("jobs_per_task", [1, 3, 4, 10, 20])
def test_task_runs_its_lines(tmp_path, jobs_per_task):
    """Every line is run once, by the task that `Folder.task` names."""
    commands = [f"echo {line} >> '{tmp_path}'/{line}.$SLURM_ARRAY_TASK_ID" for line in range(1, 11)]
    folder = Folder.make(tmp_path / "array", commands, jobs_per_task)
    tasks = folder.task(10)
    assert tasks == -(-10 // jobs_per_task)
    for task in range(1, tasks + 1):
        assert run_task(folder, task) == 0
    for line in range(1, 11):
        assert (tmp_path / f"{line}.{folder.task(line)}").read_text() == f"{line}\n"
    assert statuses(folder) == dict.fromkeys(range(1, 11), 0)
    for task in range(1, tasks + 1):
        assert [line for line in range(1, 11) if folder.task(line) == task] == list(folder.lines(task))
    assert Folder.open(folder.path) == folder


def test_a_failed_job_does_not_stop_those_after_it(tmp_path):
    folder = Folder.make(tmp_path / "array", ["true", "exit 5", "true"], 3)
    assert run_task(folder, 1) == 1
    assert statuses(folder) == {1: 0, 2: 5, 3: 0}


def test_a_task_that_is_started_again_runs_what_is_missing(tmp_path, put):
    commands = [f"echo {line} >> '{tmp_path}'/ran" for line in (1, 2, 3)]
    folder = Folder.make(tmp_path / "array", commands, 3)
    put(folder.path, 2, "ended.0.n1.17.0a0b0c")
    run_task(folder, 1)
    run_task(folder, 1)
    assert (tmp_path / "ran").read_text() == "1\n3\n"


def test_killed_task_leaves_no_exit_status(tmp_path):
    folder = Folder.make(tmp_path / "array", ["kill -9 $PPID; sleep 9"], 1)
    assert run_task(folder, 1) == -signal.SIGKILL
    assert statuses(folder) == {}
    assert folder.states()[1].node == os.uname().nodename
    assert folder.may_run() == {1}


def test_job_that_is_ended_before_its_task_leaves_no_exit_status(tmp_path):
    """A scheduler signals the processes of a task one after another; started again, the job is run again."""
    ended = f"cd '{tmp_path}'; [ -e again ] && exit; touch again; (sleep 1; kill $PPID) & kill $$"
    folder = Folder.make(tmp_path / "array", [ended, f"touch '{tmp_path}'/next"], 2)
    assert run_task(folder, 1) == -signal.SIGTERM
    assert statuses(folder) == {}
    assert not (tmp_path / "next").exists()
    assert run_task(folder, 1) == 0
    assert statuses(folder) == {1: 0, 2: 0}


def test_task_that_cannot_read_its_job_leaves_no_exit_status(tmp_path):
    """An empty command would go well."""
    folder = Folder.make(tmp_path / "array", ["true"], 1)
    jobs = (folder.path / "jobs").read_bytes()
    for content in (None, b"", b"\n", b"!\n"):
        (folder.path / "jobs").unlink()
        if content is not None:
            (folder.path / "jobs").write_bytes(content)
        assert run_task(folder, 1) == 1
        assert statuses(folder) == {}
        (folder.path / "jobs").write_bytes(jobs)
    assert run_task(folder, 1) == 0
    assert statuses(folder) == {1: 0}


def test_commands_are_kept_as_they_are(tmp_path):
    text = """a 'b' "c" $HOME `x` \\ % {} é"""
    command = f"printf %s {shlex.quote(text)} > '{tmp_path}'/out; cat > '{tmp_path}'/in"
    folder = Folder.make(tmp_path / "array", [command], 1)
    assert run_task(folder, 1) == 0
    assert (tmp_path / "out").read_text() == text
    # a job that reads standard input does not read the script of its task
    assert (tmp_path / "in").read_bytes() == b""


def test_temporary_folder(tmp_path, put):
    (tmp_path / "on the node").mkdir()
    command = f'echo "$TMPDIR" > \'{tmp_path}\'/name; touch "$TMPDIR"/file'
    folder = Folder.make(tmp_path / "array", [command], 1, scratch="$SOMEWHERE")
    run_task(folder, 1, SOMEWHERE=str(tmp_path / "on the node"))
    name = (tmp_path / "name").read_text().strip()
    assert name.startswith(str(tmp_path / "on the node/arrays."))
    assert not os.path.exists(name)
    put(folder.path, 1, "waiting")
    assert run_task(folder, 1, SOMEWHERE="/no/such/folder") == 0
    assert (tmp_path / "name").read_text().startswith("/tmp/arrays.")


def test_runs_that_are_alive_are_not_dead(tmp_path):
    first, second = new_run(tmp_path), new_run(tmp_path)
    assert list(runs.dead_runs(tmp_path)) == []
    second.close()
    assert list(runs.dead_runs(tmp_path)) == []
    assert not second.path.exists()
    assert first.path.exists()


def test_killed_run_is_dead(tmp_path):
    code = (
        "import os, sys, pathlib; from snakemake_executor_plugin_arrays.runs import Run\n"
        "run = Run(pathlib.Path(sys.argv[1]), 'sge', print); path = run.new_array('x'); path.mkdir()\n"
        f"(path / '{IDENTIFIER}').write_text('17'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    run = new_run(tmp_path)
    [found] = runs.dead_runs(tmp_path)
    assert found != run.path
    owner = runs.Owner.of(found)
    assert (owner.scheduler, owner.user, owner.host) == ("sge", process_owner(), socket.gethostname())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", owner.time)
    assert [path.read_text() for path in found.glob(f"*/{IDENTIFIER}")] == ["17"]


def test_run_that_cancels_is_found_by_the_next(tmp_path):
    run = new_run(tmp_path)
    Folder.make(run.new_array("x"), ["true"], 1)
    run.close(tidy=False)
    assert list(runs.dead_runs(tmp_path)) == [run.path]


def test_closed_run_keeps_the_logs_of_failures(tmp_path):
    run = new_run(tmp_path)
    folder = Folder.make(run.new_array("x"), ["true", "echo no; exit 1"], 1)
    for task in (1, 2):
        run_task(folder, task)
    folder.remove_log(1)
    run.close()
    assert [path.name for path in folder.path.iterdir()] == ["2.log"]
    assert list(runs.dead_runs(tmp_path)) == []


def test_dead_run_is_that_of_one_at_a_time(tmp_path):
    new_run(tmp_path).close(tidy=False)
    for _ in runs.dead_runs(tmp_path):
        assert list(runs.dead_runs(tmp_path)) == []
    assert len(list(runs.dead_runs(tmp_path))) == 1


def test_runs_without_locks(tmp_path, monkeypatch):
    """On file systems that have none, nothing is found dead, and nothing is cancelled."""
    error = OSError(errno.ENOSYS, "Function not implemented")
    monkeypatch.setattr("fcntl.flock", mock.Mock(side_effect=error))
    new_run(tmp_path).close(tidy=False)
    assert list(runs.dead_runs(tmp_path)) == []


def test_one_starts_at_a_time(tmp_path):
    """A second one waits, and says so."""
    with runs.starting(tmp_path, pytest.fail):
        code = (
            "import pathlib, sys; from snakemake_executor_plugin_arrays.runs import starting\n"
            "with starting(pathlib.Path(sys.argv[1]), lambda text: print(text, flush=True)): print('in')"
        )
        command = [sys.executable, "-c", code, str(tmp_path)]
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert "waiting for another Snakemake" in other.stdout.readline()
    assert other.communicate()[0] == "in\n"


def test_closing_a_run_beside_a_task_that_moves_its_files(tmp_path, monkeypatch):
    run = new_run(tmp_path)
    folder = Folder.make(run.new_array("x"), ["true"], 1)
    unlink = Path.unlink

    def gone(path, missing_ok=False):
        unlink(path, missing_ok=missing_ok)
        if path.name == "jobs":
            raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "unlink", gone)
    run.close()
    assert not folder.path.exists()


# The folder of the array becomes a disk of its own, of 64 kB.
ON_A_SMALL_DISK = """
cp -r "$1" "$1.copy" && mount -t tmpfs -o size=64k none "$1" && cp -r "$1.copy/." "$1" || exit 99
SLURM_ARRAY_TASK_ID=1 bash "$1/task.sh" 2> /dev/null
cd "$1" && ls [12].*.* | cut -d . -f 1-3
"""


@pytest.mark.parametrize("status", [0, 3, 137])
def test_disk_that_becomes_full(tmp_path, status):
    """The job during which it happens keeps its exit status, and so does the next one."""
    apart = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if not shutil.which("unshare") or subprocess.run([*apart, "true"], check=False).returncode:
        pytest.skip("this user cannot mount a disk of its own")
    fill = f"cat /dev/zero > '{tmp_path}'/array/full 2> /dev/null; exit {status}"
    folder = Folder.make(tmp_path / "array", [fill, f"touch '{tmp_path}'/ran"], 2)
    command = [*apart, "bash", "-c", ON_A_SMALL_DISK, "bash", str(folder.path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    # what is renamed takes no space
    assert done.stdout.split() == [f"1.ended.{status}", "2.ended.0"]
    assert (tmp_path / "ran").exists()


def test_a_copy_of_a_folder_is_not_a_killed_run(tmp_path: Path) -> None:
    """Its arrays are those of the original, which may be alive; a folder that was moved is another matter."""
    original = runs.Run(tmp_path / "project/.snakemake/arrays", "slurm", print)
    shutil.copytree(tmp_path / "project", tmp_path / "copy")
    (tmp_path / "link").symlink_to(tmp_path / "project")
    assert runs.killed_runs(tmp_path / "copy") == []
    original.close(tidy=False)
    assert runs.killed_runs(tmp_path / "copy") == []
    assert runs.killed_runs(tmp_path / "project") == [original.path]
    assert len(runs.killed_runs(tmp_path / "link")) == 1
    (tmp_path / "project").rename(tmp_path / "moved")
    assert len(runs.killed_runs(tmp_path / "moved")) == 1


def test_killed_runs_of_a_working_directory(tmp_path: Path) -> None:
    assert runs.killed_runs(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
    killed, alive = (new_run(runs.runs_folder(tmp_path)) for _ in range(2))
    killed.close(tidy=False)
    assert runs.killed_runs(str(tmp_path)) == [killed.path]
    alive.close()


def test_lock_that_says_only_the_scheduler(tmp_path):
    """Its owner is known from the file."""
    run = new_run(tmp_path)
    run.close(tidy=False)
    (run.path / runs.LOCK).write_text("slurm\n")
    assert runs.Owner.of(run.path) == runs.Owner("slurm", process_owner(), "", "")
    (run.path / runs.LOCK).unlink()
    assert runs.Owner.of(run.path) == runs.Owner("", process_owner(), "", "")
