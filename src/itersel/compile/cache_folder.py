"""The folder of compiled kernels: one per version of the sources, way of compiling and type of machine.

All checkouts and installations share it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import llvmlite
import numba
import numpy as np
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name, get_process_triple

from itersel.code.plugins import code_of
from itersel.compile.numba_versions import is_plain, numba_config
from itersel.errors import InputError

CACHE_VARIABLE = "ITERSEL_CACHE"
ADVICE = f"name another folder in {CACHE_VARIABLE} or as `cache` in the config"
PACKAGE = Path(__file__).parents[1]
# Names of folders, as `_folder_name` makes them.
_FOLDER = re.compile(r"\w+-\w+-[\w.-]+-[0-9a-f]{16}")
# Folders of other versions that no process has used for this long are removed.
UNUSED_SECONDS = 30 * 24 * 3600
# Settings of numba that change machine code.
SETTINGS = ("ENABLE_AVX", "OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")


def cache_folder() -> Path:
    """Return the folder of compiled kernels: below $ITERSEL_CACHE, else below the user's cache folder."""
    root = os.environ.get(CACHE_VARIABLE)
    if not root:
        users = os.environ.get("XDG_CACHE_HOME", "")
        try:
            root = os.path.join(users if os.path.isabs(users) else Path.home() / ".cache", "itersel")
        except RuntimeError:
            raise InputError(f"there is no home folder to keep compiled kernels in; {ADVICE}") from None
    return Path(root) / _folder_name(PACKAGE)


@functools.cache
def _folder_name(package: Path) -> str:
    """Return a name that depends on everything that affects machine code: processor, versions, sources."""
    # numba's own settings, if there are any, come first
    processor = numba_config.CPU_NAME
    processor = get_host_cpu_name() if processor is None else processor
    features = numba_config.CPU_FEATURES
    features = get_host_cpu_features().flatten() if features is None else features

    settings = [getattr(numba_config, name, None) for name in SETTINGS]
    versions = [sys.version_info[:2], sys.abiflags, numba.__version__, llvmlite.__version__, np.__version__]
    machine = [get_process_triple(), processor, features]

    digest = hashlib.sha256(repr([*machine, versions, settings, is_plain()]).encode())
    for path in kernel_sources(package):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")

    # for people to tell folders apart
    name = re.sub("[^A-Za-z0-9._-]", "_", processor)
    return f"{sys.implementation.cache_tag}-{name}-{digest.hexdigest()[:16]}"


def kernel_sources(package: Path) -> list[Path]:
    """Return the modules of kernels, of their constants and types, and of `compile`."""
    kernels = [*package.rglob("*kernels*.py")]
    found = {*kernels, *(package / "compile").glob("*.py")}
    for kernel in kernels:
        for name in re.findall(r"(?m)^from itersel\.([\w.]+) import", kernel.read_text(encoding="utf-8")):
            found.add(package.joinpath(*name.split(".")).with_suffix(".py"))
    return sorted(found)


def is_kept(function: Callable[..., object]) -> bool:
    """Return whether a compiled kernel is kept: kernels of the package, and of plugins with known code."""
    module = function.__module__
    return module.split(".")[0] == PACKAGE.name or code_of(module) is not None


@functools.cache
def mark_used(folder: Path) -> None:
    """Set the time of a folder, once in a process; see `remove_unused`."""
    with suppress(OSError):  # may be read-only
        os.utime(folder)


def remove_unused(root: Path) -> None:
    """Remove folders that no process has used for `UNUSED_SECONDS`; one that still does compiles again."""
    for folder in root.iterdir():
        is_own = _FOLDER.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink()
        if is_own and time.time() - folder.stat().st_mtime > UNUSED_SECONDS:
            # another process may be removing it, too, or it belongs to another user
            shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def make_writable(folder: Path) -> None:
    """Make a folder for compiled kernels, and check that it is writable; if it is new, remove unused ones."""
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                remove_unused(folder.parent)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise not_kept(folder, error) from None


def not_kept(folder: Path, error: OSError) -> InputError:
    """Return the error for a folder that cannot be written."""
    return InputError(f"compiled kernels cannot be kept in {folder}: {error.strerror or error}; {ADVICE}")
