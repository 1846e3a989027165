"""Words of the commands that rules run, as a shell reads them: options, and names of files."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence


def shell_options(**values: object) -> str:
    """Return keyword arguments as long options, quoted for a shell.

    ``k_best=5`` becomes ``--k-best 5`` and ``tokenized=True`` becomes ``--tokenized``; `None` and `False` are
    left out; a list repeats the option. A value that begins with a dash would be read as an option, and a
    single dash as standard input, so they become ``--source=-n.de`` and ``--source ./-``.
    """
    words: list[str] = []
    for name, given in values.items():
        option = "--" + name.replace("_", "-")
        for value in given if isinstance(given, list) else [given]:
            if value is None or value is False:
                continue

            text = ",".join(value) if isinstance(value, tuple) else str(value)
            if value is True:
                words.append(option)
            elif text == "-":
                words += [option, "./-"]
            elif text.startswith("-"):
                words.append(f"{option}={text}")
            else:
                words += [option, text]

    return shlex.join(words)


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
