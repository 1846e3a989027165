"""Starts numba without scipy's linear algebra, which no kernel uses: a tenth of the start of a step."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn


def leave_out_linear_algebra() -> None:
    """Keep numba from importing scipy.linalg when it reads or compiles the first kernel.

    numba imports it to learn whether `np.dot` may be compiled. For processes of the command line only: other
    programs may compile functions of their own.
    """
    linalg: Any = importlib.import_module("numba.np.linalg")
    known = linalg.ensure_blas
    linalg.ensure_blas = _refuse
    try:
        # this module asks, when it is imported
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = known


def _refuse() -> NoReturn:
    raise ImportError("kernels use no linear algebra")
