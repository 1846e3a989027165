"""Attempts at a task that overlap: one writes, whichever ends first. No scheduler is needed."""

import contextlib
import os
import subprocess
import threading

import psutil
import pytest
from stand_ins import statuses, waits

from snakemake_executor_plugin_arrays.tokens import State

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
    # as long as the run goes on, its script starts the job
    assert site.start().wait() == 0
    (site.path / "ran").unlink()
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
