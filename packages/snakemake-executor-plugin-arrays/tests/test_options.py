"""Snakemake's command line, with the options of this plugin."""

import subprocess
import sys
from pathlib import Path

import pytest
from facts import check_facts

from snakemake_executor_plugin_arrays import options


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["--arrays-extra", "--qos=x", "-n"], ["--arrays-extra=--qos=x", "-n"]),
        (["--arrays-extra", "-q"], ["--arrays-extra=-q"]),
        (["--arrays-extra", "x", "--qos=y"], ["--arrays-extra", "x", "--qos=y"]),
        (["--arrays-extra=--qos=x", "--other", "-n"], ["--arrays-extra=--qos=x", "--other", "-n"]),
        (["--arrays-extra"], ["--arrays-extra"]),
    ],
)
def test_values_that_begin_with_a_dash(words: list[str], joined: list[str]) -> None:
    options.join_options(words, ("--arrays-extra",))
    assert words == joined


def test_snakemake_parses_values_that_begin_with_a_dash(tmp_path: Path) -> None:
    code = "import sys; from snakemake.cli import parse_args; print(parse_args(sys.argv[1:])[1].arrays_extra)"
    command = [sys.executable, "-c", code, "--executor", "arrays", "--arrays-extra", "--qos=x"]
    # elsewhere, because Snakemake would read the profile of this project, which needs another package
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "--qos=x"


@pytest.mark.parametrize(
    ("profile", "facts"),
    [
        (
            {"executor": "arrays", "nonsense-prefix": "x"},
            ["--nonsense-prefix=x", "snakemake-executor-plugin-NAME"],
        ),
        (
            {"executor": "nonsense"},
            ["--executor/-e", "'nonsense'", "pip install snakemake-executor-plugin-nonsense"],
        ),
    ],
)
def test_profile_of_another_executor(tmp_path: Path, profile: dict[str, str], facts: list[str]) -> None:
    (tmp_path / "config.yaml").write_text("".join(f"{name}: {value}\n" for name, value in profile.items()))
    command = [sys.executable, "-m", "snakemake", "--profile", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.strip().partition("error: ")[2].splitlines()
    check_facts(line, *facts)
