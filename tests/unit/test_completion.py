"""Shell completion: the shells accept the scripts, which complete the options of the parsers."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.needs import missing

from itersel.cli.completion import SHELLS


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        command = [sys.executable, "-m", "itersel.cli.main", "--print-completion", shell]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        (folder / shell).write_text(done.stdout)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_the_script(scripts: Path, shell: str) -> None:
    text = (scripts / shell).read_text()
    assert all(word in text for word in ("detokenize", "learning-rate", "kbest-mira"))
    if not shutil.which(shell):
        missing(f"{shell} is not installed")
    subprocess.run([shell, "-n", str(scripts / shell)], check=True)


COMPLETED = [
    ("det", ["detokenize"]),
    ("grammar ", ["export", "extract", "import", "index"]),
    ("train --learner m", ["margin-perceptron", "mira"]),
    # an option of one learner only
    ("train --cand", ["--candidates"]),
    ("tune --tuner kb", ["kbest-mira"]),
]


@pytest.mark.parametrize(("words", "expected"), [*COMPLETED, ("decode --shard a_s", ["a shard.h5"])])
def test_bash_completes(scripts: Path, tmp_path: Path, words: str, expected: list[str]) -> None:
    (tmp_path / "a shard.h5").touch()
    script = """
source "$1"; shift
COMP_WORDS=(itersel "$@"); COMP_CWORD=$#
_shtab_itersel
printf '%s\\n' "${COMPREPLY[@]}"
"""
    command = [
        "bash",
        "-c",
        script,
        "bash",
        str(scripts / "bash"),
        *(word.replace("_", " ") for word in words.split(" ")),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert sorted(done.stdout.split("\n")[:-1]) == expected, done.stderr


@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_fish_completes(scripts: Path, words: str, expected: list[str]) -> None:
    if not shutil.which("fish"):
        missing("fish is not installed")
    script = f'source {shlex.quote(str(scripts / "fish"))}; complete -C "itersel {words}"'
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=False)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == expected, done.stderr
