"""Versions of numba: with those that were not tested, kernels are compiled in the plain way."""

from __future__ import annotations

import functools
import os
import re
from typing import Any

import numba

# numba's settings, whose names only it knows.
numba_config: Any = numba.config
# `itersel.compile.compiler` relies on internals of numba: first version tested, first version not tested.
TESTED = ((0, 63), (0, 69))
PLAIN_VARIABLE = "ITERSEL_PLAIN_NUMBA"


@functools.cache
def is_plain() -> bool:
    """Return whether kernels are compiled by numba's public functions alone: by choice, or by its version."""
    return _is_chosen() or not _is_tested()


def _is_chosen() -> bool:
    return os.environ.get(PLAIN_VARIABLE, "0") not in ("", "0")


def _is_tested() -> bool:
    number = re.match(r"(\d+)\.(\d+)", numba.__version__)
    return number is not None and TESTED[0] <= (int(number[1]), int(number[2])) < TESTED[1]


def plain_notice() -> str | None:
    """Return a line that says why kernels are compiled in the plain way and what that means, if they are."""
    if numba_config.DISABLE_JIT or not is_plain():
        return None
    first, end = (".".join(map(str, version)) for version in TESTED)
    tested = f"itersel was tested with numba {first} up to, but not including, {end}"
    why = f", as {PLAIN_VARIABLE} asks" if _is_chosen() else ""
    effect = "kernels take longer to compile, results are the same"
    return f"kernels are compiled by plain numba {numba.__version__}{why}; {effect}; {tested}"
