"""Steps in separate processes, forked from one that has loaded everything, and verdicts on how they end.

Processes are limited in time, and in memory by RLIMIT_DATA (RLIMIT_AS would also count mapped files and
memory that HDF5 and numba only reserve). At the end, the peak resident memory is checked, too.
"""

import contextlib
import json
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.targets import DAMAGED

MEMORY_LIMIT = 4 << 30
TIME_LIMIT = 60.0
TRACEBACK = 70  # exit status after an exception
SAME, REFUSED, DIFFERENT = "same", "refused", "different"
SILENT, UNTIDY, RAISED, CRASHED = "silently different", "untidy", "traceback", "crash"
MEMORY, TIME = "memory", "time"
NOT_MADE = "not made"  # a bug in the fuzzer: the file could not be damaged
GOOD, BAD = (SAME, REFUSED, DIFFERENT), (SILENT, UNTIDY, RAISED, CRASHED, MEMORY, TIME, NOT_MADE)

Outputs = dict[str, bytes]


class Ended(NamedTuple):
    """The end of a process: its status, or minus the signal number; seconds; bytes; output."""

    status: int
    seconds: float
    memory: int
    output: bytes
    errors: str
    timed_out: bool


def ends_in_time(alive: int) -> bool:
    """Wait for the end of a process, which closes the pipe `alive`; return False after `TIME_LIMIT`."""
    return bool(select.select([alive], [], [], TIME_LIMIT)[0])


def run_apart(
    work: Callable[[], int], folder: Path, streams: Path, in_time: Callable[[int], bool] = ends_in_time
) -> Ended:
    """Run a function in a separate process with the working folder `folder`; its output goes to `streams`.

    If `in_time` (see `ends_in_time`) returns False, the process is killed.
    """
    output, errors = streams / "stdout", streams / "stderr"
    sys.stdout.flush()
    sys.stderr.flush()
    alive, end_of_child = os.pipe()
    start = time.monotonic()
    process = os.fork()
    if process == 0:
        os.close(alive)
        _child(work, folder, output, errors)
    os.close(end_of_child)
    timed_out = not in_time(alive)
    if timed_out:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
    os.close(alive)
    _, status, usage = os.wait4(process, 0)
    seconds, said = time.monotonic() - start, (output.read_bytes(), errors.read_text(errors="replace"))
    return Ended(os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss * 1024, *said, timed_out)


def _child(work: Callable[[], int], folder: Path, output: Path, errors: Path) -> None:
    status = TRACEBACK
    try:
        os.setpgid(0, 0)
        for number, path in ((1, output), (2, errors)):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, number)
            os.close(descriptor)
        # also Python's streams, which pytest may have replaced
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
        os.fsync = lambda descriptor: None  # these files need not survive a power failure
        os.chdir(folder)
        status = work()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def call_apart(
    work: Callable[[], list[str]], folder: Path, streams: Path, in_time: Callable[[int], bool]
) -> list[str]:
    """Run a function in a separate process and return its result; if it fails, the fuzzer has a bug."""

    def write() -> int:
        print(json.dumps(work()))
        return 0

    ended = run_apart(write, folder, streams, in_time)
    if ended.status:
        raise RuntimeError(f"the file could not be damaged (status {ended.status}): {ended.errors}")
    result: list[str] = json.loads(ended.output)
    return result


class Verdict(NamedTuple):
    outcome: str
    why: str = ""


def judge(ended: Ended, outputs: Outputs, expected: Outputs, names: Sequence[str], mode: str) -> Verdict:
    """Compare the end of a step, and its outputs, with what is allowed.

    `names` are the damaged file and others that an error may give. In the mode `DAMAGED`, a checksum must
    have detected the damage.
    """
    if ended.timed_out:
        return Verdict(TIME, f"over {ended.seconds:.0f} s")
    if ended.memory > MEMORY_LIMIT or "not enough memory" in ended.errors:
        return Verdict(MEMORY, f"{ended.memory >> 20} MB; {_last(ended.errors)}")
    if ended.status < 0:
        return Verdict(CRASHED, signal.Signals(-ended.status).name)
    if ended.status == TRACEBACK or "Traceback (most recent" in ended.errors:
        return Verdict(RAISED, _last(ended.errors))
    if ended.status == 0:
        for line in ended.errors.splitlines():
            if not line.startswith("itersel ") and ": warning: " not in line:
                return Verdict(UNTIDY, f"ended well, but said: {line}")
        if outputs == expected:
            return Verdict(SAME)
        differing = {name for name, _ in outputs.items() ^ expected.items()}
        why = ", ".join(name or "what it prints" for name in sorted(differing))
        return Verdict(SILENT if mode == DAMAGED else DIFFERENT, why)
    return _judge_refusal(ended, outputs, names)


def _judge_refusal(ended: Ended, outputs: Outputs, names: Sequence[str]) -> Verdict:
    left = sorted(name for name in outputs if name)
    if ended.status != 1:
        return Verdict(UNTIDY, f"exit status {ended.status}: {_last(ended.errors)}")
    # One line, or several if each names the file first: errors of a config or a text are reported together.
    lines, named = ended.errors.splitlines(), re.compile(rf"[^:]*: {re.escape(names[0])}(:\d+)?: ")
    if len(lines) != 1 and not (lines and all(map(named.match, lines))):
        return Verdict(UNTIDY, f"{len(lines)} lines: {ended.errors[:300]!r}")
    if not any(name in ended.errors for name in names):
        return Verdict(UNTIDY, f"does not name {names[0]}: {_last(ended.errors)}")
    if left:
        return Verdict(UNTIDY, f"left {', '.join(left)}: {_last(ended.errors)}")
    return Verdict(REFUSED, _last(ended.errors))


def new_files(folder: Path, before: set[str], printed: bytes) -> Outputs:
    """Return the new files in a folder by name, and the printed output under ""."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if name not in before} | {"": printed}


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else ""
