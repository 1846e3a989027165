"""Readers with deliberate bugs: ``python -m tests.fuzz.broken`` prints the fuzzer's verdict on each.

Runs in a separate process because it forks, and pytest's workers have threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

SECONDS = 1.5  # instead of a minute
CASES = 6


def _raises(*arguments: Any) -> None:
    raise IndexError("index is out of bounds")


def _crashes(*arguments: Any) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _hangs(*arguments: Any) -> None:
    time.sleep(60)


def _takes_memory(*arguments: Any) -> None:
    import numpy as np

    np.ones(5 << 27)


def _says_too_much(*arguments: Any) -> None:
    print("warning: something", file=sys.stderr)


def _leaves_a_file(*arguments: Any) -> None:
    Path("out.tmp").touch()
    _refuses_without_a_name()


def _refuses_without_a_name(*arguments: Any) -> None:
    from itersel.errors import InputError

    raise InputError("is damaged")


def _sees_nothing(*arguments: Any) -> None:
    pass


def _stop(*arguments: Any) -> None:
    raise SystemExit(3)


CHECK = "itersel.storage.hdf5.check_digests"
FAULTS: dict[str, tuple[str, Callable[..., None], str]] = {
    "raises": (CHECK, _raises, "damaged"),
    "crashes": (CHECK, _crashes, "damaged"),
    "hangs": (CHECK, _hangs, "damaged"),
    "takes memory": (CHECK, _takes_memory, "damaged"),
    "says too much": (CHECK, _says_too_much, "resealed"),
    "leaves a file": (CHECK, _leaves_a_file, "damaged"),
    "refuses without a name": (CHECK, _refuses_without_a_name, "damaged"),
    "stops": (CHECK, _stop, "damaged"),
    "compares no checksums": (CHECK, _sees_nothing, "damaged"),
}


@contextlib.contextmanager
def broken(place: str, replacement: Callable[..., None]) -> Iterator[None]:
    """Replace a function of the reader in this process and its forks."""
    with mock.patch(place, replacement):
        yield


def main() -> None:
    """Print the outcomes of some cases for each bug, as JSON."""
    from tests.fuzz.cases import Case
    from tests.fuzz.run import runner

    outcomes = {}
    with runner(seconds=SECONDS) as cases:
        for number in range(CASES):
            for mode in ("damaged", "resealed"):
                cases.run(Case(1, "weights", mode, number))  # learn the outcome with the intact reader
        for name, (place, replacement, mode) in FAULTS.items():
            with broken(place, replacement):
                results = [cases.run(Case(1, "weights", mode, number)) for number in range(CASES)]
            outcomes[name] = sorted({result.verdict.outcome for result in results})
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
