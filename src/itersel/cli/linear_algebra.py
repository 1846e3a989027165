"""Keeps numba from importing scipy's linear algebra, which no kernel uses: a tenth of a second."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

from itersel.compiler import before_compilation


def leave_out_linear_algebra() -> None:
    """Keep numba from importing scipy.linalg when it compiles the first kernel.

    numba imports it to find out whether `np.dot` can be compiled. Call this only in processes of the command
    line: other programs may compile functions that need it.
    """
    before_compilation(_leave_out)


def _leave_out() -> None:
    linalg: Any = importlib.import_module("numba.np.linalg")
    check = getattr(linalg, "ensure_blas", None)
    if check is None:  # another version of numba
        return
    linalg.ensure_blas = _refuse
    try:
        # calls the check when it is imported
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = check


def _refuse() -> NoReturn:
    raise ImportError("kernels use no linear algebra")
