"""Refuse to run a job whose code has changed since its run started.

A run records digests of the code of its steps (`itersel.code.digests`) when it starts. A job that starts
after an edit would run code that differs from what is recorded. Environment variables tell jobs which code
the run has.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from itersel.errors import FilePath, InputError

CODE_VARIABLE = "ITERSEL_CODE"
PACKAGE = Path(__file__).parents[1]


class CodeChangedError(InputError):
    """The code has been edited; jobs fail until it is as it was."""


def fingerprint(folder: FilePath = PACKAGE) -> str:
    """Return digests of the times and sizes, and of the contents, of all code in a folder, or of a file."""
    return f"{_digest(folder, of_contents=False)} {_digest(folder, of_contents=True)}"


def is_changed(expected: str, folder: FilePath = PACKAGE) -> bool:
    """Return whether a folder has other contents, which are read only if times or sizes differ."""
    times, _, contents = expected.partition(" ")
    return _digest(folder, of_contents=False) != times and _digest(folder, of_contents=True) != contents


def check_code(variable: str = CODE_VARIABLE, folder: Path = PACKAGE) -> None:
    """Raise a CodeChangedError if code was edited since the start of the run that this process belongs to."""
    expected = os.environ.get(variable)
    try:
        if expected and is_changed(expected, folder):
            raise CodeChangedError(
                "has been edited since this run started; stop the run and start it again", folder
            )
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", error.filename or folder) from None


def _digest(folder: FilePath, of_contents: bool) -> str:
    """Return the digest of all code, in a fixed order; a folder that is not on this machine has none."""
    digest = hashlib.sha256()
    place, name = os.path.split(folder)

    for parent, folders, names in [(place, [], [name])] if os.path.isfile(folder) else os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if not name.endswith((".py", ".smk")) or name.startswith("."):
                continue

            with contextlib.suppress(FileNotFoundError):  # an editor's file, or a broken link
                status = os.stat(path)
                found = b"" if of_contents else f" {status.st_mtime_ns}".encode()
                shown = os.fsencode(os.path.relpath(path, folder))
                digest.update(b"%b\0%d%b\0" % (shown, status.st_size, found))
                if of_contents:
                    digest.update(Path(path).read_bytes())

    return digest.hexdigest()[:16]
