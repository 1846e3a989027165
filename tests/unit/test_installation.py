"""What is run around the code: the Makefile, and the installation into a conda environment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def test_conda_environment_runs_the_code_as_it_is(root: Path, tmp_path: Path) -> None:
    """The script, wherever it is run, installs the project's folder itself, not a copy of its code."""
    (tmp_path / "python").write_text('#!/bin/sh\necho "$PWD: $@"\n')
    (tmp_path / "python").chmod(0o755)
    script = tmp_path / "copy.post-deploy.sh"
    script.write_bytes((root / "envs/itersel.post-deploy.sh").read_bytes())
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ITERSEL_PROJECT": str(root)}
    command = ["bash", str(script)]
    result = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert result.stdout == f"{root}: -m pip install --constraint envs/constraints.txt --editable .\n"


def test_make_names_what_is_missing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "python2").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python2").chmod(0o755)
    (tmp_path / "no-venv").write_text('#!/bin/sh\ntest "$1" = -c\n')
    (tmp_path / "no-venv").chmod(0o755)
    for python, message in (
        ("python99", "Python 3.11 or later is needed, 'python99' is none"),
        (str(tmp_path / "python2"), "Python 3.11 or later is needed"),
        (str(tmp_path / "no-venv"), "on Debian and Ubuntu it is the package python3-venv"),
    ):
        command = ["make", "demo", f"PYTHON={python}", f"VENV={tmp_path}/venv"]
        result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert result.returncode == 2
        assert message in result.stderr.splitlines()[0]
