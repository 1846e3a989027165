"""Compare the code that a job finds with that of the run of Snakemake to which it belongs.

A run records digests of the code of its steps (`itersel.sources`) when it starts. A job that starts after an
edit would run other code than is recorded. Environment variables tell jobs which code the run has.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from itersel.errors import InputError

CODE_VARIABLE = "ITERSEL_CODE"
PACKAGE = Path(__file__).parent


def fingerprint(folder: str | os.PathLike[str] = PACKAGE) -> str:
    """Return digests of the times and sizes, and of the contents, of all files in a folder."""
    return f"{_digest_of_times(folder)} {_digest_of_contents(folder)}"


def is_changed(expected: str, folder: str | os.PathLike[str] = PACKAGE) -> bool:
    """Tell whether a folder has other contents than when its fingerprint was taken.

    Contents are only read if times or sizes differ, as they do in another installation, which takes longer.
    """
    times, contents = expected.split(" ")
    return _digest_of_times(folder) != times and _digest_of_contents(folder) != contents


def check_code(variable: str = CODE_VARIABLE, folder: Path = PACKAGE) -> None:
    """Compare code with that of the run that this process belongs to, if it belongs to any.

    Parameters
    ----------
    variable
        Environment variable with the fingerprint of the run's code.
    folder
        Folder of the code; by default, this package.

    Raises
    ------
    InputError
        If it differs.
    """
    expected = os.environ.get(variable)
    if expected and is_changed(expected, folder):
        raise InputError("has been edited since this run started; stop the run and start it again", folder)


def _digest_of_times(folder: str | os.PathLike[str]) -> str:
    digest = hashlib.sha256()
    for name, entry in _files(folder):
        status = entry.stat()
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:16]


def _digest_of_contents(folder: str | os.PathLike[str]) -> str:
    digest = hashlib.sha256()
    for name, entry in _files(folder):
        content = Path(entry.path).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _files(folder: str | os.PathLike[str], above: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield all files by their names relative to the folder, sorted, except hidden and compiled ones."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name = f"{above}{entry.name}"
        if entry.name.startswith((".", "__pycache__")) or entry.name.endswith(("~", ".pyc")):
            continue
        if entry.is_dir():
            yield from _files(entry.path, f"{name}/")
        else:
            yield name, entry
