"""Readers with deliberate bugs: ``python -m tests.fuzz.broken`` prints those that the fuzzer does not find.

Runs in a separate process because it forks, and pytest's workers have threads.
"""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

SECONDS = 1.5  # instead of a minute
CASES = 6


def _raises(*arguments: Any) -> None:
    raise IndexError("index is out of bounds")


def _takes_memory(*arguments: Any) -> None:
    import numpy as np

    np.ones(5 << 27)


def _leaves_a_file(*arguments: Any) -> None:
    from itersel.errors import InputError

    Path("out.tmp").touch()
    raise InputError("weights.h5 is damaged")


CHECK = "itersel.storage.hdf5.check_digests"
# The outcome of at least one case, and what replaces the comparison of checksums.
FAULTS: dict[str, Callable[..., object]] = {
    "traceback": _raises,
    "crash": lambda *arguments: os.kill(os.getpid(), signal.SIGSEGV),
    "time": lambda *arguments: time.sleep(60),
    "memory": _takes_memory,
    "untidy": _leaves_a_file,
    "silently different": lambda *arguments: None,
}


def main() -> None:
    """Print each bug that no case finds, with the outcomes of its cases."""
    from tests.fuzz.cases import Case, runner

    with runner(seconds=SECONDS) as cases:
        damaged = [Case(1, "weights", "damaged", number) for number in range(CASES)]
        for case in damaged:
            cases.run(case)  # learn the outcome with the intact reader
        for wanted, replacement in FAULTS.items():
            with mock.patch(CHECK, replacement):
                found = sorted({cases.run(case).verdict.outcome for case in damaged})
            if wanted not in found:
                print(f"{found}, not {wanted}")


if __name__ == "__main__":
    main()
