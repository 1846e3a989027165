"""docs/tutorial.md: its commands, in order. The workflow run, which takes a minute, is only planned."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.limited import limited

RUN = "snakemake --configfile toy.yaml\n"


@pytest.fixture(scope="module")
def blocks(root: Path) -> list[str]:
    """Return the shell blocks of the tutorial, except the first, which installs itersel."""
    found = re.findall(r"^```sh\n(.*?)^```$", (root / "docs/tutorial.md").read_text(), flags=re.M | re.S)
    assert "pip install" in found[0]
    return found[1:]


def shell(script: str, folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_commands(blocks: list[str], tmp_path: Path) -> None:
    before, after = blocks[: blocks.index(RUN)], blocks[blocks.index(RUN) + 1 :]
    shell("\n".join(before), tmp_path)
    project = tmp_path / "project"
    planned = shell(RUN.strip() + " -n", project)
    # the commands after the run read its outputs
    needed = re.findall(r"results/toy/[\w/.-]+", "".join(after))
    assert needed
    for path in needed:
        assert re.search(rf"output: .*{re.escape(path)}[/,\n]", planned), path
    (cluster,) = (block for block in after if "--profile slurm" in block)
    assert "train_shard" in shell(cluster, project)


def test_commands_after_the_run_have_arguments_that_exist(blocks: list[str], root: Path) -> None:
    commands = re.findall(r"itersel (translate|weights show|config check|init)(.*)", "".join(blocks))
    assert {name for name, _ in commands} == {"translate", "weights show", "config check", "init"}
    for name, arguments in commands:
        shown = limited(*name.split(), "--help").stdout
        assert all(option in shown for option in re.findall(r"--[a-z-]+", arguments))
