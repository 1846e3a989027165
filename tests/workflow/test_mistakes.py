"""Common mistakes of users: each is reported in one line that says what to do.

Two runs at once are in test_run_killed.
"""

import os
import re

import pytest
from tests.workflow.conftest import SIZES
from tests.workflow.preloaded import run_snakemake

NO_FILES = {"kind": "files", **{split: {"source": "train.source", "target": "none"} for split in SIZES}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sed": 1}, "config has an unknown key 'sed' (did you mean 'seed'?); known keys: name, output, "),
        ({"output": ["x"], "seed": 0}, "config key 'output' must be text, not ['x'] (and 1 more)"),
        ({"data": NO_FILES}, "config key 'data.train' names none: No such file or directory (and "),
    ],
)
def test_bad_config_is_one_line(make_project, changes, message):
    project = make_project()
    project.configure(**changes)
    output = project.run("--dry-run", status=1)
    [line] = [line for line in output.splitlines() if line.startswith(("itersel", "Error"))]
    assert line.startswith(f"itersel: {message}")
    assert "Traceback" not in output


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, ": no such file"),
        ("name: x\nname: y\n", ":2: not YAML: key 'name' is already set in line 1; rename"),
        ("seed: 1:30", ":1: not YAML: 1:30 is a number to base 60 in YAML; put it in quotes"),
        ("", ": config file must contain 'key: value' lines, not null"),
    ],
)
def test_config_that_cannot_be_read(make_project, named, content, message):
    """Snakemake itself would show a traceback, or name neither file nor line."""
    project = make_project()
    name = "other.yaml" if named else "config.yaml"
    (project.folder / "config.yaml").rename(project.folder / "old.yaml")
    if content is not None:
        (project.folder / name).write_text(content)
    options = ["--snakefile", str(project.snakefile), *(["--configfile", name] if named else [])]
    status, output = run_snakemake(["--dry-run", *options], project.folder, os.environ)
    assert status == 1
    [line] = [line for line in output.splitlines() if line.startswith("itersel: ")]
    assert line.startswith(f"itersel: {name}{message}")
    assert line.endswith("; name your config with --configfile") == (content is None and not named)
    assert "Traceback" not in output


def test_merged_configs(make_project):
    project = make_project()
    (project.folder / "more.yaml").write_text("experiments: {another: {epochs: 1, tune_on: dev}}\n")
    output = project.run("--dry-run", "--configfile", "config.yaml", "more.yaml")
    assert "itersel: warning: Snakemake merges the config files" in output
    assert "experiments/another" in output
    # a file named on the command line replaces config.yaml; Snakemake would merge them by default
    output = project.run("--dry-run", "--quiet", "rules")
    assert "warning" not in output
    assert re.search(r"^choose_epoch +3$", output, re.M)


@pytest.mark.parametrize("late", [["train.source"], ["dev.target", "train.source"]])
def test_file_from_the_future(make_project, late):
    """It was written by a host whose clock is ahead. Snakemake would remove each output after its job."""
    project = make_project()
    for name in late:
        path = project.folder / name
        time = path.stat().st_mtime + 7200
        os.utime(path, (time, time))
    output = project.run("--cores", "1", status=1)
    [line] = [line for line in output.splitlines() if line.startswith("itersel: ")]
    others = f" (and {len(late) - 1} more)" if len(late) > 1 else ""
    assert line.startswith(f"itersel: {late[0]}{others}: ")
    assert "Traceback" not in output
    assert not (project.results / "logs").exists()
