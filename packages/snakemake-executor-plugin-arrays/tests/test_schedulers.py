"""Command lines for the schedulers, and what their output means; no scheduler is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from snakemake_executor_plugin_arrays.schedulers import PASSING, Array, GridEngine, Request, Slurm, Status

ARRAY = Array("train.x-1a2b3c", 8, Path("/p/task.sh"), Path("/my work"), Path("/p/a%b"), concurrent=3)
ALL = Request(threads=4, memory=1001, runtime=90, queue="long", account="me", extra=("--x", "y z"))


def test_sbatch():
    assert Slurm().submission(ARRAY, ALL) == [
        "sbatch",
        "--parsable",
        "--export=ALL",
        "--job-name=train.x-1a2b3c",
        "--array=1-8%3",
        "--output=/p/a%%b/task-%a.log",
        "--nodes=1",
        "--ntasks=1",
        "--cpus-per-task=4",
        "--mem=1001M",
        "--time=90",
        "--partition=long",
        "--account=me",
        "--x",
        "y z",
        "/p/task.sh",
    ]


def test_sbatch_leaves_to_slurm_what_is_not_asked_for():
    command = Slurm().submission(Array("a", 1, Path("/s"), Path("/w"), Path("/l")), Request())
    assert "--array=1-1" in command
    assert not [word for word in command if word.startswith(("--mem", "--time", "--partition", "--account"))]


def test_qsub():
    command = GridEngine("smp", ["h_vmem", "tmem"], per_slot=True).submission(ARRAY, ALL)
    text = " ".join(command)
    assert text.startswith("qsub -terse -V -S /bin/bash -N train.x-1a2b3c -t 1-8 -cwd -j y")
    assert "-o ../p/a%b/task-$TASK_ID.log" in text
    assert "-r y" in text
    assert "-tc 3 -pe smp 4" in text
    # 1001 MB in 4 slots, rounded up
    assert "-l h_vmem=251M -l tmem=251M -l h_rt=5400" in text
    assert text.endswith("-q long -P me --x y z /p/task.sh")


def test_qsub_memory_of_a_job():
    command = GridEngine("smp", ["mem"], per_slot=False).submission(ARRAY, ALL)
    assert "mem=1001M" in command


def test_qsub_without_complex_asks_for_no_memory():
    command = GridEngine("smp", [], per_slot=True).submission(ARRAY, Request(memory=100))
    assert "-l" not in command
    assert "-pe" not in command


@pytest.mark.parametrize(
    ("output", "identifier"),
    [("17\n", "17"), ("17;cluster\n", "17"), ("", None), ("sbatch: error\n", None), ("17x", None)],
)
def test_sbatch_identifier(output, identifier):
    assert Slurm().identifier(output) == identifier


@pytest.mark.parametrize(
    ("output", "identifier"),
    [("17.1-8:1\n", "17"), ("17\n", "17"), ("warning: no such queue\n17.1-8:1\n", "17"), ("", None)],
)
def test_qsub_identifier(output, identifier):
    assert GridEngine("smp", [], True).identifier(output) == identifier


SQUEUE = """\
7 1 COMPLETED None
7 2 RUNNING None
7 3 OUT_OF_MEMORY OutOfMemory
7 4 PENDING Resources
7 5 PENDING launch failed requeued held
9 N/A RUNNING None
8 1 PENDING PartitionTimeLimit

