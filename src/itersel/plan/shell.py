"""Names of files in the commands that rules run."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence


def no_option(path: str) -> str:
    """Return a path that commands do not mistake for an option; Snakemake strips ./ from paths."""
    return os.path.abspath(path) if path.startswith(("-", "./-")) else path


def sequence(files: Sequence[str]) -> str:
    """Return the arguments with which `seq` prints the names of files that are numbered from 0."""
    folder, name = os.path.split(files[0])
    pattern = os.path.join(folder.replace("%", "%%"), re.sub(r"\d+", "%.0f", name, count=1))
    return shlex.join(["-f", pattern, "0", str(len(files) - 1)])


def sequences(files: Sequence[str]) -> str:
    """Return the commands that print the names of files numbered 0, 1, 2, ... in one or more folders."""
    folders: dict[str, list[str]] = {}
    for file in files:
        folders.setdefault(os.path.dirname(file), []).append(file)
    return "; ".join(f"seq {sequence(group)}" for group in folders.values())
