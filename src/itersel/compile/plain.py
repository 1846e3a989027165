"""Kernels compiled by numba's public functions alone, for versions whose internals may be different.

Results are the same. Compilation takes twice the time, because each kernel is compiled again wherever it is
called, and decoding a quarter more. The cache is numba's own, which needs a folder that can be written, and
only looks at the file of a kernel to see whether it has changed. Therefore its folder depends on the code of
all kernels. Its files can be mixed up if several processes write them: `itersel.cli.warm_up.warm_up_once`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from itersel.code.plugins import code_of
from itersel.compile.cache_folder import cache_folder, is_kept, make_writable, mark_used
from itersel.compile.numba_versions import numba_config


def plain_kernel(function: Callable[..., object], flags: dict[str, Any]) -> Callable[..., object]:
    """Compile a function with numba's own compiler."""
    if not is_kept(function):
        return numba.njit(**flags)(function)  # type: ignore[no-any-return]
    # numba chooses the folder when it is given the function; the folder of other functions stays as it is
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(_folder(function))
    try:
        return numba.njit(cache=True, **flags)(function)  # type: ignore[no-any-return]
    finally:
        numba_config.CACHE_DIR = before


def _folder(function: Callable[..., object]) -> Path:
    """Return the folder of a kernel, which exists; a plugin's folder depends on its code, too."""
    folder = cache_folder()
    # numba would silently use another folder
    make_writable(folder)
    mark_used(folder)
    code = code_of(function.__module__)
    return folder if code is None else folder / f"{code.package}-{code.digest}"