CLUSTER: another
8 2 PENDING Priority
8 3 PENDING JobHeldUser
12 1 PENDING PartitionTimeLimit
12 2 PENDING Priority
12 3 RUNNING None
10 1 PENDING QOSMaxWallDurationPerJobLimit
11 1 PENDING QOSMaxCpuPerUserLimit
11 2 SOMETHING_NEW None
7 6 COMPLETING None
7 7 NODE_FAIL NodeDown
"""


def test_squeue():
    statuses = Slurm().statuses(SQUEUE)
    assert statuses["7", 1] == Status("COMPLETED", alive=False)
    assert statuses["7", 2] == Status("RUNNING", alive=True)
    assert statuses["7", 3] == Status("OUT_OF_MEMORY", alive=False)
    assert statuses["7", 4] == Status("PENDING", alive=True)
    assert statuses["7", 5] == Status("PENDING (launch failed requeued held)", alive=True, held=True)
    assert statuses["8", 1] == Status("PENDING (PartitionTimeLimit)", alive=True, hopeless=True)
    # Slurm has not examined all of the array yet, and all of it requests the same
    assert statuses["8", 2] == statuses["8", 1]
    assert statuses["8", 3] == Status("PENDING (JobHeldUser)", alive=True, held=True)
    # but where a task runs, others can, too
    assert statuses["12", 1] == statuses["8", 1]
    assert statuses["12", 2] == Status("PENDING", alive=True)
    assert statuses["10", 1] == Status("PENDING (QOSMaxWallDurationPerJobLimit)", alive=True, hopeless=True)
    # it passes when other jobs of the user have ended
    assert statuses["11", 1] == Status("PENDING", alive=True)
    assert statuses["11", 2] == Status("SOMETHING_NEW", alive=True)
    assert statuses["7", 6].alive
    assert not statuses["7", 7].alive
    # jobs that are no arrays have no task
    assert len(statuses) == 16


# As Grid Engine 8.1.9 prints it.
QSTAT = """<?xml version='1.0'?>
<job_info  xmlns:xsd="http://arc.liv.ac.uk/repos/darcs/sge/source/dist/util/resources/schemas/qstat/qstat.xsd">
  <queue_info>
    <job_list state="running">
      <JB_job_number>5</JB_job_number>
      <JAT_prio>0.55500</JAT_prio>
      <JB_name>train.x-1a2b3c</JB_name>
      <JB_owner>root</JB_owner>
      <state>r</state>
      <queue_name>all.q@n1</queue_name>
      <slots>1</slots>
      <tasks>1</tasks>
    </job_list>
  </queue_info>
  <job_info>
    <job_list state="pending">
      <JB_job_number>5</JB_job_number>
      <JB_name>train.x-1a2b3c</JB_name>
      <state>qw</state>
      <slots>1</slots>
      <tasks>3-7:2,9</tasks>
    </job_list>
    <job_list state="pending">
      <JB_job_number>5</JB_job_number>
      <JB_name>train.x-1a2b3c</JB_name>
      <state>Eqw</state>
      <tasks>2</tasks>
    </job_list>
    <job_list state="running">
      <JB_job_number>5</JB_job_number>
      <JB_name>train.x-1a2b3c</JB_name>
      <state>hr</state>
      <tasks>4</tasks>
    </job_list>
    <job_list state="pending">
      <JB_job_number>6</JB_job_number>
      <JB_name>no array</JB_name>
      <state>qw</state>
    </job_list>
  </job_info>
</job_info>
"""


def test_qstat():
    statuses = GridEngine("smp", [], True).statuses(QSTAT)
    assert sorted(statuses) == [("5", task) for task in (1, 2, 3, 4, 5, 7, 9)]
    assert statuses["5", 1] == Status("r", alive=True)
    assert statuses["5", 7] == Status("qw", alive=True)
    assert statuses["5", 2] == Status("Eqw", alive=True, hopeless=True)
    assert statuses["5", 4] == Status("hr", alive=True, held=True)


def test_arrays_are_found_by_name():
    assert GridEngine("smp", [], True).named(QSTAT, {"train.x-1a2b3c", "mix"}) == {"5"}
    assert GridEngine("smp", [], True).named(QSTAT, {"train.x"}) == set()
    assert Slurm().named("3 mix-1\n4 train.x-1a2b3c\n5 train.x-1a2b3c\n", {"train.x-1a2b3c"}) == {"4", "5"}
    assert Slurm().named("4 train.x-1a2b3c\nCLUSTER: x\n", {"train.x", "x"}) == set()


def test_cancellation():
    tasks = [("7", 2), ("7", 4), ("7", 5), ("6", 6)]
    assert Slurm().cancellation(tasks, ["8"]) == [["scancel", "8", "7_2", "7_4", "7_5", "6_6"]]
    assert Slurm().cancellation() == []
    assert GridEngine("smp", [], True).cancellation(tasks, ["8", "9"]) == [
        ["qdel", "8", "9"],
        ["qdel", "6", "-t", "6-6"],
        ["qdel", "7", "-t", "2-2"],
        ["qdel", "7", "-t", "4-5"],
    ]


@pytest.mark.parametrize(
    ("folder", "slurm", "grid_engine"),
    [
        ("/a b'c$(x)`y`;&|<>#*?[]%a,:\t", None, None),
        ("/line\nbreak", "a line break", "a line break"),
        ("/back\\slash", "a backslash", None),
        ("/x$USERy", None, "would expand $USER "),
    ],
)
def test_folders(folder, slurm, grid_engine):
    for scheduler, why in ((Slurm(), slurm), (GridEngine("smp", [], True), grid_engine)):
        assert (why or "None") in str(scheduler.refusal(folder))


@pytest.mark.parametrize(
    "message",
    [
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
        "Unable to run job: unable to send message to qmaster using port 6444 on host 'n0': got send error.",
        "error: commlib error: got select error (Connection refused)",
    ],
)
def test_what_passes(message):
    assert PASSING.search(message)


@pytest.mark.parametrize(
    "message",
    [
        "sbatch: error: invalid partition specified: long",
        "sbatch: error: Batch job submission failed: Invalid job array specification",
        "Unable to run job: unknown resource 'tmem'.",
        "Unable to run job: job rejected: the requested parallel environment 'smp' does not exist.",
    ],
)
def test_what_does_not_pass(message):
    assert not PASSING.search(message)
