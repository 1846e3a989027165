"""Attempts at a task that overlap: one writes, whichever ends first. No scheduler is needed."""

import contextlib
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from snakemake_executor_plugin_arrays import attempt, tokens
from snakemake_executor_plugin_arrays.arrays import Folder
from snakemake_executor_plugin_arrays.tokens import State

PYTHON = shlex.quote(sys.executable)


def statuses(folder):
    """Return the exit statuses of the jobs that have ended, by line."""
    found = {line: state.status for line, state in folder.states().items()}
    return {line: status for line, status in found.items() if status is not None}


class Site:
    """An array in a folder, whose tasks are started by hand; jobs tell what they do by files there."""

    def __init__(self, path):
        self.path = path
        self.started = []

    def array(self, *commands, jobs_per_task=1, **options):
        self.folder = Folder.make(self.path / "array", commands, jobs_per_task, **options)
        return self.folder

    def start(self, task=1):
        """Start an attempt at a task."""
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(task), "HERE": str(self.path)}
        command = ["bash", str(self.folder.script)]
        process = subprocess.Popen(command, env=environment, cwd=self.path, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def wait_for(self, name):
        while not (self.path / name).exists():
            threading.Event().wait(0.02)

    def touch(self, name):
        (self.path / name).touch()

    def end(self):
        for process in self.started:
            if process.poll() is None:
                for child in psutil.Process(process.pid).children(recursive=True):
                    child.kill()
                process.kill()
            process.wait()


@pytest.fixture
def site(tmp_path):
    found = Site(tmp_path)
    yield found
    found.end()


def waits(name, then="true"):
    """Return a command that waits for a file."""
    return f"until [ -e $HERE/{name} ]; do sleep 0.05; done; {then}"


# The first attempt to run says so and waits; the second one does something else.
TWICE = "if mkdir $HERE/first 2> /dev/null; then {}; else {}; fi"


@pytest.mark.parametrize("order", ["before", "while", "after"])
@pytest.mark.parametrize("status", [0, 5])
def test_first_attempt_ends_nothing_once_there_is_a_second(site, order, status):
    """It ends before the second attempt ends, or after it, or before that has begun the job."""
    site.array(TWICE.format(waits("go-1", f"exit {status}"), f"touch $HERE/second; {waits('go-2')}"))
    first = site.start()
    site.wait_for("first")
    if order == "before":
        # the second one has taken the job, and waits until the first one must have noticed
        script = site.folder.script.read_text()
        # a shell reads its script bit by bit
        site.folder.script.unlink()
        site.folder.script.write_text(script.replace('sleep "$notice"', f"{{ {waits('noticed')}; }}"))
    second = site.start()
    if order == "before":
        while site.folder.states()[1].word != "awaiting":
            threading.Event().wait(0.02)
        site.touch("go-1")
        assert first.wait() == 1
        assert statuses(site.folder) == {}
        site.touch("noticed")
    site.wait_for("second")
    if order == "while":
        site.touch("go-1")
        assert first.wait() == 1
        assert statuses(site.folder) == {}
    site.touch("go-2")
    assert second.wait() == 0
    assert statuses(site.folder) == {1: 0}
    if order == "after":
        site.touch("go-1")
        assert first.wait() == 1
    assert statuses(site.folder) == {1: 0}
    assert list(site.folder.states()) == [1]


def test_second_attempt_after_the_end_does_nothing(site):
    site.array("touch $HERE/ran-$(ls -d $HERE/ran-* 2> /dev/null | wc -l)", "exit 3", jobs_per_task=2)
    assert site.start().wait() == 1
    assert site.start().wait() == 1
    assert [path.name for path in site.path.glob("ran-*")] == ["ran-0"]
    assert statuses(site.folder) == {1: 0, 2: 3}


def test_first_attempt_does_not_begin_its_next_job(site):
    site.array(TWICE.format(waits("go-1"), "true"), "echo x >> $HERE/next", jobs_per_task=2)
    first = site.start()
    site.wait_for("first")
    assert site.start().wait() == 0
    site.touch("go-1")
    assert first.wait() == 1
    assert (site.path / "next").read_text() == "x\n"
    assert statuses(site.folder) == {1: 0, 2: 0}


def test_attempts_at_the_same_time(site):
    """Of many that start together, one runs each job."""
    site.array(*["echo $ARRAYS_ATTEMPT >> $HERE/ran"] * 5, jobs_per_task=5)
    every = [site.start() for _ in range(8)]
    for process in every:
        process.wait()
    assert statuses(site.folder) == dict.fromkeys(range(1, 6), 0)
    # each may have begun a job before the next took it over, but only one has ended it
    assert len(site.folder.states()) == 5


def test_attempt_at_a_job_that_runs_waits_until_the_other_has_noticed(site):
    site.array(TWICE.format(waits("go-1"), "touch $HERE/second"), notice=1000)
    site.start()
    site.wait_for("first")
    second = site.start()
    while site.folder.states()[1].word != "awaiting":
        threading.Event().wait(0.02)
    wait_until_it_sleeps(second)
    assert not (site.path / "second").exists()
    # a third one as well
    wait_until_it_sleeps(site.start())
    assert not (site.path / "second").exists()
    assert site.folder.may_run() == {1}
    site.folder.revoke(1)
    # the first one may still run
    assert site.folder.may_run() == {1}


def wait_until_it_sleeps(shell):
    """Wait until an attempt waits for another one to notice, for 1,000 seconds."""
    found = []
    while not found:
        for child in psutil.Process(shell.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):
                if "1000" in child.cmdline():
                    found.append(child)


def test_restarted_task_keeps_the_log_of_a_job_that_has_ended(site):
    """Also if one Snakemake would run it with others."""
    together = {1: "echo of several", 2: ""}
    site.array("echo broken; exit 3", "true", jobs_per_task=2, together=together)
    site.start().wait()
    site.start().wait()
    assert statuses(site.folder) == {1: 3, 2: 0}
    assert site.folder.log(1).read_text() == "of several\nbroken\n"


@pytest.mark.parametrize("option", ["nullglob", "failglob"])
def test_shells_of_the_site_do_not_matter(site, monkeypatch, option):
    (site.path / "bashrc").write_text(f"shopt -s {option}\nGLOBIGNORE='*'\n")
    monkeypatch.setenv("BASH_ENV", str(site.path / "bashrc"))
    site.array("true", "exit 4", jobs_per_task=2)
    site.start().wait()
    assert statuses(site.folder) == {1: 0, 2: 4}


def test_task_whose_run_has_ended_does_nothing(site):
    site.array("touch $HERE/ran")
    script = site.folder.script.read_text()
    site.folder.remove()
    site.path.joinpath("copy").write_text(script)
    done = subprocess.run(
        ["bash", "copy"],
        env={**os.environ, "SGE_TASK_ID": "1", "HERE": str(site.path)},
        cwd=site.path,
        check=False,
    )
    assert done.returncode == 1
    assert not (site.path / "ran").exists()


# ---- jobs that were given up


def test_revoked_task_starts_no_job(site):
    site.array(f"touch $HERE/1; {waits('go')}", "touch $HERE/2", jobs_per_task=2)
    first = site.start()
    site.wait_for("1")
    site.folder.revoke(1)
    site.touch("go")
    assert first.wait() == 1
    # the attempt says that it has stopped
    assert [state.word for _, state in sorted(site.folder.states().items())] == ["stopped", "revoked"]
    assert site.folder.may_run() == set()
    assert site.start().wait() == 1
    assert not (site.path / "2").exists()


def test_task_that_was_revoked_before_it_began(site):
    site.array("touch $HERE/ran")
    site.folder.revoke(1)
    assert site.start().wait() == 1
    assert not (site.path / "ran").exists()
    assert site.folder.states() == {1: State("revoked")}


def test_what_has_ended_is_not_revoked(site):
    site.array("true", "true")
    site.start().wait()
    for task in (1, 2):
        site.folder.revoke(task)
    assert [state.word for _, state in sorted(site.folder.states().items())] == ["ended", "revoked"]


# ---- Snakemake and its jobs on a node

# Begins as Snakemake on a node does, starts a command, waits for a file, and then changes something.
SNAKEMAKE = """
import os, subprocess, sys, time
import snakemake_executor_plugin_arrays
from snakemake_executor_plugin_arrays import attempt
child = subprocess.Popen(["sleep", "1000"])
here = os.environ["HERE"]
open(f"{here}/child", "w").write(str(child.pid))
open(f"{here}/begun", "w").close()
while not os.path.exists(f"{here}/go"):
    time.sleep(0.02)
attempt.RECENT = 0
CHANGE
open(f"{here}/changed", "w").close()
"""


@pytest.mark.parametrize(
    "change",
    [
        "os.remove(f'{here}/output')",
        "os.rename(f'{here}/output', f'{here}/other')",
        "open(f'{here}/output', 'a')",
        "os.open(f'{here}/output', os.O_WRONLY | os.O_TRUNC)",
        "os.utime(f'{here}/output')",
        "subprocess.call(['rm', f'{here}/output'])",
        "os.system(f'rm {here}/output')",
        "import shutil; shutil.rmtree(f'{here}/folder')",
        "import pathlib; pathlib.Path(here, 'output').unlink()",
    ],
)
def test_snakemake_without_a_token_changes_nothing(site, change):
    """Not even if it looks only every hour: it looks before each change."""
    code = "from snakemake_executor_plugin_arrays import attempt\nattempt.INTERVAL = 3600\n" + SNAKEMAKE
    site.path.joinpath("snakemake.py").write_text(code.replace("CHANGE", change))
    site.array(f"{PYTHON} $HERE/snakemake.py")
    site.path.joinpath("output").write_text("of the second attempt")
    site.path.joinpath("folder").mkdir()
    before = os.stat(site.path / "output").st_mtime_ns
    first = site.start()
    site.wait_for("begun")
    [token] = site.folder.path.glob("1.running.*")
    token.rename(site.folder.path / "1.taken.n2.1.ff")
    site.touch("go")
    assert first.wait() == 1
    assert not (site.path / "changed").exists()
    assert (site.path / "output").read_text() == "of the second attempt"
    assert os.stat(site.path / "output").st_mtime_ns == before
    assert (site.path / "folder").is_dir()
    assert has_ended(site.path)


def test_snakemake_that_changes_nothing_ends_with_its_job(site):
    """It looks from time to time."""
    code = "from snakemake_executor_plugin_arrays import attempt\nattempt.INTERVAL = 0.1\n" + SNAKEMAKE
    site.path.joinpath("snakemake.py").write_text(code)
    site.array(f"{PYTHON} $HERE/snakemake.py")
    first = site.start()
    site.wait_for("begun")
    site.folder.revoke(1)
    assert first.wait() == 1
    assert has_ended(site.path)
    assert site.folder.states()[1].word == "stopped"


def test_snakemake_with_its_token_goes_on(site):
    site.path.joinpath("snakemake.py").write_text(SNAKEMAKE.replace("CHANGE", "child.kill()"))
    site.array(f"{PYTHON} $HERE/snakemake.py")
    site.touch("go")
    assert site.start().wait() == 0
    assert (site.path / "changed").exists()


def has_ended(path):
    """Return whether the command that Snakemake started has ended; nobody may have taken notice of it yet."""
    child = Path(f"/proc/{(path / 'child').read_text()}/stat")
    return not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z"


# ---- names


@pytest.mark.parametrize(
    ("name", "line", "status", "node", "may_run"),
    [
        ("3.waiting", 3, None, None, False),
        ("3.taken.n1.17.0a", 3, None, None, False),
        ("3.awaiting.n1.17.0a", 3, None, "n1", True),
        ("12.running.n1.cluster.org.17.0a", 12, None, "n1.cluster.org", True),
        ("3.ended.0.n1.cluster.org.17.0a", 3, 0, "n1.cluster.org", False),
        ("3.ended.137.n1.17.0a", 3, 137, "n1", False),
        ("3.revoked", 3, None, None, False),
        ("3.revoked.n1.17.0a", 3, None, "n1", True),
        ("3.stopped.n1.17.0a", 3, None, "n1", False),
    ],
)
def test_names_of_tokens(name, line, status, node, may_run):
    found, state = State.of(name)
    assert found == line
    assert state.name(line) == name
    assert (state.status, state.node, state.may_run) == (status, node, may_run)


@pytest.mark.parametrize("name", ["3.log", "task-3.log", "jobs", ".look", "x.waiting", "3"])
def test_other_files_are_no_tokens(name):
    assert State.of(name) is None


def test_token_that_ends_while_it_is_revoked(tmp_path, monkeypatch):
    """Nothing is made anew."""
    folder = Folder.make(tmp_path / "array", ["true"], 1)
    (folder.path / "1.waiting").rename(folder.path / "1.running.n1.17.0a")
    rename = Path.rename

    def end_first(path, new):
        if path.exists():
            rename(path, folder.path / "1.ended.0.n1.17.0a")
        return rename(path, new)

    monkeypatch.setattr(Path, "rename", end_first)
    folder.revoke(1)
    assert tokens.states(folder.path) == {1: State("ended", "0.n1.17.0a")}


def test_token_that_a_list_of_the_folder_lacks_is_revoked(tmp_path, monkeypatch):
    """A file that is renamed while a folder is listed may be missing, or be there twice."""
    folder = Folder.make(tmp_path / "array", ["true", "true"], 2)
    (folder.path / "1.waiting").rename(folder.path / "1.running.n1.17.0a")
    listed, answers = os.listdir, [["2.waiting"], ["1.taken.n1.17.0a", "2.waiting"]]
    monkeypatch.setattr(os, "listdir", lambda path: answers.pop(0) if answers else listed(path))
    assert folder.revoke(1) == set()
    monkeypatch.undo()
    assert {line: state.word for line, state in folder.states().items()} == {1: "revoked", 2: "revoked"}


def test_token_that_is_renamed_each_time_is_not_called_revoked(tmp_path, monkeypatch):
    folder = Folder.make(tmp_path / "array", ["true"], 1)
    monkeypatch.setattr(os, "listdir", lambda path: ["1.taken.n1.17.0a"])
    assert folder.revoke(1) == {1}


UNSURE = """
import os, sys
import snakemake_executor_plugin_arrays
from snakemake_executor_plugin_arrays import attempt
attempt.RECENT = 0
stat, asked = os.stat, []
def fails(path, *given, **named):
    if path == os.environ["ARRAYS_TOKEN"] and len(asked) < 3:
        asked.append(path)
        raise OSError(5, "Input/output error")
    return stat(path, *given, **named)
os.stat = fails
open(os.path.join(os.environ["HERE"], "changed"), "w").close()
sys.exit(0 if len(asked) == 3 else 9)
"""


def test_file_system_that_does_not_answer_ends_no_job(site):
    site.path.joinpath("unsure.py").write_text(UNSURE)
    site.array(f"{PYTHON} $HERE/unsure.py")
    site.start().wait()
    assert statuses(site.folder) == {1: 0}
    assert (site.path / "changed").exists()


def test_last_task_of_an_array_is_revoked_at_once(tmp_path, monkeypatch):
    """It may have fewer jobs than the others: nobody looks for those that do not exist."""
    folder = Folder.make(tmp_path / "array", ["true"] * 3, 2)
    listed, lists = os.listdir, []
    monkeypatch.setattr(os, "listdir", lambda path: lists.append(path) or listed(path))
    assert folder.revoke(2) == set()
    assert len(lists) <= 2
    monkeypatch.undo()
    assert folder.states()[3] == State("revoked")


def test_process_that_ends_while_others_are_looked_for(monkeypatch):
    """The others are found nevertheless."""
    ended, running = (subprocess.Popen(["sleep", "1000"]) for _ in range(2))
    children = [psutil.Process(one.pid) for one in (ended, running)]
    ended.kill()
    ended.wait()
    monkeypatch.setattr(psutil.Process, "children", lambda process, recursive: children)
    assert attempt.processes_of_task(0) == [running.pid]
    running.kill()
    running.wait()
