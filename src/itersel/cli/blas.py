"""BLAS, for commands whose results depend on how it sums."""

from __future__ import annotations

import os


def use_portable_blas() -> None:
    """Let BLAS sum in the same order on all machines.

    PRO uses scipy's optimiser, whose sums depend on the number of BLAS threads and on the type of processor.
    OpenBLAS's code for Nehalem runs wherever numpy runs on x86-64. The variables are read when numpy is
    imported, which no module does before the command is known.
    """
    os.environ.update(OPENBLAS_NUM_THREADS="1", OPENBLAS_CORETYPE="Nehalem")
