"""Config files of a run: bad ones stop it with one line, and several are not merged."""

from __future__ import annotations

import os
import re

import pytest
from tests.workflow.preloaded import run_snakemake


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sed": 1}, "unknown key 'sed'"),
        ({"experiments": {"x": {"epochs": 0}}}, "'experiments.x.epochs' is 0, must be at least 1"),
    ],
)
def test_bad_config_is_one_line(make_project, changes, message):
    project = make_project()
    project.configure(**changes)
    output = project.run("--dry-run", status=1)
    [line] = [line for line in output.splitlines() if message in line]
    assert line.startswith("itersel: config")
    assert "Traceback" not in output


def test_several_errors_of_a_config_are_counted(make_project):
    project = make_project()
    project.configure(sed=1, output=["x"])
    output = project.run("--dry-run", status=1)
    [line] = [line for line in output.splitlines() if line.startswith("itersel: ")]
    assert "unknown key 'sed' (did you mean 'seed'?)" in line
    assert line.endswith("(and 1 more)")


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such file"), ("a: [1\nb: 2\n", "not YAML: expected ',' or ']', but got ':'")],
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
    assert line == f"itersel: {name}{':2' if content else ''}: {message}"
    assert "Traceback" not in output


def test_merged_configs(make_project):
    project = make_project()
    (project.folder / "more.yaml").write_text("experiments: {another: {epochs: 1, tune_on: dev}}\n")
    output = project.run("--dry-run", "--configfile", "config.yaml", "more.yaml")
    assert "itersel: warning: Snakemake merges the config files" in output
    assert "experiments/another" in output
    assert "warning" not in project.run("--dry-run", "--configfile", "config.yaml")


def test_duplicate_keys(make_project):
    project = make_project()
    with (project.folder / "config.yaml").open("a") as stream:
        stream.write("name: again\n")
    output = project.run("--dry-run", status=1)
    [line] = [line for line in output.splitlines() if "key 'name' is already set in line 1" in line]
    assert line.startswith("itersel: ")
    assert "Traceback" not in output


def test_config_files_do_not_mix(make_project):
    """A file named on the command line replaces config.yaml; Snakemake would merge them by default."""
    assert "train-selected" not in (output := make_project().run("--dry-run", "--quiet", "rules"))
    assert re.search(r"^choose_epoch +3$", output, re.M)
