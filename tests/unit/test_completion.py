"""Completion of commands by shells."""

import contextlib
import shlex
import shutil
import subprocess

import pytest
from tests.needs import missing

from itersel.cli.completion import SHELLS
from itersel.cli.main import main


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    for shell in SHELLS:
        with (folder / shell).open("w") as stream, contextlib.redirect_stdout(stream):
            assert main(["--print-completion", shell]) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_the_script(scripts, shell):
    text = (scripts / shell).read_text()
    assert all(word in text for word in ("detokenize", "max-difference", "kbest-mira"))
    if not shutil.which(shell):
        missing(f"{shell} is not installed")
    subprocess.run([shell, "-n", str(scripts / shell)], check=True)


COMPLETED = [
    ("det", ["detokenize"]),
    ("grammar ", ["export", "extract", "import", "index"]),
    ("step pat", ["patience"]),
    ("tune --tuner kb", ["kbest-mira"]),
    # an option of one tuner only
    ("tune --interp", ["--interpolation"]),
    # options of Snakemake, and of the executor
    ("run --rerun-tr", ["--rerun-triggers"]),
    ("run --executor arr", ["arrays"]),
    ("run --cores 2 --arrays-part", ["--arrays-partition"]),
]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        *COMPLETED,
        ("decode --sentences a_s", ["a sentences.h5"]),
        ("run --configfile a_s", ["a sentences.h5"]),
        ("run a_s", ["a sentences.h5"]),
    ],
)
def test_bash_completes(scripts, tmp_path, words, expected):
    (tmp_path / "a sentences.h5").touch()
    script = """
source "$1"; shift
COMP_WORDS=(itersel "$@"); COMP_CWORD=$#
_shtab_itersel
printf '%s\\n' "${COMPREPLY[@]}"
"""
    completed = [word.replace("_", " ") for word in words.split(" ")]
    command = ["bash", "-c", script, "bash", str(scripts / "bash"), *completed]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert sorted(done.stdout.split("\n")[:-1]) == expected, done.stderr


@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_fish_completes(scripts, words, expected):
    if not shutil.which("fish"):
        missing("fish is not installed")
    script = f'source {shlex.quote(str(scripts / "fish"))}; complete -C "itersel {words}"'
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=False)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == expected, done.stderr
