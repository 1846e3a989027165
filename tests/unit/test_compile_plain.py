"""Kernels compiled by plain numba: with versions of numba that were not tested, or by choice."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numba
import pytest
from tests.limited import limited

from itersel.compile import numba_versions
from itersel.compile.cache_folder import PACKAGE
from itersel.compile.numba_versions import TESTED, is_plain

ROOT = Path(__file__).parents[2]
CALLED = """
from itersel.compile.jit import inline_kernel, leaf_kernel, prefetch

@inline_kernel
def constant():
    return 1

@leaf_kernel
def add(numbers, place):
    prefetch(numbers, place)
    return numbers[place] + constant()
"""
CALLING = """
from itersel.compile.jit import kernel
from itersel.called_kernels import add

@kernel
def total(numbers):
    return add(numbers, 0) + add(numbers, numbers.size - 1) + numbers[0:-1].sum()
"""
CALL = """
import sys
import numpy as np
from itersel.calling_kernels import total
print(total(np.array([10, 20, 40])), sum(total.stats.cache_hits.values()))
internals = {f"itersel.compile.{name}" for name in ("compiler", "dispatchers", "kernel_cache")}
print(*sorted(internals & set(sys.modules)))
"""


def python(*arguments, **settings):
    """Run Python in the plain way; returns what it prints."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "ITERSEL_PLAIN_NUMBA": "1", **settings}
    # byte code counts as current if the time, in seconds, and size of its source are the same
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", *arguments], env=environment, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernels_that_call_others_are_kept_until_those_change(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    package = shutil.copytree(PACKAGE, tmp_path / "itersel", ignore=ignored)
    (package / "called_kernels.py").write_text(CALLED)
    (package / "calling_kernels.py").write_text(CALLING)
    settings = {"ITERSEL_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    assert python(CALL, **settings) == "82 0\n\n"
    assert python(CALL, **settings) == "82 1\n\n"
    assert [path.name for path in (tmp_path / "cache").rglob("calling*.nbc")]
    assert not list(package.rglob("*.nbc"))
    # the same time and size, in a different module from the kernel that Python calls
    before = (package / "called_kernels.py").stat()
    (package / "called_kernels.py").write_text(CALLED.replace("return 1", "return 3"))
    os.utime(package / "called_kernels.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert python(CALL, **settings) == "86 0\n\n"


@pytest.mark.parametrize(
    ("version", "plain"),
    [
        ("0.62.9", True),
        ("0.63.0", False),
        ("0.68.1", False),
        ("0.69.0rc1", True),
        ("1.0", True),
        ("dev", True),
    ],
)
def test_versions(monkeypatch, version, plain):
    monkeypatch.delenv("ITERSEL_PLAIN_NUMBA", raising=False)
    monkeypatch.setattr(numba, "__version__", version)
    assert is_plain.__wrapped__() == plain


@pytest.mark.parametrize(("value", "plain"), [("", False), ("0", False), ("1", True)])
def test_plain_by_choice(monkeypatch, value, plain):
    monkeypatch.setenv("ITERSEL_PLAIN_NUMBA", value)
    monkeypatch.setattr(numba, "__version__", ".".join(map(str, TESTED[0])))
    assert is_plain.__wrapped__() == plain


@pytest.mark.parametrize("interpreted", [0, 1])
def test_plain_numba_is_named_if_it_compiles(monkeypatch, interpreted):
    """Interpreted kernels are not compiled by anything."""
    monkeypatch.setattr(numba_versions, "is_plain", lambda: True)
    monkeypatch.setattr(numba_versions.numba_config, "DISABLE_JIT", interpreted)
    assert (numba_versions.plain_notice() is None) == bool(interpreted)
    monkeypatch.setattr(numba_versions, "is_plain", lambda: False)
    assert numba_versions.plain_notice() is None


def test_the_first_tested_version_is_required():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"numba>={'.'.join(map(str, TESTED[0]))}" in dependencies


# Runs steps with another version of numba; all kernels seem to be compiled.
UNTESTED = """
import sys
import numba
numba.__version__ = "0.99.1"
from itersel.cli import warm_up
from itersel.cli.main import main
warm_up._marker().parent.mkdir(parents=True, exist_ok=True)
warm_up._marker().touch()
for arguments in (
    ["lm", "estimate", "--order", "2", "--input", "text", "--output", "arpa"],
    ["config", "schema"],
):
    print(main(arguments), file=sys.stderr)
print(numba.config.CACHE_DIR, *(name for name in sys.modules if name.startswith("itersel.compile.")))
"""


@pytest.mark.slow
@pytest.mark.parametrize("in_workflow", [False, True])
def test_an_untested_version(tmp_path, in_workflow):
    """Each command says so, unless it runs in a workflow, which says so itself."""
    (tmp_path / "text").write_text("a b\nb a c\na\n")
    settings = {"NUMBA_DISABLE_JIT": "0", "ITERSEL_CACHE": str(tmp_path / "cache")}
    environment = {**os.environ, **settings, **({"ITERSEL_RUN": "results"} if in_workflow else {})}
    environment.pop("ITERSEL_PLAIN_NUMBA", None)
    done = limited(program=["-c", UNTESTED], cwd=tmp_path, env=environment)
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.isdigit()] == ["0", "0"]
    assert (tmp_path / "arpa").exists()
    said = [line for line in lines if "0.99.1" in line]
    assert len(said) == (not in_workflow)
    assert all(re.search(r" 0\.63 .*\b0\.69$", line) for line in said)
    *_, printed = done.stdout.splitlines()
    assert "itersel.compile.plain" in printed
    assert not re.search(r"itersel\.compile\.(compiler|dispatchers|kernel_cache)", printed)


@pytest.mark.slow
def test_same_results(tmp_path):
    """A family of kernels; `make test-plain` compares others with recorded output of other tools."""
    (tmp_path / "text").write_text("das haus ist klein .\ndas kleine haus\nein haus ist das\n" * 3)
    made = []
    for plain in ("0", "1"):
        settings = {"NUMBA_DISABLE_JIT": "0", "ITERSEL_PLAIN_NUMBA": plain, "ITERSEL_WARM_UP": "0"}
        environment = {**os.environ, **settings, "ITERSEL_CACHE": str(tmp_path / f"cache{plain}")}
        for command in (
            "lm estimate --order 3 --input text --output arpa",
            "lm compile --input arpa --output model",
            "lm score --language-model model --input text --output scores",
        ):
            assert limited(*command.split(), cwd=tmp_path, env=environment).returncode == 0
        made.append([(tmp_path / name).read_bytes() for name in ("arpa", "model", "scores")])
    assert made[0] == made[1]
