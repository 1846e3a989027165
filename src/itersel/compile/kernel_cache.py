"""The cache of compiled kernels, in the folder of `itersel.compile.cache_folder`.

numba's own cache is not suitable: source paths are part of its keys, processes that compile a kernel for
different types at the same time can mix up their files, and damaged files are loaded. Here each compiled
kernel is one file, named after the types it was compiled for, verified against a digest when it is read, and
written under a temporary name first.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import serialize
from numba.core.caching import NullCache
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys

from itersel.code.plugins import code_of
from itersel.compile.cache_folder import PACKAGE, cache_folder, make_writable, mark_used, not_kept
from itersel.run.atomic import atomic_path

DIGEST_BYTES = 32

# A compiled kernel as values that can be pickled, and back.
Reduce = Callable[[Any], Any]
Rebuild = Callable[..., Any]


class KernelCache(NullCache):
    """The compiled versions of one kernel on disk; `use` is the way in which it is compiled.

    The folder depends on the kernels of itersel; the names of a plugin's kernels depend on its code.
    """

    def __init__(self, function: Callable[..., object], use: str, reduce: Reduce, rebuild: Rebuild) -> None:
        module = function.__module__.removeprefix(f"{PACKAGE.name}.")
        code = code_of(function.__module__)
        version = f"-{code.digest}" if code is not None else ""
        self._name = f"{module}.{function.__qualname__}{version}-{use}"
        self._reduce = reduce
        self._rebuild = rebuild

    @property
    def cache_path(self) -> str:
        """The folder of the cache."""
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel compiled for arguments of some types, or None if there is no usable file."""
        rtsys.initialize(target_context)
        path = self._path(sig)
        content = b""
        with suppress(OSError):  # errors of the folder are reported when it is written to
            content = path.read_bytes()

        digest, pickled = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        if hashlib.sha256(pickled).digest() == digest:
            mark_used(path.parent)
            types, reduced = _Unpickler(io.BytesIO(pickled)).load()
            if types == sig:
                return self._rebuild(target_context, *reduced)

        make_writable(cache_folder())  # fails before compilation, not after
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a kernel compiled for arguments of some types."""
        if data.library.has_dynamic_globals:
            raise AssertionError(f"{self._name} contains an address of this process")
        pickled = serialize.dumps((sig, self._reduce(data)))
        path = self._path(sig)
        try:
            with atomic_path(path, durable=False) as temporary:
                temporary.write_bytes(hashlib.sha256(pickled).digest() + pickled)
        except OSError as error:
            raise not_kept(path.parent, error) from None

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
