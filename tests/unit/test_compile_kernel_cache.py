"""The cache of compiled kernels: shared by all checkouts with the same code."""

import ast
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from llvmlite.binding import FeatureMap
from tests.limited import limited
from tests.refusals import check_facts, input_error

from itersel.cli import warm_up
from itersel.cli.warm_up import SILENT_SECONDS, Announcer
from itersel.compile import cache_folder as folders
from itersel.compile.cache_folder import PACKAGE, cache_folder, kernel_sources, make_writable

CODE = """
import sys
import numpy as np
from itersel.decode.queue_kernels import goes_before
from itersel.compile.jit import kernel
from itersel.learn.learner_kernels import logistic_coefficients

@kernel
def before(score):
    return goes_before(score, 1, 2.0, 1)

coefficients, wrong = logistic_coefficients(np.array([1.0, 1.0]), np.array([[0, 1]]))
assert (coefficients.tolist(), wrong, before(3.0), before(1.0)) == ([0.5, -0.5], 1, True, False)
statistics = [logistic_coefficients.stats, goes_before._inner.stats]
print(sum(sum(one.cache_hits.values()) for one in statistics), end=" ")
print(sum(sum(one.cache_misses.values()) for one in statistics), sys.modules["itersel"].__file__)
"""


def run(package, cache):
    """Use the package in a given folder; returns the numbers of kernels found and compiled, and its file."""
    environment = {**os.environ, "ITERSEL_CACHE": str(cache), "PYTHONPATH": str(package.parent)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    hits, misses, place = done.stdout.split(maxsplit=2)
    return int(hits), int(misses), place.strip()


def copied(folder):
    """Return another checkout of the package, with different file times."""
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(PACKAGE, folder / "itersel", ignore=ignored, copy_function=shutil.copy)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    with ThreadPoolExecutor(2) as pool:
        for hits, misses, _ in pool.map(run, [PACKAGE] * 2, [cache] * 2):
            assert hits + misses == 2
    [folder] = cache.iterdir()
    # both as other kernels call them, and one as Python calls it
    assert len(list(folder.iterdir())) == 3
    return cache


@pytest.mark.slow
def test_another_checkout_finds_the_kernels(filled, tmp_path):
    package = copied(tmp_path)
    [folder] = filled.iterdir()
    os.utime(folder, (0, 0))
    assert run(package, filled) == (2, 0, str(package / "__init__.py"))
    # which marks the folder as used
    assert time.time() - folder.stat().st_mtime < 3600


@pytest.mark.slow
def test_a_changed_kernel_is_compiled_again(filled, tmp_path):
    package = copied(tmp_path)
    cache = shutil.copytree(filled, tmp_path / "cache")
    # in a different module from the kernels that are called
    with (package / "lm/lookup_kernels.py").open("a") as stream:
        stream.write("# changed\n")
    assert run(package, cache)[:2] == (0, 2)


@pytest.mark.slow
def test_unusable_files_are_compiled_again(filled, tmp_path):
    cache = shutil.copytree(filled, tmp_path / "cache")
    first, second, third = sorted(cache.rglob("*.nbc"))
    # for other types: file names are digests, so the contents are compared
    first.write_bytes(second.read_bytes())
    assert run(PACKAGE, cache)[:2] == (1, 1)
    first.write_bytes(first.read_bytes()[:-1])
    second.write_bytes(b"")
    third.write_bytes(b"x" * 99)
    assert run(PACKAGE, cache)[:2] == (0, 2)
    assert run(PACKAGE, cache)[:2] == (2, 0)


def test_unused_folders_are_removed(tmp_path):
    used, unused, new, link = (tmp_path / f"cpython-311-some_cpu-{digit * 16}" for digit in "abcd")
    other = tmp_path / "results"
    long_ago = time.time() - folders.UNUSED_SECONDS - 60
    for folder in (used, unused, other):
        folder.mkdir()
        (folder / "file").touch()
        os.utime(folder, (long_ago, long_ago))
    link.symlink_to(other)
    folders.mark_used(used)
    make_writable(new)
    assert set(tmp_path.iterdir()) == {used, new, other, link}
    assert (other / "file").exists()


def test_a_cache_that_cannot_be_written(tmp_path):
    """One line, before the step compiles anything."""
    (tmp_path / "text").write_text("a b\n")
    options = ["--source", "text", "--target", "text", "--alignment", "text", "--output", "index"]
    environment = {**os.environ, "ITERSEL_CACHE": str(tmp_path / "text"), "NUMBA_DISABLE_JIT": "0"}
    done = limited("grammar", "index", *options, cwd=tmp_path, env=environment)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("itersel grammar: ")
    check_facts(line, f"{tmp_path / 'text'}", "ITERSEL_CACHE")
    assert not (tmp_path / "index").exists()


def folder_name():
    folders._folder_name.cache_clear()
    return cache_folder().name


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        (folders.numba, "__version__", "0.1"),
        (folders.llvmlite, "__version__", "0.1"),
        (np, "__version__", "0.1"),
        (folders.sys, "version_info", (3, 99, 0)),
        (folders, "get_host_cpu_name", lambda: "other"),
        (folders, "get_host_cpu_features", FeatureMap),
        (folders.numba_config, "CPU_NAME", "generic"),
        (folders.numba_config, "CPU_FEATURES", "+other"),
        (folders.numba_config, "BOUNDSCHECK", 1),
        (folders.numba_config, "OPT", 1),
        (folders.numba_config, "ENABLE_AVX", 0),
        (folders, "is_plain", lambda: True),
    ],
)
def test_another_machine_or_version_has_another_folder(monkeypatch, place, name, value):
    before = folder_name()
    with monkeypatch.context() as patch:
        patch.setattr(place, name, value)
        assert folder_name() != before
    assert folder_name() == before
    assert re.fullmatch(r"cpython-3\d+-[\w-]+-[0-9a-f]{16}", before)


