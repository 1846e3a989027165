"""Command lines for the schedulers, and what their output means; no scheduler is needed."""

from pathlib import Path

import pytest

from snakemake_executor_plugin_arrays.grid_engine import GridEngine
from snakemake_executor_plugin_arrays.schedulers import FULL, PASSING, Array, Request, Status
from snakemake_executor_plugin_arrays.slurm import Slurm

ARRAY = Array("train.x-1a2b3c", 8, Path("/p/task.sh"), Path("/my work"), Path("/p/a%b"), concurrent=3)
GRID_ENGINE = GridEngine("smp", [], True)
ALL = Request(threads=4, memory=1001, runtime=90, queue="long", account="me", extra=("--x", "y z"))


def test_sbatch():
    *options, extra, script = Slurm().submission(ARRAY, ALL)
    assert (extra, script) == ("y z", "/p/task.sh")
    assert " ".join(options) == (
        "sbatch --parsable --export=ALL --job-name=train.x-1a2b3c --array=1-8%3 --output=/p/a%%b/task-%a.log"
        " --nodes=1 --ntasks=1 --cpus-per-task=4 --mem=1001M --time=90 --partition=long --account=me --x"
    )

    # what is not requested is left to Slurm
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

    # of a job; without a complex, none is requested
    assert "mem=1001M" in GridEngine("smp", ["mem"], per_slot=False).submission(ARRAY, ALL)
    assert not {"-l", "-pe"} & set(GRID_ENGINE.submission(ARRAY, Request(memory=100)))


def test_identifier():
    for output in ("17\n", "17;cluster\n", "Welcome!\n16 nodes\n17;cluster\nBye\n"):
        assert Slurm().identifiers(output) == ["17"]
    for output in ("", "sbatch: error\n", "17x", "17 18"):
        assert Slurm().identifiers(output) == []
    # only the scheduler can tell which is the answer
    assert Slurm().identifiers("2026\n17\n42\n") == ["2026", "17", "42"]
    for output in ("17.1-8:1\n", "warning: no such queue\n 17.1-8:1\n42\n"):
        assert GRID_ENGINE.identifiers(output) == ["17"]
    for output in ("", "17 nodes are up", "42\n"):
        assert GRID_ENGINE.identifiers(output) == []


