"""The cache of compiled kernels: one folder per version of the sources and type of machine.

All checkouts and installations share it. numba's own cache is not suitable: source paths are part of its
keys, processes that compile a kernel for different types at the same time can mix up their files, and damaged
files are loaded. Here each compiled kernel is one file, named after the types it was compiled for, verified
against a digest when it is read, and written under a temporary name first.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite.binding import get_host_cpu_name, get_process_triple
from numba.core import config as numba_config
from numba.core import serialize
from numba.core.caching import NullCache
from numba.core.codegen import get_host_cpu_features
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys

from itersel.atomic import atomic_path
from itersel.errors import InputError
from itersel.plugins import code_of

CACHE_VARIABLE = "ITERSEL_CACHE"
ADVICE = f"name another folder in {CACHE_VARIABLE} or as `cache` in the config"
PACKAGE = Path(__file__).parents[1]
DIGEST_BYTES = 32
# Names of folders, as `_folder_name` makes them.
_FOLDER = re.compile(r"\w+-\w+-[\w.-]+-[0-9a-f]{16}")
# Folders of other versions that no process has used for this long are removed.
UNUSED_SECONDS = 30 * 24 * 3600
# Settings of numba that change machine code.
SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")

# A compiled kernel as values that can be pickled, and back.
Reduce = Callable[[Any], Any]
Rebuild = Callable[..., Any]


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
    processor = numba_config.CPU_NAME  # type: ignore[attr-defined]
    processor = get_host_cpu_name() if processor is None else processor
    features = numba_config.CPU_FEATURES  # type: ignore[attr-defined]
    features = get_host_cpu_features() if features is None else features
    settings = [getattr(numba_config, name) for name in SETTINGS]
    versions = [sys.version_info[:2], sys.abiflags, numba.__version__, llvmlite.__version__, np.__version__]
    digest = hashlib.sha256(repr([get_process_triple(), processor, features, versions, settings]).encode())
    for path in kernel_sources(package):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    # for people to tell folders apart
    machine = re.sub("[^A-Za-z0-9._-]", "_", processor)
    return f"{sys.implementation.cache_tag}-{machine}-{digest.hexdigest()[:16]}"


def kernel_sources(package: Path) -> list[Path]:
    """Return the modules of kernels and of their constants and types, and those of `compile`."""
    kernels = [*package.rglob("*kernels*.py")]
    found = {*kernels, *(package / "compile").glob("*.py")}
    for kernel in kernels:
        for name in re.findall(r"(?m)^from itersel\.([\w.]+) import", kernel.read_text(encoding="utf-8")):
            found.add(package.joinpath(*name.split(".")).with_suffix(".py"))
    return sorted(found)


class KernelCache(NullCache):
    """The compiled versions of one kernel on disk; `use` is the way in which it is compiled.

    The folder depends on the kernels of itersel; the names of those of a plugin depend on its code.
    """

    def __init__(self, function: Callable[..., object], use: str, reduce: Reduce, rebuild: Rebuild) -> None:
        module = function.__module__.removeprefix(f"{PACKAGE.name}.")
        code = code_of(function.__module__)
        version = f"-{code.digest}" if code is not None else ""
        self._name = f"{module}.{function.__qualname__}{version}-{use}"
        self._reduce, self._rebuild = reduce, rebuild

    @property
    def cache_path(self) -> str:
        """The folder of the cache."""
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel compiled for arguments of some types, or None if there is no usable file."""
        rtsys.initialize(target_context)
        path, content = self._path(sig), b""
        with suppress(OSError):  # errors of the folder are reported when it is written to
            content = path.read_bytes()
        digest, pickled = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        if hashlib.sha256(pickled).digest() == digest:
            _mark_used(path.parent)
            types, reduced = _Unpickler(io.BytesIO(pickled)).load()
            if types == sig:
                return self._rebuild(target_context, *reduced)
        make_writable(cache_folder())  # fails before compilation, not after
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a kernel compiled for arguments of some types."""
        if data.library.has_dynamic_globals:
            raise AssertionError(f"{self._name} holds an address of this process")
        pickled = serialize.dumps((sig, self._reduce(data)))
        path = self._path(sig)
        try:
            with atomic_path(path, durable=False) as temporary:
                temporary.write_bytes(hashlib.sha256(pickled).digest() + pickled)
        except OSError as error:
            raise _not_kept(path.parent, error) from None

    def _path(self, sig: Any) -> Path:
        # type names are the same in every process; `load_overload` compares the types themselves
        digest = hashlib.sha256(str(sig).encode()).hexdigest()[:16]
        return cache_folder() / f"{self._name}-{digest}.nbc"


class _Unpickler(pickle.Unpickler):
    """Reads a compiled kernel without importing the modules of numba's functions in it."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the object of a name."""
        if (module, name) == ("numba.core.environment", "_rebuild_env"):
            return _environment
        return super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Return the constants of a function; numba would import its module, which machine code does not use."""
    found = lookup_environment(name)
    if found is None:
        found = Environment({"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


@functools.cache
def _mark_used(folder: Path) -> None:
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
        raise _not_kept(folder, error) from None


def _not_kept(folder: Path, error: OSError) -> InputError:
    return InputError(f"compiled kernels cannot be kept in {folder}: {error.strerror or error}; {ADVICE}")
