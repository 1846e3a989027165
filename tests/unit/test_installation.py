"""The Makefile, projects with the installed workflow, and the installation into a conda environment."""

import os
import shutil
import subprocess

import pytest
import yaml
from tests.refusals import check_facts

from itersel.cli.main import main
from itersel.config.reading import read_config


@pytest.mark.parametrize("is_checkout", [True, False])
def test_conda_environment_runs_the_code_as_it_is(root, tmp_path, is_checkout):
    """From any folder, the script installs the project's folder itself or, with a wheel, the same version."""
    script(tmp_path / "python", 'echo "$PWD: $@"')
    project = root if is_checkout else tmp_path / "wheel"
    project.mkdir(exist_ok=True)
    copy = shutil.copy(root / "envs/itersel.post-deploy.sh", tmp_path)
    environment = {"ITERSEL_PROJECT": str(project), "ITERSEL_VERSION": "1.2.3"}
    result = run("bash", copy, folder=tmp_path, path=f"{tmp_path}:{os.environ['PATH']}", **environment)
    editable = "--editable packages/snakemake-executor-plugin-arrays --editable ."
    installed = editable if is_checkout else "itersel==1.2.3"
    assert result.returncode == 0
    assert result.stdout == f"{project}: -m pip install --constraint envs/constraints.txt {installed}\n"


def run(*command, folder, path=os.environ["PATH"], **variables):
    environment = {"PATH": path, **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_make_names_what_is_missing(root, tmp_path):
    for python in ("python99", script(tmp_path / "python2", "exit 1")):
        result = run("make", "demo", f"PYTHON={python}", f"VENV={tmp_path}/venv", folder=root)
        assert result.returncode == 2
        first = result.stderr.splitlines()[0]
        check_facts(first, "3.11", "python3-venv", f"'{python}'", "PYTHON=")


def test_make_searches_a_python(root, tmp_path):
    """The python3 of some machines is too old or has no venv; another Python is used then."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "python3", "exit 1")
    script(folder / "python3.12", "exit 0")
    for tool in ("make", "sh", "test", "touch"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    result = run("make", "--dry-run", "demo", f"VENV={tmp_path}/venv", folder=root, path=str(folder))
    assert result.returncode == 0
    assert f'"python3.12" -m venv "{tmp_path}/venv"' in result.stdout


def test_init_with_an_experiment(root, tmp_path, capsys):
    """The config and its schema are there; a language pair has two files, for one run."""
    folder = root / "experiments"
    paths = [path.relative_to(folder) for path in folder.rglob("*.yaml") if path.name != "base.yaml"]
    assert len(paths) > 10
    for path in paths:
        name = path.with_suffix("").as_posix()
        project = tmp_path / name
        assert main(["init", "--experiment", name, str(project)]) == 0
        command = capsys.readouterr().out.splitlines()[-1].split()
        assert command[:2] == ["snakemake", "--configfile"]
        content = {}
        first = project / command[2]
        schema = first.read_text().partition("$schema=")[2].partition("\n")[0]
        assert first.parent.joinpath(schema).is_file()
        for file in command[2:]:
            for key, value in yaml.safe_load((project / file).read_text()).items():
                content[key] = {**content.get(key, {}), **value} if isinstance(value, dict) else value
        assert content["name"] == read_config(content).name
        assert not (project / "config.yaml").exists()


def test_init_with_an_unknown_experiment(tmp_path, capsys):
    for name in ("whole", "base", "language-pairs/base", "../config"):
        assert main(["init", "--experiment", name, str(tmp_path / "new")]) == 1
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith("itersel init: ")
        check_facts(line, f"'{name}'", "europarl, language-pairs/cs, ")
        assert not (tmp_path / "new").exists()
