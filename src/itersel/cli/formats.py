"""Tables in several formats, chosen by the names of the output files."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from itersel.cli.arguments import output_file
from itersel.errors import InputError

FORMATS = (".txt", ".tsv", ".json")


def add_formats(parser: argparse.ArgumentParser) -> None:
    """Add the option for the output files of a table."""
    parser.add_argument(
        "--output",
        nargs="+",
        type=output_file,
        required=True,
        help="output files; the name determines the format: .txt, .tsv, .json",
    )


def write_formats(paths: list[str], *writers: Callable[[], list[str]]) -> None:
    """Write a table to files; the writers return its lines, in the order of `FORMATS`.

    Raises
    ------
    InputError
        If the name of a file ends in none of the `FORMATS`; no file is written then.
    """
    from itersel.storage.files import write_lines

    chosen = []
    for path in paths:
        suffix = next((suffix for suffix in FORMATS if path.endswith(suffix)), None)
        if suffix is None:
            raise InputError(f"the name must end in {', '.join(FORMATS)}", path)
        chosen.append(writers[FORMATS.index(suffix)])
    for path, writer in zip(paths, chosen, strict=True):
        write_lines(path, writer())
