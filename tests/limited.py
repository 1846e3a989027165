"""Processes with little memory, or with a limit of file sizes, which acts like a full disk."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

MEBIBYTE = 2**20


def limited(
    *arguments: str | Path,
    program: Sequence[str] = ("-m", "itersel.cli.main"),
    memory: int | None = None,
    file_size: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run itersel, or other Python code, with limits in bytes.

    Python ignores the signal for files that are too large, so writing fails.
    """

    def limit() -> None:
        for kind, size in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, file_size)):
            if size is not None:
                resource.setrlimit(kind, (size, size))

    command = [sys.executable, *program, *map(str, arguments)]
    return subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)
