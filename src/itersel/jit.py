"""How kernels are compiled: every use of numba goes through this module, which sets all flags.

fastmath stays off: results must not depend on how the compiler reorders sums. Kernels release the GIL.

The cache folder carries a digest of all kernel modules: numba looks only at the file of the outermost
kernel, and would go on using a caller whose callee was edited in another module. And of their place: every
checkout has kernels of its own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config as numba_config

Function = TypeVar("Function", bound=Callable[..., object])

CACHE_VARIABLE = "ITERSEL_CACHE"


def kernel_digest() -> str:
    """Return a short digest of the sources of all kernel modules, where they are, and numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parent
    # numba finds kernels by the path of their source: those of another checkout are of no use here
    digest.update(os.fsencode(package))
    for path in sorted([*package.rglob("*kernels*.py"), Path(__file__)]):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Return where compiled kernels are kept: under $ITERSEL_CACHE, else in the user's cache folder."""
    root = os.environ.get(CACHE_VARIABLE)
    if not root:
        root = os.path.join(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")), "itersel")
    return Path(root) / kernel_digest()


numba_config.CACHE_DIR = str(cache_folder())  # type: ignore[attr-defined]


njit: Any = numba.njit  # its type knows neither `_nrt` nor flags that come as a dictionary

FLAGS = {"cache": True, "nogil": True, "fastmath": False, "error_model": "numpy"}


def kernel(function: Function) -> Function:
    """Compile a function of arrays and numbers to machine code, cached on disk."""
    return cast(Function, njit(**FLAGS)(function))


def leaf_kernel(function: Function) -> Function:
    """Compile a function that neither makes, slices nor returns arrays: without reference counting.

    numba counts references to every array of an argument, with atomic instructions, in every function
    that is not inlined. Small functions of many arrays spend most of their time on that: a composition of
    language-model states that is in the table takes 50 ns without, 150 to 200 ns with it.
    """
    return cast(Function, njit(_nrt=False, **FLAGS)(function))


def inline_kernel(function: Function) -> Function:
    """Compile a leaf kernel into every place that calls it: for what is called in the innermost loops.

    A call hands over some eight machine words of every array in the arguments, hundreds for the tables of the
    decoder; inlined it costs nothing. The search takes 0.6 of the time for it. Call it from few places: the
    code is repeated in each.
    """
    return cast(Function, njit(_nrt=False, forceinline=True, **FLAGS)(function))