SQUEUE = """\
Welcome to the cluster, 20 nodes are up
7 9 nodes are down
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
    assert statuses["7", 4] == Status("PENDING (Resources)", alive=True, waiting=True)
    held = Status("PENDING (launch failed requeued held)", alive=True, waiting=True, held=True)
    assert statuses["7", 5] == held
    assert statuses["8", 1] == Status("PENDING (PartitionTimeLimit)", alive=True, waiting=True, hopeless=True)
    # Slurm has not examined all of the array yet, and all of it requests the same
    assert statuses["8", 2] == statuses["8", 1]
    assert statuses["8", 3] == Status("PENDING (JobHeldUser)", alive=True, waiting=True, held=True)
    # but where a task runs, others can, too
    assert statuses["12", 1] == statuses["8", 1]
    assert statuses["12", 2] == Status("PENDING (Priority)", alive=True, waiting=True)
    assert statuses["10", 1].hopeless
    # it passes when other jobs of the user have ended
    assert statuses["11", 1] == Status("PENDING (QOSMaxCpuPerUserLimit)", alive=True, waiting=True)
    assert statuses["11", 2] == Status("SOMETHING_NEW", alive=True)
    assert statuses["7", 6].alive
    assert not statuses["7", 7].alive
    assert not statuses["7", 7].cancelled
    # a job that is no array
    assert statuses["9", 0].alive
    assert len(statuses) == 17


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("PartitionDown", ""),
        ("PartitionInactive", ""),
        ("AssocGrpCPUMinutesLimit", ""),
        ("ReqNodeNotAvail, UnavailableNodes:n1", ""),
        ("None", ""),
        ("QOSMaxCpuPerUserLimit", ""),
        ("JobHeldAdmin", "held"),
        ("JobHoldMaxRequeue", "held"),
        ("BadConstraints", "held"),
        ("DependencyNeverSatisfied", "held"),
        ("AccountNotAllowed", "hopeless"),
        ("Job's account not permitted to use this partition (closed allows other not lab)", "hopeless"),
        ("Job's_QOS_not_permitted_to_use_this_partition_(x_allows_y_not_z)", "hopeless"),
        ("InvalidQOS", "hopeless"),
        ("QOSMaxMemoryPerNode", "hopeless"),
        ("AssocMaxCpuPerJobLimit", "hopeless"),
        ("MaxMemPerLimit", "hopeless"),
    ],
)
def test_reasons(reason, kind):
    status = Slurm().statuses(f"7 1 PENDING {reason}\n")["7", 1]
    assert (status.held, status.hopeless) == (kind == "held", kind == "hopeless")
    assert status.word == (f"PENDING ({reason})" if reason != "None" else "PENDING")
    assert status.waiting


@pytest.mark.parametrize(
    ("state", "waiting", "held", "alive"),
    [
        ("SPECIAL_EXIT", True, True, True),
        ("REQUEUE_HOLD", True, True, True),
        ("SUSPENDED", True, False, True),
        ("CONFIGURING", False, False, True),
        ("CANCELLED", False, False, False),
    ],
)
def test_states(state, waiting, held, alive):
    assert Slurm().statuses(f"7 1 {state} None\n")["7", 1] == Status(
        state, alive, waiting, held, cancelled=state == "CANCELLED"
    )


SCONTROL = """\
JobId=17 ArrayJobId=7 ArrayTaskId=3-5,9%2 JobName=train UserId=me(1) JobState=PENDING Reason=JobHeldUser X=
JobId=18 ArrayJobId=7 ArrayTaskId=1 JobName=train x=y JobState=RUNNING Reason=None Dependency=(null)
JobId=19 ArrayJobId=7 ArrayTaskId=2 JobName=train JobState=CANCELLED Reason=None
JobId=20 ArrayJobId=77 ArrayTaskId=6 JobName=train JobState=RUNNING Reason=None
JobId=21 JobName=no_array JobState=RUNNING Reason=None
JobId=7 ArrayJobId=7 ArrayTaskId=4294967294 JobName=train JobState=CANCELLED Reason=Resources
"""


def test_what_slurm_knows_of_an_array():
    assert Slurm().known("7", "") == {}
    held = Status("PENDING (JobHeldUser)", True, True, held=True)
    assert Slurm().known("7", SCONTROL) == {
        **dict.fromkeys((3, 4, 5, 9), held),
        1: Status("RUNNING", True),
        2: Status("CANCELLED", False, cancelled=True),
        # those that never started
        0: Status("CANCELLED", False, cancelled=True),
    }


def test_what_slurm_has_recorded_of_an_array():
    """What it says of running tasks may have been overtaken."""
    output = "7_1|CANCELLED by 1000\n7_2|RUNNING\n7_[3-8]|PENDING\n77_4|FAILED\n7_5|TIMEOUT\n\n"
    assert Slurm().recorded("7", output) == {
        1: Status("CANCELLED by 1000", False, cancelled=True),
        5: Status("TIMEOUT", False),
    }


@pytest.mark.parametrize(
    ("value", "private"), [("none", False), ("jobs,usage", True), ("all", True), ("accounts,users", False)]
)
def test_whether_others_are_shown(value, private):
    line = f"PrivateData             = {value}"
    assert Slurm().is_private(f"Prolog = jobs\n{line}\nProctrackType = all\n") == private


def test_what_grid_engine_knows_of_an_array():
    """It shows the array, but not which of its tasks are left."""
    assert GRID_ENGINE.known("7", "====\njob_number:                 7\njob-array tasks: 1-8:1\n") is None
    assert GRID_ENGINE.known("7", "job_number:                 77\n") == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("scheduling info:            queue instance \"all.q@n1\" dropped because it is disabled\n   more\n",
         'queue instance "all.q@n1" dropped because it is disabled'),
        ("scheduling info:            (Collecting of scheduler job information is turned off)\n", None),
        ("scheduling info:            There are no messages available\n", None),
        # somebody has cleared the error meanwhile
        ("scheduling info:            Job is in error state\n", None),
        ("job_number: 7\n", None),
    ],
)  # fmt: skip
def test_why_grid_engine_does_not_start_an_array(text, reason):
    assert GRID_ENGINE.explanation(f"job_number: 7\n{text}") == reason


def test_error_of_a_task_that_could_not_be_started():
    text = "error reason    1:   11/28/2026 17:21:56 [0:1234]: error: can't chdir to /x: No such file\n"
    answer = f"{text}scheduling info: queue instance dropped\n"
    assert GRID_ENGINE.explanation(answer) == "error: can't chdir to /x: No such file"


TOO_LONG = 'cannot run in queue "all.q" because of cluster queue'
LESS_TIME = 'cannot run in queue "q@n1" because it offers only qf:h_rt=00:10:00'


@pytest.mark.parametrize(
    ("scheduler", "said", "key"),
    [
        (GRID_ENGINE, f"(-l h_rt=1200) {TOO_LONG}", "arrays-runtime-limit"),
        (GRID_ENGINE, f"(-l h_rt=1200) {LESS_TIME}", "arrays-runtime-limit"),
        (GRID_ENGINE, f"(-l h_rt=60,h_vmem=9G) {LESS_TIME}", "arrays-runtime-limit"),
        # it may be memory that other jobs have
        (GRID_ENGINE, f"(-l h_rt=60,h_vmem=9G) {LESS_TIME.replace('qf:h_rt', 'qc:h_vmem')}", None),
        (GRID_ENGINE, '(-l mem_free=9G) cannot run at host "n1" because it offers only hl:mem_free=1G', None),
        (GRID_ENGINE, 'queue instance "all.q@n1" dropped because it is full', None),
        (Slurm(), "sbatch: error: CPU count per node can not be satisfied", "arrays-memory-limit"),
        (Slurm(), "sbatch: error: Batch job submission failed: Invalid account", None),
    ],
)
def test_remedy(scheduler, said, key):
    remedy = scheduler.remedy(said)
    assert key in remedy if key else not remedy


def test_users():
    assert "--user=me" in Slurm().query("me")
    assert not [word for word in Slurm().query(None) if "user" in word]
    assert GRID_ENGINE.find("me")[-2:] == ["-u", "me"]
    assert GRID_ENGINE.find(None)[-2:] == ["-u", "*"]


JOB_LIMIT = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", PASSING),
        ("Batch job submission failed: Socket timed out on send/recv operation", PASSING),
        ("Batch job submission failed: Unexpected message received", PASSING),
        ("Batch job submission failed: Resource temporarily unavailable", PASSING),
        ("Slurm temporarily unable to accept job, sleeping and retrying", PASSING),
        ("unable to send message to qmaster using port 6444 on host 'n0': got send error.", PASSING),
        ("error: commlib error: got select error (Connection refused)", PASSING),
        (f"QOSMaxSubmitJobPerUserLimit sbatch: error: Batch job submission failed: {JOB_LIMIT}", FULL),
        ("sbatch: error: AssocMaxSubmitJobLimit", FULL),
        ("sbatch: error: AssocGrpSubmitJobsLimit", FULL),
        ("job rejected: only 10 jobs are allowed per user (current job count: 10).", FULL),
        ("job rejected: only 100 jobs are allowed per cluster (current job count: 100).", FULL),
        # Slurm's second line is the same for all limits
        (f"QOSMaxMemoryPerJob sbatch: error: Batch job submission failed: {JOB_LIMIT}", None),
        ("sbatch: error: invalid partition specified: long", None),
        ("Batch job submission failed: Invalid job array specification", None),
        ("Unable to run job: unknown resource 'tmem'.", None),
        ("job rejected: the requested parallel environment 'smp' does not exist.", None),
    ],
)
def test_errors(message, kind):
    assert [bool(text.search(message)) for text in (PASSING, FULL)] == [kind is PASSING, kind is FULL]


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


@pytest.mark.parametrize("greeting", ["", "Welcome to <the cluster>!\n"])
def test_qstat(greeting):
    statuses = GRID_ENGINE.statuses(f"{greeting}{QSTAT}{greeting.replace('<', '').replace('>', '')}")
    assert sorted(statuses) == [*(("5", task) for task in (1, 2, 3, 4, 5, 7, 9)), ("6", 0)]
    assert statuses["5", 1] == Status("r", alive=True)
    assert statuses["5", 7] == Status("qw", alive=True, waiting=True)
    assert statuses["5", 2] == Status("Eqw", alive=True, waiting=True, hopeless=True)
    assert statuses["5", 4] == Status("hr", alive=True, held=True)


@pytest.mark.parametrize(
    ("state", "waiting", "cancelled"),
    [("t", False, False), ("S", True, False), ("sr", True, False), ("dr", False, True), ("Rq", True, False)],
)
def test_states_of_grid_engine(state, waiting, cancelled):
    status = GRID_ENGINE.statuses(QSTAT.replace("<state>r<", f"<state>{state}<"))["5", 1]
    assert (status.waiting, status.cancelled, status.alive) == (waiting, cancelled, True)


def test_arrays_are_found_by_name():
    assert GRID_ENGINE.names(QSTAT)["5"] == "train.x-1a2b3c"
    listed = "3 mix-1\n4 train.x-1a2b3c\n5 train x \nCLUSTER: x\n"
    assert Slurm().names(listed) == {"3": "mix-1", "4": "train.x-1a2b3c", "5": "train x"}


def test_cancellation():
    tasks = [("7", 2), ("7", 4), ("7", 5), ("6", 6)]
    assert Slurm().cancellation(tasks, ["8"]) == [["scancel", "8", "7_2", "7_4", "7_5", "6_6"]]
    assert Slurm().cancellation() == []
    assert GRID_ENGINE.cancellation(tasks, ["8", "9"]) == [
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
    for scheduler, why in ((Slurm(), slurm), (GRID_ENGINE, grid_engine)):
        assert (why or "None") in str(scheduler.refusal(folder))
