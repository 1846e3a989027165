"""Common mistakes of users: each is reported in one line that says what to do.

Two runs at once are in test_run_killed.
"""

import os
import random
import re
import shutil
import sys
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions

import pytest
from tests.needs import missing
from tests.refusals import check_facts
from tests.workflow.conftest import Project
from tests.workflow.preloaded import run_snakemake
from tests.workflow.tiny import SIZES

from itersel.project import create_project

NO_FILES = {"kind": "files", **{split: {"source": "train.source", "target": "none"} for split in SIZES}}


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"sed": 1}, ("'sed'", "'seed'")),
        ({"output": ["x"], "seed": -1}, ("'output'", "['x']", 1)),
        ({"data": NO_FILES}, ("'data.train'", "none")),
    ],
)
def test_bad_config_is_one_line(make_project, changes, facts):
    project = make_project()
    project.configure(**changes)
    output = project.run("--dry-run", status=1)
    [line] = [line for line in output.splitlines() if line.startswith(("itersel", "Error"))]
    check_facts(line, "itersel:", facts)
    assert "Traceback" not in output


def test_the_longest_names_fit_with_what_is_added(make_project):
    """No file that is planned has a longer name than file systems allow, and a longer name is refused."""
    project = make_project()
    config = project.config()
    most = 255 - len(".statistics.json")
    # Snakemake refuses names that repeat something
    long = "".join(random.Random(1).choices("abcdefgh", k=most))
    data = {**config["data"], "train": {long[len("train.") :]: config["data"]["train"]}}
    devtest = {"devtest": config["data"]["devtest"]}
    data["test"] = {long[len("devtest.") :]: {**config["data"]["test"], **devtest}}
    [experiment, *_] = config["experiments"].values()
    project.configure(data=data, experiments={long: experiment})
    output = project.run("--dry-run", "--printshellcmds", "--forceall")
    names = set(re.split(r"[/\s,='\"]+", output))
    assert most + len(".statistics.json") >= max(map(len, names)) > most
    project.configure(experiments={f"{long}a": experiment})
    output = project.run("--dry-run", status=1)
    [line] = [line for line in output.splitlines() if line.startswith("itersel")]
    check_facts(line, "itersel:", "'experiments'")


@pytest.fixture
def powerless():
    """Return the words before a command to which permissions of files apply, also for root."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        missing("root needs setpriv to obey permissions")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]


@pytest.mark.parametrize("own", [None, ".snakemake", ".snakemake/iocache"])
def test_a_folder_that_may_not_be_written_to(make_project, powerless, own):
    """That of another user, or Snakemake's own folder in it."""
    project = make_project()
    project.prefix = powerless
    folder = project.folder / (own or ".")
    folder.mkdir(parents=True, exist_ok=True)
    before = sorted(project.folder.rglob("*"))
    folder.chmod(0o555)
    for options, status in ((["--dry-run"], 1), (["--cores", "1"], 1), (["--summary"], 1), (["--lint"], 0)):
        said = project.run(*options, status=status)
        assert "Traceback" not in said
        lines = [line for line in said.splitlines() if line.startswith("itersel: ")]
        assert [line.split(": ")[1] for line in lines] == [str(folder)] * status
    folder.chmod(0o755)
    left = [path for path in sorted(project.folder.rglob("*")) if ".snakemake" not in path.parts]
    assert left == [path for path in before if ".snakemake" not in path.parts]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("content", "line", "facts"),
    [
        (None, "", ()),
        ("name: x\nname: y\n", ":2", ("'name'", 1)),
        ("seed: 1:30", ":1", "1:30"),
        ("", "", "null"),
    ],
)
def test_config_that_cannot_be_read(make_project, named, content, line, facts):
    """Snakemake itself would show a traceback, or name neither file nor line."""
    project = make_project()
    name = "other.yaml" if named else "config.yaml"
    (project.folder / "config.yaml").rename(project.folder / "old.yaml")
    if content is not None:
        (project.folder / name).write_text(content)
    options = ["--snakefile", str(project.snakefile), *(["--configfile", name] if named else [])]
    status, output = run_snakemake(["--dry-run", *options], project.folder, os.environ)
    assert status == 1
    [said] = [line for line in output.splitlines() if line.startswith("itersel: ")]
    check_facts(said, f"itersel: {name}{line}:", facts)
    assert ("--configfile" in said) == (content is None and not named)
    assert "Traceback" not in output


def test_merged_configs(make_project):
    project = make_project()
    (project.folder / "more.yaml").write_text("experiments: {another: {epochs: 1, tune_on: dev}}\n")
    output = project.run("--dry-run", "--configfile", "config.yaml", "more.yaml")
    [warning] = [line for line in output.splitlines() if line.startswith("itersel: warning: ")]
    check_facts(warning, "more.yaml")
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


def test_files_named_like_modules(make_project):
    """A run never imports a file beside the Snakefile in place of a module of Python or of a package."""
    folder = make_project().folder
    create_project(folder, [])
    project = Project(folder, folder / "Snakefile")

    names = {*sys.stdlib_module_names, *packages_distributions()}
    # not importlib.util.find_spec, which looks first at what this process has imported
    found = [name for name in names if name.isidentifier() and name[0] != "_" and PathFinder.find_spec(name)]
    assert {"statistics", "timeit", "numpy"} <= set(found)
    for name in found:
        (project.folder / f"{name}.py").write_text(f"raise SystemExit('imported {name}')\n")

    # as for the command `snakemake`, whose own folder comes first in the path
    safe = {"PYTHONSAFEPATH": "1"}
    assert "train_shard" in project.run("--dry-run", environment=safe, is_forked=False)
    project.run("--cores", "1", "results/tiny/corpus/train.source.gz", environment=safe, is_forked=False)
