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
# What replaces the comparison of checksums, the mode of the cases, and the outcome of at least one of them.
FAULTS: dict[str, tuple[Callable[..., object], str, str]] = {
    "raises": (_raises, "damaged", "traceback"),
    "crashes": (lambda *arguments: os.kill(os.getpid(), signal.SIGSEGV), "damaged", "crash"),
    "hangs": (lambda *arguments: time.sleep(60), "damaged", "time"),
    "takes memory": (_takes_memory, "damaged", "memory"),
    "leaves a file": (_leaves_a_file, "damaged", "untidy"),
    "compares no checksums": (lambda *arguments: None, "damaged", "silently different"),
}


def main() -> None:
    """Print each bug that no case finds, with the outcomes of its cases."""
    from tests.fuzz.cases import Case, runner

    with runner(seconds=SECONDS) as cases:
        for number in range(CASES):
            for mode in ("damaged", "resealed"):
                cases.run(Case(1, "weights", mode, number))  # learn the outcome with the intact reader
        for name, (replacement, mode, wanted) in FAULTS.items():
            with mock.patch(CHECK, replacement):
                results = [cases.run(Case(1, "weights", mode, number)) for number in range(CASES)]
            found = sorted({result.verdict.outcome for result in results})
            if wanted not in found:
                print(f"{name}: {found}, not {wanted}")


if __name__ == "__main__":
    main()
