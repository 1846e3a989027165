"""Snakemake's scheduler is idle while there is nothing to do."""

import contextlib
import subprocess
import sys
import time

import psutil

JOBS = 40
# Many jobs that end at once, and then two jobs, one of which has to wait for a core.
SNAKEFILE = """
include: "{rules}/scheduler.smk"

onstart:
    {onstart}

rule all:
    input: "end.0", "end.1"

rule wait:
    input: expand("short.{{number}}", number=range({jobs}))
    output: "end.{{number}}"
    shell: "touch begun; sleep 10000; touch {{output}}"

rule short:
    output: "short.{{number}}"
    shell: "touch {{output}}"
"""


def threads_while_waiting(folder, root, onstart, jobs, *options, wanted):
    """Return Snakemake's number of threads after the jobs have ended: below `wanted`, or after a minute."""
    snakefile = SNAKEFILE.format(rules=root / "workflow" / "rules", onstart=onstart, jobs=jobs)
    (folder / "Snakefile").write_text(snakefile)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--nolock", "--quiet", "all", *options]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            while not (folder / "begun").exists():
                assert process.poll() is None
                time.sleep(0.1)
            snakemake = psutil.Process(process.pid)
            for _ in range(60):
                if snakemake.num_threads() < wanted:
                    break
                time.sleep(1)
            return snakemake.num_threads()
        finally:
            children = psutil.Process(process.pid).children(recursive=True)
            for child in [psutil.Process(process.pid), *children]:
                with contextlib.suppress(psutil.NoSuchProcess):  # a shell between two commands
                    child.kill()


def test_threads_do_not_grow_with_the_jobs(tmp_path, root):
    most = JOBS // 2
    assert threads_while_waiting(tmp_path, root, "lift_rate_limit()", JOBS, wanted=most) < most
    assert "    lift_rate_limit()\n" in (root / "Snakefile").read_text().partition("onstart:")[2]


def test_an_explicit_limit_is_kept(tmp_path, root):
    said = "lift_rate_limit(); print(workflow.scheduler.job_rate_limiter.max_jobs, file=open('limit', 'w'))"
    threads_while_waiting(tmp_path, root, said, 1, "--max-jobs-per-timespan", "50/1s", wanted=1000)
    assert (tmp_path / "limit").read_text() == "50\n"
