"""The Makefile, and the installation into a conda environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def test_conda_environment_runs_the_code_as_it_is(root: Path, tmp_path: Path) -> None:
    """From any folder, the script installs the project's folder itself, not a copy of its code."""
    (tmp_path / "python").write_text('#!/bin/sh\necho "$PWD: $@"\n')
    (tmp_path / "python").chmod(0o755)
    script = tmp_path / "copy.post-deploy.sh"
    script.write_bytes((root / "envs/itersel.post-deploy.sh").read_bytes())
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ITERSEL_PROJECT": str(root)}
    command = ["bash", str(script)]
    result = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    editable = "--editable packages/snakemake-executor-plugin-arrays --editable ."
    assert result.stdout == f"{root}: -m pip install --constraint envs/constraints.txt {editable}\n"


def test_conda_environment_of_a_wheel(root: Path, tmp_path: Path) -> None:
    """Without a checkout, the same version is downloaded."""
    script(tmp_path / "python", 'echo "$@"')
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "ITERSEL_PROJECT": str(tmp_path),
        "ITERSEL_VERSION": "1.2.3",
    }
    command = ["bash", str(root / "envs/itersel.post-deploy.sh")]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert result.stdout == "-m pip install --constraint envs/constraints.txt itersel==1.2.3\n"


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_make_names_what_is_missing(root: Path, tmp_path: Path) -> None:
    for python in ("python99", script(tmp_path / "python2", "exit 1")):
        command = ["make", "demo", f"PYTHON={python}", f"VENV={tmp_path}/venv"]
        result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert result.returncode == 2
        first = result.stderr.splitlines()[0]
        assert "Python 3.11 or later with venv (on Debian and Ubuntu: python3-venv) is needed" in first
        assert f"none found among '{python}'" in first


def test_make_searches_a_python(root: Path, tmp_path: Path) -> None:
    """The python3 of some machines is too old or has no venv; another Python is used then."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "python3", "exit 1")
    script(folder / "python3.12", "exit 0")
    for tool in ("make", "sh", "test", "touch"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    command = ["make", "--dry-run", "demo", f"VENV={tmp_path}/venv"]
    result = subprocess.run(
        command, cwd=root, env={"PATH": str(folder)}, capture_output=True, text=True, check=True
    )
    assert f'"python3.12" -m venv "{tmp_path}/venv"' in result.stdout
