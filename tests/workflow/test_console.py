"""The console of a run: steps instead of jobs, complete errors, and Snakemake's own output on request."""

import os
import re
import signal
import subprocess

import psutil
import pytest
from tests.workflow.conftest import CONSOLE, Project, ended

STEPS = ["--workflow-profile", "none", "--logger", "steps"]
SHARD = "results/tiny/experiments/dev-dense/epoch-1/shard-0.h5"
OPTIONS = {"--printshellcmds": "touch made", "--verbose": "rule make:", "--quiet": None}


@pytest.fixture(scope="module")
def console(finished):
    return (finished.folder / CONSOLE).read_text()


def test_every_step_is_named_when_it_is_done(console):
    done = re.sub(r"\s+", " ", console)
    for step in (
        "prepare the text",
        "prepare devtest",
        "align words",
        "estimate the language model",
        "extract grammars of train",
        "averaged: train epoch 2",
        "selected: mix epoch 1",
        "selected: translate devtest (epoch-2)",
        "dev-dense: choose the best epoch",
        "compare the experiments",
    ):
        assert re.search(rf"(done: |, ){re.escape(step)} \([^)]+\)", done), step
    assert "manifest_" not in console


def test_counts(console):
    found = re.findall(r"^ +\d+:\d\d  (\d+) of (\d+) jobs", console, re.M)
    counts = [tuple(map(int, one)) for one in found]
    assert counts == sorted(counts)
    assert {total for _, total in counts} == {int(re.search(r"^(\d+) jobs to run$", console, re.M)[1])}


def test_the_log_of_snakemake_has_every_job(finished):
    [log] = (finished.folder / ".snakemake/log").glob("*.log")
    text = log.read_text()
    assert text.count("rule train_shard:") == 9
    assert "Job stats:" in text
    assert "differs from" in text


def test_next_commands(finished, console):
    """The commands work as printed, in the folder of the run."""
    assert "Tables: results/tiny/report\n" in console
    assert "Report: results/tiny/report/index.html\n" in console
    command = next(line for line in console.splitlines() if line.startswith("    printf"))
    there = {"cwd": finished.folder, "env": {**os.environ, "ITERSEL_CACHE": ""}}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, **there)
    assert len(done.stdout.split()) >= 4
    assert done.stderr == ""
    run = r"under 'experiments' in config.yaml, and run:\n    \S*itersel run --configfile config.yaml$"
    assert re.search(run, console, re.M)


def test_failed_job(copy):
    """The console shows the rule, the log and its end."""
    (copy.folder / SHARD).unlink()
    model = copy.results / "lm/lm.bin"
    status = model.stat()
    model.write_bytes(model.read_bytes()[:1000])
    os.utime(model, ns=(status.st_atime_ns, status.st_mtime_ns))
    output = copy.run("--cores", "1", SHARD, status=1)
    log = "results/tiny/logs/train/dev-dense/epoch-1/0.log"
    assert "Error in rule train_shard:" in output
    assert f"    log: {log} (check log file(s) for error details)" in output
    [error] = (copy.folder / log).read_text().splitlines()
    assert error.startswith("itersel train: ")
    assert f"    last lines of {log}:\n        {error}\n" in output
    assert len(output.splitlines()) < 40


def small_project(folder, command, output):
    rule = f'rule make:\n    output: "{output}"\n    log: "l"\n    shell: "{command}"\n'
    (folder / "Snakefile").write_text(rule)
    (folder / "config.yaml").write_text("{}")
    return Project(folder, folder / "Snakefile")


def test_only_the_end_of_a_long_log_is_shown(tmp_path):
    project = small_project(tmp_path, "seq 500 > {log}; exit 3", "made")
    output = project.run("--cores", "1", *STEPS, "--show-failed-logs", status=1)
    shown = re.findall(r"^ +(\d+)$", output, re.M)
    assert shown == [str(number) for number in range(481, 501)]


def test_compilation_is_announced(copy, console, tmp_path):
    """Announced at the start of a run, whichever job needs kernels first; this run's job needs none."""
    (copy.results / "corpus/dev.source.gz").unlink()
    copy.configure(cache=str(tmp_path / "empty"))
    output = copy.run("--cores", "1", "results/tiny/corpus/dev.source.gz")
    # not in a run whose kernels were there
    announced = {line for line in output.splitlines() if "kernels" in line} - {*console.splitlines()}
    assert len(announced) == 1


def test_dry_run_lists_jobs_and_reasons(copy):
    (copy.folder / SHARD).unlink()
    output = copy.run("--dry-run", SHARD)
    assert re.search(rf"^rule train_shard:\n    input: .*\n    output: {SHARD}$", output, re.M)
    assert f"reason: Missing output files: {SHARD}" in output
    assert re.search(r"^Job stats:\njob +count\n", output, re.M)


@pytest.mark.parametrize(("option", "text"), OPTIONS.items())
def test_options_of_snakemake_keep_their_meaning(tmp_path, option, text):
    project = small_project(tmp_path, "touch {output}", "made")
    # --quiet takes the words after it as its values
    output = project.run("--cores", "1", *STEPS, option)
    assert (project.folder / "made").exists()
    if text is None:
        assert "rule make" not in output
        assert " of 1 jobs" not in output
    else:
        assert text in output


def test_closed_pipe(copy):
    """`snakemake -n | head -1` ends without a traceback."""
    (copy.folder / SHARD).unlink()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(copy.command("--dry-run"), cwd=copy.folder, **pipes) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert "Traceback" not in errors


def test_ctrl_c(copy):
    """It ends all processes of a terminal; the run tells what is done, and no job is said to have failed."""
    (copy.folder / SHARD).unlink()
    run, job = copy.start_and_hold(["train", SHARD], "--cores", "2", SHARD)
    for process in (psutil.Process(run.pid), job):
        process.send_signal(signal.SIGINT)
    job.resume()
    output = ended(run, 1)
    assert re.search(r"; \d+ of \d+ jobs done", output.splitlines()[-2])
    assert not re.search("rule train_shard|Traceback|failed", output)
    copy.run("--cores", "2", SHARD)