def test_sources_of_kernels(tmp_path):
    package = copied(tmp_path)
    assert folders._folder_name(package) == folders._folder_name(PACKAGE)
    counting = [f"compile/{name}.py" for name in ("compiler", "dispatchers", "jit", "kernel_cache", "plain")]
    # kernels take a constant and a type from the last two
    counting += ["decode/search_kernels.py", "storage/formats.py", "bleu/references.py"]
    for module in [*counting, "errors.py", "cli/train.py"]:
        before = folders._folder_name(package)
        with (package / module).open("a") as stream:
            stream.write("# changed\n")
        folders._folder_name.cache_clear()
        assert (folders._folder_name(package) != before) == (module in counting), module


def test_all_imports_of_kernels_count():
    """Also imports in other forms."""
    sources = set(kernel_sources(PACKAGE))
    for path in PACKAGE.rglob("*kernels*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("itersel") for alias in node.names), path
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, path
                if node.module.startswith("itersel"):
                    imported = PACKAGE.joinpath(*node.module.split(".")[1:]).with_suffix(".py")
                    assert imported in sources, (path, node.module)


@pytest.mark.parametrize("value", ["", None])
@pytest.mark.parametrize("users", ["cache", "", "relative", None])
def test_the_users_cache_folder_is_the_default(tmp_path, monkeypatch, value, users):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, content in (("ITERSEL_CACHE", value), ("XDG_CACHE_HOME", users)):
        monkeypatch.delenv(name, raising=False)
        if content is not None:
            monkeypatch.setenv(name, str(tmp_path / content) if content == "cache" else content)
    expected = tmp_path / "cache" if users == "cache" else tmp_path / "home/.cache"
    assert cache_folder().parent == expected / "itersel"


def test_no_home_folder(monkeypatch):
    monkeypatch.delenv("ITERSEL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(folders.Path, "home", mock.Mock(side_effect=RuntimeError))
    with input_error("ITERSEL_CACHE"):
        cache_folder()


def test_a_kernel_outside_the_package_is_not_kept():
    from itersel.compile.jit import kernel

    @kernel
    def twice(number):
        return 2 * number

    assert twice(4) == 8
    assert getattr(twice, "_cache", SimpleNamespace(cache_path=None)).cache_path is None


@pytest.mark.parametrize(("seconds", "said"), [(SILENT_SECONDS / 4, False), (20.0, True)])
def test_compilation_is_announced(monkeypatch, capsys, seconds, said):
    monkeypatch.setattr(warm_up, "SILENT_SECONDS", SILENT_SECONDS)
    now = 0.0
    announcer = Announcer(lambda: now)
    for _ in range(2):
        announcer.on_start(None)
        now += seconds
        announcer.on_start(None)
        now += seconds
        announcer.on_end(None)
        announcer.on_end(None)
        now += 1000.0  # not compiling
    announcer.close()
    lines = capsys.readouterr().err
    # when it begins and when it has ended
    assert re.fullmatch(r".+\n.+ 80 s\n" if said else "", lines)
