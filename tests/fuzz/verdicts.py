"""Verdicts: whether a step that read a damaged file ended as it should."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.server import MEMORY_LIMIT, TRACEBACK, Ended
from tests.fuzz.targets import DAMAGED

SAME, REFUSED, DIFFERENT = "same", "refused", "different"
SILENT, UNTIDY, RAISED, CRASHED = "silently different", "untidy", "traceback", "crash"
MEMORY, TIME = "memory", "time"
NOT_MADE = "not made"  # a bug in the fuzzer: the file could not be damaged
GOOD, BAD = (SAME, REFUSED, DIFFERENT), (SILENT, UNTIDY, RAISED, CRASHED, MEMORY, TIME, NOT_MADE)

Outputs = dict[str, bytes]


class Verdict(NamedTuple):
    """The outcome of a case, and why."""

    outcome: str
    why: str = ""


def judge(ended: Ended, outputs: Outputs, expected: Outputs, names: Sequence[str], mode: str) -> Verdict:
    """Compare the end of a step with what is allowed.

    Parameters
    ----------
    ended
        The end of the process.
    outputs, expected
        Its outputs by name, including standard output, with the damaged and the undamaged file.
    names
        The damaged file, and other names that an error may give.
    mode
        `DAMAGED`: a checksum must have detected the damage.
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
        strange = [
            line
            for line in ended.errors.splitlines()
            if not line.startswith("itersel ") and ": warning: " not in line
        ]
        if strange:
            return Verdict(UNTIDY, f"ended well, but said: {strange[0]}")
        if outputs == expected:
            return Verdict(SAME)
        return Verdict(SILENT if mode == DAMAGED else DIFFERENT, _difference(outputs, expected))
    return _judge_refusal(ended, outputs, names)


def _judge_refusal(ended: Ended, outputs: Outputs, names: Sequence[str]) -> Verdict:
    left = sorted(name for name in outputs if name)
    if ended.status != 1:
        return Verdict(UNTIDY, f"exit status {ended.status}: {_last(ended.errors)}")
    # One line, or several if each names the file first: the errors of a config are reported together.
    lines = ended.errors.splitlines()
    if len(lines) != 1 and not (lines and all(line.split(": ")[1:2] == [names[0]] for line in lines)):
        return Verdict(UNTIDY, f"{len(lines)} lines: {ended.errors[:300]!r}")
    if not any(name in ended.errors for name in names):
        return Verdict(UNTIDY, f"does not name {names[0]}: {_last(ended.errors)}")
    if left:
        return Verdict(UNTIDY, f"left {', '.join(left)}: {_last(ended.errors)}")
    return Verdict(REFUSED, _last(ended.errors))


def new_files(folder: Path, before: set[str], printed: bytes) -> Outputs:
    """Return the new files in a folder by name, and the printed output under ""."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    outputs = {
        name: path.read_bytes() for name, path in found.items() if name not in before and path.is_file()
    }
    return {**outputs, "": printed}


def _difference(outputs: Outputs, expected: Outputs) -> str:
    names = [name for name in sorted({*outputs, *expected}) if outputs.get(name) != expected.get(name)]
    return ", ".join(name or "what it prints" for name in names)


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else ""
