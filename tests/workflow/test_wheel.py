"""The wheel, installed without a checkout: `itersel init` and `itersel run`."""

import errno
import json
import os
import subprocess
import sys
import zipfile

import pytest
from tests.limited import limited
from tests.refusals import check_facts

from itersel.cli.main import main

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*command, str(folder), str(root)], check=True, capture_output=True)
    (path,) = folder.glob("itersel-*.whl")
    return path


@pytest.fixture(scope="module")
def site(wheel):
    """Return a folder for PYTHONPATH with the installed wheel, which precedes the checkout."""
    folder = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def itersel(site, folder, *arguments):
    return limited(*arguments, cwd=folder, env={**os.environ, "PYTHONPATH": str(site)})


def test_wheel_has_the_whole_workflow(root, wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("experiments", "workflow", "profiles", "envs"):
        for path in (root / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"itersel/_project/{path.relative_to(root)}" in names
    assert "itersel/report/page/assets/page.css" in names
    assert not any(name.startswith("tests/") for name in names)


@pytest.mark.parametrize("has_own_snakefile", [True, False])
def test_project_of_the_wheel(site, tmp_path, has_own_snakefile):
    made = itersel(site, tmp_path, "init", "new project")
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.splitlines()[1:] == ["  cd 'new project'", "  itersel run"]
    project = tmp_path / "new project"
    assert (project / "slurm/config.yaml").samefile(project / "profiles/slurm/config.yaml")
    schema = (project / "config.yaml").read_text().splitlines()[0]
    assert schema == "# yaml-language-server: $schema=config.schema.json"
    assert json.loads((project / "config.schema.json").read_text())["type"] == "object"
    if not has_own_snakefile:
        (project / "Snakefile").unlink()
    planned = itersel(site, project, "run", "-n", "--quiet", "rules")
    assert planned.returncode == 0, planned.stderr
    assert "profiles/default" in planned.stderr + planned.stdout
    rules = {line.split()[0] for line in (planned.stdout + planned.stderr).splitlines() if line.strip()}
    assert {"fetch_help", "train_shard", "mix", "write_page"} <= rules
    assert ("results" in rules) == has_own_snakefile
    printed = itersel(site, project, "run", "-n", "--forcerun", "fetch_help", "-p").stdout
    assert "itersel corpus libreoffice-help" in printed


def test_run_takes_the_arguments_of_snakemake(site, tmp_path):
    (tmp_path / "mine.smk").write_text("rule all:\n    shell: 'echo made > made'\n")
    ran = itersel(site, tmp_path, "run", "--snakefile", "mine.smk", "--cores", "1")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "made").read_text() == "made\n"
    failed = itersel(site, tmp_path, "run", "--snakefile", "mine.smk", "--cores", "1", "no-such-target")
    assert failed.returncode == 1
    assert "no-such-target" in failed.stderr


def test_init_needs_a_folder(site, tmp_path):
    (tmp_path / "file").touch()
    made = itersel(site, tmp_path, "init", "file")
    assert made.returncode == 1
    assert made.stderr.startswith("itersel init: file: ")
    assert made.stderr.count("\n") == 1


@pytest.mark.usefixtures("ordinary_user")
def test_init_in_a_folder_that_is_read_only(capsys):
    assert main(["init", "/usr"]) == 1
    check_facts(capsys.readouterr().err, "itersel init: /usr:", os.strerror(errno.EACCES))


def test_init_replaces_nothing(site, tmp_path):
    (tmp_path / "config.yaml").write_text("mine: true\n")
    said = itersel(site, tmp_path, "init", ".")
    assert said.returncode == 1
    assert said.stderr.startswith("itersel init: config.yaml: ")
    assert said.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]
    (tmp_path / "config.yaml").unlink()
    (tmp_path / "data").mkdir()
    assert itersel(site, tmp_path, "init", ".").returncode == 0
    made = {"Snakefile", "config.schema.json", "config.yaml", "profiles", "sge", "slurm", "slurm-single"}
    assert {path.name for path in tmp_path.iterdir()} == {"data", *made}
