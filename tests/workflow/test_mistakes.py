"""Common mistakes of users: each is reported in one line that says what to do.

Wrong keys, and configs that are missing or not YAML, are in test_plan_config; two runs at once
in test_run_killed.
"""

from __future__ import annotations

import gzip
import random
import resource
import subprocess
import sys


def last_words(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith(("itersel", "Error"))]


def test_missing_file(make_project):
    project = make_project()
    (project.folder / "dev.target").unlink()
    [line] = last_words(project.run("--dry-run", status=1))
    assert line == "itersel: config key 'data.dev' names dev.target: No such file or directory"


def test_no_dev(make_project):
    project = make_project()
    data = project.config()["data"]
    del data["dev"]
    project.configure(data=data)
    [line] = last_words(project.run("--dry-run", status=1))
    assert line.startswith("itersel: config key 'data.dev")


def test_a_key_in_the_wrong_section(make_project):
    project = make_project()
    experiments = project.config()["experiments"]
    name = next(iter(experiments))
    experiments[name] |= {"shards": 3}
    project.configure(experiments=experiments)
    [line] = last_words(project.run("--dry-run", status=1))
    assert line == f"itersel: config key 'experiments.{name}.shards' belongs to tasks: random, resharding"


def test_misspelt_profile_and_wrong_folder(make_project, tmp_path):
    project = make_project()
    output = project.run("--dry-run", "--profile", "slrum", status=1)
    [line] = last_words(output)
    assert "slrum" in line
    command = [sys.executable, "-m", "snakemake", "--dry-run"]
    ran = subprocess.run(command, cwd=tmp_path / ".", capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert last_words(ran.stdout + ran.stderr)[-1].startswith("Error: No Snakefile found")


def test_text_that_cannot_be_used(make_project):
    """Unequal numbers of lines: the log of the failed job ends with the error."""
    project = make_project()
    (project.folder / "train.target").write_text("one line\n")
    output = project.run("--cores", "1", "--until", "prepare_train", status=1)
    lines = {line.strip() for line in output.splitlines() if line.strip().startswith("itersel corpus: ")}
    [line] = lines
    assert "train.target" in line
    assert "Traceback" not in output


def test_full_disk(make_project):
    """A limit on file sizes, which also applies to jobs, simulates a full disk."""
    project = make_project()
    with gzip.open(project.folder / "more.gz", "wt") as stream:
        source = random.Random(1)
        stream.writelines(f"{source.getrandbits(400):x}\n" for _ in range(2000))
    data = project.config()["data"] | {"monolingual": "more.gz"}
    project.configure(data=data)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, old[1]))
    try:
        output = project.run("--cores", "1", "results/tiny/corpus/monolingual.gz", status=1, is_forked=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    lines = {line.strip() for line in output.splitlines() if line.strip().startswith("itersel corpus: ")}
    [line] = lines
    assert "File too large" in line
    assert not (project.results / "corpus/monolingual.gz").exists()
