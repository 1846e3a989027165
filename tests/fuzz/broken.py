"""Readers with deliberate bugs: ``python -m tests.fuzz.broken`` prints those that the fuzzer does not find.

Runs in a separate process because it forks, and pytest's workers have threads.
"""

import os
import select
import signal
from pathlib import Path
from unittest import mock

import numpy as np
from tests.fuzz.cases import Case, runner

from itersel.errors import InputError


def _leaves_a_file(*arguments: object) -> None:
    Path("out.tmp").touch()
    raise InputError("weights.h5 is damaged")


# A reader writes to this pipe before it hangs. Its time is over then; others have as long as they need, so
# that outcomes do not depend on the speed of the machine.
HANGING, HANGS = os.pipe()


def _hangs(*arguments: object) -> None:
    os.write(HANGS, b"x")
    signal.pause()


def _ends(alive: int) -> bool:
    """Wait until a process ends, which closes the pipe `alive`, or hangs; return whether it has ended."""
    is_hanging = HANGING in select.select([alive, HANGING], [], [])[0]
    if is_hanging:
        os.read(HANGING, 1)
    return not is_hanging


# The outcome of at least one case, and what replaces the comparison of checksums.
FAULTS = {
    "traceback": mock.Mock(side_effect=IndexError),
    "crash": lambda *arguments: os.kill(os.getpid(), signal.SIGSEGV),
    "time": _hangs,
    "memory": lambda *arguments: np.ones(5 << 27),
    "untidy": _leaves_a_file,
    "silently different": lambda *arguments: None,
}

if __name__ == "__main__":
    with runner(in_time=_ends) as cases:
        damaged = [Case(1, "weights", "damaged", number) for number in range(6)]
        for case in damaged:
            cases.run(case)  # learn the outcome with the intact reader
        for wanted, replacement in FAULTS.items():
            with mock.patch("itersel.storage.hdf5.check_digests", replacement):
                found = sorted({cases.run(case).verdict.outcome for case in damaged})
            if wanted not in found:
                print(f"{found}, not {wanted}")
