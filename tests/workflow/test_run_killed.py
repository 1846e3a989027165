"""Resuming after a job, a run or everything was killed, and runs that must not work at the same time."""

import fcntl
import os
import re
import shutil

import psutil
import pytest
from tests.refusals import check_facts
from tests.workflow.conftest import ended

from snakemake_executor_plugin_arrays.runs import Run

# outputs to recreate after a test has killed something
SELECTED = "results/tiny/experiments/selected/epoch-2/weights.h5"
AVERAGED = "results/tiny/experiments/averaged/epoch-2/weights.h5"
LEARNED = "experiments/*/epoch-*/*.h5"
TABLE = "results/tiny/report/table.txt"


def refusal(output):
    """Return the line in which a run says why it does not start."""
    assert "Traceback" not in output
    [line] = [line for line in output.splitlines() if line.startswith("itersel: ")]
    return line


def test_shard_killed(copy, finished):
    copy.without("*/epoch-2")
    victim = "results/tiny/experiments/selected/epoch-2/shard-1.h5"
    run, job = copy.start_and_hold(["train", victim], "--cores", "2", SELECTED, AVERAGED)
    job.kill()
    output = ended(run, 1)
    assert "epoch-2/shard-1.h5" in output
    assert re.search(f"\nitersel: .*SIGKILL.*: itersel train .*{victim}", output)
    before = copy.files()
    assert "experiments/selected/epoch-2/shard-0.h5" in before  # the others continue
    assert "experiments/averaged/epoch-2/weights.h5" in before
    assert "experiments/selected/epoch-2/weights.h5" not in before  # weights are not mixed
    assert not list(copy.results.rglob(".tmp*"))
    assert copy.planned(SELECTED, AVERAGED) == {"train_shard": 1, "manifest_of_trained_shards": 1, "mix": 1}
    copy.run("--cores", "2", SELECTED, AVERAGED)
    assert copy.keeps(before)
    assert copy.contents(LEARNED) == finished.contents(LEARNED)


def kill_snakemake(copy):
    """Kill Snakemake while it trains the second epoch; returns its job, which is suspended."""
    copy.without("selected/epoch-2")
    victim = "results/tiny/experiments/selected/epoch-2/shard-0.h5"
    run, job = copy.start_and_hold(["train", victim], "--cores", "2", SELECTED)
    run.kill()
    run.wait()
    return job


def test_snakemake_killed(copy, finished):
    """Its job would overwrite the results of another run."""
    job = kill_snakemake(copy)
    output = copy.run("--cores", "2", SELECTED, status=1)
    [process] = re.findall(r"process (\d+) ", said := refusal(output))
    assert psutil.Process(int(process)) in [job, *job.parents()]
    check_facts(said, "results/tiny")
    job.resume()
    copy.wait_for_the_end_of_jobs()
    # the job has ended, with a result that Snakemake has not seen
    before = copy.files("experiments/selected/epoch-1/*.h5")
    assert before
    copy.run("--cores", "2", SELECTED)
    assert copy.keeps(before)
    assert copy.contents(LEARNED) == finished.contents(LEARNED)


@pytest.mark.slow
def test_waits_for_jobs_that_were_just_killed(copy, finished):
    job = kill_snakemake(copy)
    following = copy.start("--cores", "2", SELECTED)
    while "Waiting for process" not in (line := following.stdout.readline()):
        assert line, "Snakemake has ended"
    job.kill()
    copy.kill_jobs()
    ended(following)
    assert copy.contents(LEARNED) == finished.contents(LEARNED)


def test_two_runs_do_not_work_in_one_folder(copy):
    (copy.results / "report/table.txt").unlink()
    with (copy.results / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        output = copy.run(status=1)
    check_facts(refusal(output), "results/tiny")
    copy.run("--cores", "2", TABLE)


def test_jobs_that_a_cluster_may_still_have(copy):
    """Jobs of a killed run with another profile, which would overwrite the results of this run."""
    (copy.results / "report/table.txt").unlink()
    arrays = copy.folder / ".snakemake/arrays"
    Run(arrays, "slurm", pytest.fail).close(tidy=False)
    output = copy.run(status=1)
    [run] = [path for path in arrays.iterdir() if path.is_dir()]
    check_facts(refusal(output), f"{run}:")
    shutil.rmtree(arrays)
    copy.run("--cores", "2", TABLE)
    assert (copy.results / "report/table.txt").exists()


def test_page_of_a_failed_run(copy):
    copy.without("selected")
    for path in copy.results.glob("sentences/train/*/0.h5"):
        changed = path.stat().st_mtime_ns
        path.write_bytes(b"damaged")
        os.utime(path, ns=(changed, changed))
    output = copy.run("--cores", "2", status=1)
    assert re.search("^itersel: .* results/tiny/report/progress.html", output, re.M)
    page = (copy.results / "report/progress.html").read_text()
    assert "This run is not finished" in page
    # with what the failed job has said; longer texts may be broken into lines
    said = (copy.results / "logs/train/selected/epoch-1/0.log").read_text().splitlines()[-1]
    assert said.startswith("itersel train: ")
    assert said.rpartition(", ")[2] in page
