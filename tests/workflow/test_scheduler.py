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


@contextlib.contextmanager
def waiting(folder, root, onstart, jobs, *options):
    """Give Snakemake's process when all short jobs have ended, and the others wait; end it afterwards."""
    snakefile = SNAKEFILE.format(rules=root / "workflow" / "rules", onstart=onstart, jobs=jobs)
    (folder / "Snakefile").write_text(snakefile)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--nolock", "--quiet", "all", *options]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            while not (folder / "begun").exists():
                assert process.poll() is None
                time.sleep(0.1)
            yield psutil.Process(process.pid)
        finally:
            children = psutil.Process(process.pid).children(recursive=True)
            for child in [psutil.Process(process.pid), *children]:
                with contextlib.suppress(psutil.NoSuchProcess):  # a shell between two commands
                    child.kill()


def test_threads_do_not_grow_with_the_jobs(tmp_path, root):
    with waiting(tmp_path, root, "lift_rate_limit()", JOBS) as snakemake:
        # until those of the short jobs have ended
        while snakemake.num_threads() >= JOBS // 2:
            time.sleep(0.1)
    assert "    lift_rate_limit()\n" in (root / "Snakefile").read_text().partition("onstart:")[2]


def test_an_explicit_limit_is_kept(tmp_path, root):
    said = "lift_rate_limit(); print(workflow.scheduler.job_rate_limiter.max_jobs, file=open('limit', 'w'))"
    with waiting(tmp_path, root, said, 1, "--max-jobs-per-timespan", "50/1s"):
        pass
    assert (tmp_path / "limit").read_text() == "50\n"
