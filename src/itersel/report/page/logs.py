"""Errors of experiments, from the logs of its steps."""

from __future__ import annotations

import re
from pathlib import Path

from itersel.report.folder import FoundRepeat
from itersel.results import LOGS
from itersel.storage.files import read_bytes

# Errors are at the end of long logs.
LOG_BYTES = 1 << 16

_ERROR = re.compile(r"itersel(?: [a-z_-]+)?: .+")


def read_errors(results: Path, repeat: FoundRepeat) -> list[dict[str, str]]:
    """Return the last error in each log of a repeat."""
    logs = results / LOGS
    found = []
    for path in sorted([*logs.glob(f"*/{repeat.folder}/**/*.log"), *logs.glob(f"*/{repeat.folder}.log")]):
        lines = read_bytes(path)[-LOG_BYTES:].decode("utf-8", "replace").splitlines()
        errors = [line for line in lines if _ERROR.fullmatch(line)]
        if errors:
            found.append({"log": str(path.relative_to(results)), "error": errors[-1]})
    return found
