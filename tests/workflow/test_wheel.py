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
    assert made.stdout.splitlines()[1:] == ["  cd 'new project'", "  snakemake"]
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


def snakemake(site, folder, *arguments):
    """Run Snakemake itself, as in a clone; returns its output."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = limited(*arguments, program=("-m", "snakemake"), cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def jobs(output):
    """Return the rules in the table of a dry run."""
    lines = output.partition("Job stats:")[2].partition("\n\n")[0].splitlines()[3:]
    return {line.split()[0] for line in lines} - {"total"}


@pytest.fixture
def project(site, tmp_path):
    """Return a project in which lists, which need no decoder, are learned from."""
    assert itersel(site, tmp_path, "init", "a project").returncode == 0
    project = tmp_path / "a project"
    texts = [("a b c d e", "a b c x y"), ("f g h i j", "f g x y z")] * 4
    lists = "".join(
        f"{number} ||| {text} ||| good= {-text.count('x')} ||| 0\n"
        for number, pair in enumerate(texts)
        for text in pair
    )
    config = {"name": "tiny", "data": {"kind": "lists", "tokenized": True}}
    for name in ("train", "dev", "devtest", "test"):
        (project / f"{name}.list").write_text(lists)
        (project / f"{name}.en").write_text("".join(f"{text}\n" for text, _ in texts))
        config["data"][name] = {"lists": f"{name}.list", "target": f"{name}.en"}
    config["experiments"] = {"dev": {"algorithm": "sgd", "epochs": 1}}
    (project / "tiny.json").write_text(json.dumps(config))
    return project


@pytest.mark.slow
def test_snakemake_without_a_clone(site, wheel, project):
    """It finds workflow and profiles, and runs again what has changed; its Snakefile has no version."""
    text = (project / "Snakefile").read_text()
    assert text.startswith("# ")
    assert str(wheel.parent) not in text
    options = ["--configfile", "tiny.json"]
    assert "in a good condition" in snakemake(site, project, "--lint", *options)
    for profile in ("slurm", "sge"):
        assert "train_shard" in jobs(snakemake(site, project, "--profile", profile, "-n", *options))

    snakemake(site, project, "--cores", "2", *options)
    assert (project / "results/tiny/report/table.txt").is_file()
    assert jobs(snakemake(site, project, "-n", *options)) == set()

    # edited settings, then an edited file
    config = json.loads((project / "tiny.json").read_text())
    config["experiments"]["dev"]["learner"] = {"name": "mira"}
    (project / "other.json").write_text(json.dumps(config))
    assert "train_shard" in (changed := jobs(snakemake(site, project, "-n", "--configfile", "other.json")))
    assert not changed & {"divide_lists", "prepare_lists"}
    (project / "test.en").write_text((project / "test.en").read_text().upper())
    assert "compare_systems" in jobs(snakemake(site, project, "-n", *options))


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
