"""itersel in a process of its own, with little memory or small files if wanted (as on a full disk)."""

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MEBIBYTE = 2**20


def limited(
    *arguments: str | Path,
    program: Sequence[str] = ("-m", "itersel.cli.main"),
    memory: int | None = None,
    file_size: int | None = None,
    **settings: Any,
) -> subprocess.CompletedProcess[str]:
    """Run itersel, or other Python code, with limits in bytes, and with `settings` of `subprocess.run`.

    Python ignores the signal for files that are too large, so writing fails.
    """

    def limit() -> None:
        for kind, size in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, file_size)):
            if size is not None:
                resource.setrlimit(kind, (size, size))

    command = [sys.executable, *program, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.run(command, preexec_fn=limit, check=False, **{**pipes, **settings})
